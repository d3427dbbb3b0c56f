"""Sorted and reversed arrays, their rows, and arrays of other shapes."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arrays import INDArray
from ..arrays.default_type import default_type
from ..arrays.numpy_calls import call
from ..arrays.orders import arranged, order_like
from ..arrays.plain_arguments import truth, wholes
from ..base.enums import UpdateOp
from ..base.spec import normalize_axis
from ..errors import AxisError, GraphError, ShapeError
from ..ir.signature import coerce
from ..ir.translate_errors import refusing
from .arguments import axes_of, flat, is_order
from .running import run, written
from .settings import Settings


def _array(value: Any) -> Any:
    return value if hasattr(value, "dup") else INDArray.of(value)


def _positions(array: Any, axis: int, ascending: bool) -> Any:
    axis, ascending = normalize_axis(axis, len(tuple(array.shape))), truth(ascending, "ascending")
    return call(np.argsort, array if ascending else call(np.negative, array), axis=axis, kind="stable")


#: Ops of ``scatterUpdate``, and those that make the update first.
_SCATTERED = {UpdateOp.ADD: "scatter_add", UpdateOp.SUBTRACT: "scatter_sub", UpdateOp.MULTIPLY: "scatter_mul",
              UpdateOp.DIVIDE: "scatter_div", UpdateOp.ASSIGN: "scatter_update"}
_REVERSED = {UpdateOp.REVERSE_SUBTRACT: "reversesubtract", UpdateOp.REVERSE_DIVIDE: "reversedivide"}


@refusing("Nd4j")
class Arranging:
    """Sorted and reversed arrays, their rows, and arrays of other shapes."""

    @staticmethod
    def scatter_update(how: Any, array: Any, indices: Any, updates: Any, *axes: Any) -> INDArray:
        """Change slices of an array, in place: slice ``indices[i]`` by slice i of the updates.

        Parameters
        ----------
        how : UpdateOp or str
            ADD, SUBTRACT, MULTIPLY, DIVIDE, REVERSE_SUBTRACT, REVERSE_DIVIDE or ASSIGN.
        array : INDArray
            It is written into.
        indices : INDArray or list of int
            Numbers of slices, in c order of the other axes; a slice may come several times.
        updates : INDArray
            As the array, with a slice for each index.
        *axes : int
            The axes of a slice.

        Examples
        --------
        >>> from dl4py import Nd4j
        >>> a = Nd4j.zeros(3, 2)
        >>> Nd4j.scatterUpdate("ADD", a, [2, 2], Nd4j.ones(2, 2), 1).tolist()
        [[0.0, 0.0], [0.0, 0.0], [2.0, 2.0]]
        """
        return written(_scattered(coerce(UpdateOp, how, "the operation"), array, indices, updates, axes), array)  # type: ignore[no-any-return]

    @staticmethod
    def sort(array: Any, *how: Any) -> INDArray:
        """Sort in place: ``sort(a, ascending)`` all elements in the order of the array, ``sort(a, axis, ascending)`` along an axis.

        Examples
        --------
        >>> from dl4py import Nd4j
        >>> Nd4j.sort(Nd4j.create([3, 1, 2]), False).tolist()
        [3.0, 2.0, 1.0]
        """
        *axis, ascending = how
        truth(ascending, "ascending")
        if len(axis) > 1:
            raise GraphError(f"Nd4j.sort takes an array, one axis (or none) and whether elements ascend; got axes {axis}")
        if axis:
            found = call(np.take_along_axis, array, _positions(array, axis[0], ascending), axis=axis[0])
        else:
            found, shape = call(np.sort, array, axis=None), tuple(array.shape)
            found = found if ascending else found[::-1]
            columns = (array if hasattr(array, "ordering") else INDArray.of(array)).ordering() == "f"
            found = found.reshape(shape[::-1]).T if columns else found.reshape(shape)
        return written(found, array)  # type: ignore[no-any-return]

    @staticmethod
    def sort_with_indices(array: Any, axis: int, ascending: bool) -> list[INDArray]:
        """Sort in place along an axis; returns where the elements were, in the default type, and the array."""
        rising, ascending = _positions(array, axis, True), truth(ascending, "ascending")
        at = rising if ascending else call(np.flip, rising, axis)
        written(call(np.take_along_axis, array, at, axis=axis), array)
        return [call(np.copy, at, order="C").astype(default_type().numpy), array]

    @staticmethod
    def sort_rows(array: Any, column: int, ascending: bool) -> INDArray:
        """Order the rows of a matrix by the elements of a column."""
        x = array if hasattr(array, "dup") else INDArray.of(array)
        return x[_positions(x[:, column], 0, ascending)]  # type: ignore[no-any-return]

    @staticmethod
    def sort_columns(array: Any, row: int, ascending: bool) -> INDArray:
        """Order the columns of a matrix by the elements of a row."""
        x = array if hasattr(array, "dup") else INDArray.of(array)
        return x[:, _positions(x[row], 0, ascending)].dup()  # type: ignore[no-any-return]

    @staticmethod
    def reverse(array: Any) -> INDArray:
        """Reverse all elements in place, first and last exchanged; returns the array."""
        shape = tuple(array.shape)
        return written(run("reshape", run("reverse", run("reshape", array, shape=(-1,)), dimensions=(0,)), shape=shape), array)  # type: ignore[no-any-return]

    @staticmethod
    def rot90(array: Any) -> None:
        """Reverse the rows of a matrix in place, which is what DL4J does under this name; NumPy's ``rot90`` turns it."""
        if len(tuple(array.shape)) != 2:
            raise ShapeError(f"Nd4j.rot90 takes a matrix; got shape {tuple(array.shape)}")
        written(call(np.flip, array, 0).dup(), array)

    @staticmethod
    def roll_axis(array: Any, axis: int, start: int = 0) -> INDArray:
        """Move an axis before the one that stands at ``start``; a view."""
        order = list(range(len(tuple(array.shape))))
        axis = normalize_axis(axis, len(order))
        order.remove(axis)
        order.insert(start if start <= axis else start - 1, axis)
        return _array(array).permute(*order)  # type: ignore[no-any-return]

    @staticmethod
    def expand_dims(array: Any, axis: int) -> INDArray:
        """Insert an axis of size 1, in a view; ``-1`` stands before the last axis, as in DL4J."""
        array = _array(array)
        sizes = list(array.shape)
        if not -max(len(sizes), 1) <= axis <= len(sizes):
            raise AxisError(f"Nd4j.expandDims: axis {axis} is out of range for an array of shape {tuple(sizes)}")
        return call(np.expand_dims, array, axis if axis >= 0 else axis % max(len(sizes), 1))  # type: ignore[no-any-return]

    @staticmethod
    def squeeze(array: Any, axis: int) -> INDArray:
        """Leave out an axis of size 1, in a view."""
        array = _array(array)
        axis = normalize_axis(axis, len(array.shape))
        if isinstance(array.shape[axis], int) and array.shape[axis] != 1:
            raise ShapeError(f"Nd4j.squeeze leaves out an axis of size 1; axis {axis} of an array of shape {tuple(array.shape)} "
                             "has another size")
        return call(np.squeeze, array, axis)  # type: ignore[no-any-return]

    @staticmethod
    def strip_ones(array: Any) -> INDArray:
        """Leave out all axes of size 1; vectors, rows and columns stay as they are, as in DL4J."""
        if len(tuple(array.shape)) < 3:
            return _array(array)  # type: ignore[no-any-return]
        return run("reshape", array, shape=tuple(n for n in array.shape if n != 1))  # type: ignore[no-any-return]

    @staticmethod
    def pull_rows(array: Any, axis: int, *rows: Any) -> INDArray:
        """Copy some rows of a matrix (``axis`` 1, the axis of what is copied) or some columns (``axis`` 0).

        An array of the result's shape may stand before ``axis`` as the target, an order ``"c"`` or ``"f"`` behind the numbers.
        """
        if not isinstance(axis, (int, np.integer)):
            target, axis, *rest = axis, *rows
            return written(Arranging.pull_rows(array, axis, *rest), target)  # type: ignore[no-any-return]
        given = flat(rows)
        order = given.pop() if given and is_order(given[-1]) else "c"
        if not given or axis not in (0, 1):
            raise GraphError(f"Nd4j.pullRows takes an array, 1 and the rows to copy, or 0 and the columns; got axis {axis} and {given}")
        found = run("gather", array, indices=wholes(given, "a row"), axis=1 - axis)
        return found if order == "c" else found.dup("f")  # type: ignore[no-any-return]

    @staticmethod
    def where(condition: Any, x: Any = None, y: Any = None) -> list[INDArray]:
        """``[x where the condition holds, else y]``; without both, the positions where it holds, a vector for each axis."""
        if x is None and y is None:
            return list(call(np.nonzero, condition))
        if x is None or y is None:
            raise GraphError("Nd4j.where takes what to put where the condition holds and where not, or neither")
        found = run("where_np", x, y, condition)
        return [arranged(found, order_like(x, found))]

    @staticmethod
    def shape(array: Any) -> list[int]:
        """The sizes."""
        return [int(n) for n in array.shape]

    @staticmethod
    def copy(source: Any, target: Any) -> None:
        """Write the elements of one array into another."""
        written(source, target)

    @staticmethod
    def clear_nans(array: Any) -> None:
        """Write ``EPS_THRESHOLD`` where elements are NaN."""
        if array.dtype.kind == "f":
            written(call(np.where, call(np.isnan, array), array.dtype.type(Settings.EPS_THRESHOLD), array), array)


def _scattered(how: UpdateOp, array: Any, indices: Any, updates: Any, axes: Any) -> Any:
    """What :meth:`Arranging.scatter_update` writes into the array."""
    rank = len(tuple(array.shape))
    inner = sorted(normalize_axis(a, rank) for a in axes_of(axes))
    order = [*(a for a in range(rank) if a not in inner), *inner]
    places = np.asarray(wholes(indices, "an index"), np.int32)
    width = math.prod(array.shape[a] for a in inner)
    moved, changes = (call(np.transpose, a, order) for a in (array, _array(updates)))
    rows, changes = (call(np.reshape, a, (-1, width)) for a in (moved, changes))
    if int(changes.shape[0]) != len(places):
        raise ShapeError(f"Nd4j.scatterUpdate takes a slice along axes {tuple(inner)} for each of {len(places)} indices; updates of "
                         f"shape {tuple(updates.shape)} have {changes.shape[0]}")
    if how in _REVERSED:
        changes, how = run(_REVERSED[how], run("gather", rows, places), changes), UpdateOp.ASSIGN
    found = call(np.reshape, run(_SCATTERED[how], rows, places, changes), tuple(moved.shape))
    return call(np.transpose, found, [order.index(a) for a in range(rank)])
