"""The array namespace that ``compute`` receives as ``xp``: NumPy with special functions."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .errors import DataTypeError

#: Functions that NumPy lacks, by the name under which SciPy and CuPy have them in their ``special`` module.
SPECIAL = ("erf", "erfc", "gammaln", "digamma", "polygamma", "zeta", "betainc", "gammainc", "gammaincc")


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
            value = _of_brief(getattr(importlib.import_module(self._special), name))
        else:
            value = getattr(self.library, name)
        self.__dict__[name] = value
        return value


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


def is_on_gpu(value: Any) -> bool:
    """Whether an array of any library is in the memory of a GPU."""
    if hasattr(value, "__cuda_array_interface__"):
        return True
    return hasattr(value, "__dlpack_device__") and bool(value.__dlpack_device__()[0] == _CUDA)


def from_gpu(value: Any) -> Any:
    """An array in the memory of a GPU as CuPy's, which looks at the same memory."""
    from .executor.cuda.presence import installed
    library = installed()
    return library.asarray(value) if hasattr(value, "__cuda_array_interface__") else library.from_dlpack(value)


def as_array(value: Any, dtype: Any = None) -> np.ndarray[Any, Any]:
    """A NumPy array of anything with ``__array__``, ``__dlpack__`` or nested numbers; not copied when avoidable.

    Without ``dtype``, Python floats become float32 and Python ints int32 where they fit, as in DL4J.
    """
    if isinstance(value, np.ndarray):
        array = value
    elif is_on_gpu(value):
        array = from_gpu(value).get()
    elif not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
        array = np.from_dlpack(value)
    else:
        array = np.asarray(value)
        if dtype is None and not hasattr(value, "dtype"):
            array = _default_type(array)
    if array.dtype.kind in "US":
        array = array.astype(object)
    if array.dtype.kind == "O" and not all(isinstance(v, (str, bytes)) for v in array.ravel()):
        raise DataTypeError(f"expected numbers or text, got an array of objects such as {array.ravel()[0]!r:.60}; "
                            "rows of different length make such arrays")
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
