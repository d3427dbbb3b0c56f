"""Running sums and products."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ...base.spec import TensorSpec, normalize_axes
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...families.in_float import in_float
from ...ir.op import Op, Specs, op

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


class Cumulative(Op):
    """Accumulates along ``axis``: one, or several one after the other."""

    flops_per_element = 1
    exclusive: bool = False
    reverse: bool = False
    axis: tuple[int, ...] = ()
    signatures = ("x, *axis", "x, exclusive, reverse, *axis")
    file = FileArgs(ints=("exclusive:bool", "reverse:bool", "*axis"))
    start = 0
    combine: ClassVar[Literal["sum", "prod"] | None] = None

    def __init_subclass__(cls) -> None:
        cls.__annotations__ = {"exclusive": "bool", "reverse": "bool", "axis": "tuple[int, ...]"}
        cls.exclusive, cls.reverse, cls.axis = False, False, ()

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape of the input; ShapeError without an axis."""
        if not self.axis:
            raise ShapeError(f"{self.id} needs an axis")
        if specs[0].shape is not None:
            normalize_axes(self.axis, len(specs[0].shape))
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def run(self, xp: Any, rows: Any) -> Any:
        """Accumulate along the last axis."""
        raise NotImplementedError

    @in_float
    def compute(self, xp: Any, x: Any) -> Any:
        """Axis by axis, with each at the end."""
        for axis in normalize_axes(self.axis, x.ndim):
            rows = xp.moveaxis(x, axis, -1)
            rows = rows[..., ::-1] if self.reverse else rows
            if self.exclusive and rows.shape[-1]:
                first = xp.full((*rows.shape[:-1], 1), self.start, rows.dtype)
                rows = xp.concatenate([first, rows[..., :-1]], axis=-1)
            found = self.run(xp, rows)
            x = xp.moveaxis(found[..., ::-1] if self.reverse else found, -1, axis)
        return x


@op("cumsum", api="base.cumsum math.cumsum var.cumsum")
class CumSum(Cumulative):
    """Running sum along ``axis``; ``exclusive`` leaves out the element itself, ``reverse`` starts from the end."""

    combine = "sum"

    def run(self, xp: Any, rows: Any) -> Any:
        return rows.cumsum(axis=-1, dtype=rows.dtype)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The running sum from the other end."""
        return [inputs[0].sd.add_op(CumSum(self.exclusive, not self.reverse, self.axis), [output_grads[0]])]  # type: ignore[call-arg]


@op("cumprod", api="base.cumprod math.cumprod var.cumprod")
class CumProd(Cumulative):
    """Running product along ``axis``; ``exclusive`` leaves out the element itself, ``reverse`` starts from the end."""

    start = 1
    combine = "prod"

    def run(self, xp: Any, rows: Any) -> Any:
        return rows.cumprod(axis=-1, dtype=rows.dtype)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Sum over later products without the element."""
        sd, steps, g = inputs[0].sd, [inputs[0]], output_grads[0]
        for axis in self.axis[:-1]:
            steps.append(sd.add_op(self.replace(axis=(axis,)), [steps[-1]]))
        for axis, x in zip(self.axis[::-1], steps[::-1]):
            g = sd.add_op(CumProdGradient(self.exclusive, self.reverse, (axis,)), [x, g])  # type: ignore[call-arg]
        return [g]


@op("cumprod_bp", inputs="x upstream", signatures=("x, upstream, *axis", "x, upstream, exclusive, reverse, *axis"))
class CumProdGradient(Cumulative):
    """Gradient of the running product, exact around zeros (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, specs[0].dtype)

    @in_float
    def compute(self, xp: Any, x: Any, upstream: Any = None) -> Any:
        """A backward recurrence: c_i = u_i + x_{i+1} c_{i+1}, gradient p_{i-1} c_i with p the running product."""
        (axis,) = self.axis
        if not x.shape[axis]:
            return xp.zeros_like(x)
        rows, g = xp.moveaxis(x, axis, -1), xp.moveaxis(upstream, axis, -1)
        if self.reverse:
            rows, g = rows[..., ::-1], g[..., ::-1]
        zero = xp.zeros((*rows.shape[:-1], 1), rows.dtype)
        g = xp.concatenate([g[..., 1:], zero], axis=-1) if self.exclusive else g
        before = xp.concatenate([zero + 1, rows[..., :-1].cumprod(axis=-1, dtype=rows.dtype)], axis=-1)
        carry = xp.empty_like(rows)
        last = zero[..., 0]
        for i in range(rows.shape[-1] - 1, -1, -1):
            last = g[..., i] + (rows[..., i + 1] * last if i + 1 < rows.shape[-1] else 0)
            carry[..., i] = last
        out = before * carry
        return xp.moveaxis(out[..., ::-1] if self.reverse else out, -1, axis)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient from running sums and quotients; x has no zeros."""
        (x, u), h, sd = inputs, output_grads[0], inputs[0].sd
        product = sd.add_op(CumProd(self.exclusive, self.reverse, self.axis), [x])  # type: ignore[call-arg]
        suffix = CumSum(self.exclusive, not self.reverse, self.axis)  # type: ignore[call-arg]
        prefix = CumSum(self.exclusive, self.reverse, self.axis)  # type: ignore[call-arg]
        down = sd.add_op(prefix, [h / x])
        by_x = sd.add_op(suffix, [u * product * down]) / x - h * sd.add_op(suffix, [u * product]) / (x * x)
        return [by_x, product * down]
