"""The array namespace that ``compute`` receives as ``xp``: NumPy with special functions."""
from __future__ import annotations

import decimal
import functools
import math
import numbers
from typing import Any

import numpy as np

from ..base.cupy import installed
from ..base.datatype import is_floating, is_real
from ..errors import DataTypeError, DL4PyError, ShapeError
from .hurwitz import bounded_polygamma, bounded_zeta
from .scalar import UNARY_FLOAT
from .tables import table_array, table_arrays

#: Functions that NumPy lacks, by the name under which SciPy and CuPy have them in their ``special`` module.
SPECIAL = ("erf", "erfc", "gammaln", "digamma", "polygamma", "zeta", "betainc", "gammainc", "gammaincc")

_FLOAT = np.dtype(np.float32)

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
        """The library's ``einsum``, of types of 16 bits as FLOAT: NumPy's lacks bfloat16, and rounds sums of float16 again and again."""
        brief = [a.dtype for a in arrays if a.dtype.itemsize == 2 and is_floating(a.dtype)]
        if not brief:
            return self.library.einsum(subscripts, *arrays)
        return self.library.einsum(subscripts, *(a.astype(np.float32) for a in arrays)).astype(brief[0])

    def __getattr__(self, name: str) -> Any:
        if name in SPECIAL:
            import importlib
            special = importlib.import_module(self._special)
            made = {"zeta": lambda: bounded_zeta(self.library, special), "polygamma": lambda: bounded_polygamma(self.library, special)}
            value = _in_double(_of_brief(made[name]() if name in made else getattr(special, name)))
        else:
            value = getattr(self.library, name)
            value = _in_double(value) if name in _FLOATING else value
        self.__dict__[name] = value
        return value


def _in_double(function: Any) -> Any:
    """A function that takes whole numbers as DOUBLE, as traced code does; NumPy works with numbers of 8 bits in half precision."""
    @functools.wraps(function)
    def call(*arrays: Any, **options: Any) -> Any:
        for a in arrays:                # most are floating, and small
            if getattr(a, "dtype", _FLOAT).kind in "iub":
                return function(*[a.astype(np.float64) if hasattr(a, "astype") and a.dtype.kind in "iub" else a for a in arrays], **options)
        return function(*arrays, **options)
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


def as_rows(x: Any) -> Any:
    """All axes but the last as one, also where an axis has size 0, of which -1 says nothing."""
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def _wide_sum(x: Any, axes: tuple[int, ...] | None, keepdims: bool) -> Any:
    """The sum, in float64 where ``x`` is floating: NumPy adds up columns one by one, so that the error would grow with their length."""
    return x.sum(axis=axes, keepdims=keepdims, dtype=np.result_type(x.dtype, np.float64) if is_floating(x.dtype) else x.dtype)


def sum_over(x: Any, axes: tuple[int, ...] | None = None, keepdims: bool = False) -> Any:
    """The sum in the type of ``x``; whole numbers wrap."""
    return _wide_sum(x, axes, keepdims).astype(x.dtype)


