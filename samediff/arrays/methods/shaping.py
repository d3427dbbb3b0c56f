"""Shapes and orders of axes: views where memory allows, as in DL4J."""
from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...errors import AxisError, GraphError, ShapeError
from ...families.array_code.symbolic_size import SymbolicSize
from ...ir.translate_errors import refusing
from ..numpy_calls import call
from ..orders import arranged, order_like, order_of_first
from ..pairs import cast
from ..plain_arguments import whole, wholes
from ..recording import state


def sizes_of(args: Any) -> tuple[int, ...]:
    """Sizes that are given one by one or as a list; those that are not known while a graph is recorded stay as they are."""
    flat = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple, np.ndarray)) else args
    if isinstance(flat, np.ndarray):
        return wholes(flat, "a size or dimension")
    known = wholes([n for n in flat if not isinstance(n, SymbolicSize)], "a size or dimension")
    if len(known) == len(flat):
        return known
    rest = iter(known)
    return tuple(n if isinstance(n, SymbolicSize) else next(rest) for n in flat)  # type: ignore[misc]


def order_of(value: str) -> str:
    """``'c'`` or ``'f'``; GraphError for other orders."""
    if value.lower() not in ("c", "f"):
        raise GraphError(f"the order of an array is 'c' (rows) or 'f' (columns), got {value!r}")
    return value.lower()


@refusing("INDArray")
class Shaping:
    """Other shapes of the same elements."""

    __slots__ = ()

    def reshape(self: Any, *args: Any, **numpy: Any) -> Any:
        """The elements in another shape: ``reshape(2, 3)``, ``reshape("f", 2, 3)``, ``reshape("c", enforce, 2, 3)``; one size may be -1.

        A view where memory allows it, else a copy, or an error where ``enforce`` is True. ``order=`` and ``copy=`` mean NumPy's.
        """
        rest = list(args)
        order = order_of(rest.pop(0)) if rest and isinstance(rest[0], str) else numpy.pop("order", "C")
        enforce = bool(rest.pop(0)) if rest and isinstance(rest[0], (bool, np.bool_)) else False
        sizes = sizes_of(rest or [numpy.pop("shape", ())])
        if any(isinstance(n, int) and n < -1 for n in sizes):
            raise ShapeError(f"sizes are 0 or more, and one may be -1, which follows from the others; got {sizes}")
        if state.recorder is None and isinstance(self, np.ndarray):
            try:
                made: Any = np.ndarray.reshape(self, sizes, order=order.upper(), **numpy)  # type: ignore[call-overload, arg-type]
            except ValueError:
                raise ShapeError(f"an array of shape {tuple(self.shape)}, {self.size} elements, cannot be reshaped to {sizes}") from None
            if enforce and not np.shares_memory(made, self):
                raise ShapeError(f"an array of shape {tuple(self.shape)} and strides {self.strides} has no view of shape {sizes} in order "
                                 f"{order!r}; leave out enforce to get a copy")
            return made
        return call(np.reshape, self, sizes, order=order.upper())

    def permute(self: Any, *dimensions: Any) -> Any:
        """A view with the axes in another order; each axis is named once."""
        return _permuted(self, _order(self, sizes_of(dimensions)))

    def transpose(self: Any, *axes: Any) -> Any:
        """A view with the axes reversed, or in the order that NumPy's ``axes`` says."""
        given = () if axes in ((), (None,)) else sizes_of(axes)
        return _permuted(self, _order(self, given) if given else tuple(reversed(range(len(self.shape)))))

    def swap_axes(self: Any, first: int, second: int) -> Any:
        """A view with two axes exchanged."""
        order = list(range(len(self.shape)))
        first, second = _axis(self, first), _axis(self, second)
        order[first], order[second] = order[second], order[first]
        return _permuted(self, tuple(order))

    def permutei(self: Any, *dimensions: Any) -> Any:
        """Change the order of this array's own axes; each axis is named once. In place."""
        return _turn_itself(self, _order(self, sizes_of(dimensions)))

    def transposei(self: Any) -> Any:
        """Reverse this array's own axes. In place."""
        return _turn_itself(self, tuple(reversed(range(len(self.shape)))))

    def ravel(self: Any, order: str = "c") -> Any:
        """The elements as a vector, row by row, or column by column for ``'f'``: a view where memory allows it."""
        if order.lower() not in ("c", "f", "a", "k"):
            raise GraphError(f"elements are read row by row ('c') or column by column ('f'); got {order!r}")
        return self.reshape("f" if order.lower() == "f" else "c", -1)

    def repeat(self: Any, *args: Any, **numpy: Any) -> Any:
        """Each slice repeated: ``repeat(dimension, repeats)``, or as many counts as there are slices.

        ``repeat(repeats)`` and ``repeat(repeats, axis=...)`` are NumPy's.
        """
        if numpy or len(args) < 2:
            return call(np.repeat, self, *args, **numpy)
        counts = sizes_of(args[1:])
        axis = _axis(self, args[0])
        if len(counts) not in (1, self.shape[axis]):
            raise ShapeError(f"repeat needs one count, or one for each of the {self.shape[axis]} slices of dimension {axis}; got {counts}")
        made = call(np.repeat, self, counts[0] if len(counts) == 1 else np.array(counts), axis=axis)
        return arranged(made, order_of_first([self]))

    def repmat(self: Any, *counts: Any) -> Any:
        """The whole matrix repeated below and beside itself; a vector counts as a row."""
        counts = sizes_of(counts)
        return call(np.tile, self, counts[:2] if len(self.shape) <= 2 else counts)

    def broadcast(self: Any, *sizes: Any) -> Any:
        """A copy stretched to sizes, or into an array that is given."""
        if len(sizes) == 1 and hasattr(sizes[0], "assign"):
            target = sizes[0]
            extra = len(self.shape) - len(target.shape)
            x = self.reshape(*self.shape[extra:]) if extra > 0 and all(n == 1 for n in self.shape[:extra]) else self
            return target.assign(x.broadcast(*target.shape))
        wanted = sizes_of(sizes)
        known = all(isinstance(n, int) for n in (*self.shape, *wanted))
        if known and tuple(self.shape) == wanted:
            return self
        try:
            if known:
                np.broadcast_shapes(tuple(self.shape), wanted)
            found = call(np.broadcast_to, self, wanted)
        except ValueError:
            raise ShapeError(f"an array of shape {tuple(self.shape)} cannot be broadcast to {wanted}") from None
        return found.dup()

    def dim_shuffle(self: Any, rearrange: Any, new_order: Any = None, broadcastable: Any = None) -> Any:
        """A view with axes by number, and ``"x"`` for a new axis of size 1: ``dimShuffle(["x", 1, 0])``.

        ``new_order`` and ``broadcastable`` have no effect, as in DL4J.
        """
        axes = [r for r in rearrange if not isinstance(r, str)]
        turned = self.permute(*axes)
        sizes = iter(turned.shape)
        return turned.reshape(*[1 if isinstance(r, str) else next(sizes) for r in rearrange])

    def cast_to(self: Any, data_type: Any) -> Any:
        """The array in another type; itself where it has that type. Fractions of whole types are cut off."""
        return cast(self, DataType.storable(data_type))

    def dup(self: Any, order: str = "c") -> Any:
        """A copy in row order, or in column order for ``'f'``."""
        return call(np.copy, self, order=order_of(order).upper())

    def like(self: Any) -> Any:
        """Zeros of the same shape, type and order."""
        return call(np.zeros_like, self, order=order_like(self, self))

    def ulike(self: Any) -> Any:
        """An array of the same shape, type and order, whose elements are any."""
        return self.like()


