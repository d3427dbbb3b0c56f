"""Building blocks of the pooling ops and their gradients: linear sums over windows, and the choice of the largest."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...base.named_axes import expect
from ...base.spec import Shape, TensorSpec, size
from ...errors import ShapeError
from ...families.in_float import in_float
from ...ir.op import Op, Specs, op
from .window import Window, from_last, to_last

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@dataclass(frozen=True)
class Pool:
    """Windows, the layout of images, and what sums are divided by: nothing, the kernel or the cells inside."""

    window: Window
    channels_last: bool = False
    divisor: str = "none"

    def shape(self, x: Shape | None) -> Shape | None:
        """Shape of the result of pooling images of shape ``x``."""
        rank = len(self.window.kernel) + 2
        if x is None:
            return (-1,) * rank
        if len(x) != rank:
            raise ShapeError(f"images need rank {rank}; got {x}")
        counts = self.window.counts(x[1:-1] if self.channels_last else x[2:])
        return (x[0], *counts, x[-1]) if self.channels_last else (x[0], x[1], *counts)

    def flops(self, specs: Sequence[TensorSpec | None]) -> int:
        """For each window one a cell; the smallest of the arrays has one element for each window."""
        return min(size(s.shape) for s in specs if s is not None) * math.prod(self.window.kernel)

    def share(self, xp: Any, sizes: Sequence[int], dtype: Any) -> Any:
        """The factor of sums over windows: 1 over the divisor."""
        count = 1
        for k in self.window.kernel:
            count *= k
        if self.divisor == "kernel":
            return dtype.type(1) / dtype.type(count)
        return 1 / xp.maximum(self.window.valid(xp, sizes, dtype), 1) if self.divisor == "inside" else dtype.type(1)

    def sum(self, xp: Any, x: Any) -> Any:
        """Sum of each window times its share."""
        x = to_last(xp, x, self.channels_last)
        padded, total = self.window.pad(xp, x), None
        for _, cells in self.window.cells(self.window.counts(x.shape[1:-1])):
            part = padded[(slice(None), *cells)]
            total = part.copy() if total is None else xp.add(total, part, out=total)
        return from_last(xp, (total * self.share(xp, x.shape[1:-1], x.dtype)).astype(x.dtype, copy=False), self.channels_last)

    def spread(self, xp: Any, g: Any, shape: Shape) -> Any:
        """The transpose of :meth:`sum`."""
        g = to_last(xp, g, self.channels_last)
        last = shape if self.channels_last else (shape[0], *shape[2:], shape[1])
        shares = (g * self.share(xp, last[1:-1], g.dtype)).astype(g.dtype, copy=False)
        return from_last(xp, self.window.add_back(xp, lambda _: shares, last, g.dtype), self.channels_last)

    def largest(self, xp: Any, x: Any) -> tuple[Any, Any]:
        """Channels-last largest values and the number of their position in the kernel (the first of equal ones)."""
        x = to_last(xp, x, self.channels_last)
        floor = -xp.inf if x.dtype.kind not in "iub" else xp.iinfo(x.dtype).min if x.dtype.kind != "b" else False
        inside = self.window.pad(xp, xp.ones((1, *x.shape[1:-1], 1), bool), False)
        padded = self.window.pad(xp, x, floor)
        best: Any = None
        chosen: Any = None
        for i, (_, cells) in enumerate(self.window.cells(self.window.counts(x.shape[1:-1]))):
            part = padded[(slice(None), *cells)]
            if best is None:
                best, chosen = part.copy(), xp.where(inside[(slice(None), *cells)], xp.zeros(part.shape, xp.int32), xp.int32(-1))
                continue
            better = inside[(slice(None), *cells)] & ((part > best) | (chosen < 0) | ((part != part) & (best == best)))
            best, chosen = xp.where(better, part, best), xp.where(better, xp.int32(i), chosen)
        return best, chosen

    def scatter(self, xp: Any, x: Any, g: Any) -> Any:
        """``g`` at the cells that are largest in x."""
        _, chosen = self.largest(xp, x)
        g = to_last(xp, g, self.channels_last)
        last = to_last(xp, x, self.channels_last).shape
        number = {position: i for i, (position, _) in enumerate(self.window.cells(chosen.shape[1:-1]))}
        return from_last(xp, self.window.add_back(xp, lambda k: xp.where(chosen == number[k], g, g.dtype.type(0)), last, g.dtype),
                         self.channels_last)

    def gather(self, xp: Any, x: Any, values: Any) -> Any:
        """``values`` at the cells that are largest in x."""
        _, chosen = self.largest(xp, x)
        padded = self.window.pad(xp, to_last(xp, values, self.channels_last))
        taken = xp.zeros(chosen.shape, values.dtype)
        for i, (_, cells) in enumerate(self.window.cells(chosen.shape[1:-1])):
            taken = xp.where(chosen == i, padded[(slice(None), *cells)], taken)
        return from_last(xp, taken, self.channels_last)


class Pooled(Op):
    """Base of ops that compute one value for each window."""

    pool: Pool

    def infer(self, *specs: TensorSpec) -> Specs:
        """One value for each window."""
        return TensorSpec(self.pool.shape(specs[0].shape), specs[-1].dtype)

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        return self.pool.flops([*inputs, *outputs])


class Unpooled(Op):
    """Base of ops that map values of windows to arrays of the shape of the images."""

    pool: Pool

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        return self.pool.flops([*inputs, *outputs])


@op("window_sum")
class WindowSum(Pooled):
    """Sum of each window times its share (made by pooling ops and gradients)."""

    pool: Pool

    @in_float
    def compute(self, xp: Any, x: Any) -> Any:
        """One addition for each position in the kernel."""
        return self.pool.sum(xp, x)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(WindowSpread(self.pool), [output_grads[0], inputs[0]])]


@op("window_spread", inputs="upstream x", shape_inputs=(1,))
class WindowSpread(Unpooled):
    """The transpose of ``window_sum`` (made by gradients)."""

    pool: Pool

    def infer(self, *specs: TensorSpec) -> Specs:
        expect("upstream", specs[0], self.pool.shape(specs[1].shape))
        return TensorSpec(specs[1].shape, specs[0].dtype)

    @in_float
    def compute(self, xp: Any, upstream: Any, x: Any) -> Any:
        """One addition for each position in the kernel."""
        return self.pool.spread(xp, upstream, x.shape)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(WindowSum(self.pool), [output_grads[0]]), None]


@op("window_scatter", inputs="x upstream")
class WindowScatter(Unpooled):
    """Values added up at the largest cells of windows (made by gradients)."""

    pool: Pool

    def infer(self, *specs: TensorSpec) -> Specs:
        expect("upstream", specs[1], self.pool.shape(specs[0].shape))
        return TensorSpec(specs[0].shape, specs[1].dtype)

    @in_float
    def compute(self, xp: Any, x: Any, upstream: Any) -> Any:
        """Gradients added at the largest cell of each window, which is found again."""
        return self.pool.scatter(xp, x, upstream)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient taken from the largest cell of each window."""
        return [None, inputs[0].sd.add_op(WindowGather(self.pool), [inputs[0], output_grads[0]])]


@op("window_gather", inputs="x values")
class WindowGather(Pooled):
    """Values at the largest cells of windows of x (made by gradients)."""

    pool: Pool

    def infer(self, *specs: TensorSpec) -> Specs:
        """As many windows as fit; one value for each cell of x."""
        expect("values", specs[1], specs[0].shape)
        return super().infer(*specs)

    def compute(self, xp: Any, x: Any, values: Any) -> Any:
        """Values taken from the largest cell of each window."""
        return self.pool.gather(xp, x, values)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient added at the largest cell of each window."""
        return [None, inputs[0].sd.add_op(WindowScatter(self.pool), [inputs[0], output_grads[0]])]
