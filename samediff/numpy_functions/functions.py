"""NumPy's functions as they are called, on arrays of a graph that is being recorded."""
from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ..base.datatype import DataType
from ..errors import ShapeError
from ..expressions.tracing import TraceError
from ..families.array_code.einsum import einsum
from ..families.array_code.graph_array import GraphArray
from ..families.array_code.graph_namespace import GraphNamespace
from ..families.array_code.symbolic_size import NotInGraphError, SymbolicSize
from ..families.sizes import axis_size
from . import whole_products
from .axes import check_axes
from .composed import COMPOSED, SHAPES_OF_VALUES
from .differences import DIFFERENCES, accumulate
from .fourier import FOURIER, ComplexArray, of_pairs
from .linear_algebra import LINEAR_ALGEBRA
from .ordering import ORDERS
from .rearranging import REARRANGES, positions, rearranged
from .searching import SEARCHES
from .statistics import STATISTICS

#: Reductions of ufuncs that have a name of their own.
_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any"}

#: Functions that ask for shapes and types alone.
_OF_TYPES = (np.result_type, np.can_cast, np.iscomplexobj, np.isrealobj, np.min_scalar_type)

#: How reductions take in a first value.
_WITH_FIRST = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum", "amax": "maximum", "amin": "minimum",
               "any": "logical_or", "all": "logical_and"}

#: Options that change no value.
_NO_MATTER = {"subok", "casting", "like"}
#: What NumPy's functions take for "not given".
_NOT_GIVEN = inspect.signature(np.sum).parameters["keepdims"].default

#: Functions whose ``order`` is that in which elements are read.
_ORDERED = (np.reshape, np.ravel)


def _of_numpy(name: str) -> Any:
    module, _, function = name.rpartition(".")
    return getattr(functools.reduce(getattr, module.split("."), np) if module else np, function, None)


#: Functions of NumPy that are made of others.
COMPOSITIONS: dict[Any, Callable[..., Any]] = {
    _of_numpy(n): f for table in (COMPOSED, DIFFERENCES, FOURIER, LINEAR_ALGEBRA, ORDERS, SEARCHES, STATISTICS)
    for n, f in table.items() if _of_numpy(n) is not None}


def _of_nothing(x: Any, axis: Any, keepdims: bool) -> tuple[Any, ...] | None:
    """The shape of a reduction over an axis that has no elements; None where there are some, or may be."""
    axes = range(x.ndim) if axis is None or not x.ndim else [a % x.ndim for a in (axis if isinstance(axis, tuple) else (axis,))]
    if not any(isinstance(x.shape[a], int) and x.shape[a] == 0 for a in axes):
        return None
    return tuple(1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes)


