"""Sizes that are not known while array code adds nodes: numbers in formulas, whole numbers in shapes."""
from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base.datatype import DataType, is_floating
from ...base.source_line import asked_by_others, user_line
from ...expressions.tracing import TraceError
from ..sizes import WHOLE, SizeExpr, axis_size


class NotInGraphError(TraceError):
    """Array code that cannot be written as graph nodes: it needs values, or a function without a node."""


class SymbolicSize:
    """A size that is not known yet, or whole arithmetic of some: ``x.shape[0] * heads``.

    To code of others it is an int. Comparisons give truth values of the graph, but for sizes that are equal, or differ, whatever they are.

    Parameters
    ----------
    arrays : whose sizes it is made of
    formula : how, see :data:`~.sizes.SizeExpr`; arrays are counted from 0
    """

    def __init__(self, arrays: tuple[Any, ...], formula: SizeExpr) -> None:
        self.arrays, self.formula = arrays, formula

    @property  # type: ignore[misc]  # read alone
    def __class__(self) -> type:  # type: ignore[override]  # what it stands for
        return int if asked_by_others(1) else SymbolicSize

    @classmethod
    def of(cls, array: Any, axis: int) -> SymbolicSize:
        """The size of one axis of an array."""
        return cls((array,), ("axis", 0, axis))

    def number(self, beside: Any = None) -> Any:
        """A scalar graph array of the type that a Python int takes on; LONG where that is too small for sizes.

        It is the type of the array ``beside`` it, or else of the (first) array whose size it is.
        """
        own = (self.arrays[0] if getattr(beside, "dtype", np.bool_) == np.bool_ else beside).dtype
        return self._number(self.formula, DataType.of(own) if is_floating(own) or own in (np.int32, np.uint32) else DataType.LONG)

    def whole(self) -> Any:
        """A scalar graph array of type LONG."""
        return self._number(self.formula, DataType.LONG)

    def _number(self, formula: SizeExpr, data_type: DataType) -> Any:
        if isinstance(formula, int):
            return formula
        kind, left, right = formula
        if kind == "axis":
            return self.arrays[left].like(axis_size(self.arrays[left].variable, right, data_type))
        return WHOLE[kind](self._number(left, data_type), self._number(right, data_type))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if any(map(knows_sizes, inputs)):
            return NotImplemented
        return getattr(ufunc, method)(*[n.whole() if isinstance(n, SymbolicSize) else n for n in inputs], **options)

    def __index__(self) -> int:
        line = user_line()
        where = f" (at {line})" if line else ""
        raise self.arrays[0].xp.noted(NotInGraphError(
            f"a size of {self.arrays[0]!r} is not known while the graph is built, and the code needs it as an int{where}"))

    __int__ = __bool__ = __index__

    def __pos__(self) -> SymbolicSize:
        return self

    __trunc__ = __floor__ = __ceil__ = __pos__

    def __round__(self, digits: int | None = None) -> Any:
        return self if digits is None or digits >= 0 else round(self.__index__(), digits)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other  # type: ignore[operator]  # set below

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        self.__index__()

    def __neg__(self) -> Any:
        return 0 - self  # type: ignore[operator]  # set below

    def __float__(self) -> float:
        return float(self.__index__())

    def __eq__(self, other: object) -> Any:
        if isinstance(other, SymbolicSize):
            apart = _sum_of(self - other)                   # type: ignore[operator]  # set below
            if not apart or apart.keys() == {()}:
                return not apart
        return self._compared("eq", other)

    def __ne__(self, other: object) -> Any:
        equal = self == other
        return not equal if isinstance(equal, bool) else self._compared("ne", other)

    def __hash__(self) -> int:
        return hash(self.__index__())

    def _compared(self, kind: str, other: Any) -> Any:
        """With another number, whole ones exactly; with an array in its type."""
        if knows_sizes(other):
            return NotImplemented
        if isinstance(other, SymbolicSize):
            other = other.whole()
        elif not hasattr(other, "dtype") and not isinstance(other, (int, float)):
            return NotImplemented
        own = self.number(other) if getattr(other, "shape", ()) else self.whole()
        return getattr(operator, kind)(own, other)

    def __repr__(self) -> str:
        return f"<size {_text(self.formula, [a.variable.name() for a in self.arrays])}>"


#: Signs of whole arithmetic.
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%"}


def _text(formula: SizeExpr, names: Sequence[str]) -> str:
    if isinstance(formula, int):
        return str(formula)
    kind, left, right = formula
    if kind == "axis":
        return f"{names[left]}.shape[{right}]"
    return f"({_text(left, names)} {_SIGNS[kind]} {_text(right, names)})"


