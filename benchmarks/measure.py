"""How time is taken: slices of steps of each system in turn, in processes of their own or all in this one."""
from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from workloads import CPU, WORKLOADS, Place, Task, Workload

MODULES = {"dl4py": "with_dl4py", "dl4py_compiled": "with_dl4py_compiled", "numpy": "with_numpy", "jax": "with_jax", "torch": "with_torch",
           "torch_cl": "with_torch", "torch_compile": "with_torch", "ort": "with_onnxruntime", "ort_1t": "with_onnxruntime",
           "dl4j": "with_dl4j", "dl4j_1t": "with_dl4j", "dl4py_uncaptured": "with_dl4py"}
ON = {"cpu": tuple(s for s in MODULES if s != "dl4py_uncaptured"), "emulated": ("dl4py", "dl4py_uncaptured"),
      "cuda": ("dl4py", "dl4py_uncaptured", "torch", "torch_compile", "jax", "ort")}       # systems by kind of device
SLICE = 0.2         # seconds
PIECE = 0.01        # seconds; a slice is made of pieces, each timed, so that one disturbance does not spoil it all
SETTLE = 0.03       # seconds, for thread pools of the system before to go to sleep
CHECKED = 20        # steps, after which all must have the same score
Running = TypeVar("Running")


def _module(system: str) -> str:
    """Of systems that are no columns of the table: rows of the grid, and dl4py without one of its parts."""
    return MODULES.get(system) or ("grid_tasks" if system.startswith("grid_") else "ablation")


def _named(name: str) -> Workload:
    """A workload, or a row of the grid."""
    found = next((w for w in WORKLOADS if w.name == name), None)
    if found is not None:
        return found
    from grid_rows import find  # which brings dl4py into the process
    return find(name)  # type: ignore[return-value]  # has the same attributes


class Here:
    """A workload of one system in this process."""

    def __init__(self, system: str, workload: Workload, place: Place = CPU) -> None:
        module = importlib.import_module(_module(system))
        made = module.make(workload, system) if place == CPU else module.make(workload, system, place)
        if made is None:
            raise NotImplementedError(f"{system} has no {workload.name}")
        self.task: Task = made

    def run(self, steps: int) -> float:
        """Make so many steps; the seconds they took."""
        begin = time.perf_counter()
        self.task.run(steps)
        return time.perf_counter() - begin

    def score(self) -> float:
        return self.task.score()

    def close(self) -> None:
        """Nothing: the process goes on."""


class Apart:
    """The same in a process of its own, which waits while others run. Times are taken in there."""

    def __init__(self, system: str, workload: Workload, place: Place = CPU, environment: dict[str, str] | None = None) -> None:
        self.began = time.perf_counter()
        self.process = subprocess.Popen(_served(system, workload.name, place), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=os.environ | (environment or {}))
        kind, _, text = self._answer().partition(" ")
        if kind != "ready":
            self.close()
            raise {"ImportError": ImportError, "NotImplementedError": NotImplementedError}.get(kind, RuntimeError)(text)

    def _answer(self) -> str:
        line = self.process.stdout.readline()        # type: ignore[union-attr]
        if not line:
            raise RuntimeError(f"a process of the benchmark ended with {self.process.wait()}")
        return line.strip()

    def _ask(self, what: str) -> float:
        print(what, file=self.process.stdin, flush=True)
        return float(self._answer())

    def run(self, steps: int) -> float:
        return self._ask(str(steps))

    def score(self) -> float:
        return self._ask("score")

    def close(self) -> None:
        self.process.communicate()


