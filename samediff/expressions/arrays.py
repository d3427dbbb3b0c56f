"""The array namespace that ``compute`` receives as ``xp``: NumPy with special functions."""
from __future__ import annotations

import decimal
import functools
import numbers
from typing import Any

import numpy as np

from ..base.cupy import installed
from ..errors import DataTypeError, ShapeError
from .scalar import UNARY_FLOAT

#: Functions that NumPy lacks, by the name under which SciPy and CuPy have them in their ``special`` module.
SPECIAL = ("erf", "erfc", "gammaln", "digamma", "polygamma", "zeta", "betainc", "gammainc", "gammaincc")

#: NumPy's functions of floating numbers, which take whole ones too.
_FLOATING = UNARY_FLOAT | {"arctan2", "hypot", "copysign", "logaddexp", "logaddexp2"}


class ArrayNamespace:
    """NumPy (or CuPy) and the functions of ``special`` under one roof.

    Examples
    --------
    >>> float(xp.erf(xp.zeros(())))
    0.0
    """

    def __init__(self, library: Any, special: str) -> None:
        self.library = library
        self._special = special

    def einsum(self, subscripts: str, *arrays: Any) -> Any:
        """The library's ``einsum``, also for bfloat16, which NumPy's lacks."""
        brief = [a.dtype for a in arrays if a.dtype.name == "bfloat16"]
        if not brief:
            return self.library.einsum(subscripts, *arrays)
        return self.library.einsum(subscripts, *(a.astype(np.float32) for a in arrays)).astype(brief[0])

    def __getattr__(self, name: str) -> Any:
        if name in SPECIAL:
            import importlib
            value = _in_double(_of_brief(getattr(importlib.import_module(self._special), name)))
        else:
            value = getattr(self.library, name)
            value = _in_double(value) if name in _FLOATING else value
        self.__dict__[name] = value
        return value


def _in_double(function: Any) -> Any:
    """A function that takes whole numbers as DOUBLE, as traced code does; NumPy works with numbers of 8 bits in half precision."""
    @functools.wraps(function)
    def call(*arrays: Any, **options: Any) -> Any:
        return function(*(a.astype(np.float64) if hasattr(a, "astype") and a.dtype.kind in "iub" else a for a in arrays), **options)
    vars(call).update((name, getattr(function, name)) for name in ("reduce", "accumulate", "outer", "at") if hasattr(function, name))
    return call


def _of_brief(function: Any) -> Any:
    """A function that also takes bfloat16, which SciPy does not know."""
    @functools.wraps(function)
    def call(*arrays: Any) -> Any:
        brief = [a.dtype for a in arrays if getattr(getattr(a, "dtype", None), "name", "") == "bfloat16"]
        if not brief:
            return function(*arrays)
        return function(*(a.astype(np.float32) if hasattr(a, "astype") else a for a in arrays)).astype(brief[0])
    return call


xp = ArrayNamespace(np, "scipy.special")


@functools.cache
def _cupy() -> ArrayNamespace:
    import cupy
    return ArrayNamespace(cupy, "cupyx.scipy.special")


def namespace_of(*arrays: Any) -> ArrayNamespace:
    """The namespace of the library that the arrays belong to."""
    on_gpu = any(type(a).__module__.partition(".")[0] == "cupy" for a in arrays)
    return _cupy() if on_gpu else xp


