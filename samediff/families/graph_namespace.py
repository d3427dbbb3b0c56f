"""The namespace ``xp`` whose functions add graph nodes: array code run once becomes a differentiable graph.

Every elementwise function of NumPy, reductions, products, and what moves axes and elements::

    xp = GraphNamespace(sd)
    x = xp.wrap(sd.var("x", array))
    centred = x - x.mean(axis=-1, keepdims=True)          # nodes, typed by NumPy's rules
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.datatype import DataType
from ..errors import did_you_mean
from ..expressions.arrays import to_numpy
from ..expressions.scalar import ALIASES, FUNCTIONS
from ..expressions.tracing import _COMPOSED
from ..ir.op import OPS, as_tuple
from .array_call import ARRAY, ArrayCall, NotInGraphError, Size
from .graph_array import GraphArray

if TYPE_CHECKING:
    from ..ir.protocols import Graph
    from ..ir.variable import SDVariable

_REDUCTIONS = {"sum": "reduce_sum", "mean": "reduce_mean", "max": "reduce_max", "min": "reduce_min", "amax": "reduce_max",
               "amin": "reduce_min", "prod": "reduce_prod", "all": "all", "any": "any", "argmax": "argmax", "argmin": "argmin"}
_ELEMENTWISE = frozenset({*FUNCTIONS, *_COMPOSED, *ALIASES, "where"})
_LIKE = {"zeros_like": 0, "ones_like": 1}


def on_graph(sd: Graph, compute: Callable[..., Any], inputs: Sequence[SDVariable | None], **attributes: Any) -> tuple[SDVariable, ...]:
    """Run ``compute(xp, *arrays, **attributes)`` on variables of ``sd``: its results as new variables.

    Raises
    ------
    NotInGraphError
        The code needs values, or a function that has no node.
    """
    xp = GraphNamespace(sd)
    results = as_tuple(compute(xp, *(None if v is None else xp.wrap(v) for v in inputs), **attributes))
    return tuple(sd.call("base", "identity", v) if any(v is i for i in inputs) else v for v in map(xp.unwrap, results))


def _axes(axis: Any) -> tuple[int, ...]:
    return () if axis is None else tuple(int(a) for a in axis) if isinstance(axis, (tuple, list)) else (int(axis),)


class GraphNamespace:
    """NumPy's function names on :class:`~.graph_array.GraphArray`; functions of plain numbers and arrays are NumPy's own."""

    pi, e, inf, nan, newaxis = np.pi, np.e, np.inf, np.nan, None

    def __init__(self, sd: Graph) -> None:
        self.sd = sd

    # Between variables and arrays

    def wrap(self, variable: SDVariable) -> GraphArray:
        """A variable as an array."""
        return GraphArray(self, variable)

    def unwrap(self, value: Any, dtype: Any = None) -> SDVariable:
        """The variable of an array; numbers and NumPy arrays become constants."""
        if isinstance(value, Size):
            value = value.number()
        if isinstance(value, GraphArray):
            return value.variable
        if hasattr(value, "get_variable_type"):
            return value  # type: ignore[no-any-return]
        if not isinstance(value, (bool, int, float, np.ndarray, np.generic, list, tuple)):
            raise NotInGraphError(f"expected an array or a number, got {type(value).__name__}")
        return self.sd.constant(np.asarray(to_numpy(value), dtype if not hasattr(value, "dtype") else None))  # type: ignore[no-any-return]

    def node(self, op_id: str, arrays: Sequence[Any], **attributes: Any) -> Any:
        """Add a registered op."""
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
                raise NotInGraphError(f"xp.{name} has no graph node{did_you_mean(name, [*_REDUCTIONS, *_ELEMENTWISE, *_own()])}")
            return value
        return lambda *args, **options: self._plain(name, value, args, options)

    def _plain(self, name: str, function: Any, args: Any, options: Any) -> Any:
        if _has_array((args, tuple(options.values()))):
            raise NotInGraphError(f"xp.{name} has no graph node{did_you_mean(name, [*_REDUCTIONS, *_ELEMENTWISE, *_own()])}")
        return function(*args, **options)

    # Elementwise functions and reductions

    def _elementwise(self, name: str, args: Sequence[Any], options: dict[str, Any]) -> Any:
        args = [a.number() if isinstance(a, Size) else a for a in args]
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
        made = self.node(_REDUCTIONS[name], [x], dimensions=_axes(axis), keep_dims=bool(keepdims))
        return made if dtype is None else made.astype(dtype)

    def var(self, x: Any, axis: Any = None, keepdims: bool = False, ddof: float = 0) -> GraphArray:
        """Mean squared distance from the mean."""
        deviation = x - self.mean(x, axis=axis, keepdims=True)
        squares = deviation * deviation
        if not ddof:
            return self.mean(squares, axis=axis, keepdims=keepdims)  # type: ignore[no-any-return]
        count: Any = 1
        for a in _axes(axis) or range(x.ndim):
            count = x.shape[a] * count
        return self.sum(squares, axis=axis, keepdims=keepdims) / (count - ddof)  # type: ignore[no-any-return]

    def std(self, x: Any, axis: Any = None, keepdims: bool = False, ddof: float = 0) -> GraphArray:
        """Root of the variance."""
        return self.sqrt(self.var(x, axis, keepdims, ddof))  # type: ignore[no-any-return]

    def cumsum(self, x: Any, axis: int | None = None) -> GraphArray:
        """Running sum."""
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

    # Shapes

    def reshape(self, x: Any, shape: Any, order: str = "C") -> GraphArray:
        """The elements in another shape."""
        if order != "C":
            raise NotInGraphError("only order='C' has a graph node")
        sizes = list(shape) if isinstance(shape, (tuple, list)) else [shape]
        return self.node("reshape", [x], shape=tuple(int(n) for n in _resolved(x, sizes)))  # type: ignore[no-any-return]

    def ravel(self, x: Any, order: str = "C") -> GraphArray:
        """One axis."""
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

    def moveaxis(self, x: Any, source: int, destination: int) -> GraphArray:
        """One axis at another place."""
        order = [i for i in range(x.ndim) if i != source % x.ndim]
        order.insert(destination % x.ndim, source % x.ndim)
        return self.transpose(x, order)

    def broadcast_to(self, x: Any, shape: Any) -> GraphArray:
        """Stretched to a known shape."""
        like = self.sd.constant(np.zeros(tuple(int(n) for n in shape), np.int8))
        return self.wrap(self.sd.add_op(OPS["broadcast_like"](), [self.unwrap(x), like]))

    # Several arrays, parts of arrays

    def concatenate(self, arrays: Sequence[Any], axis: int = 0) -> GraphArray:
        """One after the other along an axis."""
        return self.node("concat", self._alike(arrays), dimension=axis)  # type: ignore[no-any-return]

    concat = concatenate

    def stack(self, arrays: Sequence[Any], axis: int = 0) -> GraphArray:
        """Along a new axis."""
        return self.node("stack", self._alike(arrays), axis=axis)  # type: ignore[no-any-return]

    def _alike(self, arrays: Sequence[Any]) -> list[Any]:
        dtype = np.result_type(*(a.dtype if hasattr(a, "dtype") else a for a in arrays))
        return [self.astype(a, dtype) if isinstance(a, GraphArray) else np.asarray(a, dtype) for a in arrays]

    def tile(self, x: Any, counts: Any) -> GraphArray:
        """The whole array repeated along each axis."""
        counts = (counts,) if isinstance(counts, int) else tuple(counts)
        return self.node("tile", [x], repeat=(1,) * (x.ndim - len(counts)) + counts)  # type: ignore[no-any-return]

    def repeat(self, x: Any, repeats: Any, axis: int | None = None) -> GraphArray:
        """Each element repeated."""
        flat = self.ravel(x) if axis is None else x
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
    return isinstance(value, (GraphArray, Size)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _has_array(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(_has_array(v) for v in value)
    return isinstance(value, (GraphArray, Size))


def _number(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value[()]
    if value is not None and not isinstance(value, (bool, int, float, np.generic)):
        raise NotInGraphError(f"expected an array or a number, got {type(value).__name__}")
    return value


def _resolved(x: Any, sizes: list[Any]) -> list[Any]:
    """Sizes with at most one -1 where one unknown size occurs."""
    open_ends = [i for i, n in enumerate(sizes) if isinstance(n, Size)]
    if not open_ends:
        return sizes
    if len(open_ends) == 1 and isinstance(x, GraphArray):
        at = open_ends[0]
        known = [n for n in sizes if not isinstance(n, Size)]
        if -1 not in known:
            return [-1 if i == at else n for i, n in enumerate(sizes)]
        own = x.shape
        rest = [n for i, n in enumerate(own) if not (isinstance(sizes[at], Size) and i == sizes[at].axis)]
        if sizes[at].array.variable is x.variable and not any(isinstance(n, Size) for n in rest):
            left = int(np.prod(rest, dtype=int)) // max(int(np.prod([n for n in known if n != -1], dtype=int)), 1)
            return [-1 if i == at else left if n == -1 else n for i, n in enumerate(sizes)]
    raise NotInGraphError("a shape with several unknown sizes has no graph node")