def mean_over(x: Any, axes: tuple[int, ...], keepdims: bool = False) -> Any:
    """The mean in the type of ``x``, NaN without a warning where nothing is there."""
    total = _wide_sum(x, axes, keepdims)
    return (total / (x.size // total.size if total.size else 1)).astype(x.dtype)


def norm_over(x: Any, axes: tuple[int, ...] | None = None, keepdims: bool = False) -> Any:
    """The Euclidean norm in the type of ``x``, from shares of the largest element, whose squares stay in the range of the type."""
    if not x.size:
        return sum_over(x, axes, keepdims)
    library = namespace_of(x)
    largest = abs(x).max(axis=axes, keepdims=True)
    scale = library.where((largest > 0) & (largest < np.inf), largest, x.dtype.type(1))
    shares = x / scale
    found = library.sqrt(_wide_sum(shares * shares, axes, True)).astype(x.dtype) * scale
    return found if keepdims else found.squeeze(axis=axes)


def mean_of_squares(x: Any, axes: tuple[int, ...], keepdims: bool = False) -> Any:
    """In float64, whose range holds squares of smaller types."""
    wide = x.astype(np.result_type(x.dtype, np.float64), copy=False)
    return mean_over(wide * wide, axes, keepdims)


def deviation_over(rest: Any, axes: tuple[int, ...], keepdims: bool, divisor: Any) -> Any:
    """The root of a sum of squares over a divisor, in the type of ``rest`` and over the whole range of that."""
    library = namespace_of(rest)
    wide = rest.astype(np.result_type(rest.dtype, np.float64), copy=False)
    total = _wide_sum(wide * wide, axes, keepdims)
    made = library.sqrt(total / divisor)
    held = (total > np.finfo(np.float64).tiny * 2.0 ** 60) & (total < np.inf)
    if rest.size and not held.all():
        made = library.where(held, made, norm_over(wide, axes, keepdims) / np.sqrt(divisor))
    return made.astype(rest.dtype)


def centred(x: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """The mean over ``axes``, which stay with size 1, and what ``x`` differs from it, in float32 for types of 16 bits.

    Differences are taken from the first element, so that equal elements differ from their mean by exactly 0; then from the mean
    found in this way, so that a first element far from all others takes no digits from them.
    """
    library = namespace_of(x)
    first = x[tuple(slice(0, 1) if i in axes else slice(None) for i in range(x.ndim))] if x.size else x.dtype.type(0)
    wide = np.result_type(x.dtype, np.float64)
    given = x.astype(wide, copy=False)
    mean = library.where(library.isfinite(first), first, x.dtype.type(0)).astype(wide)
    shift = mean_over(given - mean, axes, keepdims=True)
    beyond = ~library.isfinite(shift)
    if beyond.any():
        mean = library.where(beyond, wide.type(0), mean)
        shift = mean_over(given - mean, axes, keepdims=True)
    mean = mean + shift
    rest = given - mean
    left = mean_over(rest, axes, keepdims=True)
    left = library.where(library.isfinite(mean) & library.isfinite(left), left, wide.type(0))
    return (mean + left).astype(x.dtype), (rest - left).astype(np.result_type(x.dtype, np.float32))


def _default_type(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if array.dtype == np.float64:
        return array.astype(np.float32)
    fits = array.dtype == np.int64 and (not array.size or (array.max() < 2**31 and array.min() >= -(2**31)))
    return array.astype(np.int32) if fits else array


def is_held(number: Any, dtype: Any) -> bool:
    """Whether a number can be represented exactly in a type; always true for types other than integers."""
    if dtype.kind not in "iu":
        return True
    return math.isfinite(number) and number == int(number) and np.iinfo(dtype).min <= number <= np.iinfo(dtype).max


def require_whole(number: Any, dtype: Any) -> None:
    """DataTypeError for a number with a fraction where an integer type is to hold it."""
    if dtype.kind in "iu" and math.isfinite(number) and number != int(number):
        raise DataTypeError(f"number {number} has a fraction, and takes the type of the array, {dtype}, which holds whole numbers; "
                            "cast the array first, as in cast_to(DataType.FLOAT)")


def require_held(number: Any, dtype: Any) -> None:
    """DataTypeError for a number that an integer type or BOOL does not hold: beyond its range, or no whole one."""
    if dtype.kind == "b" and number not in (0, 1):
        raise DataTypeError(f"number {number} takes the type of the array, BOOL, which holds 0 and 1; "
                            "cast the array first, as in cast_to(DataType.FLOAT)")
    if dtype.kind in "iu":
        require_whole(number, dtype)
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
    if isinstance(value, type):         # has the methods, but nothing to call them on
        return False
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
    """Text on the first element of an object array that is neither number nor text, and on the remedy."""
    values = [v for v in array.ravel() if not isinstance(v, (str, bytes))]
    missing = next((k for k, v in enumerate(array.ravel()) if v is None or type(v).__name__ in ("NAType", "NaTType")), None)
    if missing is not None:
        return f"missing values ({array.ravel()[missing]!r}{place_in(array, missing)}): fill them, or leave these rows out"
    if any(isinstance(v, (list, tuple, np.ndarray)) for v in values):
        return f"objects such as {values[0]!r:.60}; rows of different length make such arrays: pad them, and give a mask"
    if any(hasattr(v, "toarray") for v in values):
        return f"one sparse matrix ({type(values[0]).__name__}): its toarray() is an array of all of its values"
    if all(isinstance(v, (numbers.Real, decimal.Decimal)) for v in values) and len(values) == array.size:
        return f"numbers that are Python objects, such as {values[0]!r:.60}: astype(np.float64) makes an array of numbers of them"
    lazy = next((way for way in ("collect", "compute") if hasattr(values[0], way)), None)
    if lazy is not None:
        return f"one {type(values[0]).__name__}, which is not computed yet: {lazy}() does it"
    return f"objects such as {values[0]!r:.60}"


def place_in(array: Any, number: int) -> str:
    """The position of an element by its number, as text: `` at [3, 1]``; empty for an array of one element."""
    return f" at {[int(k) for k in np.unravel_index(number, array.shape)]}" if array.ndim else ""


def first_text(array: Any) -> str:
    """``text``, with the first that stands in an array of objects, and where."""
    found = next((k for k, v in enumerate(array.ravel()) if not _is_number(v)), None)
    found = 0 if found is None and array.size else found
    return "text" if found is None else f"text, such as {array.ravel()[found]!r:.40}{place_in(array, found)}"


def _is_number(text: Any) -> bool:
    try:
        float(text)
    except (TypeError, ValueError):
        return False
    return True


def _uneven(rows: Any) -> str:
    """The first row of a list that has another length than the one before."""
    sizes = [len(row) if hasattr(row, "__len__") and not isinstance(row, (str, bytes)) else None for row in rows]
    at = next((k for k, size in enumerate(sizes) if size != sizes[0]), None)
    shown = ["no list" if size is None else f"{size} values" for size in sizes]
    return "its rows differ within" if at is None else f"row 0 has {shown[0]}, row {at} has {shown[at]}"


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
    if getattr(value, "requires_grad", False) is True:      # a tensor of PyTorch, which gives its values where nothing follows them
        value = value.detach()
    if isinstance(value, np.ndarray):
        array = np.asarray(value)       # methods and operators of other classes (matrices, INDArray) mean other things
    elif is_on_gpu(value):
        array = from_gpu(value).get()
    elif not hasattr(value, "__array__") and hasattr(value, "__dlpack__") and not isinstance(value, type):
        array = np.from_dlpack(value)
    elif (table := table_array(value)) is not None:
        array = table
    else:
        try:
            array = np.asarray(table_arrays(value))
        except DL4PyError:                              # a symbolic array explains why it has no values yet
            raise
        except ValueError as error:
            why = _uneven(value) if isinstance(value, (list, tuple)) else str(error)
            raise DataTypeError(f"expected an array of numbers or text, got a {type(value).__name__} of which none can be made ({why}); "
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
    if not is_real(array.dtype):
        raise DataTypeError(f"{what} needs numbers, got {'text' if array.dtype.kind == 'O' else array.dtype}")
    return array


def to_numbers(value: Any, what: str = "an array") -> np.ndarray[Any, Any]:
    """As :func:`to_numpy`, with an error for anything but real numbers."""
    return require_numbers(to_numpy(value), what)  # type: ignore[no-any-return]


def as_array(value: Any, dtype: Any = None) -> np.ndarray[Any, Any]:
    """:func:`to_numpy` in the type ``dtype``; without one, Python floats become float32 and ints int32 where they fit, as in DL4J."""
    array = to_numpy(value) if dtype is None or np.dtype(dtype).kind == "O" else to_numbers(value)
    if dtype is None and not isinstance(value, np.ndarray) and not hasattr(value, "dtype"):
        return _default_type(array)
    return array if dtype is None or array.dtype == dtype else _in_type(value, array, np.dtype(dtype))


def _in_type(value: Any, array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The array of a value in another type; DataTypeError where whole numbers are asked for and others come."""
    if dtype.kind in "iu" and array.size and array.dtype.kind != "b":
        flat = array.ravel()
        with np.errstate(invalid="ignore"):
            broken = flat[flat % 1 != 0][:1] if is_floating(array.dtype) else flat[:0]
        for number in (*broken, flat.min(), flat.max()):
            require_held(number.item(), dtype)
        if is_floating(array.dtype) and isinstance(value, (list, tuple)):       # whole numbers of which NumPy made floats
            return np.array(value, dtype)
    return array.astype(dtype)


def converted(array: Any, dtype: Any, what: str) -> Any:
    """The array in another type; DataTypeError, starting with ``what``, where that would change the numbers altogether."""
    if (array.dtype.kind == "O") != (dtype.kind == "O"):
        kinds = (first_text(array), "numbers") if array.dtype.kind == "O" else ("numbers", "text")
        raise DataTypeError(f"{what}: the value given is {kinds[0]}, expected {kinds[1]}")
    lost = None
    if array.dtype.kind in "cmM":
        lost = "is no real number"
    elif is_floating(array.dtype) and dtype.kind in "iub":
        lost = "would lose its fractions"
    elif array.dtype.kind in "iu" and dtype.kind in "iu" and not np.can_cast(array.dtype, dtype) and array.size:
        low, high = int(array.min()), int(array.max())
        if low < np.iinfo(dtype).min or high > np.iinfo(dtype).max:
            lost = f"reaches from {low} to {high}, beyond {dtype}"
    if lost:
        raise DataTypeError(f"{what}, the value given is {array.dtype} and {lost}; convert it yourself if that is meant")
    return array.astype(dtype)
