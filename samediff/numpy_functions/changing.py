"""Arrays of code that assigns: values of a graph never change, so an array stands for another variable afterwards, and so do its views."""
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..expressions.tracing import BINARY
from ..families.array_code.graph_array import GraphArray
from ..families.array_code.symbolic_size import NotInGraphError, SymbolicSize, are_alike
from .fourier import ComplexArray
from .functions import NumpyFunctions

if TYPE_CHECKING:
    from ..ir.variable import SDVariable

#: Functions whose results may look at the memory of an argument; NumPy itself is asked which do.
_LOOKING = frozenset(f for name in (
    "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_to", "diagonal", "dsplit", "expand_dims",
    "flip", "fliplr", "flipud", "hsplit", "matrix_transpose", "moveaxis", "permute_dims", "ravel", "real", "reshape", "rollaxis", "rot90",
    "split", "squeeze", "swapaxes", "transpose", "unstack", "vsplit") if (f := getattr(np, name, None)) is not None)
#: Functions that give an array as it is.
_SAME = (np.asarray, np.asanyarray)
#: Ops of ``ufunc.at``.
_AT = {np.add.at: "scatter_add", np.subtract.at: "scatter_sub", np.multiply.at: "scatter_mul", np.maximum.at: "scatter_max",
       np.minimum.at: "scatter_min"}
#: Functions that change their first argument.
_CHANGES = frozenset((np.copyto, np.fill_diagonal, np.put_along_axis, *_AT))


class ValuesNeededError(NotInGraphError):
    """Graph arrays are given to NumPy as values, as assigning them to parts of its own arrays does."""


