"""Arrays put together, repeated, padded and taken apart."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arrays import INDArray
from ..arrays.numpy_calls import call
from ..arrays.orders import arranged, order_of_first
from ..arrays.pairs import is_array
from ..base.enums import PadMode
from ..base.spec import normalize_axis
from ..errors import ShapeError
from ..families.array_code.symbolic_size import may_be_equal
from ..ir.signature import coerce
from ..ir.translate_errors import refusing
from .arguments import arrays_of, axes_of, flat, is_open, is_order, is_size, sizes_of
from .running import plain_number, run, written


def _rank(x: Any) -> int:
    return len(tuple(x.shape))


@refusing("Nd4j")
class Joining:
    """Arrays put together, repeated, padded and taken apart."""

    @staticmethod
    def concat(axis: int, *arrays: Any) -> INDArray:
        """Put arrays one after the other along an axis; the result is in column order where the first of them is.

        Examples
        --------
        >>> from dl4py import Nd4j
        >>> Nd4j.concat(0, Nd4j.zeros(1, 2), Nd4j.ones(1, 2)).tolist()
        [[0.0, 0.0], [1.0, 1.0]]
        """
        given = arrays_of(arrays)
        return arranged(run("concat", *given, dimension=axis), order_of_first(given))  # type: ignore[no-any-return]

    special_concat = concat

    @staticmethod
    def hstack(*arrays: Any) -> INDArray:
        """Put arrays side by side: along axis 1, vectors along their only one."""
        given = arrays_of(arrays)
        return Joining.concat(0 if all(_rank(a) == 1 for a in given) else 1, given)

    @staticmethod
    def vstack(*arrays: Any) -> INDArray:
        """Put arrays below each other: along axis 0; vectors become rows."""
        given = arrays_of(arrays)
        return Joining.stack(0, given) if all(_rank(a) == 1 for a in given) else Joining.concat(0, given)

    @staticmethod
    def stack(axis: int, *arrays: Any) -> INDArray:
        """Put arrays of one shape along a new axis; the result is in column order where the first of them is."""
        given = arrays_of(arrays)
        return arranged(run("stack", *given, axis=axis), order_of_first(given))  # type: ignore[no-any-return]

    @staticmethod
    def pile(*arrays: Any) -> INDArray:
        """Put arrays of one shape along a new first axis."""
        return Joining.stack(0, arrays_of(arrays))

    @staticmethod
    def to_flattened(*arrays: Any) -> INDArray:
        """Put the elements of arrays into one vector, each array in c order, or in an order that stands in front.

        Parameters
        ----------
        *arrays : "c" or "f" (optional), then arrays or a list of them
            The order in which the elements of each array are taken, row by row by default, and the arrays.
        """
        order = "c"
        if is_order(arrays[0]):
            order, *arrays = arrays  # type: ignore[assignment]
        given = arrays_of(arrays)
        turned = given if order == "c" else [run("permute", a, dimensions=tuple(reversed(range(_rank(a))))) for a in given]
        rows = [run("reshape", a, shape=(-1,)) for a in turned]
        return Joining.concat(0, rows)

    @staticmethod
    def tear(array: Any, *axes: Any) -> list[INDArray]:
        """Take an array apart: copies of its slices along ``axes``, which are the axes of the slices."""
        inner = sorted(normalize_axis(a, _rank(array)) for a in axes_of(axes))
        outer = [a for a in range(_rank(array)) if a not in inner]
        moved = call(np.transpose, array, [*outer, *inner])
        shape = [array.shape[i] for i in inner]
        count = math.prod(array.shape[i] for i in outer)
        slices = call(np.reshape, moved, [count, *shape])
        return [slices[i].dup() for i in range(count)]

    @staticmethod
    def tile(array: Any, *counts: Any) -> INDArray:
        """Repeat the whole array, as many times along each axis as ``counts`` say, one for each axis."""
        given = sizes_of(flat(counts))
        if len(given) != _rank(array):
            raise ShapeError(f"Nd4j.tile takes a count for each of the {_rank(array)} axes; got {given}")
        if is_open(given):
            return call(np.tile, array, given)  # type: ignore[no-any-return]
        return arranged(run("tile", array, repeat=given), order_of_first([array]))  # type: ignore[no-any-return]

    @staticmethod
    def repeat(array: Any, count: int) -> INDArray:
        """Put ``count`` copies of an array along a new first axis; a column becomes rows."""
        shape = tuple(array.shape)
        row = run("reshape", array, shape=(-1,)) if len(shape) == 2 and shape[1] == 1 else array
        if is_open([count]):
            return call(np.broadcast_to, row, (count, *row.shape)).dup()  # type: ignore[no-any-return]
        return arranged(run("stack", *[row] * count, axis=0), "C")  # type: ignore[no-any-return]

    @staticmethod
    def pad(array: Any, widths: Any, *how: Any, mode: Any = "CONSTANT", value: float = 0.0) -> INDArray:
        """Pad an array on both sides of each axis: ``pad(a, 1, 2)``, ``pad(a, [[0, 1], [2, 2]])``, ``pad(a, widths, mode, value)``.

        Parameters
        ----------
        array : INDArray
            It stays as it is.
        widths : list of int
            Two sizes (before, after) for each axis, or two sizes for all axes; without mode and value also as numbers.
        *how : PadMode or str (optional), then float (optional)
            ``mode`` and ``value``.
        mode : PadMode or str
            CONSTANT (default), REFLECT or SYMMETRIC.
        value : float
            What CONSTANT fills in.
        """
        if is_size(widths):
            widths = axes_of((widths, *how))
        elif how:
            mode, value = (*how, value)[:2]
        pairs = np.asarray(widths)
        if pairs.ndim == 1 and pairs.size == 2:
            pairs = np.tile(pairs, (_rank(array), 1))
        found = run("pad", array, pairs.astype(np.int32), mode=coerce(PadMode, mode, "mode"), constant=plain_number(value))
        return arranged(found, "C")  # type: ignore[no-any-return]

    @staticmethod
    def append(array: Any, count: int, value: float, axis: int = -1) -> INDArray:
        """Pad an array behind its last elements along an axis with ``count`` times a value."""
        return Joining._padded(array, (0, count), value, axis)

    @staticmethod
    def prepend(array: Any, count: int, value: float, axis: int = -1) -> INDArray:
        """Pad an array before its first elements along an axis with ``count`` times a value."""
        return Joining._padded(array, (count, 0), value, axis)

    @staticmethod
    def _padded(array: Any, widths: tuple[int, int], value: float, axis: int) -> INDArray:
        rank = _rank(array)
        axis = normalize_axis(axis, rank)
        found = Joining.pad(array, [widths if a == axis else (0, 0) for a in range(rank)], "CONSTANT", value)
        return arranged(found, order_of_first([array]))  # type: ignore[no-any-return]

    @staticmethod
    def append_bias(*arrays: Any) -> INDArray:
        """Put columns below each other, with a last element 1."""
        given = arrays_of(arrays)
        last = np.zeros((1, given[0].shape[1]), given[0].dtype)
        last[0, 0] = 1
        return arranged(run("concat", *given, INDArray.of(last), dimension=0), "C")  # type: ignore[no-any-return]

    @staticmethod
    def accumulate(*arrays: Any) -> INDArray:
        """Sum arrays of one shape: ``accumulate(a, b)`` makes one, ``accumulate(target, [a, b])`` adds them to ``target``."""
        if len(arrays) == 2 and isinstance(arrays[1], (list, tuple)):
            target, given = arrays
            return written(run("mergeadd", target, *given), target)  # type: ignore[no-any-return]
        return run("mergeadd", *arrays_of(arrays))  # type: ignore[no-any-return]

    @staticmethod
    def average_and_propagate(*arrays: Any) -> INDArray:
        """Average arrays of one shape and write the average into each; ``averageAndPropagate(target, [a, b])`` into ``target`` too."""
        given = flat(arrays)
        sources = list(arrays[1]) if len(arrays) == 2 and isinstance(arrays[1], (list, tuple)) else given
        average = run("mergeadd", *sources).div(len(sources))
        for array in given:
            if not is_array(array) or not may_be_equal(array.shape, average.shape):
                raise ShapeError(f"Nd4j.averageAndPropagate writes an average of shape {tuple(average.shape)} into arrays of that shape; "
                                 f"got {tuple(array.shape) if is_array(array) else repr(array)}")
        for array in given:
            written(average, array)
        return average  # type: ignore[no-any-return]
