"""The namespace ``xp`` whose functions add graph nodes: array code run once becomes a differentiable graph.

Every elementwise function of NumPy, reductions, products, and what moves axes and elements::

    xp = GraphNamespace(sd)
    x = xp.wrap(sd.var("x", array))
    centred = x - x.mean(axis=-1, keepdims=True)          # nodes, typed by NumPy's rules
"""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...errors import did_you_mean
from ...expressions.arrays import to_numpy
from ...expressions.scalar import ALIASES, FUNCTIONS
from ...expressions.tracing import COMPOSED
from ...ir.op import OPS, as_tuple
from .array_call import ARRAY, ArrayCall
from .einsum import einsum
from .graph_array import GraphArray
from .symbolic_size import NotInGraphError, SymbolicSize, are_equal, gathered

if TYPE_CHECKING:
    from ...ir.protocols import Graph
    from ...ir.variable import SDVariable

_REDUCTIONS = {"sum": "reduce_sum", "mean": "reduce_mean", "max": "reduce_max", "min": "reduce_min", "amax": "reduce_max",
               "amin": "reduce_min", "prod": "reduce_prod", "all": "all", "any": "any", "argmax": "argmax", "argmin": "argmin"}
_ELEMENTWISE = frozenset({*FUNCTIONS, *COMPOSED, *ALIASES, "where"})
_LIKE = {"zeros_like": 0, "ones_like": 1}


def on_graph(sd: Graph, compute: Callable[..., Any], inputs: Sequence[SDVariable | None],
             namespace: Callable[[Graph], Any] | None = None) -> tuple[SDVariable, ...]:
    """Run ``compute(xp, *arrays)`` on variables of ``sd``: its results as new variables.

    Parameters
    ----------
    namespace : makes ``xp`` for a graph, by default a :class:`GraphNamespace`

    Raises
    ------
    NotInGraphError
        The code needs values, or a function that has no node.
    """
    xp = (namespace or GraphNamespace)(sd)
    functions = xp.functions
    results = as_tuple(compute(xp, *(None if v is None else functions.given(v) for v in inputs)))
    return tuple(sd.call("base", "identity", v) if any(v is i for i in inputs) else v for v in map(functions.unwrap, results))


def _axes(axis: Any) -> tuple[int, ...]:
    return () if axis is None else tuple(int(a) for a in axis) if isinstance(axis, (tuple, list)) else (int(axis),)


