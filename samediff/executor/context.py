"""What a run knows besides its arrays: training or not, and where random numbers come from."""
from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np


@dataclass(slots=True)
class RunContext:
    """State of one run; never shared between runs.

    Parameters
    ----------
    training : bool
    seed : int
        Seed of the graph.
    iteration : int
        Counter that makes the random numbers of every step different.
    epoch : int
        For rates that follow a schedule.
    draw : int
        Counter of the runs outside of training, so that each has random numbers of its own.
    """

    training: bool = False
    seed: int = 0
    iteration: int = 0
    node: str = ""
    epoch: int = 0
    draw: int = 0

    def at(self, node: str) -> RunContext:
        """The context as one node sees it."""
        return RunContext(self.training, self.seed, self.iteration, node, self.epoch, self.draw)

    def random(self) -> np.random.Generator:
        """Counter-based random numbers of (seed, node, iteration, draw): equal on every thread and in every order."""
        key = np.array([self.seed & 0xFFFFFFFFFFFFFFFF, zlib.crc32(self.node.encode())], np.uint64)
        counter = np.array([0, 0, self.iteration & 0xFFFFFFFFFFFFFFFF, self.draw], np.uint64)
        return np.random.Generator(np.random.Philox(key=key, counter=counter))
