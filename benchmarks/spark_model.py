"""Scaling of parameter averaging on Spark: a model of a round by formulas, and a simulation of its messages that checks the formulas.

``python benchmarks/spark_model.py`` prints the tables of docs/scaling.md from the constants that ``benchmarks/spark_rounds.py`` measures.
"""
from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable
from dataclasses import dataclass

GBIT = 1e9 / 8


@dataclass(frozen=True)
class Costs:
    """Measured constants, in seconds, and seconds for each byte of the values that a round moves.

    ``job`` : a round of Spark without any values; ``task`` : what the driver needs to start one task more;
    ``send`` : to serialize values and write them for the executors, once; ``receive`` : a worker's part, to read them and to hand its own
    back; ``add`` : to take in one worker's values and add them; ``apply`` : to make the means the model's.
    """

    job: float
    task: float
    send: float
    receive: float
    add: float
    apply: float


@dataclass(frozen=True)
class Cluster:
    """Workers, each on a machine of its own with a link of so many bytes a second both ways, and the driver likewise."""

    workers: int
    bandwidth: float = math.inf
    depth: int = 2


def levels(workers: int, depth: int) -> list[int]:
    """Tasks of each level of the tree above the workers, as ``networks/spark/tree.py`` has them."""
    scale, found = max(math.ceil(round(workers ** (1 / depth), 9)), 2), []
    while workers > scale + math.ceil(workers / scale):
        workers = math.ceil(workers / scale)
        found.append(workers)
    return found


def longest(workers: int, deviation: float) -> float:
    """The expected longest of so many times, in shares of their mean: the largest of normally distributed numbers."""
    return 1 + deviation * math.sqrt(2 * math.log(workers)) if workers > 1 else 1.0


def round_seconds(costs: Costs, cluster: Cluster, size: float, step: float, frequency: int, deviation: float = 0.0) -> float:
    """Seconds of a round with values of so many bytes and steps of so many seconds.

    Spark's broadcast is a torrent: workers hand pieces on, so that all have the values after about twice the time of one transfer. In the
    tree a task takes in the values of its group one after the other, over one link.
    """
    link, n = size / cluster.bandwidth, cluster.workers
    spread = costs.send * size + (2 if n > 1 else 1) * link + costs.receive * size
    gather, below = 0.0, n
    for count in [*levels(n, cluster.depth), 1]:
        gather += math.ceil(below / count) * max(link, costs.add * size)
        below = count
    jobs = costs.job * (1 + len(levels(n, cluster.depth)))
    return jobs + costs.task * n + spread + frequency * step * longest(n, deviation) + gather + costs.apply * size


def efficiency(costs: Costs, cluster: Cluster, size: float, step: float, frequency: int, deviation: float = 0.0) -> float:
    """The share of a round in which a worker makes steps."""
    return frequency * step / round_seconds(costs, cluster, size, step, frequency, deviation)


class Simulation:
    """A round, message by message.

    Pieces of the broadcast are sent to whoever has the fewest, from a machine that has them and whose link is free; values of workers queue
    at the link of the task that adds them up.

    Parameters
    ----------
    costs, cluster, size, step, frequency
        As of :func:`round_seconds`.
    deviation : float
        Of the time of a worker's steps, in shares of its mean.
    seed : int
        Of these times.
    """

    PIECES = 16

    def __init__(self, costs: Costs, cluster: Cluster, size: float, step: float, frequency: int, deviation: float = 0.0,
                 seed: int = 0) -> None:
        self.costs, self.cluster, self.size, self.work = costs, cluster, size, step * frequency
        self.deviation, self.random = deviation, random.Random(seed)

    def seconds(self) -> float:
        """The time of the round."""
        costs, n = self.costs, self.cluster.workers
        begun = costs.job + costs.task * n + costs.send * self.size
        ready = [t + costs.receive * self.size + self.work * max(0.0, self.random.gauss(1, self.deviation)) for t in self._spread(begun)]
        for count in [*levels(n, self.cluster.depth), 1]:
            groups: list[list[float]] = [[] for _ in range(count)]
            for rank, time in enumerate(ready):
                groups[rank * count // len(ready)].append(time)
            more = costs.job if count > 1 else 0.0
            ready = [self._gathered(max(ready) if count > 1 else 0.0, group) + more for group in groups]
        return ready[0] + costs.apply * self.size

    def _spread(self, begun: float) -> list[float]:
        """When each worker has all pieces; machine 0 is the driver, which has them at the start."""
        piece = self.size / self.cluster.bandwidth / self.PIECES
        if not piece:
            return [begun] * self.cluster.workers
        has = [set(range(self.PIECES))] + [set[int]() for _ in range(self.cluster.workers)]
        done, busy_out, busy_in = [begun] * len(has), [begun] * len(has), [begun] * len(has)
        events = [(begun, 0, -1, -1)]
        coming: list[set[int]] = [set() for _ in has]
        number = 0
        while events:
            now, _, target, got = heapq.heappop(events)
            if target >= 0:
                has[target].add(got)
                done[target] = now
            for other in sorted(range(1, len(has)), key=lambda k: len(has[k])):
                sources = [s for s in range(len(has)) if s != other and busy_out[s] <= now and has[s] - has[other] - coming[other]]
                if busy_in[other] <= now and sources:
                    source = self.random.choice(sources)
                    chosen = self.random.choice(sorted(has[source] - has[other] - coming[other]))
                    busy_out[source] = busy_in[other] = now + piece
                    coming[other].add(chosen)
                    number += 1
                    heapq.heappush(events, (now + piece, number, other, chosen))
        return done[1:]

    def _gathered(self, start: float, times: list[float]) -> float:
        """When one task has taken in all values: they come over its link one after the other, and are added up meanwhile."""
        link, add = self.size / self.cluster.bandwidth, self.costs.add * self.size
        came = added = start
        for time in sorted(times):
            came = max(came, time) + link
            added = max(added, came) + add - min(add, link)
        return added


#: Measured by ``benchmarks/spark_rounds.py`` on two cores; see docs/scaling.md.
MEASURED = Costs(job=0.05, task=0.002, send=2e-9, receive=3e-9, add=2e-9, apply=5e-10)
SIZES = {"1e6 parameters, no state": 4e6, "5e7 parameters, no state": 2e8}


def table(write: Callable[[str], object] = print, costs: Costs = MEASURED, step: float = 0.1) -> None:
    """Predicted efficiency for sizes, links, workers and averaging frequencies, and what the simulation says beside it."""
    write("| values | link | frequency | 8 workers | 64 | 512 |\n|---|---|---:|---:|---:|---:|")
    for name, size in SIZES.items():
        for gbit in (10, 100):
            for frequency in (1, 5, 20, 100):
                cells = []
                for workers in (8, 64, 512):
                    cluster = Cluster(workers, gbit * GBIT, 3 if workers > 64 else 2)
                    own = efficiency(costs, cluster, size, step, frequency, 0.05)
                    cells.append(f"{own:.0%}")
                write(f"| {name} | {gbit} Gbit/s | {frequency} | {' | '.join(cells)} |")


if __name__ == "__main__":
    table()
