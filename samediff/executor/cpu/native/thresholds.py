"""From which length on work is shared with other threads: measured once on a machine, kept beside the compiled kernels.

Never changes a result: parts are computed in the same way by one thread and by several.
"""
from __future__ import annotations

import contextlib
import functools
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ....expression import trace
from ...cache import cache_folder
from ...layout import Layout
from . import pool


class Thresholds(NamedTuple):
    """Nanoseconds of estimated work from which an instruction is divided, and from which a program asks for help."""

    parts: float
    help: float


#: Where nothing was measured, and what a measurement may come to: a busy machine must not decide for good.
USUAL, LEAST, MOST = Thresholds(8e3, 4e4), Thresholds(4e3, 2e4), Thresholds(3.2e4, 1.6e5)
NEVER, ALWAYS = Thresholds(float("inf"), float("inf")), Thresholds(0.0, 0.0)

#: By what share two threads must be faster.
GAIN = 0.9
#: Pairs of runs of each size; the best count.
ROUNDS = 30
#: Seconds between two attempts on a busy machine: each takes half a second.
PAUSE = 3600.0
#: Instructions of a program whose parts are looked at.
SEVERAL = 16


@functools.cache
def thresholds() -> Thresholds:
    """Those of this machine."""
    if pool.pool() is None or pool.parts() < 2:
        return USUAL
    file = cache_folder() / f"threads-{platform.machine()}-{os.cpu_count()}-{pool.parts()}.json"
    found = _read(file)
    if found is not None:
        return found
    busy = file.with_suffix(".busy")
    if _is_new(busy):
        return USUAL
    found = measured()
    if any(n >= most for n, most in zip(found, MOST)):      # the processors have other work: a later process may find out
        with contextlib.suppress(OSError):
            busy.parent.mkdir(parents=True, exist_ok=True)
            busy.touch()
        return USUAL
    _write(file, found)
    return found


def measured() -> Thresholds:
    """Look from which length on two threads are faster."""
    return Thresholds(_crossing(SEVERAL, LEAST.parts, MOST.parts), _crossing(1, LEAST.help, MOST.help))


def _crossing(count: int, least: float, most: float) -> float:
    """Work of each of ``count`` instructions from which help pays."""
    from .program import Segment
    work = least
    while work < most:
        instructions = [_instruction(work) for _ in range(count)]
        alone, helped = _faster(Segment(instructions, worth=NEVER), Segment(instructions, worth=ALWAYS))
        if helped < GAIN * alone:
            break
        work *= 2 ** 0.5
    return min(work, most)


def _instruction(work: float) -> Any:
    from .. import elementwise_kernel
    kernel = elementwise_kernel(trace(lambda xp, x: xp.tanh(x), [np.dtype(np.float32)]), [Layout.same(1)])
    assert kernel is not None
    x = np.zeros(max(16, int(work / kernel.cost)), np.float32)
    return kernel.instruction(kernel.views([x, np.zeros_like(x)]))


def _faster(*runs: Callable[[], None]) -> list[float]:
    """The shortest time of each, in turn, while helpers are awake."""
    from .program import Segment
    from .runner import WORTH_WAKING
    crew, waking = pool.pool(), Segment([_instruction(1.5 * WORTH_WAKING)], worth=ALWAYS)
    best = [float("inf")] * len(runs)
    for _ in range(ROUNDS):
        for k, run in enumerate(runs):
            waking()
            if crew is not None:
                crew.forget_waiting()
            began = time.perf_counter()
            run()
            best[k] = min(best[k], time.perf_counter() - began)
    return best


def _is_new(file: Path) -> bool:
    """Whether a process has measured in vain a short time ago."""
    try:
        return time.time() - file.stat().st_mtime < PAUSE
    except OSError:
        return False


def _read(file: Path) -> Thresholds | None:
    """What an earlier process found; None where there is nothing that makes sense."""
    try:
        given = json.loads(file.read_text())
        found = Thresholds(float(given["parts"]), float(given["help"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return found if all(low <= n <= high for low, n, high in zip(LEAST, found, MOST)) else None


def _write(file: Path, found: Thresholds) -> None:
    """Keep it for other processes; a folder that cannot be written costs the next one the measurement."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=file.parent, suffix=".tmp", delete=False) as stream:
            json.dump(found._asdict(), stream)
        os.replace(stream.name, file)
