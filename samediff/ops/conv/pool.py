"""Pooling ops of the ``cnn`` namespace."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...families.composite import Composite
from ...families.in_float import in_float
from ...ir.op import Op, Specs, op, require_floating
from .conv import MODE_PROPERTY, PAD_MODE, SAME_PROPERTY, Attributes2D, Attributes3D, window_properties, window_slots
from .pooling import Pool, WindowScatter, WindowSpread, WindowSum
from .window import Windowed, from_last

if TYPE_CHECKING:
    from ...ir.variable import SDVariable

_HW, _DHW = ("_h", "_w"), ("_d", "_h", "_w")


def file_args(suffixes: tuple[str, ...], extra: str, kind: str) -> FileArgs:
    """The file form of a pooling op."""
    flat = len(suffixes) == 2
    layout = "data_format:NCHW|NHWC" if flat else "data_format:NCDHW|NDHWC"
    last = {"isNHWC": "b:data_format:False=NCHW|True=NHWC"} if flat else {"isNCDHW": "b:data_format:False=NDHWC|True=NCDHW"}
    mode = MODE_PROPERTY if flat else SAME_PROPERTY
    power = {"extra": "d:extra" if extra == "extra" else "d:=0.0"} if flat else {}
    order = suffixes if flat else ("_d", "_w", "_h")           # as DL4J writes it
    return FileArgs(ints=(*window_slots(order), PAD_MODE, extra, layout),
                    properties={**window_properties(suffixes), **mode, **last, **power, "type": f"s:={kind}"})


class Pooling(Windowed, Op):
    """Images in, one value per window and channel out."""

    signatures = ("x, &config",)
    kind: ClassVar[str] = "none"

    def pool(self) -> Pool:
        """Windows, layout and divisor."""
        if any(k < 1 for k in self.along("k")):
            raise ShapeError(f"the kernel of pooling must be given; got {self.along('k')}")
        return Pool(self.window(), self.channels_last, self.divided_by())

    def divided_by(self) -> str:
        """The divisor of sums: "none", "kernel" or "inside"."""
        return "none"

    def infer(self, *specs: TensorSpec) -> Specs:
        """One value for each window."""
        return TensorSpec(self.pool().shape(specs[0].shape), specs[0].dtype)

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        return self.pool().flops([*inputs, *outputs])


class MaxPooling(Pooling):
    """The largest value of each window; padding never wins."""

    def compute(self, xp: Any, x: Any) -> Any:
        """One comparison for each position in the kernel."""
        return from_last(xp, self.pool().largest(xp, x)[0], self.channels_last)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient goes to the largest cell of each window, the first of equal ones."""
        return [inputs[0].sd.add_op(WindowScatter(self.pool()), [inputs[0], output_grads[0]])]


