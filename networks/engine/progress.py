"""Progress of the training of a network."""
from __future__ import annotations

import itertools
from typing import Any

import numpy as np

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
    """

    def __init__(self, seed: int) -> None:
        self.seed, self.epoch = seed, 0
        self.counter = np.zeros(1, np.int64)
        self.score, self.rows, self.checks_finite = 0.0, 0, False
        self._draws = itertools.count(1)

    @property
    def iteration(self) -> int:
        """Optimizer steps done."""
        return self.counter.item()

    @iteration.setter
    def iteration(self, count: int) -> None:
        self.counter[0] = count

    @property
    def at(self) -> At:
        """What listeners are told."""
        return At(self.epoch, self.iteration, Operation.TRAINING)

    def order(self, count: int) -> Any:
        """An order of so many rows: another one in every epoch."""
        return np.random.default_rng([self.seed & (2**64 - 1), self.epoch]).permutation(count)

    def context(self, training: bool) -> RunContext:
        """The context of the present iteration."""
        return RunContext(training, self.seed, self.iteration, epoch=self.epoch)

    def fresh_context(self, training: bool) -> RunContext:
        """The same with random numbers of its own, for runs between steps."""
        return RunContext(training, self.seed, self.iteration, epoch=self.epoch, draw=next(self._draws) if training else 0)
