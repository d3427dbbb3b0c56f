"""Masks choose: where a mask is 0, no value of an array reaches results or gradients, be it NaN or infinite."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.named_axes import expect_broadcast
from ...base.spec import TensorSpec
from ...families.broadcasting import sum_to
from ...families.elementwise import Elementwise
from ...ir.op import Op, Specs, op

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


class _ByMask(Elementwise):
    """Has the shape of x, to which the mask is broadcast."""

    inputs = "x mask"

    def infer(self, *specs: TensorSpec) -> Specs:
        x, mask = specs[:2]
        if x.shape is not None:
            expect_broadcast("the mask", mask, x.shape)
        return TensorSpec(x.shape, x.dtype)


@op("keep_unmasked")
class KeepUnmasked(_ByMask):
    """x, and 0 where the mask is 0, whatever x is there; the mask has no gradient."""

    def compute(self, xp: Any, x: Any, mask: Any) -> Any:
        return xp.where(mask != 0, x, 0)


#: Values of this size and more at masked places of features are no data: marks of what is missing.
NO_DATUM = 100.0


@op("drop_marks")
class DropMarks(_ByMask):
    """x, and 0 where the mask is 0 and x is NaN, infinite or as large as no datum: what only marks that something is missing."""

    def compute(self, xp: Any, x: Any, mask: Any) -> Any:
        return xp.where((mask != 0) | (abs(x) < NO_DATUM), x, 0)


@op("times_mask")
class TimesMask(_ByMask):
    """x times the mask, and 0 where the mask is 0, whatever x is there; the gradient for the mask is x."""

    def compute(self, xp: Any, x: Any, mask: Any) -> Any:
        return xp.where(mask != 0, x * mask.astype(x.dtype), 0)

    def partial(self, i: int, inputs: Sequence[SDVariable], upstream: SDVariable) -> SDVariable | None:
        """The gradient of the product; for x it is 0 where the mask is, whatever the upstream gradient."""
        x, mask = inputs
        return sum_to(upstream * x, mask) if i else x.sd.add_op(TimesMask(), [upstream, mask])


@op("mask_gradient", inputs="x mask")
class MaskGradient(Op):
    """x; its gradient is 0 where the mask is 0, whatever comes from above."""

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, mask: Any) -> Any:
        return x

    def same_as(self, *specs: TensorSpec) -> int | None:
        return 0

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(KeepUnmasked(), [output_grads[0], inputs[1]]), None]


@op("mask_like", inputs="mask x", is_view=True, shape_inputs=(1,))
class MaskLike(Op):
    """A mask in the rank of x: of series (batch, time) gets an axis of channels, others get axes at the end.

    ``channels_last`` says where the channels are, unless the length of the mask says that they are not there.
    """

    flops_per_element = 0
    channels_last: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        mask, x = (s.shape for s in specs)
        return specs[0].with_shape(None if mask is None or x is None else self.shape(mask, x))

    def shape(self, mask: tuple[int, ...], x: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of the mask with axes added so that it broadcasts to x."""
        if len(mask) != 2 or len(x) != 3:
            return mask + (1,) * (len(x) - len(mask))
        if -1 in (mask[1], *x[1:]):
            return mask[0], -1, -1
        time, other = (x[1], x[2]) if self.channels_last else (x[2], x[1])
        elsewhere = mask[1] not in (time, 1) and mask[1] == other
        return (*mask, 1) if self.channels_last is not elsewhere else (mask[0], 1, mask[1])

    def compute(self, xp: Any, mask: Any, x: Any) -> Any:
        return mask.reshape(self.shape(mask.shape, x.shape))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.call("base", "reshape_like", output_grads[0], inputs[0]), None]


def aligned(x: SDVariable, mask: SDVariable, channels_last: bool = False) -> SDVariable:
    """A mask in the rank of ``x``."""
    return mask if mask.spec.rank == x.spec.rank else x.sd.add_op(MaskLike(channels_last), [mask, x])  # type: ignore[no-any-return]


def kept(x: Any, mask: Any, channels_last: bool = False) -> Any:
    """An array, and 0 where its mask is 0."""
    return np.where(MaskLike(channels_last).compute(np, mask, x) != 0, x, 0)


def keep_unmasked(x: SDVariable, mask: SDVariable | None, channels_last: bool = False) -> SDVariable:
    """``x``, and 0 where its mask is 0, whatever stands there; ``x`` itself without a mask."""
    return x if mask is None else x.sd.add_op(KeepUnmasked(), [x, aligned(x, mask, channels_last)])  # type: ignore[no-any-return]


def drop_marks(x: SDVariable, mask: SDVariable | None, channels_last: bool = False) -> SDVariable:
    """Features ``x`` with 0 for values that are no data at masked places; others stay, as layers without masks see them in DL4J."""
    return x if mask is None else x.sd.add_op(DropMarks(), [x, aligned(x, mask, channels_last)])  # type: ignore[no-any-return]


def times_mask(x: SDVariable, mask: SDVariable | None, channels_last: bool = False) -> SDVariable:
    """``x`` times its mask, and 0 where that is 0, whatever stands there; ``x`` itself without a mask."""
    return x if mask is None else x.sd.add_op(TimesMask(), [x, aligned(x, mask, channels_last)])  # type: ignore[no-any-return]


def mask_gradient(x: SDVariable, mask: SDVariable, channels_last: bool = False) -> SDVariable:
    """``x``, whose gradient is 0 where its mask is 0."""
    return x.sd.add_op(MaskGradient(), [x, aligned(x, mask, channels_last)])  # type: ignore[no-any-return]
