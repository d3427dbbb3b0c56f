"""Arrays that a graph scope or a compiled function has recorded: shape and type are known, values come at the end."""
from __future__ import annotations

import inspect
import math
import types
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays.array_class import stands_for_array
from ..arrays.facts import Count, Sizes
from ..arrays.indarray import INDArray
from ..arrays.recording import state
from ..base.datatype import DataType
from ..base.source_line import asked_by_others
from ..expressions.tracing import BINARY, COMPARISONS, UNARY
from ..families.array_code.symbolic_size import SymbolicSize

if TYPE_CHECKING:
    from ..families.array_code.graph_array import GraphArray


#: Methods of NumPy's arrays that can be recorded.
METHODS = frozenset((
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose", "clip", "compress", "conj", "conjugate", "copy",
    "cumprod", "cumsum", "diagonal", "dot", "flatten", "max", "mean", "min", "prod", "ravel", "repeat", "reshape", "round", "searchsorted",
    "squeeze", "std", "sum", "swapaxes", "take", "trace", "transpose", "var"))


#: Methods that take sizes as such, where others take them as numbers.
OF_SIZES = frozenset(("broadcast", "repmat"))


class OpenCount(SymbolicSize):
    """The number of elements of an array some of whose sizes are not known; called, the size of a dimension."""

    def __init__(self, array: GraphArray, sizes: tuple[Any, ...]) -> None:
        count = array.size
        super().__init__(count.arrays, count.formula)
        self.sizes = sizes

    def __call__(self, dimension: int) -> Any:
        """The size of a dimension."""
        return self.sizes[dimension]


