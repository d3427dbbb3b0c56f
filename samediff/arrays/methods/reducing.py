"""Reductions: ``sum``, ``std``, ``norm2`` …, over dimensions and of everything, and running sums."""
from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np

from ...base.datatype import DataType
from ...base.java.number import JavaNumber, number
from ...base.spec import normalize_axes, normalize_axis
from ...errors import DataTypeError, GraphError, ShapeError
from ...ir.translate_errors import refusing
from ..computing import apply, built_in
from ..default_type import default_type
from ..numpy_calls import call
from ..orders import arranged
from ..pairs import Method, cast, described, is_array, put_into, refuse_bool, type_of
from ..plain_arguments import whole, wholes


def dimensions_of(values: Any) -> tuple[int, ...]:
    """Dimensions that are given one by one or as a list; none means all."""
    flat = [n for value in values for n in wholes(value, "a dimension")]
    return tuple(dict.fromkeys(flat))


def split(args: tuple[Any, ...], switches: int = 1) -> tuple[Any, list[bool], tuple[int, ...]]:
    """The array for the result, the truth values and the dimensions of a call in Java's order."""
    result, rest = (args[0], list(args[1:])) if args and is_array(args[0]) else (None, list(args))
    given = []
    while rest and isinstance(rest[0], (bool, np.bool_)):
        given.append(bool(rest.pop(0)))
    if len(given) > switches or any(isinstance(v, (bool, np.bool_)) for v in rest):
        raise GraphError(f"at most {switches} truth values stand before the dimensions, got {args}")
    return result, given, dimensions_of(rest)


@functools.lru_cache(maxsize=1024, typed=True)
def _op_of(op_id: str, *args: Any) -> Any:
    """The op of a call with numbers alone."""
    _, keep, dimensions = split(args)
    return built_in(op_id, dimensions=dimensions, keep_dims=bool(keep and keep[0]))


def _reduction(name: str, op_id: str, doc: str) -> Method:
    def method(self: Any, *args: Any, **numpy: Any) -> Any:
        if numpy:
            return _of_numpy(self, name, args, numpy)
        refuse_bool(self, name)
        result, op = None, _op_of(op_id, *args) if all(type(a) in (int, bool) for a in args) else None
        if op is None:
            result, keep, dimensions = split(args)
            op = built_in(op_id, dimensions=dimensions, keep_dims=bool(keep and keep[0]))
        made = reduced(op, self)
        return made if result is None else put_into(result, made, name)
    return described(method, name, f"""{doc}

    ``{name}(*dimensions)``, ``{name}(keep_dims, *dimensions)``, ``{name}(result, ...)``; without dimensions of all elements, as an array
    of rank 0. NumPy's keywords (``axis=`` ...) mean NumPy's function, where it has one.
    """)


def reduced(op: Any, x: Any) -> Any:
    """The result of a reduction, in row order; where whole numbers give numbers with a point, these have the default type."""
    made = apply(op, x)
    if default_type() is not DataType.FLOAT and type_of(made) is DataType.FLOAT and not type_of(x).is_floating:
        made = apply(op, cast(x, default_type()))
    return arranged(made, "C")


def _of_numpy(self: Any, name: str, args: tuple[Any, ...], numpy: dict[str, Any]) -> Any:
    if not hasattr(np.ndarray, name):
        raise GraphError(f"{name} takes dimensions as positional arguments, {name}(0, 1) or {name}(True, 0); got {', '.join(numpy)}")
    return call(getattr(np, name), self, *args, **numpy)


def spread(op_id: str, x: Any, dimensions: tuple[int, ...], keep_dims: bool = False, bias_corrected: bool = True) -> Any:
    """Deviation or variance as DL4J's arrays have it: that of a single element is 0, where the op of graphs has NaN."""
    x = x if type_of(x).is_floating else cast(x, default_type())
    corrected = bias_corrected and _count(x, dimensions) != 1
    return arranged(apply(built_in(op_id, dimensions=dimensions, keep_dims=keep_dims, bias_corrected=corrected), x), "C")


