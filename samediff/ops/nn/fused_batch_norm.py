"""Batch normalization of images as one kernel."""
from __future__ import annotations

import math
from typing import Any

from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...expressions.arrays import centred, mean_of_squares
from ...families.alignment import align, aligned
from ...families.composite import Composite
from ...families.sizes import axis_size
from ...ir.op import op, require_floating, require_same_type

#: The smallest epsilon that the kernel uses.
LEAST_EPSILON = 1.001e-5


@op("fused_batch_norm", inputs="x scale offset mean? variance?",
    file=FileArgs(ints=("data_format:NHWC|NCHW", "is_training:bool"), floats=("epsilon?",)))
class FusedBatchNorm(Composite):
    """scale (x - m) / sqrt(v + epsilon) + offset for each channel of images: three outputs.

    ``is_training`` takes mean and population variance of the batch and returns the mean and the sample variance (divisor
    n - 1); otherwise ``mean`` and ``variance`` are used and returned. ``epsilon`` is at least 1.001e-5.

    Shapes: x (N, H, W, C) or (N, C, H, W) by ``data_format``, all others (C) -> as x, (C), (C).
    """

    data_format: str = "NHWC"
    is_training: bool = True
    epsilon: float = 0.001

    @property
    def axis(self) -> int:
        """The channel axis."""
        return 1 if self.data_format.upper() == "NCHW" else 3

    @property
    def others(self) -> tuple[int, ...]:
        """The axes that are normalized together."""
        return tuple(i for i in range(4) if i != self.axis)

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """The shape of x, and one value for each channel."""
        require_floating(self.id, *specs)
        require_same_type(self.id, *specs)
        x = specs[0]
        if x.rank not in (None, 4):
            raise ShapeError(f"images need rank 4, got {x.shape}")
        if not self.is_training and len(specs) < 5:
            raise ShapeError("mean and variance are needed outside of training; give both, or set is_training")
        channels = -1 if x.shape is None else x.shape[self.axis]
        for spec in specs[1:]:
            if spec is not None and spec.is_static and (len(spec.shape or ()) != 1 or channels not in (-1, (spec.shape or (0,))[0])):
                raise ShapeError(f"one value for each of {channels} channels is needed, got shape {spec.shape}")
        return x.with_shape(x.shape if x.shape is not None else (-1,) * 4), x.with_shape((channels,)), x.with_shape((channels,))

    def compute(self, xp: Any, x: Any, scale: Any, offset: Any, mean: Any = None, variance: Any = None) -> Any:
        """Statistics, then the normalization."""
        spread = variance
        if self.is_training:
            count = math.prod(x.shape[i] for i in self.others)
            if not count:
                raise ShapeError(f"images {x.shape} have no statistics: there is nothing to take them from")
            mean, rest = centred(x, self.others)
            mean, variance = mean.reshape(-1), mean_of_squares(rest, self.others)
            spread = variance * variance.dtype.type(count / max(count - 1, 1))
        else:
            rest = x - aligned(xp, mean, (self.axis,), 4)
        factor = scale / xp.sqrt(variance + variance.dtype.type(max(self.epsilon, LEAST_EPSILON))).astype(rest.dtype, copy=False)
        y = rest * aligned(xp, factor, (self.axis,), 4) + aligned(xp, offset, (self.axis,), 4)
        return y.astype(x.dtype, copy=False), mean.copy(), spread.astype(x.dtype)

    def expand(self, *inputs: Any) -> Any:
        """The op as a composition of other ops."""
        x, scale, offset, mean, variance = (*inputs, None, None)[:5]
        at, sd = (self.axis,), x.sd
        if self.is_training:
            mean = x.mean(*self.others)
            centred = x - align(mean, x, at)
            variance = (centred * centred).mean(*self.others)
            count = axis_size(sd.call("base", "reshape", x, -1), 0) / axis_size(x, self.axis)
            spread = variance * (count / sd.call("math", "max", count - 1.0, 1.0))
        else:
            mean, spread = sd.call("base", "identity", mean), sd.call("base", "identity", variance)
        factor = scale * sd.call("math", "rsqrt", variance + max(self.epsilon, LEAST_EPSILON))
        return (x - align(mean, x, at)) * align(factor, x, at) + align(offset, x, at), mean, spread
