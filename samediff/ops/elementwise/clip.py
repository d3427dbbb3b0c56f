"""Limiting values and norms."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.spec import TensorSpec, normalize_axes
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...expressions.arrays import norm_over
from ...families.families import Elementwise
from ...ir.op import Op, Specs, op, require_floating

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@op("ClipByValue", api="base.clip_by_value math.clip_by_value base.clip math.clip",
    file=FileArgs(floats=("clip_value_min", "clip_value_max"), properties={
        "clipValueMin": "d:clip_value_min", "clipValueMax": "d:clip_value_max"}))
class ClipByValue(Elementwise):
    """min(max(x, low), high); the gradient passes within the bounds."""

    element_values = "clip_value_min clip_value_max"
    clip_value_min: float
    clip_value_max: float

    def infer(self, *specs: TensorSpec) -> Specs:
        """The lower bound must be the smaller one."""
        if not self.clip_value_min < self.clip_value_max:
            raise ShapeError(f"the lower bound {self.clip_value_min} must be smaller than the upper bound {self.clip_value_max}")
        return super().infer(*specs)

    def compute(self, xp: Any, x: Any) -> Any:
        """By comparisons that keep NaN."""
        low, high = (xp.asarray(v, dtype=x.dtype) for v in (self.clip_value_min, self.clip_value_max))
        return xp.where(x < low, low, xp.where(x > high, high, x))


@op("clip_by_values", api="base.clip_by_value math.clip_by_value base.clip", inputs="x low high",
    file=FileArgs(op_name="ClipByValue", with_inputs=(3,)))
class ClipByValues(Elementwise):
    """min(max(x, low), high) with bounds from variables."""

    rule = "match"

    def compute(self, xp: Any, x: Any, low: Any, high: Any) -> Any:
        """By comparisons that keep NaN."""
        return xp.where(x < low, low, xp.where(x > high, high, x))


class ClippedNorm(Op):
    """Scales down slices over ``dimensions`` (none: everything) whose norm exceeds ``clip_value``."""

    clip_value: float
    dimensions: tuple[int, ...] = ()
    signatures = ("x, clip_value, *dimensions",)
    average = False

    def __init_subclass__(cls) -> None:
        cls.__annotations__ = {"clip_value": "float", "dimensions": "tuple[int, ...]"}
        cls.dimensions = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        require_floating(self.id, specs[0])
        if specs[0].shape is not None:
            normalize_axes(self.dimensions, len(specs[0].shape))
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def norm(self, xp: Any, x: Any) -> Any:
        """Euclidean norm of each slice, over its size when ``average``."""
        axes = normalize_axes(self.dimensions, x.ndim)
        norm = norm_over(x, axes, True)
        return norm / x.dtype.type(x.size // max(norm.size, 1)) if self.average else norm

    def compute(self, xp: Any, x: Any) -> Any:
        """Scaled where the norm is too large."""
        norm, limit = self.norm(xp, x), x.dtype.type(self.clip_value)
        return xp.where(norm > limit, x * (limit / xp.where(norm > limit, norm, limit)), x)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """limit / norm * (g - x sum(g x) / |x|^2) in clipped slices, g elsewhere."""
        x, g, sd = inputs[0], output_grads[0], inputs[0].sd
        along = sd.call("base", "sum", g * x, True, *self.dimensions)
        norm = length = sd.call("base", "norm2", x, True, *self.dimensions)
        if self.average:
            norm = norm * (sd.call("base", "size", norm) / sd.call("base", "size", x).cast_to(x.dtype))
        return [sd.add_op(ClipSlope(self.clip_value), [x, g, norm, along, length])]


@op("clip_norm_bp", inputs="x upstream norm along length")
class ClipSlope(Elementwise):
    """Gradient of clipping by a norm (made by gradients)."""

    clip_value: float

    def compute(self, xp: Any, x: Any, upstream: Any, norm: Any, along: Any, length: Any) -> Any:
        return xp.where(norm > self.clip_value, self.clip_value / norm * (upstream - x / length * (along / length)), upstream)


@op("clipbynorm", api="base.clip_by_norm math.clip_by_norm", file=FileArgs(ints=("*dimensions",), floats=("clip_value",)))
class ClipByNorm(ClippedNorm):
    """x * clip_value / n where the Euclidean norm n over ``dimensions`` exceeds ``clip_value``, else x."""


@op("clipbyavgnorm", api="math.clip_by_avg_norm base.clip_by_avg_norm", file=FileArgs(ints=("*dimensions",), floats=("clip_value",)))
class ClipByAverageNorm(ClippedNorm):
    """x * clip_value / n where the norm over the number of elements, n, exceeds ``clip_value``, else x."""

    average = True