class LazyINDArray:
    """A result of a call inside of a :class:`GraphScope`: it knows shape and type, and has its values after the scope's end.

    Calls on it are recorded. After the end it answers as the :class:`INDArray` of the result, and ``isinstance(x, INDArray)`` holds.

    Parameters
    ----------
    trace, array, depth, plain
        Who recorded it, what stands for it in the graph, in how many bodies of branches and loops, and whether it stands for one of
        NumPy's own arrays. Scopes and compiled functions make them.

    Raises
    ------
    GraphScopeError
        Values are asked for before the end (``float``, ``if``, loops over values, NumPy functions that need them).

    Examples
    --------
    >>> from dl4py import GraphScope, INDArray
    >>> with GraphScope():
    ...     x = INDArray.of([1.0, 2.0]) + 1
    ...     print(x)
    LazyINDArray(FLOAT, (2,), not computed yet)
    >>> isinstance(x, INDArray), x.tolist()
    (True, [2.0, 3.0])
    """

    __slots__ = ("__weakref__", "_array", "_depth", "_made", "_plain", "_real", "_trace")
    __array_priority__ = 2000.0
    __hash__ = object.__hash__

    def __init__(self, trace: Any, array: GraphArray, depth: int, plain: bool = False) -> None:
        self._trace, self._array, self._depth, self._plain, self._real, self._made = trace, array, depth, plain, None, None

    # What is known

    @property  # type: ignore[misc]  # read alone
    def __class__(self) -> type:  # type: ignore[override]  # it stands for an object of another class
        return _seen_as(self) if asked_by_others(1) else LazyINDArray

    @property
    def shape(self) -> Any:
        """Sizes, as a tuple that can also be called."""
        return Sizes(self._array.shape) if self._real is None else self._real.shape

    @property
    def size(self) -> Any:
        """The number of elements; ``size(i)`` is the size of a dimension."""
        if self._real is not None:
            return self._real.size
        sizes = self._array.shape
        return OpenCount(self._array, sizes) if any(isinstance(n, SymbolicSize) for n in sizes) else Count(sizes)

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's element type."""
        return self._array.dtype if self._real is None else self._real.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._array.ndim if self._real is None else self._real.ndim

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> Any:
        """Bytes of all elements."""
        return self.dtype.itemsize * self.size

    @property
    def strides(self) -> Any:
        """Bytes between neighbours along each axis."""
        if self._real is not None:
            return self._real.strides
        node = self._trace.sd.producer(self._array.variable.name())
        if node is not None and node.op.is_view and node.op.id != "identity":
            self._recorder().refuse("the code asks how the elements of a view lie in memory")
        sizes, columns = self._array.shape, self.ordering() == "f"
        return tuple(self.itemsize * math.prod(sizes[:i] if columns else sizes[i + 1:]) for i in range(len(sizes)))

    def ordering(self) -> str:
        """``'f'`` where it stands in column order, as copies of such arrays do, else ``'c'``."""
        if self._real is not None:
            return self._real.ordering()        # type: ignore[no-any-return]
        return "f" if self._trace.orders.in_columns(self._array.variable, assuming=True) else "c"

    @property
    def real(self) -> Any:
        """The array."""
        return np.real(self)

    @property
    def imag(self) -> Any:
        """Zeros."""
        return np.imag(self)

    @property
    def T(self) -> Any:
        """The axes reversed."""
        return np.transpose(self)

    @property
    def mT(self) -> Any:
        """The last two axes swapped."""
        return np.swapaxes(self, -1, -2)

    def __len__(self) -> int:
        return len(self._array) if self._real is None else len(self._real)

    def __repr__(self) -> str:
        if self._real is not None:
            return repr(self._real)
        return f"LazyINDArray({DataType.of(self._array.dtype).name}, {self._array.variable.spec.shape}, not computed yet)"

    def __str__(self) -> str:
        return repr(self) if self._real is None else str(self._real)

    def __format__(self, text: str) -> str:
        return str(self) if self._real is None and not text else format(self._values(f"format {text!r}"), text)

    # Calls that are recorded

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        if out is not None:
            options["out"] = out[0] if len(out) == 1 else out
        return self._call(function, inputs, options)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        return self._call(function, args, kwargs)

    def _call(self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        args, kwargs = settled(tuple(args)), {k: settled(v) for k, v in kwargs.items()}
        return self._recorder().record_function(function, args, kwargs) if self._real is None else function(*args, **kwargs)

    def _recorder(self) -> Any:
        if state.recorder is not self._trace:
            self._trace.refuse_from_outside(self)
        return self._trace

    def __getitem__(self, index: Any) -> Any:
        if self._real is not None:
            return self._real[settled(index)]
        return self._recorder().item(self, settled(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        if self._real is not None:
            self._real[settled(index)] = settled(value)
        else:
            self._recorder().set_item(self, settled(index), settled(value))

    def reshape(self, *args: Any, **options: Any) -> Any:
        """As of :class:`INDArray`; sizes that are not known stand beside numbers."""
        if self._real is None and self._plain:
            sizes = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
            return self._recorder().record_method("reshape", self, (tuple(sizes),), options)
        return INDArray.reshape(self, *args, **options)     # type: ignore[arg-type]

    def fill(self, value: Any) -> None:
        """Give all elements one value. In place."""
        self[...] = value

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
        """Put the elements along an axis in order. In place; ``kind``, ``order`` and ``stable`` have no effect."""
        self[...] = np.sort(self, axis=axis)

    def __iter__(self) -> Iterator[Any]:
        if self._real is not None:
            return iter(self._real)
        if self._recorder().of_function and self.ndim:
            return iter([self[i] for i in range(len(self))])
        return iter(self._values("a loop over the rows of an array"))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self._real is not None:
            return getattr(self._real, name)
        if self._plain and name in METHODS:
            return self._method(name)
        member = inspect.getattr_static(INDArray, name, None)
        if isinstance(member, types.FunctionType) and not hasattr(member, "of_numpy"):
            return lambda *args, **kwargs: member(self, *(args if name in OF_SIZES else map(self._array_of_size, args)), **kwargs)
        if isinstance(member, property) and member.fget is not None:
            return member.fget(self)
        if name in METHODS:
            return self._method(name)
        if hasattr(INDArray, name):
            return getattr(self._values(f"the attribute {name!r} of an array"), name)
        raise AttributeError(f"INDArray has no attribute {name!r}", name=name, obj=self)

    def _method(self, name: str) -> Callable[..., Any]:
        """A method of NumPy's arrays."""
        return lambda *args, **kwargs: self._recorder().record_method(name, self, settled(args), kwargs)

    def _array_of_size(self, value: Any) -> Any:
        """A size that is not known, as an array; everything else as it is."""
        return self._recorder().lazy(value.number(self._array).variable) if isinstance(value, SymbolicSize) else value

    # Calls that need values

    def _values(self, what: str) -> Any:
        """The array; an error where it is neither computed nor one that was made while recording."""
        if self._real is None and self._made is not None:
            return np.array(self._made, subok=True)
        if self._real is None:
            self._recorder().refuse(f"{what} needs the values of {self!r}")
        return self._real

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._values("NumPy"), dtype, copy=copy)

    def __divmod__(self, other: Any) -> Any:
        return np.divmod(self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return np.divmod(other, self)

    def __contains__(self, item: Any) -> bool:
        return item in self._values("'in'")

    def __reduce__(self) -> Any:
        return self._values("a copy in a file or another process").__reduce__()

    def __copy__(self) -> Any:
        return self.dup()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.dup()


def _seen_as(array: LazyINDArray) -> type:
    """The class that users' code takes it for: in a function that is compiled that of the array in its place, in a scope its own."""
    return LazyINDArray if not array._trace.of_function else np.ndarray if array._plain else INDArray


def settled(value: Any) -> Any:
    """A value with real arrays in place of lazy ones that have been computed."""
    if isinstance(value, LazyINDArray):
        return value if value._real is None else value._real
    if type(value) in (tuple, list):
        return type(value)(map(settled, value))
    return value


def trace_of(array: LazyINDArray) -> Any:
    """Who recorded it."""
    return array._trace


def array_of(array: LazyINDArray) -> GraphArray:
    """The variable of the graph in its place."""
    return array._array


def depth_of(array: LazyINDArray) -> int:
    """In how many bodies of branches and loops it was made."""
    return array._depth


def value_of(array: LazyINDArray) -> INDArray | None:
    """The real array, once it was computed."""
    return array._real


def is_pending(value: Any) -> bool:
    """Whether a value is, or holds in tuples and lists, a lazy array without values."""
    if isinstance(value, (tuple, list)):
        return any(map(is_pending, value))
    return isinstance(value, LazyINDArray) and value._real is None


def is_plain(values: Any) -> bool:
    """Whether no array among the values has DL4J's methods, so that NumPy gives one without, too."""
    if isinstance(values, (tuple, list)):
        return all(map(is_plain, values))
    return values._plain if type(values) is LazyINDArray else not isinstance(values, INDArray)


def settle(array: LazyINDArray, value: Any) -> None:
    """Give it its values."""
    array._real = value


def rebind(array: LazyINDArray, made: GraphArray) -> None:
    """Have it stand for another variable: it was changed in place."""
    array._array, array._made = made, None


def keep_values(array: LazyINDArray, made: Any) -> None:
    """Note the values of an array that was made while recording, for as long as it does not change."""
    array._made = made


def _install() -> None:
    def operator(dunder: str, function: Any, order: int) -> Callable[..., Any]:
        def method(self: LazyINDArray, *others: Any) -> Any:
            if self._real is not None:
                return getattr(self._real, dunder)(*settled(others))
            if others and others[0] is None:
                return NotImplemented
            if function is np.power and order == 1 and type(others[0]) is int and others[0] == 2 and self.dtype == np.bool_:
                return self._call(np.square, (self,), {})               # as NumPy does, which gives it another type
            if order == 0:                                              # in place
                return self._call(function, (self, *others), {"out": self})
            return self._call(function, (self, *others)[::order], {})
        return method

    binary = {**BINARY, "matmul": "matmul"}
    for short, name in {**binary, **COMPARISONS, **UNARY}.items():
        setattr(LazyINDArray, f"__{short}__", operator(f"__{short}__", getattr(np, name), 1))
    for short, name in binary.items():
        setattr(LazyINDArray, f"__r{short}__", operator(f"__r{short}__", getattr(np, name), -1))
        setattr(LazyINDArray, f"__i{short}__", operator(f"__i{short}__", getattr(np, name), 0))

    def needs_values(dunder: str, what: str) -> Callable[..., Any]:
        def method(self: LazyINDArray, *others: Any) -> Any:
            return getattr(self._values(what), dunder)(*others)
        return method

    for short, what in {"bool": "bool() or `if`", "float": "float()", "int": "int()", "complex": "complex()", "index": "an index or count",
                        "round": "round()", "dlpack": "another library"}.items():
        setattr(LazyINDArray, f"__{short}__", needs_values(f"__{short}__", what))


_install()
stands_for_array(LazyINDArray, lambda array: value_of(array) is not None, _seen_as)
