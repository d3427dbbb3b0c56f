"""The array API standard (https://data-apis.org/array-api) on the variables of a graph."""
from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.datatype import DataType
from ..errors import DataTypeError, GraphError, UnknownNameError, did_you_mean
from ..expressions.arrays import as_array
from ..ir.variable import SDVariable

#: Data types by their names in the standard.
TYPES = {"bool": DataType.BOOL, "int8": DataType.INT8, "int16": DataType.INT16, "int32": DataType.INT32, "int64": DataType.INT64,
         "uint8": DataType.UINT8, "uint16": DataType.UINT16, "uint32": DataType.UINT32, "uint64": DataType.UINT64,
         "float32": DataType.FLOAT, "float64": DataType.DOUBLE}
_SIGNED, _UNSIGNED = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64")
_KINDS = {"bool": ("bool",), "signed integer": _SIGNED, "unsigned integer": _UNSIGNED, "integral": _SIGNED + _UNSIGNED,
          "real floating": ("float32", "float64"), "complex floating": (), "numeric": (*_SIGNED, *_UNSIGNED, "float32", "float64")}

_SIZE = "how many elements it gives depends on values, which a graph does not know beforehand"
_COMPLEX = "graphs have no complex numbers"
#: What the standard has and graphs cannot, and why.
REFUSED = {
    **dict.fromkeys(("nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"), _SIZE),
    **dict.fromkeys(("linalg.eigh", "linalg.eigvalsh"), "no op has eigenvalues alone; sd.linalg.eig gives real and imaginary parts"),
    "nextafter": "no op goes from a number to the next one",
    **dict.fromkeys(("complex64", "complex128"), _COMPLEX), **{f"fft.{name}": _COMPLEX for name in (
        "fft", "ifft", "fftn", "ifftn", "rfft", "irfft", "rfftn", "irfftn", "hfft", "ihfft", "fftfreq", "rfftfreq", "fftshift",
        "ifftshift")}}

#: Functions that NumPy calls otherwise in its older versions.
_OLD = {"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2",
        "atanh": "arctanh", "bitwise_invert": "invert", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift",
        "concat": "concatenate", "permute_dims": "transpose", "pow": "power"}

#: Functions of elements, of parts and of whole arrays that NumPy calls as the standard does.
_OF_NUMPY_TEXT = """
    abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift
    bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide greater greater_equal hypot imag isfinite
    isinf isnan less less_equal log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor maximum minimum
    multiply negative not_equal positive pow real reciprocal remainder round sign signbit sin sinh sqrt square subtract tan tanh
    trunc take take_along_axis matmul matrix_transpose tensordot vecdot broadcast_arrays broadcast_to concat expand_dims flip
    moveaxis permute_dims repeat reshape roll squeeze stack tile unstack argmax argmin count_nonzero searchsorted where isin
    cumulative_prod cumulative_sum max mean min prod sum all any diff meshgrid tril triu full_like ones_like zeros_like
"""
_OF_NUMPY = tuple(_OF_NUMPY_TEXT.split())
_OF_LINALG_TEXT = """
    cholesky cross det diagonal inv matmul matrix_norm matrix_power matrix_rank matrix_transpose outer pinv qr slogdet solve svd
    svdvals tensordot trace vecdot vector_norm
"""
_OF_LINALG = tuple(_OF_LINALG_TEXT.split())

#: Functions that make arrays.
_MADE = ("arange", "empty", "eye", "full", "linspace", "ones", "zeros")


def _numpy_function(name: str) -> Any:
    owner, _, short = name.rpartition(".")
    where = getattr(np, owner) if owner else np
    return getattr(where, short, None) or getattr(where, _OLD.get(short, short), None) or getattr(np, short, None)


def functions() -> list[str]:
    """The names of all functions of the standard that graphs have; those of extensions with the name of that in front."""
    return sorted([*_OF_NUMPY, *_MADE, *_OWN, *(f"linalg.{name}" for name in _OF_LINALG)])


class Extension:
    """The functions of an extension of the standard, such as ``xp.linalg``.

    Parameters
    ----------
    namespace : ArrayApi
        The namespace that it belongs to.
    name : str
        Its name there.
    """

    def __init__(self, namespace: ArrayApi, name: str) -> None:
        self._namespace, self._name = namespace, name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._namespace.function(f"{self._name}.{name}")

    def __dir__(self) -> list[str]:
        return [name.partition(".")[2] for name in [*functions(), *REFUSED] if name.startswith(f"{self._name}.")]


