"""Noises that keep values with a probability: one statement of what they do, for arrays and for plans."""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...samediff.errors import ShapeError
from ...samediff.ops.nn.dropout_mask import DropoutMask, keeps
from ...samediff.training.updaters.schedules import Schedule

if TYPE_CHECKING:
    from ...samediff.ir.variable import SDVariable


@dataclass(frozen=True)
class Retention:
    """Keeps values with probability ``p`` and multiplies them by ``factor``; others become 0.

    ``shifts`` are added afterwards to kept and to dropped values; ``by_channel`` decides about whole channels.
    """

    p: float
    factor: float = 1.0
    shifts: tuple[float, float] | None = None
    by_channel: bool = False

    def mask_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of the mask: one decision for each value, or for each channel."""
        if self.by_channel and len(shape) < 3:
            raise ShapeError(f"SpatialDropout acts on series, images and volumes (three axes or more); got an array of shape {shape}")
        return shape[:2] + (1,) * (len(shape) - 2) if self.by_channel else shape

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, iteration: int, epoch: int) -> tuple[Any, Any]:
        """Factor and shift as arrays, drawn from a generator."""
        kept = keeps(rng, self.mask_shape(shape), self.p)
        factor, *shifts = (np.where(kept, *map(dtype.type, pair)) for pair in self._pairs())
        return factor, shifts[0] if shifts else None

    def expand_noise(self, x: SDVariable, of: str, shifts: bool) -> SDVariable:
        """The noise as graph nodes with the mask of node ``of``; without shifts for the gradient."""
        sd = x.sd
        kept = sd.add_op(DropoutMask(self.p, of, self.mask_shape(x.spec.shape)), [])  # type: ignore[arg-type]  # static in a plan
        terms = [sd.call("base", "where", *[sd.constant(np.array(v, x.dtype.numpy)) for v in pair], kept) for pair in self._pairs()]
        y = x.mul(terms[0])
        return y.add(terms[1]) if shifts and len(terms) > 1 else y  # type: ignore[no-any-return]

    def _pairs(self) -> list[tuple[float, float]]:
        return [(self.factor, 0.0), *([] if self.shifts is None else [self.shifts])]


class Retains:
    """A noise that is a :class:`Retention`, always the same or by a schedule of its probability."""

    def rate(self) -> float | Schedule:
        """The probability to keep a value, or its schedule."""
        raise NotImplementedError(f"{type(self).__name__} must implement rate(self)")

    def retention(self, p: float) -> Retention:
        """The noise for a probability of keeping values."""
        raise NotImplementedError(f"{type(self).__name__} must implement retention(self, p)")

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, iteration: int, epoch: int) -> tuple[Any, Any]:
        """Factor and shift of an array of that shape: ``x * factor + shift``."""
        rate = self.rate()
        p = float(rate.value_at(iteration, epoch) if isinstance(rate, Schedule) else rate)
        return self.retention(p).draw(rng, shape, dtype, iteration, epoch)


def constant_retention(noise: Any) -> Retention | None:
    """The :class:`Retention` of a noise that is the same in every step; None where a schedule, or code of its own, decides."""
    if isinstance(noise, Retention):
        return noise
    if not isinstance(noise, Retains) or type(noise).draw is not Retains.draw:
        return None
    rate = noise.rate()
    return None if isinstance(rate, Schedule) else noise.retention(float(rate))
