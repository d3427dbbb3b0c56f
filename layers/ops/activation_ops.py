"""Activation functions of layers that no graph op computes in the same way."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...samediff.base.spec import TensorSpec
from ...samediff.families.array_code.graph_random import GraphContext
from ...samediff.families.families import Elementwise, unary
from ...samediff.ir.op import Expandable, Op, Specs, op
from ...samediff.numpy_functions.array_code import code_followed
from ...samediff.ops.elementwise.activations import sigmoid
from ...samediff.ops.elementwise.transforms import rational_tanh

if TYPE_CHECKING:
    from ...samediff.ir.variable import SDVariable


def _single(value: float) -> float:
    """A constant as DL4J has it also for arrays of type DOUBLE: rounded to float32."""
    return float(np.float32(value))


def _rational_tanh(xp: Any, x: Any) -> Any:
    return rational_tanh(xp, x, _single(1.7159), _single(1.41645))


def _gelu_cubed(xp: Any, x: Any) -> Any:
    inner = 0.044715 * x
    return x * sigmoid(xp, 2 * 0.7978845608028654 * (x + inner * inner * inner))


def _hard_sigmoid(xp: Any, x: Any) -> Any:
    return xp.where(x < -2.5, 0, xp.where(x > 2.5, 1, _single(0.2) * x + 0.5))


Cube = unary("layer_cube", "", lambda xp, x: x * x * x, "x^3.")
Gelu = unary("layer_gelu", "", lambda xp, x: x * sigmoid(xp, _single(1.702) * x), "x sigmoid(1.702 x).")
GeluCubed = unary("layer_precise_gelu", "", _gelu_cubed, "x / 2 (1 + tanh(sqrt(2 / pi) (x + (0.044715 x)^3))), as DL4J's layers have it.")
HardSigmoid = unary("layer_hard_sigmoid", "", _hard_sigmoid, "0.2 x + 0.5 within 0 and 1.")
RationalTanh = unary("layer_rational_tanh", "", _rational_tanh, "1.7159 sgn(y) (1 - 1 / (1 + |y| + y^2 + 1.41645 y^4)), y = 2 x / 3.")
RectifiedTanh = unary("layer_rectified_tanh", "", lambda xp, x: xp.where(x <= 0, 0, xp.tanh(x)), "max(0, tanh(x)).")


class ShadowGradient(Elementwise):
    """A function whose gradient is that of :meth:`shadow`, as DL4J's layers have it."""

    def shadow(self) -> Elementwise:
        """The op whose derivative is used in place of this one's."""
        raise NotImplementedError

    def partial(self, i: int, inputs: Sequence[SDVariable], upstream: SDVariable) -> SDVariable | None:
        shadow = self.shadow()
        return super().partial(i, inputs, upstream) if shadow == self else shadow.partial(i, inputs, upstream)


@op("layer_clipped_relu")
class ClippedRelu(Elementwise):
    """x within 0 and ``top``; NaN becomes ``top``."""

    top: float

    def compute(self, xp: Any, x: Any) -> Any:
        return xp.where(x <= 0, 0, xp.where(x < self.top, x, self.top))


@op("layer_relu")
class ThresholdRelu(Elementwise):
    """x from ``threshold`` on, below it ``slope`` * (x - threshold), at most ``top``; infinity gives NaN, or ``top``."""

    threshold: float = 0.0
    slope: float = 0.0
    top: float | None = None

    def compute(self, xp: Any, x: Any) -> Any:
        """Sum of the parts above and below the threshold."""
        above = (x >= self.threshold).astype(x.dtype)
        y = x * above + self.slope * (x - self.threshold) * (1 - above)
        return y if self.top is None else xp.where(y < self.top, y, self.top)


@op("layer_leaky_relu")
class LayerLeakyRelu(ShadowGradient):
    """x where x >= 0, else alpha * x; the gradient has a float32 alpha."""

    alpha: float = 0.01

    def compute(self, xp: Any, x: Any) -> Any:
        """One formula for each sign of x."""
        return xp.where(x >= 0, x, self.alpha * x)

    def shadow(self) -> Elementwise:
        """The op with its slope rounded to single precision."""
        return LayerLeakyRelu(_single(self.alpha))


@op("layer_elu")
class LayerElu(Elementwise):
    """x where x >= 0, else alpha (e^x - 1)."""

    alpha: float = 1.0

    def compute(self, xp: Any, x: Any) -> Any:
        """One formula for each sign of x."""
        return xp.where(x >= 0, x, self.alpha * xp.expm1(x))


@op("layer_random_slopes", stateful=True, shape_inputs=(0,), gradient="zero")
class RandomSlopes(Expandable):
    """Uniform numbers of [low, high), as many as x has; in plans those of node ``of``."""

    low: float
    high: float
    of: str = ""

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, context: Any = None) -> Any:
        """Uniform random slopes, drawn anew in each run."""
        return context.random().uniform(self.low, self.high, x.shape).astype(x.dtype)

    def plan_rewrite(self, name: str) -> Expandable:
        """The op that knows its node."""
        return self.replace(of=name)  # type: ignore[return-value]

    def expand(self, *inputs: Any) -> Any:
        """The code of ``compute`` as nodes."""
        def code(xp: Any, x: Any) -> Any:
            return self.compute(xp, x, GraphContext(xp.functions, True, self.of))
        return code_followed("random slopes", code, inputs[0].sd, inputs)[0]


@op("layer_sloped_relu", inputs="x slopes")
class SlopedRelu(Elementwise):
    """x where x >= 0, else slopes * x; outside training ``max(x, cutoff)``."""

    cutoff: float

    def compute(self, xp: Any, x: Any, slopes: Any) -> Any:
        """One formula for each sign of x."""
        return xp.where(x >= 0, x, slopes * x)

    def at_inference(self) -> Op:
        """The function that DL4J computes outside training."""
        return CutOff(self.cutoff)


@op("layer_cut_off", inputs="x slopes")
class CutOff(Elementwise):
    """max(x, cutoff); the slopes do not matter."""

    cutoff: float

    def compute(self, xp: Any, x: Any, slopes: Any) -> Any:
        return xp.where(x > self.cutoff, x, self.cutoff) + 0 * slopes


@op("layer_prelu", inputs="x alpha")
class ParametricRelu(Elementwise):
    """x where x >= 0, else alpha * x; alpha is broadcast to x."""

    def compute(self, xp: Any, x: Any, alpha: Any) -> Any:
        """One formula for each sign of x."""
        return xp.where(x >= 0, x, alpha * x)

