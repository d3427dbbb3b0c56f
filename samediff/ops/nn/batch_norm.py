"""Batch normalization as a layer does it: statistics of the batch in training, given ones outside."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.named_axes import expect
from ...base.spec import TensorSpec
from ...errors import ShapeError
from ...expressions.arrays import centred, mean_of_squares, mean_over
from ...families.alignment import align, aligned
from ...families.composite import Composite
from ...ir.op import Op, attributes, op, require_floating, require_same_type

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@attributes
class Normalizing(Op):
    """Channels along ``axis``; everything else is normalized together."""

    axis: int = 1
    epsilon: float = 1e-5

    def axes(self, rank: int) -> tuple[int, ...]:
        """All axes but the channel axis."""
        return tuple(a for a in range(rank) if a != self.axis % rank)

    def statistics_spec(self, x: TensorSpec) -> TensorSpec:
        """Spec of one value for each channel."""
        return TensorSpec((-1,) if x.shape is None else (x.shape[self.axis],), x.dtype)

    def check(self, *specs: TensorSpec | None) -> None:
        """Refuse types and sizes that do not fit."""
        require_floating("batch normalization", *specs)
        require_same_type("batch normalization", *specs)
        x = specs[0]
        if x is None or x.shape is None:
            return
        channels = x.shape[self.axis]
        for spec in specs[1:]:
            if spec is not None and spec.shape is not None and -1 not in (channels, *spec.shape) and spec.shape != (channels,):
                raise ShapeError(f"batch normalization of {spec.shape[0]} channels got an input of shape {x.shape}: "
                                 f"{channels} channels on axis {self.axis}")

    def scaled(self, xp: Any, rest: Any, variance: Any, gamma: Any, beta: Any) -> Any:
        """gamma rest / sqrt(variance + epsilon) + beta, where ``rest`` is what x differs from its mean."""
        scale = (1 / xp.sqrt(variance + variance.dtype.type(self.epsilon))).astype(rest.dtype, copy=False)
        scale = scale if gamma is None else scale * gamma
        y = rest * aligned(xp, scale, (self.axis,), rest.ndim)
        return y if beta is None else y + aligned(xp, beta, (self.axis,), rest.ndim)

    def standardized(self, x: SDVariable, mean: SDVariable, variance: SDVariable) -> tuple[SDVariable, SDVariable]:
        """((x - mean) / sqrt(variance + epsilon), 1 / sqrt(variance + epsilon)) in nodes."""
        scale = x.sd.call("math", "rsqrt", align(variance, x, (self.axis,)) + self.epsilon)
        return (x - align(mean, x, (self.axis,))) * scale, scale


@op("batch_norm_training", inputs="x mean variance gamma? beta?")
class BatchNormTraining(Normalizing):
    """gamma (x - m) / sqrt(v + epsilon) + beta with mean and (biased) variance of the batch (Ioffe and Szegedy 2015).

    Returns the result, m and v; outside training ``mean`` and ``variance`` are used and returned. m and v count as
    constants when they are differentiated.

    Shapes: x (batch, …) with the channels on ``axis``, all others (channels) -> as x, (channels), (channels).
    """

    flops_per_element = 8
    axis: int = 1
    epsilon: float = 1e-5

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """The shape of x, and one value per channel for mean and variance."""
        self.check(*specs)
        return TensorSpec(specs[0].shape, specs[0].dtype), self.statistics_spec(specs[0]), self.statistics_spec(specs[0])

    def compute(self, xp: Any, x: Any, mean: Any, variance: Any, gamma: Any = None, beta: Any = None) -> Any:
        """Mean and variance of the batch, then the normalization."""
        axes = self.axes(x.ndim)
        mean, rest = centred(x, axes)
        variance = mean_of_squares(rest, axes)
        y = self.scaled(xp, rest, variance, gamma, beta)
        return y.astype(x.dtype, copy=False), mean.reshape(x.shape[self.axis]), variance.astype(x.dtype, copy=False)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient through the statistics of the batch."""
        x, gamma, beta = inputs[0], *(*inputs[3:], None, None)[:2]
        optional = [] if gamma is None else [gamma]
        found = x.sd.add_op(BatchNormTrainingGrad(self.axis, self.epsilon), [x, output_grads[0], *outputs[1:], *optional])
        return [found[0], None, None, None if gamma is None else found[1], None if beta is None else found[2]]

    def at_inference(self) -> Op:
        return BatchNormInference(self.axis, self.epsilon)


