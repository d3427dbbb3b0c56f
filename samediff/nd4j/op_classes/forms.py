"""Constructors whose arguments stand in another way than those of methods, read by the forms of :data:`~.op_names.FORMS`."""
from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...errors import GraphError
from ...expressions.arrays import as_array
from ...expressions.conditions import MODES, Condition
from ...ir import signature as sig
from ...ir.op import Op
from ...ir.variable import SDVariable
from .op_names import DEFAULTS, FORMS
from .operands import Constructed, are_operands, is_operand, is_output

#: Fields of a condition, and their types in constructors.
_FIELDS: dict[str, Any] = {"value": (int, float), "eps": float, "mode": int}


def by_form(cls: type[Op], name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Constructed | None:
    """The arguments by the first of the written forms that they fit."""
    flat = list(itertools.chain.from_iterable(a if are_operands(a) else [a] for a in args))
    for form in FORMS.get(name, ()):
        in_graph = any(isinstance(a, SDVariable) for a in flat)
        if form.startswith("eager:" if in_graph else "graph:"):
            continue
        text, _, meaning = form.removeprefix("eager:").removeprefix("graph:").partition("; ")
        key, _, value = meaning.partition("=")
        meant = {key: float(value) if _is_number(value) else value} if key else {}
        try:
            return _in_form(cls, [t.strip() for t in text.split(",")], flat, kwargs, DEFAULTS.get(name, {}) | meant)
        except sig.Mismatch:
            continue
    return None


def _in_form(cls: type[Op], tokens: list[str], args: list[Any], kwargs: dict[str, Any], defaults: dict[str, Any]) -> Constructed:
    """The arguments in the form of these tokens; Mismatch where another one is meant."""
    last = tokens[-1]
    _meant(len(args) == len(tokens) or (last.startswith("*") and len(args) >= len(tokens) - 1)
           or (last.endswith("..") and len(args) > len(tokens)))
    given = _Arguments(args)
    for token in tokens:
        given.read(token)
    if given.condition:
        kwargs = kwargs | {"condition": given.whole_condition()}
        given.names.append("condition")
    signature = sig.parsed(cls, ", ".join(given.names))
    inputs, attributes = sig.bind(cls, signature, tuple(given.values), dict(kwargs), _is_array_like, False)
    if given.every:
        raise GraphError(f"{cls.id}: the distances of each slice to each are Transforms.allEuclideanDistances and its kin")
    if given.outputs and "data_type" in cls.attribute_names():
        attributes.setdefault("data_type", DataType.of(given.outputs[0].dtype))
    hints = sig.attribute_types(cls)
    defaults = {name: sig.coerce(hints[name], value, name) for name, value in defaults.items()}
    return Constructed(cls(**(defaults | attributes)), inputs, given.outputs)


def _meant(holds: bool) -> None:
    """Mismatch unless something holds that is so where this form is meant."""
    if not holds:
        raise sig.Mismatch("another form is meant")


class _Arguments:
    """Arguments, told apart by the tokens of a form.

    Attributes
    ----------
    names, values : of inputs and attributes
    outputs : arrays for results
    condition : fields of a condition
    every : whether all distances are asked for
    """

    def __init__(self, args: list[Any]) -> None:
        self.first: Any = args[0] if args else None
        self._left = list(args)
        self.names: list[str] = []
        self.values: list[Any] = []
        self.outputs: list[Any] = []
        self.condition: dict[str, Any] = {}
        self.every = False

    def read(self, token: str) -> None:
        """Read what a token stands for."""
        if token.startswith("*"):
            self._put([token], self._left)
        elif token.endswith(".."):
            self._put([token[:-2]], [self._left])
        else:
            self._one(token, self._left.pop(0))

    def _put(self, names: Sequence[str], values: Sequence[Any]) -> None:
        self.names += names
        self.values += values

    def _one(self, token: str, value: Any) -> None:
        name, _, choices = token.partition(":")
        if name in ("out", "out="):
            _meant(value is None or (is_output(value) and (name == "out" or tuple(value.shape) == tuple(self.first.shape))))
            self.outputs += [] if value is None else [value]
        elif name == "float":
            _meant(isinstance(value, float))
        elif name == "_":
            _meant(not is_operand(value))
        elif name == "all":
            _meant(isinstance(value, bool))
            self.every = self.every or value
        elif _is_number(name):
            _meant(isinstance(value, (int, float)) and not isinstance(value, bool) and value == float(name))
        elif name == "xs":
            self._put([] if self.names else ["*xs"], [value])
        elif "." in name:
            field = name.partition(".")[2]
            _meant(isinstance(value, _FIELDS[field]) and not isinstance(value, bool))
            self.condition[field] = value
        elif "+" in name:
            parts = name.split("+")
            _meant(all(hasattr(value, n) for n in parts))
            self._put(parts, [getattr(value, n) for n in parts])
        elif "/" in name:
            parts = name.split("/")
            _meant(isinstance(value, (list, tuple)) and len(value) == len(parts))
            self._put(parts, value)
        elif choices:
            _meant(type(value) is int)
            self._put([name], [_chosen(value, choices)])
        elif name.startswith("["):
            _meant(isinstance(value, (list, tuple)) and not are_operands(value))
            self._put([name.strip("[]")], [value])
        elif name.endswith("@"):
            value = value.get_arr() if isinstance(value, SDVariable) and value.is_constant() else value
            _meant(is_output(value) and np.size(value) == 1)
            self._put([name[:-1]], [np.asarray(value).item()])
        else:
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            self._put([name.rstrip("#")], [self._like_first(value) if number and name.endswith("#") else value])

    def _like_first(self, number: float) -> Any:
        """The number as an array of the type of the first argument."""
        return as_array(number, np.dtype(self.first.dtype.numpy if isinstance(self.first, SDVariable) else self.first.dtype))

    def whole_condition(self) -> Condition:
        """The condition of these fields, in place of one that was given: equality without more."""
        known = Condition(MODES[0], eps=0.0)
        if "condition" in self.names:
            at = self.names.index("condition")
            known = self.values.pop(at)
            del self.names[at]
            _meant(isinstance(known, Condition))
        fields = dict(self.condition)
        if "mode" in fields:
            fields["mode"] = _chosen(fields["mode"], "|".join(MODES))
        return dataclasses.replace(known, **fields)


def _is_number(text: str) -> bool:
    return text.lstrip("-").replace(".", "").isdigit()


def _chosen(number: int, choices: str) -> Any:
    """What a number stands for: a data type, a truth value, or one of some names."""
    if choices == "type":
        return DataType.from_code(number)
    names: list[Any] = [False, True] if choices == "bool" else choices.split("|")
    if not 0 <= number < len(names):
        raise GraphError(f"a number from 0 to {len(names) - 1} stands for one of {', '.join(map(str, names))}; got {number}")
    return names[number]


def _is_array_like(value: Any) -> bool:
    return is_operand(value) or (isinstance(value, (list, tuple)) and bool(value))
