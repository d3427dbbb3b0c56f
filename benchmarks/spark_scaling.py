"""How many workers pay: parameter averaging on Spark predicted by a formula, and by a simulation of every transfer.

    python benchmarks/spark_scaling.py              # efficiency by workers, network and steps between two averagings
    python benchmarks/spark_scaling.py check        # measures passes on 1 and 2 local executors beside what both say of them

A round: the driver broadcasts the parameters, each worker makes its steps, sums go up the tree of :class:`dl4py.networks.spark.tree.Tree`
to the driver, which writes the means into the model. Efficiency is the share of a round in which workers make steps.
"""
from __future__ import annotations

import heapq
import math
import sys
from dataclasses import dataclass
from itertools import pairwise
from random import Random

import numpy as np
import spark_rounds

from dl4py.networks.spark.tree import Tree

BLOCK = 4 << 20         # bytes of a broadcast's blocks, Spark's default
SPREAD = 0.05           # of the time that workers take for the same steps, as a share


@dataclass(frozen=True)
class Costs:
    """Measured seconds, the last two by byte of parameters and averaged updater state."""

    round: float = 0.12         # of a job with its tasks, without anything to send
    copy: float = 8e-9          # the driver writes the parameters and reads their means, a worker reads them and gives its sums
    merge: float = 4e-9         # a task or the driver reads one sum and adds it


@dataclass(frozen=True)
class Case:
    """A training: workers, bytes that a round averages, seconds of a step, steps of a round, bytes per second between machines."""

    workers: int
    size: float
    step: float
    frequency: int
    bandwidth: float = math.inf

    def fans(self) -> list[int]:
        """How many sums the tasks of each level take in, the driver last."""
        counts = [self.workers, *Tree(self.workers, 2).levels, 1]
        return [math.ceil(more / fewer) for more, fewer in pairwise(counts)]


def predicted(case: Case, costs: Costs = Costs()) -> float:
    """Seconds of a round by formula: the driver sends first blocks, workers pass on the others, tasks take in sums one by one."""
    wire = 1 / case.bandwidth
    down = case.size * wire + case.workers * min(BLOCK, case.size) * wire
    slowest = 1 + SPREAD * math.sqrt(2 * math.log(case.workers)) if case.workers > 1 else 1
    up = sum(fan * case.size * (wire + costs.merge) for fan in case.fans())
    return costs.round + down + case.size * costs.copy + case.frequency * case.step * slowest + up


def simulated(case: Case, costs: Costs = Costs(), seed: int = 0) -> float:
    """Seconds of a round in which every block, task and sum has its turn on the links of its machines."""
    rng = np.random.default_rng(seed)
    got = _broadcast(case, Random(seed)) + case.size * costs.copy
    steps = case.frequency * case.step * (1 + SPREAD * rng.standard_normal(case.workers) if case.workers > 1 else 1)
    now = float(np.max(got + steps))         # a stage ends with its last task
    ranks = case.workers
    for count in [*Tree(case.workers, 2).levels, 1]:
        taken = np.bincount(np.arange(ranks) * count // ranks, minlength=count)
        now = max(_merged(now, number, case, costs) for number in taken)
        ranks = count
    return costs.round + now


def _broadcast(case: Case, rng: Random) -> np.ndarray:
    """When each worker has all blocks: it takes them in an order of its own, each from a machine that has it, the driver among them."""
    blocks = max(1, math.ceil(case.size / BLOCK))
    seconds = case.size / blocks / case.bandwidth
    holders: list[list[int]] = [[case.workers] for _ in range(blocks)]
    free = [0.0] * (case.workers + 1)                   # when a machine's link can send again
    orders = [rng.sample(range(blocks), blocks) for _ in range(case.workers)]
    events = [(0.0, worker, 0) for worker in range(case.workers)]
    done = np.zeros(case.workers)
    while events:
        now, worker, number = heapq.heappop(events)
        if number:
            holders[orders[worker][number - 1]].append(worker)
        if number == blocks:
            done[worker] = now
            continue
        sender = min(rng.choices(holders[orders[worker][number]], k=4), key=free.__getitem__)
        free[sender] = max(now, free[sender]) + seconds
        heapq.heappush(events, (free[sender], worker, number + 1))
    return done


def _merged(now: float, sums: int, case: Case, costs: Costs) -> float:
    """When a task has added so many sums, each of which comes while the one before is added."""
    arrived = ended = now
    for _ in range(sums):
        arrived += case.size / case.bandwidth
        ended = max(arrived, ended) + case.size * costs.merge
    return ended


def table(costs: Costs = Costs(), step: float = 0.1) -> None:
    """Efficiency by formula and, behind it, by simulation."""
    print(f"steps of {step} s; per cent by formula / by simulation")
    for parameters in (1e6, 5e7):
        for gigabits in (10, 100):
            for workers in (8, 64, 512):
                shares = []
                for frequency in (1, 5, 20, 100):
                    case = Case(workers, 4 * parameters, step, frequency, gigabits * 1e9 / 8)
                    shares.append(" / ".join(f"{100 * frequency * step / seconds(case, costs):.0f}" for seconds in (predicted, simulated)))
                print(f"| {parameters:.0e} | {gigabits} | {workers} | " + " | ".join(shares) + " |", flush=True)


def measured_costs(spark, parameters: int = 10_000_000) -> Costs:
    """The costs between local executors: what a second worker adds is one sum more to merge."""
    nothing = spark_rounds.round_seconds(spark, 100, 2)
    one, two = (spark_rounds.round_seconds(spark, parameters, workers) for workers in (1, 2))
    size = 4.0 * parameters
    merge = (two - one) / size
    return Costs(nothing, (one - nothing) / size - merge, merge)


def check() -> None:
    """Costs of rounds on local executors; passes measured, by formula and by simulation."""
    spark = spark_rounds.session("local-cluster[2,1,1024]")
    costs = measured_costs(spark)
    net, data = spark_rounds.layers_of_512(), spark_rounds.batches_of_64(128)
    step = min(spark_rounds.seconds(lambda: net.fit(data)) for _ in range(4)) / len(data)
    print(costs, f"step {step:.5f} s", flush=True)
    for workers, examples in spark_rounds.PASSES:
        case = Case(workers, 4.0 * net.num_params(), step, spark_rounds.FREQUENCY)
        count = examples / 64 / workers / spark_rounds.FREQUENCY
        print(f"{workers} workers, {examples} examples: {spark_rounds.scaling(spark, workers, examples):.3f} s measured, "
              f"{count * predicted(case, costs):.3f} s by formula, {count * simulated(case, costs):.3f} s by simulation", flush=True)


if __name__ == "__main__":
    check() if sys.argv[1:] == ["check"] else table()
