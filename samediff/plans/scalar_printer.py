"""Scalar expressions as text, in the language in which the kernels of a target are written."""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..base.datatype import is_floating
from ..expressions.scalar import BINARY, BOOL, COMPARE, LOGICAL, DType
from ..expressions.scalar_node import Expr, nodes

_SYMBOLS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "less": "<", "less_equal": "<=", "greater": ">",
            "greater_equal": ">=", "equal": "==", "not_equal": "!=", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^",
            "logical_xor": "!="}


class ScalarPrinter(ABC):
    """Prints the functions of :mod:`~dl4py.samediff.expressions.scalar`; a target has its tables and its types.

    Templates have the places ``{0}``, ``{1}``, … for arguments.

    Attributes
    ----------
    symbols : operators between two values
    choice, negation : templates of ``where`` and ``logical_not``
    boolean : templates of functions of truth values
    tests : templates of tests of floating-point numbers, and of all others; ``{1}`` is the :meth:`suffix`
    missing : raised for a function that has no text
    """

    symbols: Mapping[str, str] = _SYMBOLS
    choice: str
    negation: str
    boolean: Mapping[str, str]
    tests: Mapping[str, tuple[str, str]]
    missing: type[Exception]

    @abstractmethod
    def literal(self, value: Any, dtype: DType) -> str:
        """The text of a constant."""

    @abstractmethod
    def cast(self, source: DType, target: DType, x: str) -> str:
        """The text of a value converted to another type."""

    @abstractmethod
    def suffix(self, dtype: DType) -> str:
        """The suffix of math functions for a floating-point type, as in ``expf``."""

    @abstractmethod
    def floating(self, op: str, dtype: DType) -> str | None:
        """The template of a function of floating-point numbers; None where it has none."""

    @abstractmethod
    def integer(self, op: str, dtype: DType) -> str | None:
        """The template of a scalar function for integers; None where the language has none."""

    def text_of(self, e: Expr, ref: Callable[[Expr], str]) -> str:
        """The value of ``e``; ``ref`` gives the text of an argument."""
        args = [ref(a) for a in e.args]
        if e.op == "cast":
            return self.cast(e.args[0].dtype, e.dtype, args[0])
        template = self._template(e.op, e.args[0].dtype)
        if template is None:
            raise self.missing(f"{e.op} of {e.args[0].dtype}")
        return template.format(*args)

    def ref(self, e: Expr, names: Mapping[Expr, str]) -> str:
        """A value that has a name, or a constant."""
        return self.literal(e.value, e.dtype) if e.op == "constant" else names[e]

    def values(self, order: Iterable[Expr], names: Mapping[Expr, str]) -> Iterator[tuple[Expr, str]]:
        """The expressions of ``order`` in turn, without inputs and constants, each with its text."""
        for e in order:
            if e.op not in ("input", "constant"):
                yield e, self.text_of(e, lambda a: self.ref(a, names))

    def in_one(self, e: Expr, names: Mapping[Any, str]) -> str:
        """An expression in one piece, with brackets; ``names`` are those of its inputs."""
        made: dict[Expr, str] = {}
        for part in nodes([e]):
            made[part] = (names[part.value] if part.op == "input" else self.literal(part.value, part.dtype) if part.op == "constant"
                          else f"({self.text_of(part, made.__getitem__)})")
        return made[e]

    def identity(self, combine: str, dtype: DType) -> str:
        """The value that does not change a reduction: "sum", "mean", "prod", "max" or "min"."""
        if combine in ("sum", "mean", "prod"):
            return self.literal(combine == "prod", dtype)
        if is_floating(dtype):
            return self.literal(-np.inf if combine == "max" else np.inf, dtype)
        return self.literal(np.iinfo(dtype).min if combine == "max" else np.iinfo(dtype).max, dtype)

    def between(self, op: str) -> str:
        """The template of an operator between two values."""
        return f"{{0}} {self.symbols[op]} {{1}}"

    def call(self, name: str, op: str) -> str:
        """The template of a call of a function."""
        return f"{name}({'{0}, {1}' if op in BINARY else '{0}'})"

    def _template(self, op: str, dtype: DType) -> str | None:
        if op == "where":
            return self.choice
        if op == "logical_not":
            return self.negation
        if op in self.tests:
            return self.tests[op][not is_floating(dtype)].replace("{1}", self.suffix(dtype))
        if op in COMPARE or op in LOGICAL:
            return self.between(op)
        if dtype == BOOL:
            return self.boolean.get(op)
        return self.floating(op, dtype) if is_floating(dtype) else self.integer(op, dtype)
