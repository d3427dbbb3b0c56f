"""Pooling over whole axes of series, images and volumes, with masks."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...samediff.errors import ConfigurationError
from ...samediff.families.families import Elementwise
from ...samediff.ir.op import op
from ...samediff.ops.elementwise.masking import keep_unmasked, times_mask
from ..types.formats import PoolingType

if TYPE_CHECKING:
    from ...samediff.ir.variable import SDVariable


def pooled(x: SDVariable, mask: SDVariable | None, kind: PoolingType, axes: tuple[int, ...], p: int, collapse: bool) -> SDVariable:
    """Maximum, mean, sum or p-norm of ``x`` over ``axes``; cells whose mask is 0 do not count, and where all are, the result is 0.

    Shapes: x (batch, channels, *sizes) or channels last, mask (batch, time) or one that can be broadcast to x
    -> x without ``axes``, or with size 1 there unless ``collapse``.
    """
    sd, m = x.sd, None if mask is None else aligned_mask(x, mask, axes)
    keep = not collapse
    if kind is PoolingType.MAX:
        return x.max(keep, *axes) if m is None else keep_unmasked(sd.add_op(MaskedOut(), [x, m]).max(keep, *axes), m.max(keep, *axes))  # type: ignore[no-any-return]
    x = times_mask(x, m)
    if kind is PoolingType.SUM:
        return x.sum(keep, *axes)  # type: ignore[no-any-return]
    if kind is PoolingType.AVG:
        return x.mean(keep, *axes) if m is None else sd.call("math", "div_no_nan", x.sum(keep, *axes), m.sum(keep, *axes))  # type: ignore[no-any-return]
    if kind is PoolingType.PNORM:
        return norm(x, axes, p, keep)
    raise ConfigurationError(f"pooling type {kind.name} is not known; use MAX, AVG, SUM or PNORM")


def norm(x: SDVariable, axes: tuple[int, ...], p: int, keep: bool) -> SDVariable:
    """(sum |x|^p)^(1/p) over axes; the gradient is 0 where all values are.

    Powers are taken of shares of the largest value, which stay in the range of the type; it cancels out, so it counts as a constant.
    """
    sd = x.sd
    if p in (1, 2):
        return sd.call("math", f"norm{p}", x, keep, *axes)  # type: ignore[no-any-return]
    size = sd.call("math", "abs", x)
    fixed = sd.call("base", "stop_gradient", size)
    total = (sd.call("math", "div_no_nan", size, fixed.max(True, *axes)) ** p).sum(keep, *axes)
    return fixed.max(keep, *axes) * sd.call("base", "scalar_max", total, 1.0) ** (1 / p)  # type: ignore[no-any-return]


def aligned_mask(x: SDVariable, mask: SDVariable, axes: tuple[int, ...]) -> SDVariable:
    """A mask with the rank of ``x``: one of series (batch, time) gets a channel axis."""
    rank = len(x.spec.shape or ())
    if len(mask.spec.shape or ()) == rank:
        return mask
    free = [a for a in range(1, rank) if a not in axes]
    return x.sd.call("base", "expand_dims", mask, free[0] if free else 1)  # type: ignore[no-any-return]


@op("masked_out", inputs="x mask")
class MaskedOut(Elementwise):
    """x where the mask is not 0, minus infinity elsewhere (used by pooling)."""

    def compute(self, xp: Any, x: Any, mask: Any) -> Any:
        return xp.where(mask != 0, x, -xp.inf)
