"""Protocol of a training step that a back end takes in one call: forward, backward, normalization of gradients, updaters."""
from __future__ import annotations

from collections.abc import Sequence
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


class ParameterUpdate(Protocol):
    """The part of a training step that follows the plan of forward and backward."""

    @property
    def updaters(self) -> Sequence[UpdateLoop]:
        """Loops that change the parameters."""

    @property
    def outputs(self) -> int:
        """Number of results of the plan, from the first on, that are wanted."""

    @property
    def gate(self) -> Any:
        """Lock that is held while parameters change."""

    @property
    def counter(self) -> Any:
        """Array of one number on the host, to which each step adds 1; None without one."""

    @property
    def numbers(self) -> list[Any]:
        """The arrays on the host that change from step to step: the loops read what :meth:`set_numbers` wrote last."""

    def compile_for(self, loops: Loops) -> list[Any]:
        """The compiled loops of normalization and updaters, in order."""

    def set_scale(self, scale: float) -> float:
        """Set the factor of the gradients; returns the part of it that the updaters have to apply."""

    def set_numbers(self, iteration: int, epoch: int, scale: float) -> None:
        """Work out all that changes from step to step."""


class CompiledStep(Protocol):
    """Forward, backward and update as one call; one thread at a time may use it."""

    @property
    def most(self) -> int:
        """Largest number of steps that one :meth:`run_many` takes."""

    def __call__(self, feeds: Sequence[Any], iteration: int, epoch: int, scale: float, seed: int) -> Sequence[Any]:
        """One step for feeds in the order of the plan, all of it or, after an error or an interrupt, nothing. The results are on the
        host, valid until the next step."""

    def run_many(self, batches: Sequence[Sequence[Any]], iteration: int, epoch: int, scale: float, seed: int) -> Sequence[Any]:
        """The steps for several lists of feeds, one after the other; gives the results of the last one."""