def _spread(name: str, op_id: str, doc: str) -> Method:
    def method(self: Any, *args: Any, **numpy: Any) -> Any:
        if numpy:
            return _of_numpy(self, name, args, numpy)
        refuse_bool(self, name)
        result, switches, dimensions = split(args, 2)
        if result is not None:
            raise DataTypeError(f"{name} takes truth values and dimensions; got an array of shape {tuple(result.shape)}")
        corrected, keep = [*switches, True, False][:1] + (switches[1:] or [False])
        return spread(op_id, self, dimensions, keep, corrected)
    return described(method, name, f"""{doc} over dimensions, with divisor n - 1.

    ``{name}(*dimensions)``, ``{name}(bias_corrected, *dimensions)``, ``{name}(bias_corrected, keep_dims, *dimensions)``; False for
    ``bias_corrected`` divides by n. ``{name}(axis=..., ddof=...)`` is NumPy's, whose divisor is n.
    """)


def _count(x: Any, dimensions: tuple[int, ...]) -> int:
    shape = tuple(x.shape)
    return int(np.prod([shape[i] for i in normalize_axes(dimensions, len(shape))], dtype=np.int64)) if shape else 1


def _number(name: str) -> Method:
    def method(self: Any, *switches: Any) -> JavaNumber:
        if isinstance(self, np.ndarray) and not self.size:
            raise ShapeError(f"{name}Number of an empty array of shape {tuple(self.shape)} does not exist")
        return number(getattr(self, name)(*switches))
    return described(method, f"{name}_number", f"``{name}()`` of all elements: a number of Python, with ``doubleValue()`` and its kin.")


