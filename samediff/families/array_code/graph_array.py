"""A graph variable that answers like a NumPy array."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...expressions.tracing import BINARY, COMPARISONS, UNARY
from .symbolic_size import NotInGraphError, SymbolicSize, knows_sizes

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


class ArrayFunctions(Protocol):
    """NumPy's functions on :class:`GraphArray`; every other one by its name."""

    def transpose(self, x: Any, axes: Any = None, /) -> GraphArray: ...

    def swapaxes(self, x: Any, first: int, second: int, /) -> GraphArray: ...

    def astype(self, x: Any, dtype: Any, /) -> GraphArray: ...

    def reshape(self, x: Any, shape: Any, order: str = "C", /) -> GraphArray: ...

    def getitem(self, x: Any, index: Any, /) -> GraphArray: ...

    def matmul(self, x: Any, y: Any, /) -> GraphArray: ...

    def call(self, function: Any, args: Any, kwargs: Any, /) -> Any: ...

    def method(self, name: str, x: Any, args: Any, kwargs: Any, /) -> Any: ...

    def noted(self, error: NotInGraphError, /) -> NotInGraphError: ...


class GraphArray:
    """Wraps a variable: operators, methods and NumPy functions on it add nodes to its graph.

    ``shape`` has ints where sizes are known and :class:`~.symbolic_size.SymbolicSize` where they are not.
    """

    __array_priority__ = 1000.0
    __hash__ = object.__hash__

    def __init__(self, xp: ArrayFunctions, variable: SDVariable) -> None:
        self.xp, self.variable = xp, variable

    def like(self, variable: SDVariable) -> GraphArray:
        """Another variable of the same graph, wrapped."""
        return GraphArray(self.xp, variable)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        return self.variable.dtype.numpy

    @property
    def shape(self) -> tuple[Any, ...]:
        """Sizes, as far as known."""
        sizes = self.variable.spec.shape
        if sizes is None:
            raise NotInGraphError(f"the rank of {self!r} is not known while the graph is built")
        return tuple(SymbolicSize.of(self, i) if n == -1 else n for i, n in enumerate(sizes))

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> Any:
        """Number of elements."""
        total: Any = 1
        for n in self.shape:
            total = n * total
        return total

    @property
    def T(self) -> GraphArray:
        """The axes reversed."""
        return self.xp.transpose(self)

    mT = property(lambda self: self.xp.swapaxes(self, -1, -2))

    def astype(self, dtype: Any, copy: bool = True) -> GraphArray:
        """Convert to a type."""
        return self.xp.astype(self, dtype)

    def copy(self) -> GraphArray:
        """The array itself: values never change."""
        return self

    def reshape(self, *shape: Any, order: str = "C") -> GraphArray:
        """The elements in another shape, as ``numpy.ndarray.reshape``."""
        return self.xp.reshape(self, shape[0] if len(shape) == 1 else shape, order)

    def transpose(self, *axes: Any) -> GraphArray:
        """The axes in another order."""
        return self.xp.transpose(self, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None)

    def __getitem__(self, index: Any) -> GraphArray:
        return self.xp.getitem(self, index)

    def __len__(self) -> int:
        return int(self.shape[0])

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __matmul__(self, other: Any) -> GraphArray:
        return self.xp.matmul(self, other)

    def __rmatmul__(self, other: Any) -> GraphArray:
        return self.xp.matmul(other, self)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        if any(map(knows_sizes, args)):
            return NotImplemented
        if kwargs.pop("out", None) is not None:
            raise NotInGraphError(f"np.{ufunc.__name__} with out= has no graph node: use its result")
        return self.xp.call(ufunc if method == "__call__" else getattr(ufunc, method), args, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if any(map(knows_sizes, types)):
            return NotImplemented
        return self.xp.call(function, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in METHODS:
            return lambda *args, **kwargs: self.xp.method(name, self, args, kwargs)
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotInGraphError(f"the code asks an array for {name!r}, which has no graph node")

    def __repr__(self) -> str:
        return f"<graph array {self.variable.name()} {self.variable.spec}>"


#: Array methods that are functions of the namespace.
METHODS = frozenset((
    "sum", "mean", "max", "min", "prod", "std", "var", "all", "any", "argmax", "argmin", "ravel", "flatten", "squeeze",
    "swapaxes", "dot", "clip", "cumsum", "cumprod", "round", "repeat", "take", "argsort", "trace", "diagonal", "choose", "compress",
    "searchsorted", "conj", "conjugate", "nonzero"))

#: Methods of NumPy's arrays without a graph node: what each does, and what to use instead.
_REFUSED = {
    "bool": ("decides by the value of an array (if, while, and, or)", "xp.where(condition, x, y) chooses element by element"),
    **dict.fromkeys(("float", "int", "complex", "index"), (
        "makes a Python number of an array (float, int, math.*, a range or an index)", "the functions of xp take arrays")),
    "setitem": ("assigns to a part of an array (x[...] = y)", "xp.where, xp.concatenate, xp.stack and xp.pad make a new array"),
    "array": ("gives an array to NumPy as values (np.asarray, SciPy, a part of a plain array)",
              "call functions of xp, and join parts by xp.stack or xp.concatenate")}


def _refusing(name: str) -> Callable[..., Any]:
    what, instead = _REFUSED[name]

    def refuse(self: GraphArray, *args: Any, **kwargs: Any) -> Any:
        raise self.xp.noted(NotInGraphError(f"the code {what}, whose values are not known while the graph is built: {instead}"))
    return refuse


def _install() -> None:
    def operator(name: str, swap: bool = False) -> Callable[..., Any]:
        def method(self: GraphArray, *other: Any) -> Any:
            if other and knows_sizes(other[0]):
                return NotImplemented
            return getattr(self.xp, name)(*((*other, self) if swap else (self, *other)))
        return method

    for short, name in {**BINARY, **COMPARISONS, **UNARY}.items():
        setattr(GraphArray, f"__{short}__", operator(name))
    for short, name in BINARY.items():
        setattr(GraphArray, f"__r{short}__", operator(name, swap=True))
    for short in _REFUSED:
        setattr(GraphArray, f"__{short}__", _refusing(short))


_install()
