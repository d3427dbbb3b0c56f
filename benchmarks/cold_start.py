"""From the launch of a process to five steps done, with caches of compiled kernels empty or filled by an earlier run."""
from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from measure import Apart, started
from workloads import CPU, WORKLOADS, Place

COLD = [(f"W9_{name}_{state}", f"cold start of {name}, cache {state}", state == "warm")
        for name in ("W0", "W1_b32", "W2") for state in ("empty", "warm")]
CACHES = ("DL4PY_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "CUPY_CACHE_DIR", "CUDA_CACHE_PATH")


def cold_start(name: str, systems: Sequence[str], rounds: int, kept: bool, place: Place = CPU) -> dict[str, dict[str, Any]]:
    """Seconds of every system, in turn."""
    workload = next(w for w in WORKLOADS if f"W9_{w.name}_" in name)
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as warm:
        for turn in range(rounds + kept):                    # the first one fills the cache
            for system in systems:
                with tempfile.TemporaryDirectory() as fresh:
                    seconds = _start(system, workload, place, warm if kept else fresh)
                if seconds is not None and turn >= kept:
                    found.setdefault(system, []).append(seconds)
    return {s: {"min": min(t), "median": float(np.median(t))} for s, t in found.items()}


def _start(system: str, workload: Any, place: Place, cache: str) -> float | None:
    one = started(Apart, system, workload, place, dict.fromkeys(CACHES, cache))
    if one is None:
        return None
    one.run(5)
    seconds = time.perf_counter() - one.began
    one.close()
    return seconds
