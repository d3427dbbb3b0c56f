"""``BooleanIndexing``: elements of arrays chosen by conditions."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import INDArray
from ..base.java_names import BooleanIndexingNames
from ..expressions.conditions import MODES, Condition
from ..ir.translate_errors import refusing
from .arguments import axes_of
from .running import run


@refusing("BooleanIndexing")
class BooleanIndexing(BooleanIndexingNames):
    """Elements of arrays chosen by conditions such as ``Conditions.greaterThan(0)``.

    Examples
    --------
    >>> from dl4py.samediff import BooleanIndexing, Conditions, INDArray
    >>> a = INDArray.of([1.0, -2.0, 3.0])
    >>> BooleanIndexing.firstIndex(a, Conditions.lessThan(0)).getInt(0)
    1
    >>> BooleanIndexing.replaceWhere(a, 0.0, Conditions.lessThan(0))
    >>> a.tolist()
    [1.0, 0.0, 3.0]
    """

    @staticmethod
    def and_(array: Any, condition: Condition, *axes: Any) -> Any:
        """Whether every element fulfils a condition; along axes a list of such answers."""
        held = np.asarray(INDArray.of(array).cond(condition))
        return np.all(held, _axes(axes)).ravel().tolist() if axes else bool(held.all())

    @staticmethod
    def or_(array: Any, condition: Condition, *axes: Any) -> Any:
        """Whether any element fulfils a condition; along axes a list of such answers."""
        held = np.asarray(INDArray.of(array).cond(condition))
        return np.any(held, _axes(axes)).ravel().tolist() if axes else bool(held.any())

    @staticmethod
    def assign_if(to: INDArray, values: INDArray, condition: Condition) -> None:
        """Give an array those elements of another one that fulfil a condition. In place."""
        to.assign_if(values, condition)

    @staticmethod
    def replace_where(to: INDArray, values: Any, condition: Condition) -> None:
        """Give elements that fulfil a condition the values at their places in another array, or a number. In place."""
        to.replace_where(values, condition)

    @staticmethod
    def apply_where(to: INDArray, condition: Condition, function: Any) -> None:
        """Give elements that fulfil a condition what a function makes of them, or a number. In place.

        Parameters
        ----------
        to : INDArray
            The array.
        condition : Condition
            Which elements.
        function : number, callable, or object with ``apply`` such as Value and Zero
            Is given each of them.
        """
        each = getattr(function, "apply", function)
        chosen = np.asarray(to.cond(condition), bool)
        to[chosen] = [each(number) for number in np.asarray(to)[chosen].tolist()] if callable(each) else each

    @staticmethod
    def choose_from(arrays: Sequence[Any], *how: Any) -> INDArray:
        """The elements of the first array that fulfil a condition, as a vector: ``chooseFrom(arrays, condition)``.

        Each is compared with the element of a second array in its place, where there is one. ``chooseFrom(arrays, values, modes,
        condition)`` takes the value to compare with, and the number of the condition, from lists that are not empty.
        """
        *lists, condition = how
        values, modes = lists or ((), ())
        if values:
            condition = replace(condition, value=float(values[0]))
        if modes:
            condition = replace(condition, mode=MODES[modes[0]])
        first, *second = map(INDArray.of, arrays)
        return first[first.match(second[0], condition) if second else first.cond(condition)]  # type: ignore[no-any-return]

    @staticmethod
    def apply_mask(array: INDArray, mask: INDArray) -> INDArray:
        """The array times a mask."""
        return array.mul(mask)  # type: ignore[no-any-return]

    @staticmethod
    def apply_mask_in_place(array: INDArray, mask: INDArray) -> INDArray:
        """The array times a mask. In place."""
        return array.muli(mask)  # type: ignore[no-any-return]

    @staticmethod
    def first_index(array: Any, condition: Condition, *axes: Any) -> INDArray:
        """The first position, in c order, whose element fulfils a condition, -1 where none does; along axes one for each slice."""
        return _index("first_index", array, condition, axes)

    @staticmethod
    def last_index(array: Any, condition: Condition, *axes: Any) -> INDArray:
        """The last position, in c order, whose element fulfils a condition, -1 where none does; along axes one for each slice."""
        return _index("last_index", array, condition, axes)


def _index(op_id: str, array: Any, condition: Condition, axes: Any) -> INDArray:
    given, along = (INDArray.of(array), axes_of(axes)) if axes else (INDArray.of(array).ravel(), (0,))
    return run(op_id, given, condition=condition, dimensions=along)  # type: ignore[no-any-return]


def _axes(axes: Any) -> tuple[int, ...]:
    return tuple(axes_of(axes))
