"""Comparisons: element by element (``gt``, ``eq`` …), by a condition, and of whole arrays (``equals``)."""
from __future__ import annotations

import operator
from typing import Any, ClassVar

import numpy as np

from ...base.datatype import DataType
from ...errors import ShapeError
from ...expressions.conditions import TESTS, Condition
from ...expressions.scalar import promoted
from ...families.array_code.symbolic_size import may_be_equal
from ...ir.translate_errors import refusing
from ..computing import apply, built_in
from ..orders import arranged, order_like
from ..pairs import (
    Method,
    cast,
    described,
    is_array,
    of_type,
    operand,
    put_into,
    refuse_bool,
    refuse_fraction,
    type_of,
)

#: How far apart elements of equal arrays may lie.
EPS = 1e-5


def _equal_sizes(x: Any, y: Any) -> bool:
    """Whether shapes are the same; an open size says itself that it is not known."""
    return len(x.shape) == len(y.shape) and all(
        (type(a) is type(b) and a == b) or operator.index(a) == operator.index(b) for a, b in zip(x.shape, y.shape))


def _comparison(name: str, op_id: str, sign: str, of_truth: bool = False) -> Method:
    def method(self: Any, other: Any) -> Any:
        if not of_truth:
            refuse_bool(self, name)
        other = operand(other)
        stretched = op_id != "not_equals" and isinstance(self, np.ndarray) and isinstance(other, np.ndarray) and self.shape != other.shape
        if not is_array(other):
            refuse_fraction(self, other, name)
            other = of_type(other, type_of(self))
        kind = DataType.of(promoted((self.dtype, other.dtype)))
        made = apply(built_in(op_id), cast(self, kind), cast(other, kind))
        return arranged(made, "C" if stretched else order_like(self, made))
    return described(method, name, f"True where x {sign} y; y is a number or an array, which is broadcast.")


@refusing("INDArray")
class Comparing:
    """Truth values of elements, and questions about all of them."""

    __slots__ = ()

    gt: ClassVar[Method] = _comparison("gt", "greater", ">")
    lt: ClassVar[Method] = _comparison("lt", "less", "<")
    gte: ClassVar[Method] = _comparison("gte", "greater_equal", ">=")
    lte: ClassVar[Method] = _comparison("lte", "less_equal", "<=")
    eq: ClassVar[Method] = _comparison("eq", "equals", "==", of_truth=True)
    neq: ClassVar[Method] = _comparison("neq", "not_equals", "!=", of_truth=True)
    eps: ClassVar[Method] = _comparison("eps", "eps", "equals up to rounding")

    def is_nan(self: Any) -> Any:
        """True where an element is NaN."""
        return _of_floats(self, "isnan")

    def is_infinite(self: Any) -> Any:
        """True where an element is infinite."""
        return _of_floats(self, "isinf")

    is_na_n = is_nan

    def cond(self: Any, condition: Condition) -> Any:
        """True where a condition holds."""
        return arranged(apply(built_in("match_condition_transform", condition=condition), self), "C")

    def match(self: Any, other: Any, condition: Condition) -> Any:
        """True where elements and those of ``other``, an array or a number, meet as the condition says; its own value does not count.

        ``a.match(b, Conditions.lessThan(0))`` is a < b.
        """
        other = operand(other)
        if is_array(other):
            _same_shape(self, other, "match")
        x, y = self, of_type(other, type_of(self))
        if x.dtype.kind == "b":                         # 1 and 0
            x, y = cast(x, DataType.INT), cast(y, DataType.INT)
        return arranged(TESTS[condition.mode](np, x, y, condition.eps), "C")

    def scan(self: Any, condition: Condition) -> int:
        """Number of elements that fulfil a condition."""
        return int(np.count_nonzero(self.cond(condition)))

    def get_where(self: Any, other: Any, condition: Condition) -> Any:
        """The elements, as a vector, where this array and ``other`` meet as the condition says (see :meth:`match`)."""
        return self[self.match(other, condition)]

    def replace_where(self: Any, values: Any, condition: Condition) -> Any:
        """Give elements that fulfil a condition the values at their places in an array, or a number. In place."""
        return self._chosen(self, values, condition, "replaceWhere")

    def assign_if(self: Any, values: Any, condition: Condition) -> Any:
        """Take those elements of an array that fulfil a condition. In place."""
        return self._chosen(values, values, condition, "assignIf")

    def _chosen(self: Any, tested: Any, values: Any, condition: Condition, what: str) -> Any:
        values = operand(values)
        if is_array(values):
            _same_shape(self, values, what)
        values = of_type(values, type_of(self))
        chosen = apply(built_in("match_condition_transform", condition=condition), tested)
        return put_into(self, apply(built_in("Where"), values, self, chosen), what)

    def put_where(self: Any, other: Any, values: Any, condition: Condition) -> Any:
        """A copy with ``values`` where this array and ``other`` meet as the condition says (see :meth:`match`)."""
        return self.put_where_with_mask(self.match(other, condition), values)

    def put_where_with_mask(self: Any, mask: Any, values: Any) -> Any:
        """A copy with the elements of an array, or a number, where ``mask`` is not 0."""
        _same_shape(self, mask, "putWhereWithMask")
        return apply(built_in("Where"), of_type(operand(values), type_of(self)), self, cast(mask, DataType.BOOL))

    def none(self: Any) -> bool:
        """True when every element is 0 or False."""
        return not np.asarray(self).any()

    # Whole arrays

    def equal_shapes(self: Any, other: Any) -> bool:
        """True when the shapes are the same."""
        return _equal_sizes(self, other)

    def equals(self: Any, other: Any) -> bool:
        """True for an array of the same type and shape whose elements differ by at most 1e-5; NaN equals nothing.

        Where there are several, elements above 1 may differ by that share of the larger one; whole numbers may not.
        """
        return bool(self.equals_with_eps(other, EPS))

    def equals_with_eps(self: Any, other: Any, eps: float) -> bool:
        """The same with another tolerance."""
        if not is_array(other) or self.dtype != other.dtype or not _equal_sizes(self, other):
            return False
        x, y = np.asarray(self), np.asarray(other)
        if x.dtype.kind in "bO":
            return bool((x == y).all())
        with np.errstate(all="ignore"):
            larger = np.maximum(1, np.maximum(abs(x), abs(y))) if x.dtype.kind == "f" and x.size > 1 else 1
            same = (x == y) | (np.isfinite(x) & np.isfinite(y) & (abs(x.astype(np.float64) - y) <= eps * larger))
            return bool(same.all())


def _of_floats(x: Any, op_id: str) -> Any:
    return apply(built_in(op_id), x if type_of(x).is_floating else cast(x, DataType.FLOAT))


def _same_shape(x: Any, other: Any, what: str) -> None:
    if not may_be_equal(x.shape, other.shape):
        raise ShapeError(f"{what} needs arrays of one shape, got {tuple(x.shape)} and {tuple(other.shape)}")
