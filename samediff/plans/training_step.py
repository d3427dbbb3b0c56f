"""Protocol of a training step that a back end takes in one call: forward, backward, normalization of gradients, updaters."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .loops import Loops


class UpdateLoop(Protocol):
    """The rule of an updater, bound to flat arrays on the host that change in place."""

    @property
    def numbers(self) -> Any:
        """The array of the numbers that change from step to step."""

    def set_rates(self, iteration: int, epoch: int, scale: float = 1.0) -> None:
        """Set :attr:`numbers` for an iteration; gradients are multiplied by ``scale``."""

    def rates(self, iterations: Sequence[int], epoch: int, scale: float) -> Any:
        """Values of :attr:`numbers` for several iterations, one row each."""

    def compile_for(self, loops: Loops) -> Any:
        """The compiled loop that applies the updater; None where there is no compiled form."""

    def copy_to_host(self) -> None:
        """Copy the newest values of the arrays to the host."""


class GradientLoops(Protocol):
    """Normalization of gradients before the updaters, in place."""

    @property
    def numbers(self) -> list[Any]:
        """The arrays that :meth:`set_scale` sets."""

    def set_scale(self, scale: float) -> None:
        """Set the factor by which gradients are multiplied."""

    def compile_for(self, loops: Loops) -> list[Any]:
        """The compiled loops, in order; None in place of those that have no compiled form."""


@dataclass(frozen=True, eq=False)
class ParameterUpdate:
    """The part of a training step that follows the plan of forward and backward.

    Attributes
    ----------
    updaters : loops that change the parameters
    outputs : how many of the first results of the plan are wanted
    gate : lock that is held while parameters change
    normalization : what happens to gradients before, if anything does
    counter : array of one number on the host, to which each step adds 1
    """

    updaters: Sequence[UpdateLoop]
    outputs: int
    gate: Any
    normalization: GradientLoops | None = None
    counter: Any = None

    @property
    def numbers(self) -> list[Any]:
        """The arrays on the host that change from step to step: the loops read what :meth:`set_numbers` wrote last."""
        return [*(u.numbers for u in self.updaters), *([] if self.normalization is None else self.normalization.numbers)]

    def compile_for(self, loops: Loops) -> list[Any]:
        """The compiled loops of normalization and updaters, in order."""
        normalization = [] if self.normalization is None else self.normalization.compile_for(loops)
        return [*normalization, *(u.compile_for(loops) for u in self.updaters)]

    def set_scale(self, scale: float) -> float:
        """Set the factor of the gradients; returns the part of it that the updaters have to apply."""
        if self.normalization is None:
            return scale
        self.normalization.set_scale(scale)
        return 1.0

    def set_numbers(self, iteration: int, epoch: int, scale: float) -> None:
        """Work out all that changes from step to step."""
        scale = self.set_scale(scale)
        for updater in self.updaters:
            updater.set_rates(iteration, epoch, scale)


class CompiledStep(Protocol):
    """Forward, backward and update as one call; one thread at a time may use it."""

    @property
    def most(self) -> int:
        """Largest number of steps that one :meth:`series` takes."""

    def __call__(self, feeds: Sequence[Any], iteration: int, epoch: int, scale: float, seed: int) -> Sequence[Any]:
        """One step for feeds in the order of the plan, all of it or, after an error or an interrupt, nothing. The results are on the
        host, valid until the next step."""

    def series(self, batches: Sequence[Sequence[Any]], iteration: int, epoch: int, scale: float, seed: int) -> Sequence[Any]:
        """The steps for several lists of feeds, one after the other; gives the results of the last one."""
