"""Linear maps with a bias."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...base.spec import Shape, TensorSpec
from ...codecs.file_args import FileArgs, FileStep
from ...codecs.flatbuffers.graph import FlatNode
from ...errors import FileFormatError, ShapeError
from ...families.alignment import align
from ...families.composite import Composite
from ...ir.op import Specs, op, require_floating, require_same_type
from ..elementwise.arithmetic import Add
from ..linalg.matmul import Matmul

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@dataclass(frozen=True)
class LinearArgs(FileArgs):
    """The transpositions of x, weights and result by two or three flags; a single flag, of 1.0.0-M2.1, means the weights."""

    def decode(self, node: FlatNode) -> dict[str, Any]:
        flags = [n == 1 for n in node.extra_integer]
        if len(flags) == 1:
            return {"transpose_w": flags[0]}
        if any(flags[2:]):
            raise FileFormatError(f"node {node.name!r}: a transposed result of {node.op_name!r} is not supported")
        return dict(zip(("transpose_x", "transpose_w"), flags))

    def in_steps(self, op: Any, shapes: Sequence[Shape | None]) -> Sequence[FileStep] | None:
        """Product and sum, where something is transposed, since flags mean something else in each version, or no vector is added."""
        bias = shapes[2] if len(shapes) > 2 else None
        if bias is not None and len(bias) == 1 and not (op.transpose_x or op.transpose_w):
            return None
        product = FileStep("product", Matmul(op.transpose_x, op.transpose_w), (0, 1))
        return [product] if len(shapes) < 3 else [product, FileStep("sum", Add(), ("product", 2))]


@op("xw_plus_b", api="nn.linear", inputs="x weights bias?", file=LinearArgs())
class Linear(Composite):
    """x W + b, both matrices optionally transposed.

    Shapes: x (batch, inputs), weights (inputs, outputs), bias (outputs) -> (batch, outputs), all of one floating type.
    """

    transpose_x: bool = False
    transpose_w: bool = False
    inlines = True          # the sum is fused with what follows

    def infer(self, *specs: TensorSpec) -> Specs:
        """One row for each example."""
        require_floating(self.id, *specs)
        require_same_type(self.id, *specs)
        x, w = (swapped(s.shape, t) for s, t in zip(specs, (self.transpose_x, self.transpose_w)))
        for name, shape in (("x", x), ("weights", w)):
            if shape is not None and len(shape) != 2:
                raise ShapeError(f"{name} must be a matrix, got rank {len(shape)}")
        if x is not None and w is not None and x[1] != w[0] and -1 not in (x[1], w[0]):
            raise ShapeError(f"x has {x[1]} columns, the weights take {w[0]} inputs")
        outputs = -1 if w is None else w[1]
        bias = specs[2].shape if len(specs) > 2 and specs[2] is not None else None
        fits = bias is None or (len(bias) > 0 and (-1 in (bias[-1], outputs) or bias[-1] == outputs) and all(n == 1 for n in bias[:-1]))
        if not fits:
            raise ShapeError(f"bias {bias} must have one element for each of the {outputs} outputs")
        return TensorSpec((-1 if x is None else x[0], outputs), specs[0].dtype)

    def compute(self, xp: Any, x: Any, weights: Any, bias: Any = None) -> Any:
        y = xp.matmul(x.T if self.transpose_x else x, weights.T if self.transpose_w else weights)
        if bias is not None:
            y += bias
        return y

    def expand(self, *inputs: Any) -> Any:
        """A matrix product and the addition of the bias."""
        y = product(inputs[0], inputs[1], self.transpose_x, self.transpose_w)
        return y if len(inputs) < 3 or inputs[2] is None else y + inputs[2]


def swapped(shape: Shape | None, transpose: bool) -> Shape | None:
    """The shape of a matrix, transposed or not."""
    return shape[::-1] if transpose and shape is not None else shape


def product(x: SDVariable, y: SDVariable, transpose_x: bool = False, transpose_y: bool = False) -> SDVariable:
    """A matrix product as a node."""
    return x.sd.call("base", "mmul", x, y, transpose_x, transpose_y, False)  # type: ignore[no-any-return]


@op("relu_layer", api="nn.relu_layer", inputs="x weights bias", file=FileArgs())
class ReluLayer(Composite):
    """max(x W + b, 0).

    Shapes: x (batch, inputs), weights (inputs, outputs), bias (outputs) -> (batch, outputs), all of one floating type.
    """

    def infer(self, *specs: TensorSpec) -> Specs:
        """One row for each example."""
        return Linear().infer(*specs)

    def compute(self, xp: Any, x: Any, weights: Any, bias: Any) -> Any:
        """The linear map, cut off at 0."""
        return xp.maximum(Linear().compute(xp, x, weights, bias), 0)

    def expand(self, *inputs: Any) -> Any:
        """A linear map, then ``relu``."""
        sd = inputs[0].sd
        return sd.call("nn", "relu", sd.add_op(Linear(), list(inputs)))


@op("biasadd", api="nn.bias_add", inputs="x bias", file=FileArgs(bools=("nchw",), properties={"nchw": "b:nchw"}))
class BiasAdd(Composite):
    """x + b with a bias per channel; channels are axis 1 with ``nchw``, else the last axis.

    Shapes: x (batch, channels, …) or (batch, …, channels), bias (channels) -> as x.
    """

    nchw: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        x, bias = specs
        require_same_type(self.id, x, bias)
        if bias.rank not in (None, 1):
            raise ShapeError(f"bias must have one axis, got {bias.shape}")
        if x.shape is not None and bias.shape is not None:
            if len(x.shape) < 2:
                raise ShapeError(f"x needs a batch axis and a channel axis, got {x.shape}")
            channels = x.shape[1 if self.nchw else -1]
            if channels != bias.shape[0] and -1 not in (channels, bias.shape[0]):
                raise ShapeError(f"bias has {bias.shape[0]} elements for {channels} channels")
        return TensorSpec(x.shape, x.dtype)

    def compute(self, xp: Any, x: Any, bias: Any) -> Any:
        return x + (bias.reshape((-1,) + (1,) * (x.ndim - 2)) if self.nchw else bias)

    def expand(self, *inputs: Any) -> Any:
        """The bias broadcast along the channel axis, and a sum."""
        return inputs[0] + align(inputs[1], inputs[0], (1 if self.nchw else -1,))