def _axis(x: Any, axis: Any) -> int:
    rank = len(x.shape)
    at = whole(axis, "a dimension")
    if not -rank <= at < rank:
        raise AxisError(f"dimension {axis} is out of range for an array of rank {rank} (shape {tuple(x.shape)})")
    return at % rank


def _order(x: Any, dimensions: tuple[int, ...]) -> tuple[int, ...]:
    found = tuple(_axis(x, d) for d in dimensions)
    if sorted(found) != list(range(len(x.shape))):
        raise ShapeError(f"each dimension of an array of shape {tuple(x.shape)} is named once; got {dimensions}")
    return found


def _permuted(x: Any, order: tuple[int, ...]) -> Any:
    if order == tuple(range(len(order))):
        return x
    return np.ndarray.transpose(x, order) if state.recorder is None and isinstance(x, np.ndarray) else call(np.transpose, x, order)


def _turn_itself(x: Any, order: tuple[int, ...]) -> Any:
    if state.recorder is not None:
        return state.recorder.record_turn(x, order)
    shape, strides = [x.shape[i] for i in order], [x.strides[i] for i in order]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)       # NumPy has no other way to change an array's own axes
        # strides with which any shape can be set; those of an array with memory of its own have to reach all of that
        x.strides = (0,) * x.ndim if x.base is not None else np.empty_like(x, order="C", subok=False).strides
        x.shape = tuple(shape)
        x.strides = tuple(strides)
    return x
