"""Updates: gradients as updaters change them, before they go into the parameters."""
from __future__ import annotations

from typing import Any

from ...samediff.base.lazy_property import lazy_property
from ...samediff.training.steps.transaction import Transaction
from ...samediff.training.updaters.kernel import UpdateKernel
from .parameters import Parameters
from .progress import Progress


class Updates:
    """Runs the updaters of a network without changing its parameters."""

    def __init__(self, parameters: Parameters, progress: Progress, lock: Any) -> None:
        self._parameters, self._progress, self._lock = parameters, progress, lock

    @lazy_property
    def _kernels(self) -> list[UpdateKernel]:
        return self._parameters.flat.kernels()

    def make(self, rows: int, iteration: int | None = None, epoch: int | None = None) -> None:
        """Replace the flat gradient (sums over examples) by the update that descent subtracts; updater state advances."""
        flat, at = self._parameters.flat, self._progress
        with self._lock, flat.gate, Transaction([flat.params, flat.gradients, flat.state]):
            before, scale = flat.params.copy(), self._parameters.rules.prepare(rows)
            for kernel in self._kernels:
                kernel(at.iteration if iteration is None else iteration, at.epoch if epoch is None else epoch, scale)
            flat.gradients[...] = before - flat.params
            flat.params[...] = before