class NumpyFunctions(GraphNamespace):
    """The functions of NumPy on the arrays of a trace, with the types of NumPy's results."""

    def __init__(self, trace: Any) -> None:
        super().__init__(trace.sd)
        self.trace = trace

    def noted(self, error: NotInGraphError) -> NotInGraphError:
        """An error that is about to be raised, for the trace."""
        self.trace.note(error)
        return error

    def is_graph_array(self, value: Any) -> bool:
        """Whether a value is an array of the graph."""
        return isinstance(value, GraphArray)

    def unwrap(self, value: Any, dtype: Any = None) -> Any:
        """The variable of an array; arrays from outside are captured."""
        if isinstance(value, np.ndarray) and (dtype is None or value.dtype == dtype):
            return self.trace.capture(value)
        if isinstance(value, ComplexArray):
            raise NotInGraphError("arrays of a graph have real numbers alone: xp.abs(z), z.real, z.imag or xp.angle(z) of complex ones")
        return super().unwrap(value, dtype)

    def call(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The result of a function of NumPy on graph arrays.

        Raises
        ------
        NotInGraphError
            It has no node.
        """
        name, module = function.__name__, getattr(function, "__module__", "") or ""
        composed = COMPOSITIONS.get(function)
        no_default = composed is not None or name == "concatenate"
        everywhere = {"axis": None} if no_default and kwargs.get("axis", -1) is None else {}
        kwargs = {k: v for k, v in kwargs.items()
                  if v is not None and v is not _NOT_GIVEN and k not in _NO_MATTER and (k != "order" or function in _ORDERED)}
        kwargs |= everywhere
        if isinstance(function, np.ufunc):
            args = self._in_loop_types(function, args, kwargs.get("dtype"))
        if function in _OF_TYPES:
            return function(*(a.dtype if isinstance(a, GraphArray) else a for a in args), **kwargs)
        try:
            check_axes(name, kwargs.get("axis"))
            ufunc = getattr(function, "__self__", None)
            if isinstance(ufunc, np.ufunc):
                return self._of_ufunc(ufunc, name, args, kwargs)
            if function is operator.getitem:
                return self.getitem(*args)
            if any(isinstance(a, ComplexArray) for a in args):
                return of_pairs(self, function, args, kwargs)
            if function in REARRANGES:
                return rearranged(self, function, args, kwargs)
            if composed is not None:
                return composed(self, *args, **kwargs)
            if function is np.where and len(args) == 1:
                raise self.missing("nonzero")
            if not isinstance(function, np.ufunc) and getattr(np, name, None) is not function:
                raise NotInGraphError(f"{module.replace('numpy', 'np')}.{name} has no graph node")
            return getattr(self, name)(*args, **kwargs)
        except TypeError as error:
            raise NotInGraphError(f"np.{name} called like this has no graph node ({error})") from None
        except TraceError as error:
            raise NotInGraphError(str(error).partition("\n")[0]) from None

    def _in_loop_types(self, ufunc: np.ufunc, args: Sequence[Any], dtype: Any) -> Sequence[Any]:
        """Arrays in the types in which NumPy computes the function of them: small whole numbers, truth values, those for ``dtype``."""
        small = [a for a in args if isinstance(a, GraphArray) and a.dtype.kind in "biu" and a.dtype.itemsize < 4]
        if not (small or dtype is not None) or ufunc.signature is not None or len(args) != ufunc.nin:
            return args
        wanted: Any = {} if dtype is None else {"signature": (*[None] * ufunc.nin, *[np.dtype(dtype)] * ufunc.nout)}
        plain = [a if isinstance(a, GraphArray) or type(a) in (int, float, complex) else np.asarray(a)
                 for a in (0 if isinstance(a, SymbolicSize) else a for a in args)]
        kinds = [getattr(a, "dtype", type(a)) for a in plain]
        try:
            loop = ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout), **wanted)
        except TypeError as error:
            if wanted:
                raise NotInGraphError(str(error)) from None
            return args
        return [self.astype(a, to) if isinstance(a, GraphArray) and a.dtype != to and to.kind != "O" else a for a, to in zip(args, loop)]

    def reciprocal(self, x: Any) -> GraphArray:
        """One over each element, whole numbers rounded toward zero."""
        x = self.array_of(x)
        made = self._elementwise("reciprocal", (x,), {})
        return made if x.dtype.kind not in "iu" else self.astype(made, x.dtype)  # type: ignore[no-any-return]

    def missing(self, name: str) -> NotInGraphError:
        """The error for a function that has no node."""
        why = ": how many elements it gives depends on values, which a graph does not know beforehand" if name in SHAPES_OF_VALUES else ""
        return NotInGraphError(f"np.{name} has no graph node{why}")

    def recorded(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Result of a user's function for graph arrays."""
        return self.trace.inner(function(*map(self.trace.outer, args), **kwargs))

    def method(self, name: str, x: GraphArray, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Result of a method of NumPy's arrays for graph arrays."""
        if name == "astype":
            return self.astype(x, *args, **{k: v for k, v in kwargs.items() if k == "dtype"})
        if name in ("reshape", "transpose"):
            sizes = args[0] if len(args) == 1 and not isinstance(args[0], (int, np.integer)) else args or None
            return self.call(getattr(np, name), (x, sizes), kwargs)
        if name in ("conj", "conjugate"):
            return x                            # itself, as NumPy's method, also of truth values
        if name == "compress":
            return self.call(np.compress, (args[0], x, *args[1:]), kwargs)
        if name == "flatten":
            return self.node("identity", [self.ravel(x, *args, **kwargs)])
        return self.call(getattr(np, name), (x, *args), kwargs)

    def _of_ufunc(self, ufunc: np.ufunc, method: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        if method == "reduce" and ufunc.__name__ in _REDUCTIONS:
            return self.call(getattr(np, _REDUCTIONS[ufunc.__name__]), args, {"axis": 0, **kwargs})
        if method == "accumulate":
            return accumulate(self, ufunc, *args, **kwargs)
        if method == "outer" and len(args) == 2 and not kwargs:
            return self.call(ufunc, [self._spread(args[0], np.ndim(args[1])), args[1]], {})
        if method == "reduce" and ufunc.nin == 2 and not kwargs.keys() - {"axis", "keepdims"}:
            return self._in_turn(ufunc, *args, **kwargs)
        raise NotInGraphError(f"np.{ufunc.__name__}.{method} called like this has no graph node")

    def _in_turn(self, ufunc: np.ufunc, x: Any, axis: int = 0, keepdims: bool = False) -> Any:
        """The slices along an axis, joined by a ufunc one after the other."""
        made = functools.reduce(lambda a, b: self.call(ufunc, (a, b), {}), (self.take(x, i, axis) for i in range(x.shape[axis])))
        return self.expand_dims(made, axis) if keepdims else made

    def _spread(self, x: Any, rank: int) -> Any:
        given = x if hasattr(x, "ndim") else np.asarray(x)
        return x if np.ndim(x) == 0 else self.expand_dims(given, tuple(range(np.ndim(x), np.ndim(x) + rank)))

    def _elementwise(self, name: str, args: Sequence[Any], options: dict[str, Any]) -> Any:
        valued = args[1:] if name == "where" else args
        if any(type(a) is int for a in valued) and all(a.dtype.kind == "b" for a in valued if hasattr(a, "dtype")):
            args = [np.int64(a) if type(a) is int else a for a in args]         # as NumPy takes truth values beside numbers
        return super()._elementwise(name, args, options)

    # Reductions in the types of NumPy

    def _reduced(self, name: str, x: Any, axis: Any, keepdims: bool, more: dict[str, Any]) -> Any:
        x = x if isinstance(x, GraphArray) else self.wrap(self.unwrap(x))
        if "dtype" in more:
            kind = more.pop("dtype")
            return self.astype(self._reduced(name, self.astype(x, kind), axis, keepdims, more), kind)
        elif name in ("sum", "prod"):
            x = self._counting(x)
        elif name == "mean":
            x = self.floating(x)
        elif name in ("all", "any") and x.dtype != np.bool_:
            x = x != 0
        elif x.dtype == np.bool_ and name in ("max", "min", "amax", "amin"):
            name = "any" if "max" in name else "all"
        if axis is not None and not (axis if isinstance(axis, tuple) else True):
            return x                            # over no axis
        if axis is not None:
            normalize_axis_tuple(axis, max(x.ndim, 1), "axis")
        if "where" in more:
            return self._reduced_where(name, x, axis, keepdims, more)
        first = more.pop("initial", None) if name in _WITH_FIRST else None
        if first is not None and (shape := _of_nothing(x, axis, keepdims)) is not None:
            return self.broadcast_to(self.array_of(np.asarray(first, x.dtype)), shape)
        made = super()._reduced(name, x, axis, keepdims, more)
        if first is not None:
            made = getattr(self, _WITH_FIRST[name])(made, x.dtype.type(first))
        return self.astype(made, np.int64) if name in ("argmax", "argmin") else made

    def _reduced_where(self, name: str, x: GraphArray, axis: Any, keepdims: bool, more: dict[str, Any]) -> Any:
        """A reduction of the elements where a condition holds: the others count as what changes nothing."""
        counted = self.broadcast_to(self.astype(self.array_of(more.pop("where")), np.bool_), x.shape)
        if name == "mean":
            total = self.sum(self.where(counted, x, x.dtype.type(0)), axis=axis, keepdims=keepdims)
            return total / self.astype(self.sum(counted, axis=axis, keepdims=keepdims), x.dtype)
        if name in ("max", "min", "amax", "amin"):
            neutral = more["initial"]           # NumPy wants one
        elif name in ("sum", "prod", "all", "any"):
            neutral = int(name in ("prod", "all"))
        else:
            raise NotInGraphError(f"np.{name} with where has no graph node")
        return self._reduced(name, self.where(counted, x, x.dtype.type(neutral)), axis, keepdims, more)

    def _counting(self, x: GraphArray) -> GraphArray:
        """Whole numbers as NumPy adds them."""
        kind, size = x.dtype.kind, x.dtype.itemsize
        return self.astype(x, np.uint64 if kind == "u" else np.int64) if kind in "biu" and (kind == "b" or size < 8) else x

    def floating(self, x: Any) -> GraphArray:
        """An array in a floating type, as NumPy's functions of such have it."""
        x = self.array_of(x)
        return self.astype(x, np.float64) if x.dtype.kind in "biu" else x

    def _spread_by_op(self, op_id: str, x: Any, axis: Any, keepdims: bool, ddof: float) -> GraphArray:
        if axis is not None:
            normalize_axis_tuple(axis, max(x.ndim, 1), "axis")
        return super()._spread_by_op(op_id, x, axis, keepdims, ddof)  # type: ignore[no-any-return]

    def expand_dims(self, x: Any, axis: Any) -> GraphArray:
        """New axes of size 1."""
        axes = axis if isinstance(axis, (tuple, list)) else (axis,)
        return super().expand_dims(x, sorted(normalize_axis_tuple(axes, x.ndim + len(axes), "axis")))  # type: ignore[no-any-return]

    def var(self, x: Any, axis: Any = None, dtype: Any = None, ddof: float = 0,  # type: ignore[override]  # NumPy's order
            keepdims: bool = False) -> GraphArray:
        """Mean squared distance from the mean."""
        if dtype is not None:
            if np.dtype(dtype).kind not in "fV":
                raise NotInGraphError(f"a variance in {np.dtype(dtype)} has no graph node")
            return self.astype(self.var(self.astype(x, dtype), axis, None, ddof, keepdims), dtype)
        return super().var(self.floating(x), axis, keepdims, ddof)

    def std(self, x: Any, axis: Any = None, dtype: Any = None, ddof: float = 0,  # type: ignore[override]
            keepdims: bool = False) -> GraphArray:
        """Root of the variance."""
        if dtype is not None and np.dtype(dtype).kind not in "fV":
            raise NotInGraphError(f"a deviation in {np.dtype(dtype)} has no graph node")
        x = self.floating(x) if dtype is None else self.astype(x, dtype)
        return super().std(x, axis, keepdims, ddof)

    def round(self, x: Any, decimals: int = 0) -> Any:
        """The nearest number of so many decimals; whole numbers stay."""
        x = self.array_of(x)
        if x.dtype.kind in "iu":
            return x if decimals >= 0 else self.astype(self.round(self.floating(x), decimals), x.dtype)
        if x.dtype.kind != "f":
            return self._elementwise("round", (x, decimals), {})
        scale = x.dtype.type(10.0 ** abs(decimals))
        scaled = x * scale if decimals > 0 else x / scale if decimals else x
        nearest = self._elementwise("rint", (scaled,), {})
        return nearest / scale if decimals > 0 else nearest * scale if decimals else nearest

    around = round

    def cumsum(self, x: Any, axis: int | None = None, dtype: Any = None) -> GraphArray:
        """Running sum."""
        return super().cumsum(self._counting(self.of_rank_1(x)) if dtype is None else self.of_rank_1(x), axis, dtype)

    def cumprod(self, x: Any, axis: int | None = None, dtype: Any = None) -> GraphArray:
        """Running product."""
        if dtype is not None:
            return self.astype(self.cumprod(self.astype(self.array_of(x), dtype), axis), dtype)
        flat = self._counting(self.ravel(x) if axis is None else self.of_rank_1(x))
        return self.node("cumprod", [flat], axis=(0 if axis is None else axis,))  # type: ignore[no-any-return]

    # Products

    def matmul(self, x: Any, y: Any) -> GraphArray:
        """Matrix product."""
        x, y = self.alike([self.array_of(x), self.array_of(y)])
        return whole_products.matmul(self, x, y) if whole_products.is_whole(x) else super().matmul(x, y)  # type: ignore[no-any-return]

    def tensordot(self, x: Any, y: Any, axes: Any = 2) -> GraphArray:
        """Contraction over ``axes``."""
        if axes == 0:
            return self._spread(x, np.ndim(y)) * y  # type: ignore[no-any-return]
        x, y = self.alike([self.array_of(x), self.array_of(y)])
        if whole_products.is_whole(x):
            return whole_products.tensordot(self, x, y, axes)  # type: ignore[no-any-return]
        return super().tensordot(x, y, axes)

    def einsum(self, subscripts: str, *arrays: Any, optimize: Any = None) -> Any:
        """Products summed as the subscripts say."""
        return einsum(self, *self._subscripts(subscripts, arrays))

    def _subscripts(self, subscripts: Any, arrays: Sequence[Any]) -> tuple[str, list[GraphArray]]:
        """Subscripts as text without a label twice in an array, whose diagonals are taken instead."""
        if not isinstance(subscripts, str):                     # array, labels, array, labels, ..., labels of the result
            given = [subscripts, *arrays]
            *pairs, last = given if len(given) % 2 else [*given, None]
            texts = ["".join("..." if i is Ellipsis else chr(97 + int(i)) for i in labels) for labels in [*pairs[1::2], last or ()]]
            subscripts = ",".join(texts[:-1]) + ("" if last is None else f"->{texts[-1]}")
            arrays = pairs[::2]
        inputs, arrow, output = subscripts.replace(" ", "").partition("->")
        if not arrow:
            names = inputs.replace(",", "").replace(".", "")
            output = "..." * ("..." in inputs) + "".join(sorted(c for c in set(names) if names.count(c) == 1))
        found, texts = [self.array_of(a) for a in arrays], inputs.split(",")
        for k, labels in enumerate(texts):
            for c in sorted({c for c in labels if labels.count(c) > 1 and c != "." and "..." not in labels}):
                while labels.count(c) > 1:
                    first = labels.index(c)
                    second = labels.index(c, first + 1)
                    found[k] = rearranged(self, np.diagonal, (found[k], 0, first, second), {})
                    labels = labels[:first] + labels[first + 1:second] + labels[second + 1:] + c
            texts[k] = labels
        return f"{','.join(texts)}->{output}", found

    # The others

    def array_of(self, x: Any) -> GraphArray:
        """An argument of a function as a graph array."""
        made = self.asarray(x)
        return made if isinstance(made, GraphArray) else self.wrap(self.unwrap(made))

    def concatenate(self, arrays: Sequence[Any], axis: int | None = 0, dtype: Any = None) -> GraphArray:
        """One after the other along an axis, or all elements where that is None."""
        parts = [self.array_of(a) if dtype is None else self.astype(self.array_of(a), dtype) for a in arrays]
        if axis is not None and (len({p.ndim for p in parts}) != 1 or not parts[0].ndim):
            raise ShapeError(f"arrays that are joined have equal ranks above 0; got {', '.join(str(p.variable.spec.shape) for p in parts)}")
        return super().concatenate(parts if axis is not None else [self.ravel(p) for p in parts], axis or 0)

    concat = concatenate

    def nan_to_num(self, x: Any, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
        """Finite numbers in place of the others."""
        if x.dtype.kind != "f":
            return x
        limits = np.finfo(x.dtype)
        one = x.dtype.type
        found = self.where(self.isnan(x), one(nan), x)
        found = self.where(x == np.inf, one(limits.max if posinf is None else posinf), found)
        return self.where(x == -np.inf, one(limits.min if neginf is None else neginf), found)

    def of_rank_1(self, x: Any) -> Any:
        """With one axis at least."""
        return x if x.ndim else self.expand_dims(x, 0)

    def of_rank_2(self, x: Any) -> Any:
        """With two axes at least."""
        return x if x.ndim > 1 else self.expand_dims(self.of_rank_1(x), 0)

    def copy(self, x: Any) -> Any:
        """The same elements in memory of their own."""
        return self.node("identity", [x])

    def reshape(self, x: Any, shape: Any, order: str = "C") -> GraphArray:
        """The elements in another shape, read and written row by row, or column by column for ``"F"``."""
        if order != "F":
            return super().reshape(x, shape)
        sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        return self.transpose(super().reshape(self.transpose(x), sizes[::-1]))

    def repeat(self, x: Any, repeats: Any, axis: int | None = None) -> GraphArray:
        """Each element repeated."""
        return super().repeat(self.of_rank_1(x), repeats, axis)

    def tile(self, x: Any, counts: Any) -> GraphArray:
        """The whole repeated along each axis."""
        x, given = self.of_rank_1(x), counts if isinstance(counts, (tuple, list, np.ndarray)) else (counts,)
        counts = tuple(n if isinstance(n, SymbolicSize) else operator.index(n) for n in given)
        if 0 in [n for n in counts if isinstance(n, int)]:
            raise NotInGraphError("np.tile that leaves nothing has no graph node")
        more = len(counts) - x.ndim
        return super().tile(self.reshape(x, (1,) * more + tuple(x.shape)) if more > 0 else x, counts)

    def swapaxes(self, x: Any, first: int, second: int) -> GraphArray:
        """Two axes exchanged."""
        return super().swapaxes(x, *(normalize_axis_index(a, x.ndim) for a in (first, second)))  # type: ignore[no-any-return]

    def moveaxis(self, x: Any, source: Any, destination: Any) -> GraphArray:
        """Axes moved to other positions."""
        return super().moveaxis(x, *(normalize_axis_tuple(a, x.ndim) for a in (source, destination)))  # type: ignore[no-any-return]

    def squeeze(self, x: Any, axis: Any = None) -> GraphArray:
        """Without axes of size 1."""
        if axis is not None and any(x.shape[a] not in (1, -1) for a in normalize_axis_tuple(axis, x.ndim) if isinstance(x.shape[a], int)):
            raise ShapeError(f"an axis that is left out has size 1; got axis {axis} of shape {x.variable.spec.shape}")
        if axis is None and 1 not in x.shape:
            return x  # type: ignore[no-any-return]
        return super().squeeze(x, axis)

    def elementwise(self, name: str, *args: Any) -> Any:
        """An elementwise function under the name of NumPy."""
        return self._elementwise(name, args, {})

    def take(self, x: Any, indices: Any, axis: int | None = None, mode: str = "raise") -> GraphArray:
        """Elements or slices at positions."""
        x = self.array_of(self.ravel(x) if axis is None else x)
        if not x.ndim:
            x = self.ravel(x)
        places: Any = self.array_of(indices)
        count: Any = x.shape[normalize_axis_index(axis or 0, x.ndim)]
        if not isinstance(count, int):
            count = self.astype(self.wrap(axis_size(x.variable, axis or 0, DataType.LONG)), places.dtype)
        if mode != "raise":
            places = self.clip(places, 0, count - 1) if mode == "clip" else places % count
        if not isinstance(indices, int) or indices < 0:
            places = self.where(places < 0, places + count, places)
        return super().take(x, places, axis or 0)

    def getitem(self, x: GraphArray, index: Any) -> GraphArray:
        """``x[index]``."""
        entries = index if isinstance(index, tuple) else (index,)
        arrays = [e for e in entries if isinstance(e, (GraphArray, np.ndarray, list))]
        if not arrays:
            return super().getitem(x, index)
        known = all(isinstance(n, int) for n in x.shape)
        if not any(isinstance(e, GraphArray) for e in arrays) and known:
            for e in arrays:
                self.unwrap(np.asarray(e))
            return positions(self, lambda a: a[index], x)
        given = [self.array_of(e) if isinstance(e, (GraphArray, np.ndarray, list)) else e for e in entries]
        if any(isinstance(e, GraphArray) and e.dtype.kind not in "iu" for e in given):
            raise NotInGraphError("indexing with truth values has no graph node: how many elements it gives depends on values, which a "
                                  "graph does not know beforehand; np.where(mask, x, y) keeps the shape")
        return self._mixed(x, given)

    def _mixed(self, x: GraphArray, entries: list[Any]) -> GraphArray:
        """Indexing by arrays among numbers, slices, new axes and an ellipsis: first what only moves axes, then the arrays."""
        if all(isinstance(e, GraphArray) for e in entries):
            return self._at(x, entries)
        used = sum(e is not None and e is not Ellipsis for e in entries)
        if Ellipsis not in [e for e in entries if not isinstance(e, GraphArray)]:
            entries = [*entries, Ellipsis]
        at = next(i for i, e in enumerate(entries) if e is Ellipsis)
        entries = [*entries[:at], *[slice(None)] * (x.ndim - used), *entries[at + 1:]]
        picks = [i for i, e in enumerate(entries) if isinstance(e, (GraphArray, int, np.integer))]
        moved = super().getitem(x, tuple(slice(None) if i in picks else e for i, e in enumerate(entries)))
        others = [i for i in range(moved.ndim) if i not in picks]
        found = self._at(self.transpose(moved, (*picks, *others)), [self.array_of(entries[i]) for i in picks])
        new = found.ndim - len(others)
        if picks != list(range(picks[0], picks[-1] + 1)) or not picks[0]:
            return found                                        # NumPy puts the new axes in front
        order = (*range(new, new + picks[0]), *range(new), *range(new + picks[0], found.ndim))
        return self.transpose(found, order)

    def _at(self, x: GraphArray, indices: list[GraphArray]) -> GraphArray:
        """Elements at positions of the first axes."""
        if len(indices) == 1:
            return self.take(x, indices[0], axis=0)
        sizes = x.shape[:len(indices)]
        flat: Any = 0
        places: Any
        for places, size in zip(indices, sizes):
            flat = flat * size + self.where(places < 0, places + size, places).astype(np.int64)
        return self.take(self.reshape(x, (int(np.prod(sizes)), *x.shape[len(indices):])), flat, axis=0)
