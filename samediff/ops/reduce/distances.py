"""Distances and similarities of two arrays over axes."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...base.datatype import DataType
from ...base.spec import Shape, TensorSpec, broadcast, normalize_axes, reduced
from ...codecs.file_args import FileArgs
from ...errors import GraphError, ShapeError
from ...expressions.arrays import norm_over
from ...families.broadcasting import broadcast_reduced, sum_to
from ...families.in_float import in_float
from ...ir.op import Op, Specs, op
from ..shape.reshaping import reshape_like

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


class Distance(Op):
    """Reduces pairs over ``dimensions``; the gradient differentiates the same formula built from graph nodes."""

    inputs = "x y"
    signatures = ("x, y, *dimensions", "x, y, keep_dims, is_complex, *dimensions")
    file = FileArgs(dimensions="dimensions", properties={"keepDims": "b:keep_dims", "isComplexAccumulation": "b:is_complex"})
    keep_dims: bool = False
    is_complex: bool = False
    dimensions: tuple[int, ...] = ()

    def __init_subclass__(cls) -> None:
        cls.__annotations__ = {"keep_dims": "bool", "is_complex": "bool", "dimensions": "tuple[int, ...]"}
        cls.keep_dims, cls.is_complex, cls.dimensions = False, False, ()

    def infer(self, *specs: TensorSpec) -> Specs:
        """The reduced shape, in a floating type."""
        if self.is_complex:
            raise GraphError("is_complex must be False: there are no complex arrays")
        x, y = specs
        dtype = x.dtype if x.dtype.is_floating else DataType.FLOAT
        if x.shape is None or y.shape is None:
            return TensorSpec(None if x.shape is None else reduced(x.shape, self.dimensions, self.keep_dims), dtype)
        if len(y.shape) > len(x.shape):
            raise ShapeError(f"{self.id}: y of shape {y.shape} has more axes than x of shape {x.shape}")
        axes = normalize_axes(self.dimensions, len(x.shape))
        return TensorSpec(reduced(broadcast(x.shape, aligned(x.shape, y.shape, axes)), axes, self.keep_dims), dtype)

    def measure(self, xp: Any, x: Any, y: Any, total: Callable[[Any], Any], norm: Callable[[Any], Any], count: Any) -> Any:
        """The formula; ``total`` and ``norm`` are sum and Euclidean norm over the dimensions, keeping them."""
        raise NotImplementedError

    @in_float
    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        if x.dtype.kind in "iub":
            x, y = x.astype(xp.float32), y.astype(xp.float32)
        axes = normalize_axes(self.dimensions, x.ndim)
        x, y = xp.broadcast_arrays(x, y.reshape(aligned(x.shape, y.shape, axes)))
        count = x.dtype.type(x.size // max(1, (x.sum(axis=axes)).size))
        found = self.measure(xp, x, y, lambda v: v.sum(axis=axes, keepdims=True, dtype=x.dtype), lambda v: norm_over(v, axes, True), count)
        return found if self.keep_dims else found.reshape([n for i, n in enumerate(x.shape) if i not in axes])

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient of the formula written as graph nodes."""
        x, y = inputs
        sd, dims = x.sd, self.dimensions
        wide = y
        if y.spec.shape is not None and x.spec.shape is not None:
            shape = aligned(x.spec.shape, y.spec.shape, normalize_axes(dims, len(x.spec.shape)))
            wide = y if shape == y.spec.shape else sd.call("base", "reshape", y, *shape)
        g = broadcast_reduced(output_grads[0], x * wide, dims, self.keep_dims)
        by_x, by_y = self.slopes(x, wide, lambda v: sd.call("base", "sum", v, True, *dims))
        second = sum_to(g * by_y, wide)
        return [sum_to(g * by_x, x), second if wide is y else reshape_like(second, y)]

    def norm(self, x: SDVariable) -> SDVariable:
        """The Euclidean norm over the dimensions, which stay."""
        return x.sd.call("base", "norm2", x, True, *self.dimensions)  # type: ignore[no-any-return]

    def slopes(self, x: SDVariable, y: SDVariable, total: Callable[[SDVariable], SDVariable]) -> tuple[SDVariable, SDVariable]:
        """Derivatives of the result by each element of x and y."""
        raise NotImplementedError


