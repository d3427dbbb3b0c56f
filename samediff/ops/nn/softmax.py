"""Softmax and its logarithm."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ...base.named_axes import expect
from ...base.spec import TensorSpec, normalize_axis
from ...codecs.file_args import FileArgs
from ...families.composite import Composite, composite_grad
from ...families.in_float import in_float
from ...ir.op import Op, Specs, SweepOf, attributes, op, require_floating, require_same_type

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


def softmax(xp: Any, x: Any, axis: int) -> Any:
    """exp(x - max) over its sum along ``axis``."""
    if not x.size:
        return x.copy()
    e = xp.exp(x - x.max(axis=axis, keepdims=True))
    e /= e.sum(axis=axis, keepdims=True, dtype=e.dtype)
    return e


def log_softmax(xp: Any, x: Any, axis: int) -> Any:
    """x - max - ln(sum(exp(x - max))) along ``axis``."""
    if not x.size:
        return x.copy()
    centred = x - x.max(axis=axis, keepdims=True)
    centred -= xp.log(xp.exp(centred).sum(axis=axis, keepdims=True, dtype=x.dtype))
    return centred


@attributes
class AlongAxis(Op):
    """Keeps shape and type of its floating inputs, works along ``dimension``; ``compiled_as`` is the name of its sweep."""

    dimension: int = -1
    compiled_as: ClassVar[str] = ""

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape of the first input."""
        x = specs[0]
        require_floating(self.id, *specs)
        if x.shape is not None:
            normalize_axis(self.dimension, len(x.shape), "dimension")
        for other in specs[1:]:
            expect("the gradient", other, x.shape)
        return TensorSpec(x.shape, x.dtype)

    def as_sweep(self, *specs: TensorSpec) -> SweepOf | None:
        """The sweep ``compiled_as`` along the dimension."""
        shape = specs[0].shape
        return SweepOf(self.compiled_as, (normalize_axis(self.dimension, len(shape)),)) if shape else None

    def sum(self, x: SDVariable) -> SDVariable:
        """Sum along the dimension, kept as size 1."""
        return x.sum(True, self.dimension)  # type: ignore[no-any-return]


@op("softmax", api="nn.softmax", file=FileArgs(ints=("dimension",), properties={"dimension": "l:dimension"}))
class Softmax(AlongAxis):
    """exp(x) / sum(exp(x)) along ``dimension`` (the last one by default), computed from the largest element.

    Shapes: x (*S) floating -> (*S), same type.
    """

    flops_per_element = 4
    compiled_as = "softmax"

    @in_float
    def compute(self, xp: Any, x: Any) -> Any:
        """Computed without overflow for any x."""
        return softmax(xp, x, self.dimension)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(SoftmaxGrad(self.dimension), [outputs[0], output_grads[0]])]


@op("softmax_grad", inputs="y upstream")
class SoftmaxGrad(AlongAxis):
    """y (g - sum(g y)): gradient of a softmax from its result (made by gradients)."""

    flops_per_element = 4
    compiled_as = "softmax_backward"

    @in_float
    def compute(self, xp: Any, y: Any, upstream: Any) -> Any:
        part = upstream * y
        return part - y * part.sum(axis=self.dimension, keepdims=True, dtype=y.dtype)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """h (g - sum(g y)) - g sum(h y), and the same op for the upstream gradient."""
        (y, g), (h,) = inputs, output_grads
        for_y = h * (g - self.sum(g * y)) - g * self.sum(h * y)
        return [for_y, y.sd.add_op(self, [y, h])]


@op("softmax_bp", api="nn.softmax_derivative", inputs="x wrt", file=FileArgs(ints=("dimension",)))
class SoftmaxDerivative(AlongAxis):
    """s (wrt - sum(wrt s)) with s = softmax(x) along ``dimension``."""

    flops_per_element = 8
    compiled_as = "softmax_bp"

    def infer(self, *specs: TensorSpec) -> Specs:
        require_same_type("softmax_derivative", *specs)
        return super().infer(*specs)

    @in_float
    def compute(self, xp: Any, x: Any, wrt: Any) -> Any:
        """The upstream gradient times the Jacobian of the softmax."""
        return SoftmaxGrad(self.dimension).compute(xp, softmax(xp, x, self.dimension), wrt)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        def build(x: Any, wrt: Any) -> Any:
            return x.sd.add_op(SoftmaxGrad(self.dimension), [x.sd.add_op(Softmax(self.dimension), [x]), wrt])
        return composite_grad(build, inputs, output_grads)


@op("log_softmax", api="nn.log_softmax", file=FileArgs(ints=("dimension",)))
class LogSoftmax(AlongAxis):
    """ln(softmax(x)) along ``dimension`` (the last one by default), finite for finite x.

    Shapes: x (*S) floating -> (*S), same type.
    """

    flops_per_element = 4
    compiled_as = "log_softmax"

    @in_float
    def compute(self, xp: Any, x: Any) -> Any:
        """The logarithm without computing the softmax."""
        return log_softmax(xp, x, self.dimension)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(LogSoftmaxGrad(self.dimension), [outputs[0], output_grads[0]])]


@op("log_softmax_grad", inputs="y upstream")
class LogSoftmaxGrad(AlongAxis, Composite):
    """g - exp(y) sum(g): gradient of a log-softmax from its result (made by gradients)."""

    flops_per_element = 4
    compiled_as = "log_softmax_backward"

    @in_float
    def compute(self, xp: Any, y: Any, upstream: Any) -> Any:
        return upstream - xp.exp(y) * upstream.sum(axis=self.dimension, keepdims=True, dtype=y.dtype)

    def expand(self, *inputs: Any) -> Any:
        """The op as a composition of other ops."""
        y, g = inputs
        return g - y.sd.call("math", "exp", y) * self.sum(g)