def device_name(system: str, place: Place) -> str:
    """A device in the words of a system, nothing where it has none; ImportError where it cannot run there.

    Asked in a process of its own, as the CUDA libraries of several systems may not go together.
    """
    found = subprocess.run(_served(system, "", place), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    kind, _, text = (found.stdout.splitlines() or [f"ended with {found.returncode}"])[-1].partition(" ")
    if kind != "ready":
        raise ImportError(text if kind == "ImportError" else f"{kind} {text}")
    return text


def _served(system: str, name: str, place: Place) -> list[str]:
    return [sys.executable, __file__, system, name, place.device, "on_device" * place.on_device]


def serve(system: str, name: str, device: str, on_device: str) -> None:
    """The other end of :class:`Apart`, and of :func:`device_name` where no workload is named."""
    place = Place(device, bool(on_device))
    if not name:
        try:
            print("ready", importlib.import_module(MODULES[system]).device_name(place))
        except (ImportError, RuntimeError) as missing:          # RuntimeError is what libraries raise that find no GPU
            print("ImportError", *str(missing).split())
        return
    try:
        here = Here(system, _named(name), place)
    except (ImportError, NotImplementedError) as missing:
        print(type(missing).__name__ if isinstance(missing, NotImplementedError) else "ImportError", missing, flush=True)
        return
    print("ready", flush=True)
    for line in sys.stdin:
        print(repr(here.score() if line.strip() == "score" else here.run(int(line))), flush=True)


def started(where: Callable[..., Running], system: str, workload: Workload, *more: Any) -> Running | None:
    """A workload of a system; None where the system does not have it, or a package is missing, which is said."""
    try:
        return where(system, workload, *more)
    except NotImplementedError:
        return None
    except ImportError as missing:
        print(f"{system} is left out of {workload.name}: {missing}")
        return None


def compare(workload: Workload, systems: Iterable[str], rounds: int, where: type[Here] | type[Apart],
            place: Place = CPU) -> dict[str, dict[str, Any]]:
    """Seconds of one step of every system: minimum and median of the pieces, and the score."""
    running: dict[str, Here | Apart] = {}
    try:
        for system in systems:
            one = started(where, system, workload, place)
            if one is not None:
                running[system] = one
        checked = 1 if workload.kind == "job" else 2 if workload.task in ("chain", "map") else CHECKED
        scores: dict[str, list[float]] = {}
        for system, one in running.items():
            before = [] if workload.kind == "job" else [one.score()]
            one.run(checked)
            scores[system] = [*before, one.score()]
        agree(workload, scores)
        steps = {system: max(1, int(PIECE / _one(one))) for system, one in running.items()}
        times: dict[str, list[float]] = {system: [] for system in running}
        for _ in range(rounds):
            for system, one in running.items():
                time.sleep(SETTLE)
                end = time.perf_counter() + SLICE
                while time.perf_counter() < end:
                    times[system].append(one.run(steps[system]) / steps[system])
    finally:
        for one in running.values():
            one.close()
    return {s: {"min": min(t), "median": float(np.median(t)), "score": scores[s][-1]} for s, t in times.items()}


def _one(one: Here | Apart) -> float:
    first = one.run(1)
    return first if first > PIECE else min(one.run(3) / 3 for _ in range(5))


def agree(workload: Workload, scores: dict[str, list[float]]) -> None:
    """Refuse to compare systems that compute different things."""
    for place, tolerance in ((0, 2e-3), (-1, workload.tolerance)) if scores else ():
        values = {system: found[place] for system, found in scores.items()}
        if max(values.values()) - min(values.values()) > tolerance * max(map(abs, values.values())):
            raise SystemExit(f"{workload.name}: the systems do not compute the same: {values}")


def busy(seconds: float = 0.3) -> float:
    """The share of the processors that other programs take now; NaN where the system does not say."""
    def ticks() -> list[int]:
        return [int(n) for n in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    if not Path("/proc/stat").exists():
        return float("nan")
    before = ticks()
    time.sleep(seconds)
    spent = [b - a for a, b in zip(before, ticks())]
    return 1 - (spent[3] + spent[4]) / max(1, sum(spent))       # idle and waiting for disks


def machine_limits() -> dict[str, float]:
    """Best matrix product rate (GFLOP/s) and best streaming rate (GB/s) of this machine, now."""
    a = np.ones((1024, 1024), np.float32)
    out = np.empty_like(a)
    x, y = np.ones(16 << 20, np.float32), np.empty(16 << 20, np.float32)

    def best(call: Any) -> float:
        times = []
        for _ in range(10):
            begin = time.perf_counter()
            call()
            times.append(time.perf_counter() - begin)
        return min(times)
    return {"sgemm GFLOP/s": 2 * 1024**3 / best(lambda: np.matmul(a, a, out=out)) / 1e9,
            "streaming GB/s": 2 * x.nbytes / best(lambda: np.multiply(x, 2.0, out=y)) / 1e9}


if __name__ == "__main__":
    serve(*sys.argv[1:])
