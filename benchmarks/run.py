"""Compares dl4py with NumPy and JAX in one interleaved run and prints the ratios.

    pip install -e ".[bench]" && python benchmarks/run.py [--rounds 12] [--json results.json]

Method: every system makes the same steps on the same varied batches from the same weights; slices of about 0.2 s are
taken in turn, so that a change of the machine's speed meets all alike; the minimum of the slices is compared. After the
warm-up all systems must show the same score. The first lines say what the machine can do at best.
"""
from __future__ import annotations

import argparse
import importlib
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from data import WORKLOADS

SYSTEMS = {"dl4py": "with_dl4py", "numpy": "with_numpy", "jax": "with_jax"}


def machine_limits() -> dict[str, float]:
    """Best matrix product rate (GFLOP/s) and best streaming rate (GB/s) of this machine, now."""
    a = np.ones((1024, 1024), np.float32)
    out = np.empty_like(a)
    x, y = np.ones(16 << 20, np.float32), np.empty(16 << 20, np.float32)
    product = min(_seconds(lambda: np.matmul(a, a, out=out)) for _ in range(10))
    triad = min(_seconds(lambda: np.multiply(x, 2.0, out=y)) for _ in range(10))
    return {"sgemm GFLOP/s": 2 * 1024**3 / product / 1e9, "streaming GB/s": 2 * x.nbytes / triad / 1e9}


def _seconds(call: Any) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def compare(workload: Any, rounds: int) -> dict[str, Any]:
    """Minimum and median microseconds per step of every system, taken in turn."""
    systems: dict[str, Any] = {}
    for name, module in SYSTEMS.items():
        try:
            made = importlib.import_module(module).make(workload)
        except ImportError as missing:
            print(f"  ({name} left out: {missing})")
            continue
        if made is not None:
            systems[name] = made
    steps, scores = {}, {}
    for name, (step, score) in systems.items():
        for _ in range(5):
            step()
        scores[name] = score()
        steps[name] = max(1, int(0.2 / min(_seconds(step) for _ in range(5))))
    if max(scores.values()) - min(scores.values()) > 2e-3 * max(map(abs, scores.values())):
        raise SystemExit(f"{workload.name}: the systems do not compute the same: {scores}")
    times: dict[str, list[float]] = {name: [] for name in systems}
    for _ in range(rounds):
        for name, (step, _) in systems.items():
            start = time.perf_counter()
            for _ in range(steps[name]):
                step()
            times[name].append((time.perf_counter() - start) / steps[name] * 1e6)
    return {name: {"min": min(t), "median": float(np.median(t))} for name, t in times.items()}


def main() -> None:
    """Run all workloads and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    args = parser.parse_args()
    limits = machine_limits()
    print("machine: " + ", ".join(f"{v:.0f} {k}" for k, v in limits.items()))
    print(f"{'minimum us per step (ratio of dl4py)':40}" + "".join(f"{s:>18}" for s in SYSTEMS))
    results = {}
    for workload in WORKLOADS:
        found = results[workload.name] = compare(workload, args.rounds)
        ours = found["dl4py"]["min"]
        cells = [f"{found[s]['min']:9.1f} ({ours / found[s]['min']:5.2f})" if s in found else "-" for s in SYSTEMS]
        print(f"{workload.name:40}" + "".join(f"{c:>18}" for c in cells), flush=True)
    if args.json:
        args.json.write_text(json.dumps({"machine": limits, "workloads": results}, indent=1))


if __name__ == "__main__":
    main()
