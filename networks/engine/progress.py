"""Progress of the training of a network."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...samediff.base.locks import rlock
from ...samediff.ir.run_context import RunContext
from ...samediff.training.listeners.operation import At, Operation


class Progress:
    """Counters, and what the last step gave.

    Attributes
    ----------
    seed : of all random numbers
    counter : of the steps done, an array of one number: the native call that takes a step counts it
    epoch : epochs done
    score : of the last step
    rows : by what gradients of the last step were divided
    checks_finite : whether steps look for NaN and infinity
    draws : how often random numbers were drawn between steps
    """

    def __init__(self, seed: int) -> None:
        self.seed, self.epoch = seed, 0
        self.counter = np.zeros(1, np.int64)
        self.score, self.rows, self.checks_finite = 0.0, 0, False
        self.draws, self._drawing = 0, rlock()

    @property
    def iteration(self) -> int:
        """Number of optimizer steps done."""
        return self.counter.item()

    @iteration.setter
    def iteration(self, count: int) -> None:
        self.counter[0] = count

    @property
    def at(self) -> At:
        """The current epoch and iteration, for listeners."""
        return At(self.epoch, self.iteration, Operation.TRAINING)

    def order(self, count: int) -> Any:
        """An order of so many rows: another one in every epoch."""
        return np.random.default_rng([self.seed & (2**64 - 1), self.epoch]).permutation(count)

    def context(self, training: bool) -> RunContext:
        """The run context of the current iteration."""
        return RunContext(training, self.seed, self.iteration, epoch=self.epoch)

    def fresh_context(self, training: bool) -> RunContext:
        """A run context with random numbers of its own, for runs between steps."""
        with self._drawing:
            self.draws += training
            return RunContext(training, self.seed, self.iteration, epoch=self.epoch, draw=self.draws if training else 0)

    def state(self) -> dict[str, Any]:
        """The state from which a copy of the network continues."""
        return {name: getattr(self, name) for name in ("iteration", "epoch", "score", "rows", "draws")}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on with the counters and the score of another one."""
        for name, value in state.items():
            setattr(self, name, value)