@refusing("INDArray")
class Reducing:
    """Reductions: methods that give a number, or a smaller array, for many elements."""

    __slots__ = ()

    sum: ClassVar[Method] = _reduction("sum", "reduce_sum", "Sum over dimensions.")
    mean: ClassVar[Method] = _reduction("mean", "reduce_mean", "Mean over dimensions; whole numbers give the default type, FLOAT.")
    max: ClassVar[Method] = _reduction("max", "reduce_max", "Largest element over dimensions.")
    min: ClassVar[Method] = _reduction("min", "reduce_min", "Smallest element over dimensions.")
    prod: ClassVar[Method] = _reduction("prod", "reduce_prod", "Product over dimensions.")
    norm1: ClassVar[Method] = _reduction("norm1", "reduce_norm1", "Sum of magnitudes over dimensions.")
    norm2: ClassVar[Method] = _reduction("norm2", "reduce_norm2", "Root of the sum of squares over dimensions.")
    normmax: ClassVar[Method] = _reduction("normmax", "reduce_normmax", "Largest magnitude over dimensions; whole numbers give FLOAT.")
    amax: ClassVar[Method] = _reduction("amax", "amax", "Largest magnitude over dimensions.")
    amin: ClassVar[Method] = _reduction("amin", "amin", "Smallest magnitude over dimensions.")
    amean: ClassVar[Method] = _reduction("amean", "amean", "Mean of magnitudes over dimensions.")
    entropy: ClassVar[Method] = _reduction("entropy", "entropy", "-sum x ln x over dimensions.")
    shannon_entropy: ClassVar[Method] = _reduction("shannon_entropy", "shannonentropy", "-sum x log2 x over dimensions.")
    log_entropy: ClassVar[Method] = _reduction("log_entropy", "logentropy", "Logarithm of the entropy over dimensions.")
    std: ClassVar[Method] = _spread("std", "std", "Standard deviation")
    var: ClassVar[Method] = _spread("var", "var", "Variance")

    sum_number: ClassVar[Method] = _number("sum")
    mean_number: ClassVar[Method] = _number("mean")
    max_number: ClassVar[Method] = _number("max")
    min_number: ClassVar[Method] = _number("min")
    prod_number: ClassVar[Method] = _number("prod")
    norm1_number: ClassVar[Method] = _number("norm1")
    norm2_number: ClassVar[Method] = _number("norm2")
    normmax_number: ClassVar[Method] = _number("normmax")
    amax_number: ClassVar[Method] = _number("amax")
    amin_number: ClassVar[Method] = _number("amin")
    amean_number: ClassVar[Method] = _number("amean")
    entropy_number: ClassVar[Method] = _number("entropy")
    shannon_entropy_number: ClassVar[Method] = _number("shannon_entropy")
    log_entropy_number: ClassVar[Method] = _number("log_entropy")
    std_number: ClassVar[Method] = _number("std")
    var_number: ClassVar[Method] = _number("var")
    median_number: ClassVar[Method] = _number("median")

    def arg_max(self: Any, *dimensions: Any) -> Any:
        """Place of the largest element over dimensions, LONG: the first of equal ones."""
        return apply(built_in("argmax", dimensions=dimensions_of(dimensions)), self)

    def median(self: Any, *dimensions: Any) -> Any:
        """Middle element over dimensions, or the mean of the two in the middle; whole numbers give FLOAT."""
        return self.percentile(50.0, *dimensions)

    def percentile(self: Any, q: float, *dimensions: Any) -> Any:
        """The value below which ``q`` percent of the elements lie, over dimensions: of n sorted elements the one at place (n + 1) q / 100,
        between two of them in proportion; whole numbers give FLOAT."""
        refuse_bool(self, "percentile")
        if not 0 <= q <= 100:
            raise GraphError(f"a percentile lies between 0 and 100, got {q}")
        x = self if type_of(self).is_floating else cast(self, default_type())
        rank, shape = len(x.shape), tuple(x.shape)
        axes = normalize_axes(dimensions_of(dimensions), rank)
        kept = [i for i in range(rank) if i not in axes]
        count = _count(x, axes)
        if not count:
            raise ShapeError(f"a percentile of no elements does not exist; the array has shape {shape}")
        rows = call(np.sort, call(np.reshape, call(np.transpose, x, [*kept, *axes]), [*(shape[i] for i in kept), count]), axis=-1)
        place = min(max((count + 1) * q / 100 - 1, 0), count - 1)
        low = int(place)
        first, second = rows[..., low], rows[..., min(low + 1, count - 1)]
        return first.dup() if place == low else first + (second - first) * x.dtype.type(place - low)

    def percentile_number(self: Any, q: float) -> JavaNumber:
        """The percentile of all elements, as a number of Python with Java's ``doubleValue()`` and its kin."""
        return number(self.castTo(DataType.DOUBLE).percentile(q))

    # Running sums

    def cumsum(self: Any, *args: Any, **numpy: Any) -> Any:
        """Running sum along a dimension, in the type of the array; ``cumsum()`` and NumPy's keywords mean NumPy's.

        Rows (1, n) and columns (n, 1) are summed along their elements, whichever dimension is named, as in DL4J.
        """
        if numpy or not args:
            return _of_numpy(self, "cumsum", args, numpy)
        (dimension,) = args
        refuse_bool(self, "cumsum")
        if not self.shape:
            return self.dup()
        return arranged(apply(built_in("cumsum", axis=(running_axis(self.shape, dimension),)), self), "C")

    def cumsumi(self: Any, dimension: int) -> Any:
        """Running sum along a dimension. In place."""
        return put_into(self, self.cumsum(dimension), "cumsumi")

    # Distances

    def distance1(self: Any, other: Any) -> float:
        """Sum of |x - y|."""
        return _distance("manhattan", self, other)

    def distance2(self: Any, other: Any) -> float:
        """Root of the sum of (x - y)^2."""
        return _distance("euclidean", self, other)

    def squared_distance(self: Any, other: Any) -> float:
        """Sum of (x - y)^2."""
        return self.distance2(other) ** 2  # type: ignore[no-any-return]


def running_axis(shape: Any, dimension: int) -> int:
    """The axis of a running sum along a dimension: that of the elements in rows and columns."""
    dimension = whole(dimension, "a dimension")
    axis = 0 if len(shape) == 1 and dimension == 1 else normalize_axis(dimension, len(shape))        # 1 is that of a row
    return 1 - axis if len(shape) == 2 and shape[axis] == 1 else axis


def _distance(op_id: str, x: Any, y: Any) -> float:
    if tuple(x.shape) != tuple(y.shape):
        raise ShapeError(f"a distance needs arrays of one shape, got {tuple(x.shape)} and {tuple(y.shape)}")
    if not is_array(y):
        raise DataTypeError(f"a distance needs two arrays, got {type(y).__name__}")
    kind = DataType.of(np.result_type(x.dtype, y.dtype, np.float32))
    return float(np.asarray(apply(built_in(op_id), cast(x, kind), cast(y, kind))))
