"""Activation functions of layers that no graph op computes in the same way."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..samediff.families import Elementwise, unary
from ..samediff.op import Op, Specs, op
from ..samediff.spec import TensorSpec

if TYPE_CHECKING:
    from ..samediff.variable import SDVariable


def _rational_tanh(xp: Any, x: Any) -> Any:
    y = x * (2 / 3)
    size = abs(y)
    square = y * y
    return 1.7159 * xp.sign(y) * (1 - 1 / (1 + size + square + 1.41645 * square * square))


def _gelu_cubed(xp: Any, x: Any) -> Any:
    inner = 0.044715 * x
    return 0.5 * x * (1 + xp.tanh(0.7978845608028654 * (x + inner * inner * inner)))


def _clamped_linear(low: float, high: float, scale: float, shift: float) -> Any:
    """``scale * x + shift`` between two limits, where the slope ends."""
    def function(xp: Any, x: Any) -> Any:
        y = scale * x + shift
        return xp.where(y <= low, low, xp.where(y >= high, high, y))
    return function


RationalTanh = unary("layer_rational_tanh", "", _rational_tanh, "1.7159 sgn(y) (1 - 1 / (1 + |y| + y^2 + 1.41645 y^4)), y = 2 x / 3.")
RectifiedTanh = unary("layer_rectified_tanh", "", lambda xp, x: xp.where(x > 0, xp.tanh(x), 0), "max(0, tanh(x)).")
GeluCubed = unary("layer_precise_gelu", "", _gelu_cubed, "x / 2 (1 + tanh(sqrt(2 / pi) (x + (0.044715 x)^3))), as DL4J's layers have it.")
Cube = unary("layer_cube", "", lambda xp, x: x * x * x, "x^3.")


@op("layer_relu")
class ThresholdRelu(Elementwise):
    """x from ``threshold`` on, below it ``slope`` * (x - threshold), at most ``top``."""

    threshold: float = 0.0
    slope: float = 0.0
    top: float | None = None

    def compute(self, xp: Any, x: Any) -> Any:
        """By comparison; no gradient where the maximum is reached."""
        below = self.slope * (x - self.threshold) if self.slope else 0
        y = xp.where(x >= self.threshold, x, below)
        return y if self.top is None else xp.where(y >= self.top, self.top, y)


@op("layer_elu")
class Elu(Elementwise):
    """x where x >= 0, else alpha (e^x - 1); the gradient is that of alpha 1, as in DL4J's layers."""

    alpha: float = 1.0

    def compute(self, xp: Any, x: Any) -> Any:
        """By the sign of x."""
        return xp.where(x >= 0, x, self.alpha * xp.expm1(x))

    def partial(self, i: int, inputs: Sequence[SDVariable], upstream: SDVariable) -> SDVariable | None:
        """Through the function with alpha 1."""
        return super().partial(i, inputs, upstream) if self.alpha == 1 else Elu(1.0).partial(i, inputs, upstream)


@op("layer_random_slopes", stateful=True, shape_inputs=(0,), gradient="zero")
class RandomSlopes(Op):
    """Uniform numbers of [low, high), as many as x has."""

    low: float
    high: float

    def infer(self, *specs: TensorSpec) -> Specs:
        """As x."""
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, context: Any = None) -> Any:
        """Drawn for each run."""
        return context.random().uniform(self.low, self.high, x.shape).astype(x.dtype)


@op("layer_sloped_relu", inputs="x slopes")
class SlopedRelu(Elementwise):
    """x where x >= 0, else slopes * x; outside training ``max(x, cutoff)``."""

    cutoff: float

    def compute(self, xp: Any, x: Any, slopes: Any) -> Any:
        """By the sign of x."""
        return xp.where(x >= 0, x, slopes * x)

    def at_inference(self) -> Op:
        """What DL4J computes outside training."""
        return CutOff(self.cutoff)


@op("layer_cut_off", inputs="x slopes")
class CutOff(Elementwise):
    """max(x, cutoff); the slopes do not matter."""

    cutoff: float

    def compute(self, xp: Any, x: Any, slopes: Any) -> Any:
        """By comparison."""
        return xp.where(x > self.cutoff, x, self.cutoff) + 0 * slopes


@op("layer_prelu", inputs="x alpha")
class ParametricRelu(Elementwise):
    """x where x >= 0, else alpha * x; alpha is broadcast to x."""

    def compute(self, xp: Any, x: Any, alpha: Any) -> Any:
        """By the sign of x."""
        return xp.where(x >= 0, x, alpha * x)


__all__ = ["Cube", "CutOff", "Elu", "GeluCubed", "ParametricRelu", "RandomSlopes", "RationalTanh", "RectifiedTanh", "SlopedRelu", "ThresholdRelu"]