def aligned(x: Shape, y: Shape, axes: Shape) -> Shape:
    """The shape in which y is broadcast to x: a vector lies along the axis that is reduced, where it is a single one."""
    if len(y) == 1 < len(x) and len(axes) == 1:
        return tuple(y[0] if i == axes[0] else 1 for i in range(len(x)))
    return y


def _call(name: str, *args: SDVariable) -> SDVariable:
    return args[0].sd.call("math", name, *args)  # type: ignore[no-any-return]


@op("manhattan", api="math.manhattan_distance base.manhattan_distance")
class Manhattan(Distance):
    """Sum of |x - y| over ``dimensions``."""

    def measure(self, xp: Any, x: Any, y: Any, total: Callable[[Any], Any], norm: Callable[[Any], Any], count: Any) -> Any:
        return total(abs(x - y))

    def slopes(self, x: SDVariable, y: SDVariable, total: Callable[[SDVariable], SDVariable]) -> tuple[SDVariable, SDVariable]:
        sign = _call("sign", x - y)
        return sign, -sign


@op("euclidean", api="math.euclidean_distance base.euclidean_distance")
class Euclidean(Distance):
    """sqrt(sum (x - y)^2) over ``dimensions``."""

    def measure(self, xp: Any, x: Any, y: Any, total: Callable[[Any], Any], norm: Callable[[Any], Any], count: Any) -> Any:
        """The root of the sum of squares."""
        return norm(x - y)

    def slopes(self, x: SDVariable, y: SDVariable, total: Callable[[SDVariable], SDVariable]) -> tuple[SDVariable, SDVariable]:
        """(x - y) over the distance, 0 where it is 0."""
        d = x - y
        slope = _call("div_no_nan", d, self.norm(d))
        return slope, -slope


class _Cosine(Distance):
    sign = 1.0

    def measure(self, xp: Any, x: Any, y: Any, total: Callable[[Any], Any], norm: Callable[[Any], Any], count: Any) -> Any:
        """The cosine of the angle."""
        cosine = total(x / norm(x) * (y / norm(y)))
        return cosine if self.sign > 0 else 1 - cosine

    def slopes(self, x: SDVariable, y: SDVariable, total: Callable[[SDVariable], SDVariable]) -> tuple[SDVariable, SDVariable]:
        """(v - u cos) / |x| for u = x / |x| and v = y / |y|, and the same with x and y exchanged."""
        long_x, long_y = self.norm(x), self.norm(y)
        u, v = x / long_x, y / long_y
        cosine = total(u * v)
        return (v - u * cosine) / long_x * self.sign, (u - v * cosine) / long_y * self.sign


@op("cosinesimilarity", api="math.cosine_similarity base.cosine_similarity")
class CosineSimilarity(_Cosine):
    """sum(x y) / (|x| |y|) over ``dimensions``."""


@op("cosinedistance", api="math.cosine_distance base.cosine_distance")
class CosineDistance(_Cosine):
    """1 - cosine similarity over ``dimensions``."""

    sign = -1.0


@op("jaccarddistance", api="math.jaccard_distance base.jaccard_distance")
class Jaccard(Distance):
    """1 - sum(min(x, y)) / sum(max(x, y)) over ``dimensions``."""

    def measure(self, xp: Any, x: Any, y: Any, total: Callable[[Any], Any], norm: Callable[[Any], Any], count: Any) -> Any:
        """One minus the sum of minima over the sum of maxima."""
        return 1 - total(xp.minimum(x, y)) / total(xp.maximum(x, y))

    def slopes(self, x: SDVariable, y: SDVariable, total: Callable[[SDVariable], SDVariable]) -> tuple[SDVariable, SDVariable]:
        """The quotient rule; half of each where x equals y."""
        low, high = total(_call("minimum", x, y)), total(_call("maximum", x, y))
        sign = _call("sign", x - y)
        larger, smaller = (sign + 1.0) * 0.5, (1.0 - sign) * 0.5
        quotient = low / high
        return (larger * quotient - smaller) / high, (smaller * quotient - larger) / high


@op("hammingdistance", api="math.hamming_distance base.hamming_distance", gradient="zero")
class Hamming(Distance):
    """Share of positions over ``dimensions`` where x and y differ."""

    def measure(self, xp: Any, x: Any, y: Any, total: Callable[[Any], Any], norm: Callable[[Any], Any], count: Any) -> Any:
        return total((x != y).astype(x.dtype)) / count