@op("batch_norm_training_grad", inputs="x upstream mean variance gamma?")
class BatchNormTrainingGrad(Normalizing, Composite):
    """Gradients of ``batch_norm_training`` by x, gamma and beta; ``mean`` and ``variance`` are those of x (made by gradients)."""

    flops_per_element = 10
    axis: int = 1
    epsilon: float = 1e-5

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """The shape of x, and one value for each channel."""
        expect("upstream", specs[1], specs[0].shape)
        for name, spec in zip(("mean", "variance", "gamma"), specs[2:]):
            expect(name, spec, self.statistics_spec(specs[0]).shape)
        return TensorSpec(specs[0].shape, specs[0].dtype), self.statistics_spec(specs[0]), self.statistics_spec(specs[0])

    def compute(self, xp: Any, x: Any, upstream: Any, mean: Any, variance: Any, gamma: Any = None) -> Any:
        """gamma / sqrt(v + epsilon) (g - mean(g) - y mean(g y)), with y = (x - m) / sqrt(v + epsilon)."""
        axes = self.axes(x.ndim)
        rest = centred(x, axes)[1]
        variance, g = variance.astype(np.result_type(x.dtype, np.float64)), upstream.astype(rest.dtype, copy=False)
        beyond = ~xp.isfinite(variance)
        if beyond.any():
            variance = xp.where(beyond, mean_of_squares(rest, axes), variance)
        y = self.scaled(xp, rest, variance, None, None)
        for_beta, for_gamma = mean_over(g, axes), mean_over(g * y, axes)
        slope = g - aligned(xp, for_beta, (self.axis,), x.ndim) - y * aligned(xp, for_gamma, (self.axis,), x.ndim)
        scale = (1 / xp.sqrt(variance + variance.dtype.type(self.epsilon))).astype(rest.dtype, copy=False)
        slope *= aligned(xp, scale if gamma is None else scale * gamma, (self.axis,), x.ndim)
        count = max(x.size // max(x.shape[self.axis], 1), 1)
        return tuple(a.astype(x.dtype, copy=False) for a in (slope, for_gamma * count, for_beta * count))

    def expand(self, *inputs: Any) -> Any:
        """The gradient as a composition of other ops, with the statistics as functions of x."""
        x, g, gamma = inputs[0], inputs[1], (*inputs, None)[4]
        axes = self.axes(len(x.spec.shape))
        mean = x.mean(*axes)
        centred = x - align(mean, x, (self.axis,))
        y, scale = self.standardized(x, mean, (centred * centred).mean(*axes))
        slope = (g - g.mean(True, *axes) - y * (g * y).mean(True, *axes)) * scale
        return slope if gamma is None else slope * align(gamma, x, (self.axis,)), (g * y).sum(*axes), g.sum(*axes)


@op("batch_norm_inference", inputs="x mean variance gamma? beta?")
class BatchNormInference(Normalizing, Composite):
    """``batch_norm_training`` outside training: with given statistics, which are returned too."""

    flops_per_element = 2
    axis: int = 1
    epsilon: float = 1e-5

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """The shape of x, and one value per channel for mean and variance."""
        self.check(*specs)
        return TensorSpec(specs[0].shape, specs[0].dtype), specs[1], specs[2]

    def compute(self, xp: Any, x: Any, mean: Any, variance: Any, gamma: Any = None, beta: Any = None) -> Any:
        return self.scaled(xp, x - aligned(xp, mean, (self.axis,), x.ndim), variance, gamma, beta), mean.copy(), variance.copy()

    def expand(self, *inputs: Any) -> Any:
        """The op as a composition of other ops."""
        x, mean, variance, gamma, beta = (*inputs, None, None)[:5]
        y, _ = self.standardized(x, mean, variance)
        y = y if gamma is None else y * align(gamma, x, (self.axis,))
        y = y if beta is None else y + align(beta, x, (self.axis,))
        return y, x.sd.call("base", "identity", mean), x.sd.call("base", "identity", variance)