class CodeArray(GraphArray):
    """A graph array whose parts can be assigned, as NumPy's: what looks at the same memory changes with it.

    Parameters
    ----------
    source, again, stand
        Of a view: the array that it looks at, how it is made of that, and what NumPy gives for an array in place of that.
    given : whether it is an input of the code, which must not change
    """

    def __init__(self, xp: CodeFunctions, variable: SDVariable, source: CodeArray | None = None, again: Callable[[Any], Any] | None = None,
                 stand: Any = None, given: bool = False) -> None:
        self._source, self._again, self._stand, self._given = source, again, stand, given
        self._changes: int = 0
        self._seen: int = 0 if source is None else source.root._changes
        self._pending: list[tuple[Any, GraphArray]] = []
        self._held = variable
        self.xp: Any = xp

    @property
    def variable(self) -> SDVariable:  # type: ignore[override]  # it depends on what was assigned
        """The variable of the present values."""
        if self._source is None:
            if self._pending:
                self._flush()
        elif self._seen != self.root._changes:
            self._seen = self.root._changes
            self._held = self._again(self._source).variable  # type: ignore[misc]  # views have it
        return self._held

    @property
    def root(self) -> CodeArray:
        """The array that has the memory."""
        return self if self._source is None else self._source.root

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        return self._held.dtype.numpy

    @property
    def shape(self) -> tuple[Any, ...]:
        """Sizes, as far as known."""
        sizes = self._held.spec.shape
        return tuple(sizes) if sizes is not None and -1 not in sizes else super().shape

    @property
    def stand(self) -> Any:
        """An array of NumPy with one byte in the place of each element; None where sizes are open."""
        if self._stand is None and self._source is None and all(isinstance(n, int) for n in self.shape):
            self._stand = np.empty(self.shape, np.uint8)
        return self._stand

    # Views and copies

    def __getitem__(self, index: Any) -> Any:
        return self.xp.looking(lambda x: self.xp.getitem(x, index), self, lambda stand: None if has_graph(index) else stand[index],
                               _basic(index))

    @property
    def T(self) -> Any:
        """The axes reversed."""
        return self.transpose()

    mT = property(lambda self: self.xp.call(np.swapaxes, (self, -1, -2), {}))

    def reshape(self, *shape: Any, order: str = "C") -> Any:
        """Another shape."""
        return self.xp.call(np.reshape, (self, shape[0] if len(shape) == 1 else shape), {"order": order})

    def transpose(self, *axes: Any) -> Any:
        """The axes in another order."""
        return self.xp.call(np.transpose, (self, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None), {})

    def copy(self) -> CodeArray:
        """The same values in memory of its own."""
        return CodeArray(self.xp, self.variable)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """Convert to a type."""
        made = self.xp.astype(self, dtype)
        return self.copy() if made is self and copy else made

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        out = kwargs.pop("out", None)
        return self.xp.call(function, args, kwargs if out is None else {**kwargs, "out": out[0] if len(out) == 1 else out})

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise ValuesNeededError(
            "the code gives an array to NumPy as values (np.asarray, SciPy, a part of an array that is not of xp, such as np.zeros), which "
            "are not known while the graph is built: call functions of xp, join parts by xp.stack or xp.concatenate, or assign them to "
            "those of xp.zeros(...); places in a table are xp.asarray(table)[places]")

    # Changes

    def __setitem__(self, index: Any, value: Any) -> None:
        entries = index if isinstance(index, tuple) else (index,)
        if all(e is Ellipsis or (isinstance(e, slice) and e == slice(None)) for e in entries):
            self.put(value)
        elif len(entries) == 1 and isinstance(entries[0], GraphArray) and entries[0].dtype == np.bool_:
            self.put(self.xp.where(entries[0].reshape(*entries[0].shape, *(1,) * (self.ndim - entries[0].ndim)), value, self))
        else:
            self.write(self.places(index), value)

    def fill(self, value: Any) -> None:
        """Give all elements one value."""
        self.put(value)

    def sort(self, axis: int = -1, **options: Any) -> None:
        """Put the elements along an axis in order."""
        self.put(self.xp.call(np.sort, (self,), {"axis": axis, **options}))

    def put(self, value: Any) -> None:
        """Give it other values."""
        if self._source is not None:
            self.write(self.places(...), value)
            return
        self._may_change()
        value = self.fitted(value, self.shape)
        self._pending.clear()
        self._held, self._changes = value.variable, self._changes + 1

    def write(self, places: Any, value: Any, op: str = "scatter_update") -> None:
        """Put values at places of the root's elements, which are known, or a graph array."""
        root = self.root
        root._may_change()
        rows = root.fitted(value, places.shape)
        if isinstance(places, np.ndarray) and op == "scatter_update":
            root._pending.append((places.reshape(-1), self.xp.ravel(rows)))
        else:
            at = self.xp.sd.constant(places.reshape(-1)) if isinstance(places, np.ndarray) else self.xp.ravel(places).variable
            root._scatter(op, at, self.xp.ravel(rows))
        root._changes += 1

    def places(self, index: Any) -> Any:
        """Where in the memory of the root the elements are that an index chooses."""
        own = self._places()
        if any(isinstance(e, GraphArray) for e in (index if isinstance(index, tuple) else (index,))):
            return self.xp.getitem(CodeArray(self.xp, self.xp.sd.constant(own)), index)
        return own[index]

    def _places(self) -> Any:
        root, own = self.root.stand, self.stand
        if root is None or own is None:
            raise NotInGraphError("the code assigns to a part of an array (x[...] = y) whose sizes are open: xp.where, xp.concatenate, "
                                  "xp.stack and xp.pad make a new array")
        if not own.flags.writeable:
            raise NotInGraphError("the code assigns to an array that NumPy does not let be written")
        every = np.arange(root.size)
        if own is root or not own.size:
            return every.reshape(-1)[:own.size].reshape(own.shape)
        first = own.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        return np.lib.stride_tricks.as_strided(every[first:], own.shape, [8 * s for s in own.strides])

    def fitted(self, value: Any, shape: Any) -> Any:
        """A value in the type of this array and in a shape, as NumPy lets it be assigned."""
        made = self.xp.astype(self.xp.array_of(value), self.dtype)
        more = made.ndim - len(shape)
        if more > 0 and made.shape[:more] == (1,) * more:
            made = self.xp.reshape(made, made.shape[more:])
        return made if made.variable.spec.shape == tuple(shape) or are_alike(made.shape, shape) else self.xp.broadcast_to(made, shape)

    def _may_change(self) -> None:
        if self._given:
            raise NotInGraphError("the code changes its input in place (x += y, x[...] = y): work on a copy, x = x.copy()")

    def _flush(self) -> None:
        """All that was assigned since the last time, at once."""
        places = np.concatenate([p for p, _ in self._pending])
        parts = [rows for _, rows in self._pending]
        rows = self.xp.concatenate(parts) if len(parts) > 1 else parts[0]
        self._pending.clear()
        if len(places) == math.prod(self.shape) and np.unique(places).size == len(places):      # nothing is left of what was there
            order = np.argsort(places)
            whole = rows if (order == np.arange(len(order))).all() else self.xp.take(rows, order)
            self._held = self.xp.reshape(whole, self.shape).variable
        else:
            self._scatter("scatter_update", self.xp.sd.constant(places), rows)

    def _scatter(self, op: str, places: Any, rows: Any) -> None:
        shape = self.shape
        made = self.xp.sd.call("base", op, self.xp.ravel(GraphArray(self.xp, self.variable)).variable, places, rows.variable)
        self._held = self.xp.reshape(self.xp.wrap(made), shape).variable