class ArrayApi:
    """The functions of the array API standard as nodes of one graph: the result of ``variable.__array_namespace__()``.

    Parameters
    ----------
    sd : SameDiff
        The graph, whose :meth:`~dl4py.samediff.SameDiff.array_namespace` makes it.

    Raises
    ------
    GraphError
        A function is called whose result a graph cannot know: shapes that depend on values, complex numbers.
    """

    __array_api_version__ = "2024.12"
    pi, e, inf, nan, newaxis = math.pi, math.e, math.inf, math.nan, None

    def __init__(self, sd: Any) -> None:
        self.sd = sd
        self.linalg, self.fft = Extension(self, "linalg"), Extension(self, "fft")

    def __getattr__(self, name: str) -> Any:
        if name in TYPES:
            return TYPES[name]
        if name.startswith("_"):
            raise AttributeError(name)
        return self.function(name)

    def function(self, name: str) -> Callable[..., Any]:
        """A function by its name; one that cannot be is there too, and says why when it is called."""
        own = _OWN.get(name)
        if own is not None:
            return functools.partial(own, self)
        if name in _MADE:
            return functools.partial(self._make, getattr(np, name))
        if name in _OF_NUMPY or (name.startswith("linalg.") and name.partition(".")[2] in _OF_LINALG):
            return functools.partial(self._call, _numpy_function(name))
        if name in REFUSED:
            return functools.partial(_refuse, name)
        raise _Missing(f"the array API standard has no function {name!r}{did_you_mean(name, functions())}")

    def _call(self, function: Any, *args: Any, **options: Any) -> Any:
        """NumPy's function on variables; numbers alone become constants."""
        options = {k: _numpy_type(v) for k, v in options.items() if k not in ("copy", "device") and (v is not None or k == "axis")}
        made = self.sd.numpy_call(function, args, options)
        return self._constant(made) if isinstance(made, (np.ndarray, np.generic)) else made

    def _make(self, function: Any, *args: Any, dtype: Any = None, device: Any = None, **options: Any) -> SDVariable:
        made = function(*args, **options) if dtype is None else function(*args, dtype=_numpy_type(dtype), **options)
        return self._constant(made.astype(np.float32) if dtype is None and made.dtype.kind == "f" else made)

    def _constant(self, value: Any) -> SDVariable:
        made: SDVariable = self.sd.constant(np.array(value))
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArrayApi) and other.sd is self.sd

    def __hash__(self) -> int:
        return hash((ArrayApi, id(self.sd)))

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *TYPES, *(n for n in [*functions(), *REFUSED] if "." not in n)})

    def __repr__(self) -> str:
        return f"<array API {self.__array_api_version__} on {self.sd!r}>"


class _Missing(UnknownNameError, AttributeError):
    """A name that is not in the standard."""


def _refuse(name: str, *args: Any, **options: Any) -> Any:
    raise GraphError(f"{name} cannot be part of a graph: {REFUSED[name]}")


def _numpy_type(value: Any) -> Any:
    return value.numpy if isinstance(value, DataType) else value


def _type_of(value: Any) -> DataType:
    return value.dtype if isinstance(value, SDVariable) else DataType.of(value)


# Functions that are called otherwise than in NumPy

def asarray(xp: ArrayApi, value: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> SDVariable:
    """A variable as it is, or a constant of numbers."""
    if isinstance(value, SDVariable):
        return value if dtype is None else astype(xp, value, dtype)
    if isinstance(value, (list, tuple)) and any(isinstance(v, SDVariable) for v in value):
        made: SDVariable = xp.sd.numpy_call(np.stack, (value,), {})
        return made if dtype is None else astype(xp, made, dtype)
    return xp._constant(as_array(value) if dtype is None else np.asarray(value, _numpy_type(dtype)))


def astype(xp: ArrayApi, x: SDVariable, dtype: Any, /, *, copy: bool = True, device: Any = None) -> SDVariable:
    """The elements in another type."""
    kind = DataType.of(dtype)
    made: SDVariable = x.cast_to(kind) if kind is not x.dtype else xp.sd.call("base", "identity", x) if copy else x
    return made


def sort(xp: ArrayApi, x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The elements along an axis in order."""
    made = xp.sd.numpy_call(np.sort, (x,), {"axis": axis})
    return xp.sd.numpy_call(np.flip, (made,), {"axis": axis}) if descending else made


def argsort(xp: ArrayApi, x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The places of the elements in order; equal ones keep theirs."""
    if not descending:
        return xp.sd.numpy_call(np.argsort, (x,), {"axis": axis, "kind": "stable"})
    back = xp.sd.numpy_call(np.argsort, (xp.sd.numpy_call(np.flip, (x,), {"axis": axis}),), {"axis": axis, "kind": "stable"})
    return xp.sd.numpy_call(np.flip, (x.shape[axis] - 1 - back,), {"axis": axis})


def _spread(function: Any) -> Callable[..., Any]:
    def of(xp: ArrayApi, x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
        return xp.sd.numpy_call(function, (x,), {"axis": axis, "ddof": correction, "keepdims": keepdims})
    return of


def can_cast(xp: ArrayApi, from_: Any, to: Any, /) -> bool:
    """Whether every value of a type is one of the other."""
    return bool(np.can_cast(_type_of(from_).numpy, DataType.of(to).numpy))


def result_type(xp: ArrayApi, *arrays_and_dtypes: Any) -> DataType:
    """The type that all of them have together."""
    return DataType.of(np.result_type(*(a if isinstance(a, (bool, int, float)) else _type_of(a).numpy for a in arrays_and_dtypes)))


def isdtype(xp: ArrayApi, dtype: Any, kind: Any) -> bool:
    """Whether a type is of a kind, such as "integral", or one of several."""
    if isinstance(kind, tuple):
        return any(isdtype(xp, dtype, one) for one in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise DataTypeError(f"there is no kind of type {kind!r}{did_you_mean(kind, _KINDS)}; kinds: {', '.join(_KINDS)}")
        return any(TYPES[name] is DataType.of(dtype) for name in _KINDS[kind])
    return DataType.of(dtype) is DataType.of(kind)


#: Functions of this module by their names in the standard.
_OWN: dict[str, Callable[..., Any]] = {
    "empty_like": lambda xp, x, /, **options: xp.zeros_like(x, **options),
    "asarray": asarray, "from_dlpack": asarray, "astype": astype, "sort": sort, "argsort": argsort, "std": _spread(np.std),
    "var": _spread(np.var), "can_cast": can_cast, "result_type": result_type, "isdtype": isdtype,
    "finfo": lambda xp, type, /: np.finfo(_type_of(type).numpy), "iinfo": lambda xp, type, /: np.iinfo(_type_of(type).numpy),
    "broadcast_shapes": lambda xp, *shapes: np.broadcast_shapes(*shapes)}
