"""Normalization with a scale and a shift: over the axes of an example, or with given statistics."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...base.named_axes import expect_broadcast
from ...base.spec import Shape, TensorSpec, may_equal, normalize_axes, normalize_axis
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...families.alignment import align, aligned
from ...families.composite import Composite
from ...families.families import Elementwise
from ...ir.op import Specs, SweepOf, op, require_floating, require_same_type
from ..reduce.standardized import StandardizedAxes, standardize

if TYPE_CHECKING:
    pass


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

    def as_sweep(self, *specs: TensorSpec | None) -> SweepOf:
        """The standardization, with gain and bias as they are given."""
        x, *more = specs
        assert x is not None
        rank = x.rank or 0
        name = "_".join(["layer_norm", *(n for n, s in zip(("gain", "bias"), more) if s is not None)])
        return SweepOf(name, normalize_axes(self.dimensions, rank), shapes=(
            x.shape or (), *(self.aligned(s.shape, rank) for s in more if s is not None)))

    def aligned(self, shape: Shape | None, rank: int) -> Shape:
        """The shape of gain or bias next to that of x."""
        if shape is None or len(shape) != 1:
            return shape or ()
        return tuple(shape[0] if i == self.axis % rank else 1 for i in range(rank))

    def expand(self, *inputs: Any) -> Any:
        """Standardization, then scale and shift."""
        x, gain, bias = (*inputs, None, None)[:3]
        y = x.sd.add_op(StandardizedAxes(self.dimensions), [x])
        y = y if gain is None else y * align(gain, x, (self.axis,))
        return y if bias is None else y + align(bias, x, (self.axis,))


def _is_vector(shape: Shape, n: int) -> bool:
    return len(shape) == 1 and (-1 in (n, shape[0]) or shape[0] == n)


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
        """The axes along which statistics are given."""
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
