"""Activation functions that work element by element, and their derivatives as ops."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.spec import TensorSpec, normalize_axis
from ...codecs.file_args import FileArgs
from ...codecs.file_forms import operand
from ...errors import ShapeError
from ...families.families import Elementwise, unary
from ...ir.op import Op, Specs, op, require_floating

if TYPE_CHECKING:
    from ...ir.variable import SDVariable

SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805
_GELU_FACTOR = float(np.sqrt(2 / np.pi))


def _decay(xp: Any, x: Any) -> Any:
    """e^-|x|, differentiable at 0."""
    return xp.exp(xp.where(x >= 0, -x, x))


def sigmoid(xp: Any, x: Any) -> Any:
    """Logistic function; value and derivative are finite everywhere."""
    e = _decay(xp, x)
    return xp.where(x >= 0, 1, e) / (1 + e)


def softplus(xp: Any, x: Any) -> Any:
    """ln(1 + e^x) without overflow."""
    return xp.where(x >= 0, x, 0) + xp.log1p(_decay(xp, x))


def _swish(xp: Any, x: Any) -> Any:
    return x * sigmoid(xp, x)


def _log_sigmoid(xp: Any, x: Any) -> Any:
    return -softplus(xp, -x)


def _gelu(xp: Any, x: Any) -> Any:
    return x * sigmoid(xp, 1.702 * x)


def _precise_gelu(xp: Any, x: Any) -> Any:
    inner = 0.044715 * x                                # DL4J cubes the product, in its layers too: its models are trained with this curve
    curve = sigmoid(xp, 2 * _GELU_FACTOR * (x + inner * inner * inner))     # (1 + tanh(u)) / 2, where 1 and -1 would cancel
    return x * xp.where(x > 100, 1, xp.where(x < -100, 0, curve))           # before the cube leaves the type


def _hard_sigmoid(xp: Any, x: Any) -> Any:
    y = 0.2 * x + 0.5
    return xp.where(y <= 0, 0, xp.where(y >= 1, 1, y))


def _softsign(xp: Any, x: Any) -> Any:
    """In two forms, neither of which has a gradient in which large numbers cancel; NaN at infinity, as in DL4J."""
    size = abs(x)
    return xp.where(size < 1, x / (1 + size), xp.where(x > 0, 1, -1) * (1 - 1 / (1 + size)) + (size - size))


def _selu(xp: Any, x: Any) -> Any:
    return SELU_SCALE * xp.where(x > 0, x, SELU_ALPHA * xp.expm1(x))


unary("sigmoid", "nn.sigmoid math.sigmoid", sigmoid, "1 / (1 + e^-x).")
unary("logsigmoid", "nn.log_sigmoid", _log_sigmoid, "ln(sigmoid(x)), stable.")
unary("softplus", "nn.softplus", softplus, "ln(1 + e^x), stable.")
unary("softsign", "nn.softsign", _softsign, "x / (1 + |x|).")
unary("swish", "nn.swish nn.silu", _swish, "x * sigmoid(x) (Ramachandran et al. 2017).")
unary("mish", "nn.mish", lambda xp, x: x * xp.tanh(softplus(xp, x)), "x * tanh(softplus(x)) (Misra 2019).")
unary("gelu", "nn.gelu", _gelu, "x * sigmoid(1.702 x), the sigmoid form of GELU (Hendrycks and Gimpel 2016).")
unary("precise_gelu", "nn.precise_gelu", _precise_gelu, "0.5 x (1 + tanh(sqrt(2 / pi) (x + (0.044715 x)^3))).")
unary("hard_sigmoid", "nn.hard_sigmoid", _hard_sigmoid, "0.2 x + 0.5 within 0 and 1.")
unary("hardtanh", "nn.hard_tanh", lambda xp, x: xp.where(x < -1, -1, xp.where(x > 1, 1, x)), "x within -1 and 1.")
unary("selu", "nn.selu", _selu, "scale * x where x > 0, else scale * alpha (e^x - 1) (Klambauer et al. 2017).")
unary("hardtanhderivative", "nn.hard_tanh_derivative", lambda xp, x: (abs(x) <= 1).astype(x.dtype), "1 within -1 and 1, else 0.",
      gradient="zero")
unary("softsignderivative", "nn.softsign_derivative", lambda xp, x: 1 / ((1 + abs(x)) * (1 + abs(x))), "1 / (1 + |x|)^2.")


@op("elu", api="nn.elu", file=FileArgs(floats=("alpha",), properties={"alpha": "d:alpha"}))
class Elu(Elementwise):
    """x where x > 0, else alpha * (e^x - 1) (Clevert et al. 2015)."""

    rule = "float"
    alpha: float = 1.0

    def compute(self, xp: Any, x: Any) -> Any:
        """One formula for each sign of x."""
        return xp.where(x > 0, x, self.alpha * xp.expm1(x))


@op("relu", api="nn.relu", file=FileArgs(scalar="cutoff"))
class Relu(Elementwise):
    """max(x, cutoff)."""

    element_values = "cutoff"
    cutoff: float = 0.0

    def compute(self, xp: Any, x: Any) -> Any:
        cutoff = xp.asarray(self.cutoff, dtype=x.dtype)
        return xp.where(x <= cutoff, cutoff, x)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The derivative, taken at the result: it equals that at x, so x need not be kept for the backward pass."""
        return [self.partial(0, outputs, output_grads[0])]