def mean_over(x: Any, axes: tuple[int, ...], keepdims: bool = False) -> Any:
    """The mean in the type of ``x``: as ``x.mean``, but NaN without a warning where nothing is there."""
    total = x.sum(axis=axes, keepdims=keepdims, dtype=x.dtype)
    return total / x.dtype.type(x.size // total.size if total.size else 1)


def centred(x: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """The mean over ``axes``, which stay with size 1, and what ``x`` differs from it.

    Differences are taken from the first element, so that equal elements differ from their mean by exactly 0; what rounding left
    is taken off in a second turn.
    """
    library = namespace_of(x)
    first = x[tuple(slice(0, 1) if i in axes else slice(None) for i in range(x.ndim))] if x.size else x.dtype.type(0)
    wide = np.result_type(x.dtype, np.float32) if x.dtype.itemsize == 2 else x.dtype       # differences of HALF may lie beyond it
    mean = library.where(library.isfinite(first), first, x.dtype.type(0)).astype(wide)
    rest = x.astype(wide, copy=False) - mean
    shift = mean_over(rest, axes, keepdims=True)
    mean, rest = mean + shift, rest - shift
    left = mean_over(rest, axes, keepdims=True)
    left = library.where(library.isfinite(shift) & library.isfinite(left), left, wide.type(0))
    mean, rest = mean + left, rest - left
    return mean.astype(x.dtype), rest.astype(x.dtype)


def _default_type(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if array.dtype == np.float64:
        return array.astype(np.float32)
    fits = array.dtype == np.int64 and (not array.size or (array.max() < 2**31 and array.min() >= -(2**31)))
    return array.astype(np.int32) if fits else array


def require_in_range(number: Any, dtype: Any) -> None:
    """DataTypeError for a number beyond the range of an integer type."""
    if dtype.kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        if not low <= number <= high:
            raise DataTypeError(f"number {number} is beyond the range of {dtype} ({low} to {high}), whose type it takes; "
                                "cast the array first")


#: DLPack's number of the memory of a CUDA device.
_CUDA = 2

#: Bytes that no process can address.
MOST_BYTES = 2 ** 47


def is_on_gpu(value: Any) -> bool:
    """Whether an array of any library is in the memory of a GPU."""
    if hasattr(value, "__cuda_array_interface__"):
        return True
    return hasattr(value, "__dlpack_device__") and bool(value.__dlpack_device__()[0] == _CUDA)


def from_gpu(value: Any) -> Any:
    """An array in the memory of a GPU as CuPy's, which looks at the same memory."""
    library = installed()
    return library.asarray(value) if hasattr(value, "__cuda_array_interface__") else library.from_dlpack(value)


_PLAIN = (int, float, str, bytes)


def unmasked(value: Any) -> Any:
    """The value as it is, a masked array that hides nothing as a plain one; DataTypeError where NumPy's mask would be lost."""
    if isinstance(value, np.ndarray):
        if type(value) is np.ndarray or not isinstance(value, np.ma.MaskedArray):
            return value
        hidden = int(np.ma.getmaskarray(value).sum())
        if hidden:
            raise DataTypeError(f"a masked array that hides {hidden} of its {value.size} values: its mask would be lost. Fill them, as "
                                "filled(0) does; where they are not to count, give a mask of 0 and 1 beside the array")
        return value.data
    if isinstance(value, (list, tuple)):
        for part in value:
            if not isinstance(part, _PLAIN):
                unmasked(part)
    return value


def _described(array: np.ndarray[Any, Any]) -> str:
    """What stands in an array of objects that is neither numbers nor text, and what to do about it."""
    values = [v for v in array.ravel() if not isinstance(v, (str, bytes))]
    missing = next((v for v in values if v is None or type(v).__name__ in ("NAType", "NaTType")), values)
    if missing is not values:
        return f"missing values ({missing!r}): fill them, or leave these rows out"
    if any(isinstance(v, (list, tuple, np.ndarray)) for v in values):
        return f"objects such as {values[0]!r:.60}; rows of different length make such arrays: pad them, and give a mask"
    if all(isinstance(v, (numbers.Real, decimal.Decimal)) for v in values) and len(values) == array.size:
        return f"numbers that are Python objects, such as {values[0]!r:.60}: astype(np.float64) makes an array of numbers of them"
    return f"objects such as {values[0]!r:.60}"


def to_numpy(value: Any) -> np.ndarray[Any, Any]:
    """A NumPy array of anything with ``__array__``, ``__dlpack__`` or nested numbers; not copied when avoidable.

    Raises
    ------
    DataTypeError
        Objects or records instead of numbers or text, rows of different length, or a masked array of NumPy that hides some of its
        values.
    ShapeError
        A view that repeats its values more often than any memory could hold.
    """
    value = value if type(value) is np.ndarray else unmasked(value)
    if isinstance(value, np.ndarray):
        array = np.asarray(value) if isinstance(value, np.matrix) else value       # whose products and parts are others than an array's
    elif is_on_gpu(value):
        array = from_gpu(value).get()
    elif not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
        array = np.from_dlpack(value)
    else:
        try:
            array = np.asarray(value)
        except ValueError as error:
            raise DataTypeError(f"expected an array of numbers or text, got a {type(value).__name__} of which none can be made ({error}); "
                                "rows must have one length: pad them, and give a mask") from error
    kind = array.dtype.kind
    if kind in "US":
        array = array.astype(object)
    elif kind == "V" and array.dtype.name != "bfloat16":
        raise DataTypeError(f"expected numbers or text, got an array of {'records' if array.dtype.names else 'bytes'} ({array.dtype})")
    elif kind == "O" and not all(isinstance(v, (str, bytes)) for v in array.ravel()):
        raise DataTypeError(f"expected numbers or text, got an array of {_described(array)}")
    elif array.nbytes >= MOST_BYTES:
        raise ShapeError(f"an array of shape {array.shape} stands for {array.nbytes:,} bytes, more than any memory holds: it is a view "
                         "that repeats a few values; give a part of it")
    return array


def require_numbers(array: Any, what: str) -> Any:
    """The array of any library; DataTypeError, which says ``what`` it is for, unless it holds real numbers."""
    if array.dtype.kind not in "fiub" and array.dtype.name != "bfloat16":
        raise DataTypeError(f"{what} needs numbers, got {'text' if array.dtype.kind == 'O' else array.dtype}")
    return array


def to_numbers(value: Any, what: str = "an array") -> np.ndarray[Any, Any]:
    """:func:`to_numpy` of real numbers alone."""
    return require_numbers(to_numpy(value), what)  # type: ignore[no-any-return]


def as_array(value: Any, dtype: Any = None) -> np.ndarray[Any, Any]:
    """:func:`to_numpy` in the type ``dtype``; without one, Python floats become float32 and ints int32 where they fit, as in DL4J."""
    array = to_numpy(value) if dtype is None or np.dtype(dtype).kind == "O" else to_numbers(value)
    if dtype is None and not isinstance(value, np.ndarray) and not hasattr(value, "dtype"):
        return _default_type(array)
    return array if dtype is None or array.dtype == dtype else array.astype(dtype)


def converted(array: Any, dtype: Any, what: str) -> Any:
    """The array in another type; DataTypeError, starting with ``what``, where that would change the numbers altogether."""
    if (array.dtype.kind == "O") != (dtype.kind == "O"):
        kinds = ("text", "numbers") if array.dtype.kind == "O" else ("numbers", "text")
        raise DataTypeError(f"{what}: the value given is {kinds[0]}, expected {kinds[1]}")
    lost = None
    if array.dtype.kind in "cmM":
        lost = "is no real number"
    elif array.dtype.kind == "f" and dtype.kind in "iub":
        lost = "would lose its fractions"
    elif array.dtype.kind in "iu" and dtype.kind in "iu" and not np.can_cast(array.dtype, dtype) and array.size:
        low, high = int(array.min()), int(array.max())
        if low < np.iinfo(dtype).min or high > np.iinfo(dtype).max:
            lost = f"reaches from {low} to {high}, beyond {dtype}"
    if lost:
        raise DataTypeError(f"{what}, the value given is {array.dtype} and {lost}; convert it yourself if that is meant")
    return array.astype(dtype)
