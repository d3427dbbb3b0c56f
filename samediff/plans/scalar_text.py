"""Text of scalar functions, in the language in which the kernels of a target are written."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..expressions.scalar import BOOL, COMPARE, LOGICAL, DType, is_floating
from ..expressions.scalar_node import Expr

#: The text of a function with places for its arguments, for an element type; None where it has none.
Template = Callable[[str, DType], str | None]


@dataclass(frozen=True)
class Language:
    """How the functions of :mod:`~dl4py.samediff.expressions.scalar` are written.

    Attributes
    ----------
    symbols : of comparisons and of functions of truth values
    choice, negation : text of ``where`` and ``logical_not``
    cast : gives the text of a conversion, from its node and the text of its argument
    tests : texts of tests of floating-point numbers, and of all others; the second place is for ``suffix``
    suffix : what numbers of a type have in their names
    boolean : texts of functions of truth values
    floating, integer : the same for numbers
    missing : raised for a function that has no text
    """

    symbols: Mapping[str, str]
    choice: str
    negation: str
    cast: Callable[[Expr, str], str]
    tests: Mapping[str, tuple[str, str]]
    suffix: Callable[[DType], str]
    boolean: Mapping[str, str]
    floating: Template
    integer: Template
    missing: type[Exception]

    def text_of(self, e: Expr, ref: Callable[[Expr], str]) -> str:
        """The value of ``e``; ``ref`` gives the text of an argument."""
        args = [ref(a) for a in e.args]
        if e.op == "cast":
            return self.cast(e, args[0])
        template = self._template(e.op, e.args[0].dtype)
        if template is None:
            raise self.missing(f"{e.op} of {e.args[0].dtype}")
        return template.format(*args)

    def _template(self, op: str, dtype: DType) -> str | None:
        if op == "where":
            return self.choice
        if op == "logical_not":
            return self.negation
        if op in self.tests:
            return self.tests[op][not is_floating(dtype)].replace("{1}", self.suffix(dtype))
        if op in COMPARE or op in LOGICAL:
            return f"{{0}} {self.symbols[op]} {{1}}"
        if dtype == BOOL:
            return self.boolean.get(op)
        return self.floating(op, dtype) if is_floating(dtype) else self.integer(op, dtype)