#: Products of what is not known, sorted, with their factors: sizes are equal where these are. The empty product is 1.
_Sum = dict[tuple[Any, ...], int]


def _sum_of(size: Any) -> _Sum:
    """A whole number or size as a sum of products of sizes of axes, quotients and remainders."""
    if isinstance(size, int):
        return {(): size} if size else {}
    names = [a.variable.name() for a in size.arrays]

    def of(formula: SizeExpr) -> _Sum:
        if isinstance(formula, int):
            return {(): formula} if formula else {}
        kind, left, right = formula
        if kind == "axis":
            return {((kind, names[left], right),): 1}
        if kind in ("floordiv", "mod"):
            return {((kind, repr(sorted(of(left).items())), repr(sorted(of(right).items()))),): 1}
        found: _Sum = {}
        if kind == "mul":
            pairs = [((*p, *q), m * n) for p, m in of(left).items() for q, n in of(right).items()]
        else:
            pairs = [*of(left).items(), *((q, n if kind == "add" else -n) for q, n in of(right).items())]
        for product, factor in pairs:
            product = tuple(sorted(product))
            found[product] = found.get(product, 0) + factor
        return {p: n for p, n in found.items() if n}
    return of(size.formula)


def knows_sizes(other: Any) -> bool:
    """Whether an operand stands above graph arrays, and takes sizes beside itself: a recorded array."""
    return bool(getattr(other, "__array_priority__", 0) > 1000)


def are_equal(size: Any, other: Any) -> bool:
    """Whether two sizes are equal, whatever those are that are not known."""
    known = size == other
    return known if isinstance(known, bool) else False


def are_alike(shape: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether two shapes are equal, whatever their open sizes are."""
    return len(shape) == len(other) and all(map(are_equal, shape, other))


def may_be_equal(shape: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether two shapes are of one rank, and no two sizes that are known differ; a graph may leave others open."""
    return len(shape) == len(other) and not any(m != n for m, n in zip(shape, other) if isinstance(m, int) and isinstance(n, int))


def gathered(sizes: Any, known: Sequence[Any] = ()) -> tuple[tuple[SizeExpr, ...], list[Any]]:
    """Sizes, open or not, as formulas of the sizes of one list of arrays, which begins with the ``known`` ones."""
    arrays = list(known)

    def numbered(formula: SizeExpr, own: tuple[Any, ...]) -> SizeExpr:
        if isinstance(formula, int):
            return formula
        kind, left, right = formula
        if kind != "axis":
            return kind, numbered(left, own), numbered(right, own)
        place = next((i for i, a in enumerate(arrays) if a.variable is own[left].variable), len(arrays))
        if place == len(arrays):
            arrays.append(own[left])
        return kind, place, right
    return tuple(numbered(n.formula, n.arrays) if isinstance(n, SymbolicSize) else operator.index(n) for n in sizes), arrays


def _install() -> None:
    def whole(kind: str, swap: bool) -> Callable[[Any, Any], Any]:
        def call(self: SymbolicSize, other: Any) -> Any:
            if knows_sizes(other):
                return NotImplemented
            if not isinstance(other, (int, SymbolicSize)) or isinstance(other, bool):
                left, right = (other, self.number(other)) if swap else (self.number(other), other)
                return getattr(operator, kind)(left, right)
            pair = [(n.formula, n.arrays) if isinstance(n, SymbolicSize) else (n, ()) for n in ((other, self) if swap else (self, other))]
            formulas, arrays = gathered([SymbolicSize(a, f) for f, a in pair])
            return SymbolicSize(tuple(arrays), (kind, formulas[0], formulas[1]))
        return call

    def number(kind: str, swap: bool) -> Callable[[Any, Any], Any]:
        def call(self: SymbolicSize, other: Any) -> Any:
            if knows_sizes(other):
                return NotImplemented
            other = other.number() if isinstance(other, SymbolicSize) else other
            own = self.number(other)
            return getattr(operator, kind)(*((other, own) if swap else (own, other)))
        return call

    def comparison(kind: str) -> Callable[[Any, Any], Any]:
        return lambda self, other: self._compared(kind, other)

    for kind in ("lt", "le", "gt", "ge"):
        setattr(SymbolicSize, f"__{kind}__", comparison(kind))
    for kinds, make in ((WHOLE, whole), (("truediv", "pow"), number)):
        for kind in kinds:
            setattr(SymbolicSize, f"__{kind}__", make(kind, False))
            setattr(SymbolicSize, f"__r{kind}__", make(kind, True))


_install()
