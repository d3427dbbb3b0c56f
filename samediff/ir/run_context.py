"""Context of a run besides its arrays: training or not, and where random numbers come from."""
from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

#: How many :meth:`RunContext.words` there are.
WORD_COUNT = 3

_WORD, _WORDS = 0xFFFFFFFFFFFFFFFF, struct.Struct(f"={WORD_COUNT}Q")


@dataclass(slots=True)
class RunContext:
    """State of one run; never shared between runs.

    Parameters
    ----------
    training : bool
        Whether dropout and the like are active.
    seed : int
        Seed of the graph.
    iteration : int
        Counter that makes the random numbers of every step different.
    node : str
        The node that draws: each has random numbers of its own.
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
        seed, iteration, draw = self.words().view(np.uint64)
        key, counter = (seed, np.uint64(stream_of(self.node))), (np.uint64(0), np.uint64(0), iteration, draw)
        return np.random.Generator(np.random.Philox(key=np.array(key), counter=np.array(counter)))

    def words(self) -> Any:
        """Seed, iteration and draw, as compiled code takes them."""
        words = np.empty(WORD_COUNT, np.int64)
        self.put_words(words)
        return words

    @classmethod
    def of_words(cls, words: Any) -> RunContext:
        """The context of a training run that has these words."""
        seed, iteration, draw = (int(w) for w in words)
        return cls(True, seed, iteration, draw=draw)

    def put_words(self, words: Any) -> None:
        """Write seed, iteration and draw into an array of 64-bit words."""
        _WORDS.pack_into(words, 0, self.seed & _WORD, self.iteration & _WORD, self.draw & _WORD)


def stream_of(node: str) -> int:
    """The number of the random stream of a node, from its name."""
    return zlib.crc32(node.encode())
