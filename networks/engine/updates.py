"""What updaters make of gradients, before it goes into the parameters."""
from __future__ import annotations

from ...samediff.training.steps.step import FlatParameters
from ...samediff.training.steps.transaction import Transaction
from ...samediff.training.updaters.kernel import UpdateKernel
from .engine import Engine


class Updates:
    """Runs the updaters of a network without changing its parameters."""

    def __init__(self) -> None:
        self._flat: FlatParameters | None = None
        self._kernels: list[UpdateKernel] = []

    def make(self, engine: Engine, batch_size: int, iteration: int | None = None, epoch: int | None = None) -> None:
        """Replace the flat gradient (sums over examples) by what a step of gradient descent subtracts; updater state goes on."""
        flat = engine.flat
        with engine.lock:
            if self._flat is not flat:
                self._flat, self._kernels = flat, flat.kernels()
            with flat.gate, Transaction([flat.params, flat.gradients, flat.state]):
                before, scale = flat.params.copy(), engine.prepare_gradients(batch_size)
                for kernel in self._kernels:
                    kernel(engine.iteration if iteration is None else iteration, engine.epoch if epoch is None else epoch, scale)
                flat.gradients[...] = before - flat.params
                flat.params[...] = before