class AveragePooling(Pooling):
    """The mean of each window, without the padding unless told otherwise."""

    divisor: str
    extra: float = 0.0

    def divided_by(self) -> str:
        """The number of cells of the kernel, or of those inside the image."""
        return "kernel" if self.divisor == "INCLUDE_PADDING" or self.extra == 1 else "inside"

    def infer(self, *specs: TensorSpec) -> Specs:
        """One value for each window."""
        require_floating(self.id, specs[0])
        return Pooling.infer(self, *specs)

    @in_float
    def compute(self, xp: Any, x: Any) -> Any:
        return self.pool().sum(xp, x)

    def kernel_op(self, *specs: TensorSpec) -> Op:
        """The sum of each window, whose pool has the divisor."""
        return WindowSum(self.pool())

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient of each window, spread evenly over its cells."""
        return [inputs[0].sd.add_op(WindowSpread(self.pool()), [output_grads[0], inputs[0]])]


@op("maxpool2d", api="cnn.max_pooling2d", file=file_args(_HW, "=0", "MAX"))
class MaxPool2D(Attributes2D, MaxPooling):
    """The largest value of each window.

    Shapes: x (N, C, H, W) or (N, H, W, C) -> the same with H' and W' windows: floor((H + 2 p - ((k - 1) d + 1)) / s) + 1
    for VALID, ceil(H / s) for SAME.

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py.samediff import SameDiff, Pooling2DConfig
    >>> sd = SameDiff.create()
    >>> x = sd.var("x", np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))
    >>> sd.cnn.max_pooling2d(x, Pooling2DConfig(k_h=2, k_w=2, s_h=2, s_w=2)).eval()[0, 0]
    array([[ 5.,  7.],
           [13., 15.]], dtype=float32)
    """


@op("avgpool2d", api="cnn.avg_pooling2d", file=file_args(_HW, "divisor:EXCLUDE_PADDING|INCLUDE_PADDING", "AVG"))
class AvgPool2D(Attributes2D, AveragePooling):
    """The mean of each window; ``divisor`` INCLUDE_PADDING (or ``extra`` 1) counts padding.

    Shapes: as :class:`MaxPool2D`.
    """

    divisor: str = "EXCLUDE_PADDING"
    extra: float = 0.0


@op("maxpool3dnew", api="cnn.max_pooling3d", file=file_args(_DHW, "=0", "MAX"))
class MaxPool3D(Attributes3D, MaxPooling):
    """The largest value of each window.

    Shapes: x (N, C, D, H, W) or (N, D, H, W, C) -> the same with the numbers of windows.
    """


@op("avgpool3dnew", api="cnn.avg_pooling3d", file=file_args(_DHW, "divisor:EXCLUDE_PADDING|INCLUDE_PADDING", "AVG"))
class AvgPool3D(Attributes3D, AveragePooling):
    """The mean of each window; shapes as :class:`MaxPool3D`."""

    divisor: str = "EXCLUDE_PADDING"


@op("pnormpool2d", api="cnn.pnorm_pooling2d", file=file_args(_HW, "extra", "PNORM"))
class PNormPool2D(Attributes2D, Pooling, Composite):
    """(sum |x|^p)^(1/p) over each window, p in ``extra``.

    Shapes: as :class:`MaxPool2D`.  The gradient is 0 where a window holds zeros only.
    """

    inlines = True
    extra: float = 2.0

    def infer(self, *specs: TensorSpec) -> Specs:
        """One value for each window."""
        require_floating(self.id, specs[0])
        if self.extra <= 0:
            raise ShapeError(f"p must be above 0; got {self.extra}. Set extra")
        return Pooling.infer(self, *specs)

    def compute(self, xp: Any, x: Any) -> Any:
        """Powers are taken in DOUBLE, of shares of the largest value."""
        size = xp.abs(x.astype(xp.float64))
        top = size.max() if x.size else size.sum()
        shares = size / top if 0 < top < xp.inf else size
        norm = self.pool().sum(xp, shares ** self.extra) ** (1 / self.extra)
        return (norm * top if 0 < top < xp.inf else norm).astype(x.dtype)

    def expand(self, *inputs: Any) -> Any:
        """The norm in other ops. The largest value cancels out, so it counts as a constant; the gradient is 0 where all values are."""
        (x,), sd = inputs, inputs[0].sd
        size = sd.call("math", "abs", x.cast_to(DataType.DOUBLE))
        top = sd.call("base", "stop_gradient", size).max()
        one, zero = sd.constant(np.ones(())), sd.constant(np.zeros(()))
        scale = sd.call("base", "where", top, one, sd.call("base", "and_", top > 0.0, top < np.inf))
        total = sd.add_op(WindowSum(self.pool()), [(size / scale) ** self.extra])
        norm = scale * sd.call("base", "scalar_max", total, np.finfo(np.float64).tiny) ** (1 / self.extra)
        return sd.call("base", "where", zero, norm, sd.call("base", "eq", total, 0.0)).cast_to(x.dtype)


_WITH_ARGMAX = file_args(_HW, "=0", "MAX")


@op("max_pool_with_argmax", api="cnn.max_pool_with_argmax",
    file=replace(_WITH_ARGMAX, dtypes=("output_type?",), properties={**_WITH_ARGMAX.properties, "outputType": "s:output_type:dtype"}))
class MaxPoolWithArgmax(Attributes2D, MaxPooling):
    """The largest value of each window, and the place of each in the flat array of its image batch (two outputs).

    Shapes: as :class:`MaxPool2D`, twice; the second one of type ``output_type`` (INT).
    """

    output_type: DataType = DataType.INT

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """Two arrays of one value for each window."""
        shape = self.pool().shape(specs[0].shape)
        return TensorSpec(shape, specs[0].dtype), TensorSpec(shape, self.output_type)

    def compute(self, xp: Any, x: Any) -> Any:
        """Places are looked up in an array of numbers."""
        places = xp.arange(x.size).reshape(x.shape)
        return MaxPooling.compute(self, xp, x), self.pool().gather(xp, x, places)
