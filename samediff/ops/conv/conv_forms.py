"""Convolutions that DL4J's graph files hold besides those of the ``cnn`` namespace."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.spec import TensorSpec, may_equal
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...families.in_float import in_float
from ...families.indices import require_integer
from ...families.shape_inputs import shape_from
from ...ir.op import Op, Specs, op, require_same_type
from ..shape.alias import AliasOp
from .conv import PAD_MODE, SAME_PROPERTY, WEIGHTS, Attributes2D, Conv2D, ConvolutionOp, window_properties, window_slots
from .convolving import Convolution, ConvolutionWeightGrad, output_shape

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@op("pointwise_conv2d", inputs="x weights bias?", file=FileArgs(ints=("data_format:NCHW|NHWC", WEIGHTS)))
class PointwiseConv2D(AliasOp):
    """A convolution of kernel 1: every pixel by itself.

    Shapes: x (N, in, H, W) or (N, H, W, in) by ``data_format``, weights (1, 1, in, out), bias (out) -> as x with out channels.
    """

    data_format: str = "NCHW"
    weights_format: str | None = None

    def target_op(self) -> Conv2D:
        return Conv2D(k_h=1, k_w=1, data_format=self.data_format, weights_format=self.weights_format or "YXIO")


@op("deconv2d_tf", inputs="shape weights x", signatures=("shape, weights, x, &config",), file=FileArgs(
    ints=(*window_slots(("_h", "_w")), PAD_MODE, "data_format:NCHW|NHWC", WEIGHTS),
    properties={**window_properties(("_h", "_w")), **SAME_PROPERTY, "dataFormat": "s:data_format"}))
class Deconv2DOfShape(Attributes2D, Op):
    """Transposed convolution to a shape that a variable holds: the gradient of ``conv2d`` by its images.

    Shapes: shape (4) integer: that of the images, weights (kH, kW, in, out), x (N, out, H', W') or (N, H', W', out), the shape
    that ``conv2d`` gives for these images -> the images, with ``in`` channels.
    """

    weights_format: str | None = None

    def convolution(self) -> ConvolutionOp:
        """The convolution whose data gradient the op computes."""
        return Conv2D(**{n: getattr(self, n) for n in self.attribute_names() if n != "weights_format"},
                      weights_format=self.weights_format or "YXIO")

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape that the input holds; unknown unless it is a constant."""
        shape, weights, x = specs
        require_integer("a shape", shape)
        require_same_type(self.id, weights, x)
        result = shape_from(shape) or (-1,) * 4
        if len(result) != 4:
            raise ShapeError(f"images need rank 4, got the shape {result}")
        self.check(result, weights.shape, x.shape)
        return TensorSpec(result, x.dtype)

    def check(self, images: tuple[int, ...], weights: tuple[int, ...] | None, x: tuple[int, ...] | None) -> None:
        """ShapeError unless the convolution of such images has the shape of x."""
        want = output_shape(self.convolution().geometry(weights), images, weights)
        if not may_equal(want, x):
            raise ShapeError(f"a convolution of images {images} with weights {weights} gives {want}; x has shape {x}")

    @in_float
    def compute(self, xp: Any, shape: Any, weights: Any, x: Any) -> Any:
        """Every cell of x adds its weights to the result."""
        result = tuple(int(n) for n in shape.reshape(-1))
        if len(result) != 4 or min(result) < 1:
            raise ShapeError(f"images need rank 4 and no empty axis, got the shape {result}")
        self.check(result, weights.shape, x.shape)
        return self.convolution().geometry(weights.shape).data_gradient(xp, weights, x, result)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The convolution, and its gradient by the weights."""
        _, w, x = inputs
        geometry, (g,) = self.convolution().geometry(w.spec.shape), output_grads
        return [None, x.sd.add_op(ConvolutionWeightGrad(geometry), [g, x, w]), x.sd.add_op(Convolution(geometry), [g, w])]
