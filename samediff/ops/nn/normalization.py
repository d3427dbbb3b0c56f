"""Normalization with a scale and a shift: over the axes of an example, or with given statistics."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.named_axes import expect, expect_broadcast
from ...base.spec import Shape, TensorSpec, may_equal, normalize_axes, normalize_axis
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...expressions.arrays import centred, mean_over
from ...families.composite import Composite
from ...families.families import Elementwise, View
from ...ir.op import Op, Specs, op, require_floating, require_same_type

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


def align(x: SDVariable, like: SDVariable, axes: tuple[int, ...]) -> SDVariable:
    """Reshape so that the axes of ``x`` stand at ``axes`` of ``like``, size 1 elsewhere."""
    return x.sd.add_op(Align(axes), [x, like])  # type: ignore[no-any-return]


def aligned(xp: Any, x: Any, axes: Sequence[int], rank: int) -> Any:
    """The same on arrays; ``x`` with as many axes as ``like`` stays."""
    if x.ndim == rank and rank != len(axes):
        return x
    shape = [1] * rank
    for n, axis in zip(x.shape, normalize_axes(axes, rank)):
        shape[axis] = n
    return x.reshape(shape)


@op("align_axes", inputs="x like", shape_inputs=(1,))
class Align(View):
    """Reshape so that the axes of x stand at ``axes`` of like, size 1 elsewhere (made by gradients)."""

    axes: tuple[int, ...]

    def infer(self, *specs: TensorSpec) -> Specs:
        x, like = specs
        if like.shape is None or x.shape is None:
            return TensorSpec(None, x.dtype)
        if len(x.shape) == len(like.shape) and len(like.shape) != len(self.axes):
            return TensorSpec(x.shape, x.dtype)
        shape = [1] * len(like.shape)
        for n, axis in zip(x.shape, normalize_axes(self.axes, len(like.shape))):
            shape[axis] = n
        return TensorSpec(tuple(shape), x.dtype)

    def compute(self, xp: Any, x: Any, like: Any) -> Any:
        return aligned(xp, x, self.axes, like.ndim)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.call("base", "reshape_like", output_grads[0], inputs[0]), None]


@op("layer_norm", api="nn.layer_norm", inputs="x gain? bias?",
    signatures=("x, gain, bias, channels_first, *dimensions", "x, gain, channels_first, *dimensions", "x, channels_first, *dimensions"),
    file=FileArgs(ints=("*dimensions",), bools=("channels_first",),
                  properties={"channelsFirst": "b:channels_first", "dimensions": "i[]:dimensions"}))
class LayerNorm(Composite):
    """gain (x - mean) / deviation + bias, with the statistics over ``dimensions`` (Ba et al. 2016).

    The population deviation is taken without an epsilon; where it is 0 the result is the bias. Channels are axis 1 with
    ``channels_first``, else the last axis.

    Shapes: x (batch, …), gain and bias (channels) -> as x, all of one floating type.
    """

    channels_first: bool = False
    dimensions: tuple[int, ...] = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        require_floating(self.id, *specs)
        require_same_type(self.id, *specs)
        x = specs[0]
        if not self.dimensions:
            raise ShapeError("layer_norm needs at least one dimension")
        if x.shape is not None:
            normalize_axes(self.dimensions, len(x.shape))
            channels = x.shape[normalize_axis(self.axis, len(x.shape), "channel axis")]
            for name, spec in zip(("gain", "bias"), specs[1:]):
                if spec is not None and spec.shape is not None and not _is_vector(spec.shape, channels):
                    raise ShapeError(f"{name} must have one element for each of the {channels} channels, got {spec.shape}")
        return TensorSpec(x.shape, x.dtype)

    @property
    def axis(self) -> int:
        """The channel axis."""
        return 1 if self.channels_first else -1

    def compute(self, xp: Any, x: Any, gain: Any = None, bias: Any = None) -> Any:
        y = standardize(xp, x, normalize_axes(self.dimensions, x.ndim))[0]
        if gain is not None:
            y *= aligned(xp, gain, (self.axis,), x.ndim)
        if bias is not None:
            y += aligned(xp, bias, (self.axis,), x.ndim)
        return y.astype(x.dtype, copy=False)

    def aligned(self, shape: Shape | None, rank: int) -> Shape:
        """The shape of gain or bias next to that of x."""
        if shape is None or len(shape) != 1:
            return shape or ()
        return tuple(shape[0] if i == self.axis % rank else 1 for i in range(rank))

    def expand(self, *inputs: Any) -> Any:
        """Standardized, scaled, shifted, in nodes."""
        x, gain, bias = (*inputs, None, None)[:3]
        y = x.sd.add_op(StandardizedAxes(self.dimensions), [x])
        y = y if gain is None else y * align(gain, x, (self.axis,))
        return y if bias is None else y + align(bias, x, (self.axis,))


def _is_vector(shape: Shape, n: int) -> bool:
    return len(shape) == 1 and (-1 in (n, shape[0]) or shape[0] == n)


def standardize(xp: Any, x: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """(x - mean) / deviation and 1 / deviation, both 0 where the deviation is 0; in float32 for types of 16 bits."""
    y = centred(x, axes)[1]
    deviation = xp.sqrt(mean_over(y * y, axes, keepdims=True))
    scale = xp.where(deviation > 0, 1 / xp.where(deviation > 0, deviation, y.dtype.type(1)), y.dtype.type(0)).astype(y.dtype)
    y *= scale
    return y, scale


@op("standardized_axes")
class StandardizedAxes(Op):
    """(x - mean) / deviation over ``axes`` (made by gradients)."""

    axes: tuple[int, ...]

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        return standardize(xp, x, normalize_axes(self.axes, x.ndim))[0].astype(x.dtype, copy=False)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """(g - mean(g) - y mean(g y)) / deviation."""
        return [inputs[0].sd.add_op(StandardizeSlope(self.axes), [inputs[0], output_grads[0]])]


@op("standardize_slope", inputs="x upstream")
class StandardizeSlope(Composite):
    """(g - mean(g) - y mean(g y)) / deviation: gradient of the standardization (made by gradients)."""

    axes: tuple[int, ...]

    def infer(self, *specs: TensorSpec) -> Specs:
        expect("upstream", specs[1], specs[0].shape)
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, upstream: Any) -> Any:
        axes = normalize_axes(self.axes, x.ndim)
        y, scale = standardize(xp, x, axes)
        upstream = upstream.astype(y.dtype, copy=False)
        slope = upstream - mean_over(upstream, axes, keepdims=True)
        slope -= y * mean_over(upstream * y, axes, keepdims=True)
        slope *= scale
        return slope.astype(x.dtype, copy=False)

    def expand(self, *inputs: Any) -> Any:
        """The same in nodes."""
        x, g = inputs
        sd = x.sd
        y = sd.add_op(StandardizedAxes(self.axes), [x])
        inner = g - g.mean(True, *self.axes) - y * (g * y).mean(True, *self.axes)
        return sd.call("math", "div_no_nan", inner, sd.call("base", "standard_deviation", x, False, True, *self.axes))


@op("batchnorm", api="nn.batch_norm", inputs="x mean variance gamma? beta?",
    signatures=("x, mean, variance, gamma?, beta?, epsilon, *axis",),
    file=FileArgs(ints=("given_gamma?:int", "given_beta?:int", "*axis"), floats=("epsilon",), properties={"epsilon": "d:epsilon"}))
class BatchNorm(Composite):
    """gamma (x - mean) / sqrt(variance + epsilon) + beta with given statistics (Ioffe and Szegedy 2015).

    All inputs are differentiable; statistics of the batch come from ``math.moments``.

    Shapes: x (batch, …), the others with the sizes of ``axis`` (the last axis by default) -> as x.
    """

    epsilon: float = 1e-5
    axis: tuple[int, ...] = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        require_floating(self.id, *specs)
        require_same_type(self.id, *specs)
        x = specs[0]
        if x.shape is not None:
            sizes = tuple(x.shape[a] for a in normalize_axes(self.axes, len(x.shape)))
            for name, spec in zip(("mean", "variance", "gamma", "beta"), specs[1:]):
                if spec is None or spec.shape is None:
                    continue
                if len(spec.shape) == len(x.shape) != len(sizes):
                    expect_broadcast(name, spec, x.shape)
                elif not may_equal(spec.shape, sizes):
                    raise ShapeError(f"{name} {spec.shape} must have the sizes {sizes} of axis {self.axes}")
        return TensorSpec(x.shape, x.dtype)

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes of the statistics."""
        return self.axis or (-1,)

    def compute(self, xp: Any, x: Any, mean: Any, variance: Any, gamma: Any = None, beta: Any = None) -> Any:
        given = (mean, variance, gamma, beta)
        mean, variance, gamma, beta = (None if a is None else aligned(xp, a, self.axes, x.ndim) for a in given)
        scale = 1 / xp.sqrt(variance + x.dtype.type(self.epsilon))
        scale = scale if gamma is None else scale * gamma
        y = x - mean
        y *= scale
        if beta is not None:
            y += beta
        return y

    def expand(self, *inputs: Any) -> Any:
        x, mean, variance, gamma, beta = (*inputs, None, None)[:5]
        stats = [None if v is None else align(v, x, self.axes) for v in (mean, variance, gamma, beta)]
        y = x.sd.add_op(Normalized(self.epsilon), [x, stats[0], stats[1]])
        y = y if stats[2] is None else y * stats[2]
        return y if stats[3] is None else y + stats[3]


@op("normalized", inputs="x mean variance")
class Normalized(Elementwise):
    """(x - mean) / sqrt(variance + epsilon) (made by gradients)."""

    epsilon: float

    def compute(self, xp: Any, x: Any, mean: Any, variance: Any) -> Any:
        return (x - mean) / xp.sqrt(variance + self.epsilon)