class GraphNamespace:
    """NumPy's function names on :class:`~.graph_array.GraphArray`; functions of plain numbers and arrays are NumPy's own."""

    pi, e, inf, nan, newaxis = np.pi, np.e, np.inf, np.nan, None

    def __init__(self, sd: Graph) -> None:
        self.sd = sd

    # Between variables and arrays

    @property
    def functions(self) -> GraphNamespace:
        """The namespace whose functions add nodes: this object itself."""
        return self

    def call(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Apply the function of this namespace that has the name of NumPy's ``function``."""
        return getattr(self, function.__name__)(*args, **kwargs)

    def method(self, name: str, x: GraphArray, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Apply the function of this namespace that has the name of a method of NumPy's arrays."""
        return getattr(self, name)(x, *args, **kwargs)

    def noted(self, error: NotInGraphError) -> NotInGraphError:
        """An error that is about to be raised; code that catches it would go on as if it had a value."""
        return error

    def wrap(self, variable: SDVariable) -> GraphArray:
        """A graph variable as a :class:`GraphArray`."""
        return GraphArray(self, variable)

    def given(self, variable: SDVariable) -> GraphArray:
        """An input of the code as an array."""
        return self.wrap(variable)

    def unwrap(self, value: Any, dtype: Any = None) -> SDVariable:
        """The variable of an array; numbers and NumPy arrays become constants."""
        if isinstance(value, SymbolicSize):
            value = value.number()
        if isinstance(value, GraphArray):
            return value.variable
        if hasattr(value, "get_variable_type"):
            return value  # type: ignore[no-any-return]
        if not isinstance(value, (bool, int, float, np.ndarray, np.generic, list, tuple)):
            raise NotInGraphError(f"expected an array or a number, got {type(value).__name__}")
        return self.sd.constant(np.asarray(to_numpy(value), dtype if not hasattr(value, "dtype") else None))  # type: ignore[no-any-return]

    def node(self, op_id: str, arrays: Sequence[Any], **attributes: Any) -> Any:
        """Add a registered op to the graph; its result as an array, or a list of them."""
        made = self.sd.add_op(OPS[op_id](**attributes), [self.unwrap(a) for a in arrays])
        return [self.wrap(v) for v in made] if isinstance(made, list) else self.wrap(made)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _REDUCTIONS:
            return lambda x, axis=None, keepdims=False, **more: self._reduced(name, x, axis, keepdims, more)
        if name in _ELEMENTWISE:
            return lambda *args, **options: self._elementwise(name, args, options)
        value = getattr(np, name, None)
        if value is None or not callable(value) or isinstance(value, type):
            if value is None or hasattr(value, "__path__"):
                raise self.missing(name)
            return value
        return lambda *args, **options: self._plain(name, value, args, options)

    def _plain(self, name: str, function: Any, args: Any, options: Any) -> Any:
        if _has_array((args, tuple(options.values()))):
            raise self.missing(name)
        return function(*args, **options)

    def missing(self, name: str) -> NotInGraphError:
        """The error for a function that has no node."""
        return NotInGraphError(f"xp.{name} has no graph node{did_you_mean(name, [*_REDUCTIONS, *_ELEMENTWISE, *_own()])}")

    # Elementwise functions and reductions

    def _elementwise(self, name: str, args: Sequence[Any], options: dict[str, Any]) -> Any:
        beside = next((a for a in args if isinstance(a, GraphArray) and a.dtype != np.bool_), None)
        args = [a.number(beside) if isinstance(a, SymbolicSize) else self.asarray(a) if isinstance(a, (list, tuple)) else a for a in args]
        if not _has_array(args):
            return getattr(np, name)(*args, **options)
        dtype = options.pop("dtype", None)
        if name == "where" and len(args) != 3:
            raise NotInGraphError("xp.where needs three arguments to be a graph node")
        if name in _LIKE or name == "full_like":
            kind = None if dtype is None else DataType.of(dtype)
            zeros = self.node("ones_as" if name == "ones_like" else "zeros_as", args[:1], data_type=kind)
            return zeros if name in _LIKE else (zeros + args[1]).astype(zeros.dtype)
        arrays = [a for a in args if _is_array(a)]
        template = tuple(ARRAY if _is_array(a) else _number(a) for a in args)
        call = ArrayCall(name, template, tuple(sorted((k, _number(v)) for k, v in options.items())))
        made = self.wrap(self.sd.add_op(call, [self.unwrap(a) for a in arrays]))
        return made if dtype is None else made.astype(dtype)

    def _reduced(self, name: str, x: Any, axis: Any, keepdims: bool, more: dict[str, Any]) -> Any:
        dtype = more.pop("dtype", None)
        if more:
            raise NotInGraphError(f"xp.{name} with {', '.join(more)} has no graph node")
        if name in ("sum", "prod") and dtype is None and np.dtype(x.dtype).kind == "b":     # NumPy counts truth values
            x = self.astype(x, np.int64)
        made = self.reduced_by(_REDUCTIONS[name], x, axis, keepdims)
        return made if dtype is None else made.astype(dtype)

    def var(self, x: Any, axis: Any = None, keepdims: bool = False, ddof: float = 0) -> GraphArray:
        """Mean squared distance from the mean."""
        return self._spread_by_op("var", x, axis, keepdims, ddof)

    def std(self, x: Any, axis: Any = None, keepdims: bool = False, ddof: float = 0) -> GraphArray:
        """Root of the variance."""
        return self._spread_by_op("std", x, axis, keepdims, ddof)

    def _spread_by_op(self, op_id: str, x: Any, axis: Any, keepdims: bool, ddof: float) -> GraphArray:
        """What the op gives, whose squares stay in range, for any number of degrees of freedom."""
        if isinstance(axis, (tuple, list)) and not axis and x.ndim:
            x, axis, keepdims = x[..., None], -1, False
        made = self.node(op_id, [x], dimensions=_axes(axis), keep_dims=bool(keepdims), bias_corrected=ddof == 1)
        if ddof in (0, 1):
            return made  # type: ignore[no-any-return]
        count: Any = 1
        for a in _axes(axis) or range(x.ndim):
            count = x.shape[a] * count
        free = max(count - ddof, 0) if isinstance(count, int) else count - ddof
        share = self.ones_like(made) * count / free
        return made * (share if op_id == "var" else self.sqrt(share))  # type: ignore[no-any-return]

    def reduced_by(self, op_id: str, x: Any, axis: Any, keepdims: bool) -> GraphArray:
        """What an op that takes dimensions gives over axes."""
        if isinstance(axis, (tuple, list)) and not axis and x.ndim:     # for NumPy each element alone, for ops all of them
            x, axis, keepdims = x[..., None], -1, False
        return self.node(op_id, [x], dimensions=_axes(axis), keep_dims=bool(keepdims))  # type: ignore[no-any-return]

    def cumsum(self, x: Any, axis: int | None = None, dtype: Any = None) -> GraphArray:
        """Running sum."""
        x = x if dtype is None else self.astype(x, dtype)
        return self.node("cumsum", [self.ravel(x) if axis is None else x], axis=(0 if axis is None else axis,))  # type: ignore[no-any-return]

    # Products

    def matmul(self, x: Any, y: Any) -> GraphArray:
        """Matrix product."""
        return self.node("matmul", [x, y])  # type: ignore[no-any-return]

    def dot(self, x: Any, y: Any) -> GraphArray:
        """Product of scalars, vectors and matrices."""
        ranks = [np.ndim(a) if not isinstance(a, GraphArray) else a.ndim for a in (x, y)]
        if 0 in ranks:
            return x * y  # type: ignore[no-any-return]
        return self.matmul(x, y) if max(ranks) <= 2 else self.tensordot(x, y, ((-1,), (-2 if ranks[1] > 1 else -1,)))

    def tensordot(self, x: Any, y: Any, axes: Any = 2) -> GraphArray:
        """Contraction over ``axes``."""
        if isinstance(axes, int):
            axes = (range(-axes, 0), range(axes))
        return self.node("tensordot", [x, y], dimensions_x=_axes(tuple(axes[0]) if not isinstance(axes[0], int) else axes[0]),  # type: ignore[no-any-return]
                         dimensions_y=_axes(tuple(axes[1]) if not isinstance(axes[1], int) else axes[1]))

    def einsum(self, subscripts: str, *arrays: Any) -> GraphArray:
        """The sum of products that the subscripts describe, in matrix products."""
        return einsum(self, subscripts, [a if isinstance(a, GraphArray) else self.wrap(self.unwrap(a)) for a in arrays])

    # Shapes

    def reshape(self, x: Any, shape: Any, order: str = "C") -> GraphArray:
        """The elements in another shape."""
        if order != "C":
            raise NotInGraphError("only order='C' has a graph node")
        sizes = tuple(shape) if isinstance(shape, (tuple, list, np.ndarray)) else (shape,)
        open_ones = [i for i, n in enumerate(sizes) if isinstance(n, SymbolicSize)]
        if len(open_ones) == 1 and isinstance(x, GraphArray) and _rest(x.shape, sizes[open_ones[0]]) == _rest(sizes, sizes[open_ones[0]]):
            sizes = tuple(-1 if i in open_ones else n for i, n in enumerate(sizes))         # its size follows from the others
        if any(isinstance(n, SymbolicSize) for n in sizes):
            return self.sized("reshape_to", x, sizes)
        return self.node("reshape", [x], shape=tuple(int(n) for n in sizes))  # type: ignore[no-any-return]

    def sized(self, op_id: str, x: Any, sizes: Sequence[Any]) -> GraphArray:
        """A node with a shape in which sizes of arrays occur."""
        formulas, arrays = gathered(sizes)
        return self.node(op_id, [x, *arrays], sizes=formulas)  # type: ignore[no-any-return]

    def ravel(self, x: Any, order: str = "C") -> GraphArray:
        """The elements along a single axis."""
        return self.reshape(x, (-1,), order)

    flatten = ravel

    def expand_dims(self, x: Any, axis: Any) -> GraphArray:
        """New axes of size 1."""
        for a in _axes(axis):
            x = self.node("expand_dims", [x], axis=a)
        return x  # type: ignore[no-any-return]

    def squeeze(self, x: Any, axis: Any = None) -> GraphArray:
        """Without axes of size 1."""
        return self.node("squeeze", [x], axis=_axes(axis))  # type: ignore[no-any-return]

    def transpose(self, x: Any, axes: Any = None) -> GraphArray:
        """The axes in another order, reversed by default."""
        return self.node("permute", [x], dimensions=_axes(axes))  # type: ignore[no-any-return]

    permute_dims = transpose

    def swapaxes(self, x: Any, first: int, second: int) -> GraphArray:
        """Two axes exchanged."""
        order = list(range(x.ndim))
        order[first], order[second] = order[second], order[first]
        return self.transpose(x, order)

    def moveaxis(self, x: Any, source: Any, destination: Any) -> GraphArray:
        """Axes moved to other positions, as ``numpy.moveaxis``."""
        pairs = sorted(zip((d % x.ndim for d in _axes(destination)), (n % x.ndim for n in _axes(source)), strict=True))
        order = [i for i in range(x.ndim) if i not in [n for _, n in pairs]]
        for to, of in pairs:
            order.insert(to, of)
        return self.transpose(x, order)

    def broadcast_to(self, x: Any, shape: Any) -> GraphArray:
        """``x`` broadcast to a shape, which may contain symbolic sizes."""
        shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        if any(isinstance(n, SymbolicSize) for n in shape):
            return self.sized("broadcast_to_sizes", x, shape)
        like = self.sd.constant(np.zeros(tuple(int(n) for n in shape), np.int8))
        return self.wrap(self.sd.add_op(OPS["broadcast_like"](), [self.unwrap(x), like]))

    def broadcast_arrays(self, *arrays: Any) -> list[GraphArray]:
        """All stretched to the shape that they have together."""
        shape = np.broadcast_shapes(*(tuple(map(int, a.shape)) for a in arrays))
        return [a if tuple(a.shape) == shape else self.broadcast_to(a, shape) for a in arrays]

    def roll(self, x: Any, shift: int, axis: int) -> GraphArray:
        """Elements moved on along an axis, the last ones to the front."""
        n, before = x.shape[axis], (slice(None),) * (axis % x.ndim)
        shift %= max(int(n), 1)
        parts = (slice(int(n) - shift, None), slice(0, int(n) - shift))
        return x if not shift else self.concatenate([x[(*before, part)] for part in parts], axis)

    def diagonal(self, x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> GraphArray:
        """Elements whose places on two axes are equal, as the last axis."""
        x = self.moveaxis(self.moveaxis(x, axis1 % x.ndim, -1), axis2 % x.ndim - (axis2 % x.ndim > axis1 % x.ndim), -1)
        rows, columns = (int(n) for n in x.shape[-2:])
        count = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
        places = np.arange(count, dtype=np.int64) * (columns + 1) + max(offset, 0) + max(-offset, 0) * columns
        return self.take(self.reshape(x, (*x.shape[:-2], rows * columns)), places, -1)

    # Several arrays, parts of arrays

    def concatenate(self, arrays: Sequence[Any], axis: int = 0) -> GraphArray:
        """Arrays joined along an existing axis."""
        return self.node("concat", self.alike(arrays), dimension=axis)  # type: ignore[no-any-return]

    concat = concatenate

    def stack(self, arrays: Sequence[Any], axis: int = 0) -> GraphArray:
        """Arrays of one shape joined along a new axis."""
        return self.node("stack", self.alike(arrays), axis=axis)  # type: ignore[no-any-return]

    def alike(self, arrays: Sequence[Any]) -> list[Any]:
        """The arrays in the type that NumPy gives them together."""
        dtype = np.result_type(*(a.dtype if hasattr(a, "dtype") else a for a in arrays))
        return [self.astype(a, dtype) if isinstance(a, GraphArray) else np.asarray(a, dtype) for a in arrays]

    def tile(self, x: Any, counts: Any) -> GraphArray:
        """The whole array repeated along each axis."""
        counts = tuple(counts) if isinstance(counts, (tuple, list, np.ndarray)) else (counts,)
        counts = (1,) * (x.ndim - len(counts)) + counts
        if any(isinstance(n, SymbolicSize) for n in counts):
            pairs = list(zip(counts, x.shape, strict=True))
            apart = self.reshape(x, tuple(n for _, size in pairs for n in (1, size)))
            return self.reshape(self.broadcast_to(apart, tuple(n for pair in pairs for n in pair)), tuple(n * size for n, size in pairs))
        return self.node("tile", [x], repeat=counts)  # type: ignore[no-any-return]

    def repeat(self, x: Any, repeats: Any, axis: int | None = None) -> GraphArray:
        """Each element repeated."""
        flat = self.ravel(x) if axis is None else x
        if isinstance(repeats, SymbolicSize):
            at = (axis or 0) % flat.ndim
            front, back = flat.shape[:at + 1], flat.shape[at + 1:]
            apart = self.broadcast_to(self.expand_dims(flat, at + 1), (*front, repeats, *back))
            return self.reshape(apart, (*front[:-1], front[-1] * repeats, *back))
        return self.node("repeat", [flat, np.atleast_1d(np.asarray(repeats, np.int64))], axis=axis or 0)  # type: ignore[no-any-return]

    def take(self, x: Any, indices: Any, axis: int | None = None) -> GraphArray:
        """Elements or slices at positions."""
        flat = self.ravel(x) if axis is None else x
        return self.wrap(self.sd.call("base", "gather", self.unwrap(flat), self.unwrap(indices, np.int64), axis or 0))

    def getitem(self, x: GraphArray, index: Any) -> GraphArray:
        """``x[index]`` with numbers, slices, None and ``...``, or one integer array."""
        entries = index if isinstance(index, tuple) else (index,)
        if len(entries) == 1 and isinstance(entries[0], (GraphArray, np.ndarray, list)):
            positions = entries[0] if isinstance(entries[0], GraphArray) else np.asarray(entries[0])
            if positions.dtype.kind not in "iu":
                raise NotInGraphError("indexing with truth values has no graph node: use xp.where")
            return self.take(x, positions, axis=0)
        if any(isinstance(i, (GraphArray, np.ndarray, list)) for i in entries):
            raise NotInGraphError("indexing with several arrays has no graph node")
        return self.wrap(x.variable[entries])

    def astype(self, x: Any, dtype: Any) -> GraphArray:
        """Convert to a type."""
        kind = DataType.of(dtype)
        return x if x.dtype == kind.numpy else self.node("cast", [x], data_type=kind)  # type: ignore[no-any-return]

    def asarray(self, value: Any, dtype: Any = None) -> Any:
        """A graph array stays one; numbers become NumPy arrays."""
        if isinstance(value, (list, tuple)) and _has_array(value):
            value = self.stack(value)
        if not isinstance(value, GraphArray):
            return np.asarray(value, dtype)
        return value if dtype is None else self.astype(value, dtype)

    array = asanyarray = asarray

    def shape(self, x: Any) -> tuple[Any, ...]:
        """Sizes, as far as known."""
        return x.shape  # type: ignore[no-any-return]

    def ndim(self, x: Any) -> int:
        """Number of axes."""
        return x.ndim if hasattr(x, "ndim") else np.ndim(x)

    def __repr__(self) -> str:
        return "<functions that add graph nodes>"


def _own() -> list[str]:
    return [n for n in vars(GraphNamespace) if not n.startswith("_")]


def _is_array(value: Any) -> bool:
    return isinstance(value, (GraphArray, SymbolicSize)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _has_array(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(_has_array(v) for v in value)
    return isinstance(value, (GraphArray, SymbolicSize))


def _number(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value[()]
    if value is not None and not isinstance(value, (bool, int, float, np.generic)):
        raise NotInGraphError(f"expected an array or a number, got {type(value).__name__}")
    return value


def _rest(sizes: Sequence[Any], one: SymbolicSize) -> Any:
    """The product of sizes besides an open one; nothing that equals another where that is not in it or there are more."""
    places = [i for i, n in enumerate(sizes) if isinstance(n, SymbolicSize)]
    if len(places) != 1 or not are_equal(sizes[places[0]], one):
        return object()
    return math.prod(n for n in sizes if isinstance(n, int)) if -1 not in [n for n in sizes if isinstance(n, int)] else object()
