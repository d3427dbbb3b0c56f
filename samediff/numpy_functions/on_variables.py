"""NumPy's functions called on variables of a graph: nodes of that graph, DL4J's ops where there is one that means the same."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..base.datatype import DataType
from ..errors import GraphError
from ..expressions.arrays import to_numpy
from ..families.array_code.graph_array import GraphArray
from ..families.array_code.symbolic_size import NotInGraphError, SymbolicSize
from ..ir.translate_errors import name_of_function
from ..ir.variable import SDVariable
from .functions import NumpyFunctions

#: Ufuncs that are operators of variables: from the left, and from the right.
_OPERATORS = {
    np.add: ("__add__", "__radd__"), np.subtract: ("__sub__", "__rsub__"), np.multiply: ("__mul__", "__rmul__"),
    np.true_divide: ("__truediv__", "__rtruediv__"), np.floor_divide: ("__floordiv__", "__rfloordiv__"),
    np.remainder: ("__mod__", "__rmod__"), np.power: ("__pow__", "__rpow__"), np.matmul: ("__matmul__", "__rmatmul__"),
    np.less: ("__lt__", "__gt__"), np.less_equal: ("__le__", "__ge__"), np.greater: ("__gt__", "__lt__"),
    np.greater_equal: ("__ge__", "__le__")}

#: Those of them that DL4J's ops do otherwise with whole numbers, or not at all.
_OF_FLOATING = (np.true_divide, np.matmul)

#: Ufuncs of one floating variable that are ops of ``sd.math``.
_OPS = {
    "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin",
    "arccos": "acos", "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "sqrt": "sqrt", "square": "square", "reciprocal": "reciprocal", "floor": "floor", "ceil": "ceil",
    "absolute": "abs", "negative": "neg"}

#: Ufuncs of bits, and DL4J's names for them: of truth values in ``sd.math``, of whole numbers in ``sd.bitwise``.
_BITS = {"bitwise_and": ("and_", "and_"), "bitwise_or": ("or_", "or_"), "bitwise_xor": ("xor", "xor"), "invert": ("not_", "toggle_bits")}


class OnVariables:
    """A graph as the recorder of :class:`~.functions.NumpyFunctions`: arrays from outside are constants of it.

    Parameters
    ----------
    sd : SameDiff
        The graph.
    """

    def __init__(self, sd: Any) -> None:
        self.sd = sd
        self.xp = NumpyFunctions(self)

    def capture(self, array: Any) -> Any:
        """The constant of an array."""
        return self.sd.constant(np.array(to_numpy(array)))

    def note(self, error: NotInGraphError) -> None:
        """Nothing: what code does with an error is its own."""

    def looks_at(self, part: Any, source: Any, places: Any) -> None:
        """Nothing: no variable changes in place, so none has to follow another one's memory."""

    def inner(self, value: Any) -> Any:
        """Graph arrays in place of variables."""
        if isinstance(value, SDVariable):
            if value.sd is not self.sd:
                raise GraphError(f"{value!r} belongs to another graph; a call takes variables of one")
            return self.xp.wrap(value)
        if type(value) in (tuple, list):
            return type(value)(map(self.inner, value))
        return value

    def outer(self, value: Any) -> Any:
        """Variables in place of graph arrays."""
        if isinstance(value, SymbolicSize):
            value = value.number()
        if isinstance(value, GraphArray):
            return value.variable
        if hasattr(type(value), "_fields"):
            return type(value)(*map(self.outer, value))
        return type(value)(map(self.outer, value)) if type(value) in (tuple, list) else value

    def call(self, function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """The result of a function; GraphError where it has no node."""
        if options.get("out") is not None:
            raise GraphError(f"{name_of_function(function)} with out=: variables have no memory to write to; use its result")
        found = _own(function, args) if isinstance(function, np.ufunc) and not any(v is not None for v in options.values()) else None
        if found is not None:
            return found
        try:
            with self.sd.tables.all_or_nothing():
                given = {k: self.inner(v) for k, v in options.items() if k != "out"}
                return self._identified(self.outer(self.xp.call(function, self.inner(tuple(args)), given)), args)
        except NotInGraphError as error:
            raise GraphError(f"{name_of_function(function)} on variables of a graph: {error}") from None

    def item(self, variable: SDVariable, index: Any) -> Any:
        """``variable[index]`` with arrays among the indices."""
        try:
            with self.sd.tables.all_or_nothing():
                return self.outer(self.xp.getitem(self.xp.wrap(variable), self.inner(index)))
        except NotInGraphError as error:
            raise GraphError(f"index of {variable!r}: {error}") from None

    def _identified(self, made: Any, args: Sequence[Any]) -> Any:
        """A result that is an argument itself, as a variable of its own."""
        return self.sd.call("base", "identity", made) if isinstance(made, SDVariable) and any(made is a for a in args) else made


def _own(ufunc: np.ufunc, args: Sequence[Any]) -> Any:
    """The op of variables that means the same; None where there is none, or types are to be joined as in NumPy."""
    variables = [a for a in args if isinstance(a, SDVariable)]
    if len({v.dtype for v in variables}) > 1:
        return None
    if ufunc.__name__ in _BITS and not variables[0].dtype.is_floating:
        return _of_bits(ufunc, args, variables[0])
    if variables[0].dtype is DataType.BOOL:
        return None
    sides = _OPERATORS.get(ufunc)
    if ufunc in _OF_FLOATING and not variables[0].dtype.is_floating:
        return None
    if sides is not None and len(args) == 2:
        first = args[0]
        return getattr(first, sides[0])(args[1]) if isinstance(first, SDVariable) else getattr(args[1], sides[1])(first)
    name = _OPS.get(ufunc.__name__)
    return variables[0].sd.call("math", name, variables[0]) if name and len(args) == 1 and variables[0].dtype.is_floating else None


def _of_bits(ufunc: np.ufunc, args: Sequence[Any], variable: SDVariable) -> Any:
    """DL4J's op of truth values or of bits; None where NumPy would join the types of a variable and what stands beside it."""
    kind, operands = variable.dtype, []
    limits = None if kind is DataType.BOOL else np.iinfo(kind.numpy)
    for a in args:
        if isinstance(a, SDVariable):
            operands.append(a)
            continue
        array = np.asarray(a)
        if array.dtype != kind.numpy and not (limits and isinstance(a, int) and limits.min <= a <= limits.max):
            return None
        operands.append(variable.sd.constant(array.astype(kind.numpy)))
    of_truth, of_whole = _BITS[ufunc.__name__]
    return variable.sd.call(*(("math", of_truth) if kind is DataType.BOOL else ("bitwise", of_whole)), *operands)