@op("relu6", api="nn.relu6", file=FileArgs(scalar="cutoff"))
class Relu6(Elementwise):
    """min(max(x, cutoff), 6)."""

    element_values = "cutoff"
    cutoff: float = 0.0

    def compute(self, xp: Any, x: Any) -> Any:
        cutoff = xp.asarray(self.cutoff, dtype=x.dtype)
        return xp.where(x <= cutoff, cutoff, xp.where(x >= 6, 6, x)).astype(x.dtype)


@op("leakyrelu", api="nn.leaky_relu", file=operand("alpha"))
class LeakyRelu(Elementwise):
    """x where x >= 0, else alpha * x."""

    element_values = "alpha"
    alpha: float = 0.01

    def compute(self, xp: Any, x: Any) -> Any:
        """One formula for each sign of x."""
        return xp.where(x >= 0, x, xp.asarray(self.alpha, dtype=x.dtype) * x)


@op("leakyreluderivative", api="nn.leaky_relu_derivative", gradient="zero", file=operand("alpha"))
class LeakyReluDerivative(Elementwise):
    """1 where x >= 0, else alpha."""

    element_values = "alpha"
    alpha: float = 0.01

    def compute(self, xp: Any, x: Any) -> Any:
        """One formula for each sign of x."""
        return xp.where(x >= 0, xp.asarray(1, dtype=x.dtype), xp.asarray(self.alpha, dtype=x.dtype))


@op("thresholdedrelu", api="nn.thresholded_relu", file=FileArgs(floats=("cutoff",)))
class ThresholdedRelu(Elementwise):
    """x where x > cutoff, else 0."""

    cutoff: float = 0.0

    def compute(self, xp: Any, x: Any) -> Any:
        return xp.where(x > self.cutoff, x, 0)


@op("sigmoid_bp", api="nn.sigmoid_derivative", inputs="x wrt")
class SigmoidDerivative(Elementwise):
    """wrt * s (1 - s) with s = sigmoid(x)."""

    rule = "float"

    def compute(self, xp: Any, x: Any, wrt: Any) -> Any:
        """The upstream gradient times the derivative of the sigmoid."""
        return wrt * sigmoid(xp, x) * sigmoid(xp, -x)


@op("prelu", api="nn.prelu", inputs="x alpha", signatures=("x, alpha, *shared_axes",),
    file=FileArgs(ints=("*shared_axes",), properties={"sharedAxes": "i[]:shared_axes"}))
class Prelu(Op):
    """x where x >= 0, else alpha * x, with alpha of the shape of x without the batch axis, 1 along ``shared_axes``."""

    shared_axes: tuple[int, ...] = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        x, alpha = specs
        require_floating("prelu", x, alpha)
        if not self.shared_axes:
            raise ShapeError("prelu needs at least one shared axis, an axis of x along which alpha has size 1")
        if x.shape is not None and alpha.shape is not None:
            for axis in self.shared_axes:
                normalize_axis(axis, len(x.shape), "shared axis")
            sizes = (1,) * (len(x.shape) - 1 - len(alpha.shape)) + alpha.shape
            if len(sizes) != len(x.shape) - 1 or any(a not in (n, 1, -1) and n != -1 for a, n in zip(sizes, x.shape[1:])):
                raise ShapeError(f"alpha {alpha.shape} must have the shape of x {x.shape} without the batch axis, or 1 along shared axes")
        return TensorSpec(x.shape, x.dtype)

    def compute(self, xp: Any, x: Any, alpha: Any) -> Any:
        """One formula for each sign of x."""
        return xp.where(x >= 0, x, alpha * x)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient of the elementwise form, in which alpha has the shape of x."""
        return _PreluElement().grad(inputs, outputs, output_grads)


@op("prelu_element", inputs="x alpha")
class _PreluElement(Elementwise):
    """The parametric rectifier with broadcasting (made by gradients)."""

    def compute(self, xp: Any, x: Any, alpha: Any) -> Any:
        """One formula for each sign of x."""
        return xp.where(x >= 0, x, alpha * x)


@op("crelu", api="nn.c_relu nn.crelu")
class CRelu(Op):
    """relu(x) and relu(-x), one after the other along the last axis."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """The last axis, twice as long."""
        x = specs[0]
        require_floating("crelu", x)
        if not x.shape:
            return TensorSpec(x.shape if x.shape is None else (2,), x.dtype)
        return TensorSpec((*x.shape[:-1], -1 if x.shape[-1] == -1 else 2 * x.shape[-1]), x.dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        return xp.concatenate([xp.maximum(x, 0), xp.maximum(-x, 0)], axis=-1)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient through the concatenation of both halves."""
        sd, x = inputs[0].sd, inputs[0]
        first, second = sd.call("base", "split", output_grads[0], 2, -1)
        return [sd.add_op(SignedPart(), [x, first, second])]


@op("crelu_slope", inputs="x first second")
class SignedPart(Elementwise):
    """``first`` where x > 0, minus ``second`` where x < 0 (made by gradients)."""

    def compute(self, xp: Any, x: Any, first: Any, second: Any) -> Any:
        """One formula for each sign of x."""
        return xp.where(x > 0, first, xp.where(x < 0, -second, 0))