def _install() -> None:
    def in_place(name: str) -> Callable[..., Any]:
        def method(self: CodeArray, other: Any) -> Any:
            made = getattr(self.xp, name)(self, other)
            if not self.ndim:                   # a number, which NumPy has no memory for
                return made
            self.put(made)
            return self
        return method
    for short, name in {**BINARY, "matmul": "matmul"}.items():
        setattr(CodeArray, f"__i{short}__", in_place(name))


_install()


def _basic(index: Any) -> bool:
    """Whether an index is made of numbers, slices, new axes and an ellipsis."""
    return not any(isinstance(e, (GraphArray, np.ndarray, list)) for e in (index if isinstance(index, tuple) else (index,)))


def _part(make: Callable[[Any], Any], i: int, x: Any) -> Any:
    return make(x)[i]


def has_graph(value: Any) -> bool:
    """Whether arguments hold arrays or sizes of the graph."""
    if isinstance(value, dict):
        value = tuple(value.values())
    return any(map(has_graph, value)) if isinstance(value, (tuple, list)) else isinstance(value, (GraphArray, SymbolicSize, ComplexArray))


class CodeFunctions(NumpyFunctions):
    """NumPy's functions for code that assigns to parts of arrays."""

    def wrap(self, variable: SDVariable) -> CodeArray:
        """A variable as an array with memory of its own."""
        return CodeArray(self, variable)

    def given(self, variable: SDVariable) -> CodeArray:
        """An input of the code."""
        return CodeArray(self, variable, given=True)

    def call(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The result of a function of NumPy on graph arrays, or the first of them changed in place."""
        if function in _CHANGES:
            if not isinstance(args[0], CodeArray):
                raise ValuesNeededError(f"np.{getattr(function, '__self__', function).__name__} changes an array that is not of xp")
            return self._change(function, *args, **kwargs)
        out = kwargs.get("out")
        if out is not None:
            if not isinstance(out, CodeArray):
                raise ValuesNeededError("out= is an array that is not of xp")
            out.put(self.call(function, args, {k: v for k, v in kwargs.items() if k != "out"}))
            return out
        source = args[0] if args else None
        if function in _LOOKING and isinstance(source, CodeArray):
            known = not has_graph((args[1:], kwargs))
            return self.looking(lambda x: super(CodeFunctions, self).call(function, (x, *args[1:]), kwargs), source,
                                lambda stand: function(stand, *args[1:], **kwargs) if known else None)
        made = super().call(function, args, kwargs)
        same = isinstance(made, CodeArray) and function not in _SAME and any(made is a for a in args)
        return made.copy() if same else made

    def looking(self, make: Callable[[Any], Any], source: CodeArray, on_stand: Callable[[Any], Any], otherwise: bool = True) -> Any:
        """The result of ``make`` on an array, as a view where NumPy gives one; ``otherwise`` tells where that is not known."""
        made, stand = make(source), source.stand
        of = None if stand is None else on_stand(stand)
        several = isinstance(made, (list, tuple))
        found = []
        for i, one in enumerate(made if several else [made]):
            own = None if of is None else of[i] if several else of
            looks = otherwise if of is None else isinstance(own, np.ndarray) and np.may_share_memory(own, stand)
            if looks:
                again: Callable[[Any], Any] = functools.partial(_part, make, i) if several else make
                found.append(CodeArray(self, one.variable, source, again, own))
            else:
                found.append(CodeArray(self, one.variable))
        return type(made)(found) if several else found[0]

    def _change(self, function: Callable[..., Any], x: CodeArray, first: Any, *args: Any, **kwargs: Any) -> None:
        """A function that changes its first argument."""
        if function is np.copyto:
            mask = kwargs.get("where", True)
            x.put(first if mask is True else self.where(mask, first, x))
        elif function in _AT:
            x.write(x.places(first), args[0], _AT[function])
        elif function is np.put_along_axis:
            own = self.wrap(self.sd.constant(x.places(...)))
            x.write(super().call(np.take_along_axis, (own, first), {"axis": args[1] if len(args) > 1 else kwargs["axis"]}), args[0])
        else:
            marks = np.zeros(x.shape, bool)
            np.fill_diagonal(marks, True, *args, **kwargs)
            x.write(x.places(marks), first)
