"""From the launch of a process to five steps done, with caches of compiled kernels empty or filled by an earlier run.

    python benchmarks/cold_start.py [--rounds 3]

prints the table of docs/performance.md: seconds of processor time, which other programs hardly change, and on the clock. The goal is
3.5 s for W0 with an empty cache.
"""
from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from measure import Apart, started
from workloads import CPU, WORKLOADS, Place

COLD = [(f"W9_{name}_{state}", f"cold start of {name}, cache {state}", state == "warm")
        for name in ("W0", "W1_b32", "W2", "W6", "W12") for state in ("empty", "warm")]
CACHES = ("DL4PY_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "CUPY_CACHE_DIR", "CUDA_CACHE_PATH")


class Start(NamedTuple):
    """Seconds of one start: on the clock until five steps are done, and of all threads until the process has ended."""

    clock: float
    processor: float


def cold_start(name: str, systems: Sequence[str], rounds: int, kept: bool, place: Place = CPU) -> dict[str, dict[str, Any]]:
    """Seconds of every system, in turn."""
    workload = next(w for w in WORKLOADS if f"W9_{w.name}_" in name)
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as warm:
        for turn in range(rounds + kept):                    # the first one fills the cache
            for system in systems:
                with tempfile.TemporaryDirectory() as fresh:
                    start = _start(system, workload, place, dict.fromkeys(CACHES, warm if kept else fresh))
                if start is not None and turn >= kept:
                    found.setdefault(system, []).append(start.clock)
    return {s: {"min": min(t), "median": float(np.median(t))} for s, t in found.items()}


def bytecode_in(folder: str) -> dict[str, str]:
    """The environment in which Python keeps its own caches in a folder, whatever was said before."""
    return {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}


def start_up(name: str, kept: bool, compiler: str = "", rounds: int = 2) -> list[Start]:
    """Starts of dl4py with a workload, after one that fills Python's own caches; ``compiler`` as in ``DL4PY_COMPILER``."""
    workload = next(w for w in WORKLOADS if w.name == name)
    starts = []
    with tempfile.TemporaryDirectory() as warm, tempfile.TemporaryDirectory() as python:
        environment = bytecode_in(python) | {"DL4PY_COMPILER": compiler}
        for _ in range(rounds + 1):
            with tempfile.TemporaryDirectory() as fresh:
                starts.append(_start("dl4py", workload, CPU, environment | dict.fromkeys(CACHES, warm if kept else fresh)))
    return [s for s in starts[1:] if s is not None]


def _start(system: str, workload: Any, place: Place, environment: dict[str, str]) -> Start | None:
    before = _children()
    one = started(Apart, system, workload, place, environment)
    if one is None:
        return None
    one.run(5)
    seconds = time.perf_counter() - one.began
    one.close()
    return Start(seconds, _children() - before)


def _children() -> float:
    """Processor time of the processes that were started here and have ended."""
    times = os.times()
    return times.children_user + times.children_system


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    print("| | cache empty | on the clock | kernels on disk | on the clock |\n|---|--:|--:|--:|--:|")
    for name, title in (("W0", "W0, MLP"), ("W2", "W2, LeNet")):
        found = [start_up(name, kept, rounds=rounds) for kept in (False, True)]
        cells = [f"{min(times):.2f} s" for starts in found for times in ([s.processor for s in starts], [s.clock for s in starts])]
        print(f"| {title} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
