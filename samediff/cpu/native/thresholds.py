"""Lengths from which work is shared with other threads: measured once on a machine, kept beside the compiled kernels.

Never changes a result: parts are computed in the same way by one thread and by several.
"""
from __future__ import annotations

import functools
import json
import platform
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ...expressions.expression import trace
from ...plans.layout import OperandLayout
from .. import threads
from ..cache import store as cache_store
from . import thread_pool
from .instruction import Instruction


class Thresholds(NamedTuple):
    """Nanoseconds of estimated work from which an instruction is divided, and from which a program asks for help."""

    parts: float
    help: float


#: Makes a program of instructions that are shared from these lengths on.
ProgramOf: TypeAlias = Callable[[Sequence[Instruction], Thresholds], Callable[[], None]]

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
def of_machine(program: ProgramOf) -> Thresholds:
    """The thresholds of this machine, read from the cache or measured; ``program`` makes the programs to measure."""
    if thread_pool.pool() is None or threads.parts() < 2:
        return USUAL
    name = f"threads-{platform.machine()}-{threads.parts()}"
    found = _read(f"{name}.json")
    if found is not None:
        return found
    folder = cache_store.opened()
    if folder is not None and time.time() - folder.modified(f"{name}.busy") < PAUSE:
        return USUAL
    found = measured(program)
    busy = any(n >= most for n, most in zip(found, MOST))       # the processors have other work: a later process may find out
    if folder is not None:
        folder.write(*((f"{name}.busy", b"") if busy else (f"{name}.json", json.dumps(found._asdict()).encode())))
    return USUAL if busy else found


def measured(program: ProgramOf) -> Thresholds:
    """Look from which length on two threads are faster."""
    return Thresholds(_crossing(program, SEVERAL, LEAST.parts, MOST.parts), _crossing(program, 1, LEAST.help, MOST.help))


def _crossing(program: ProgramOf, count: int, least: float, most: float) -> float:
    """Work of each of ``count`` instructions from which help pays."""
    work = least
    while work < most:
        instructions = [_instruction(work) for _ in range(count)]
        alone, helped = _faster(program, program(instructions, NEVER), program(instructions, ALWAYS))
        if helped < GAIN * alone:
            break
        work *= 2 ** 0.5
    return min(work, most)


def _instruction(work: float) -> Instruction:
    from ..code.elementwise import elementwise_kernel
    kernel = elementwise_kernel(trace(lambda xp, x: xp.tanh(x), [np.dtype(np.float32)]), [OperandLayout.same(1)])
    assert kernel is not None
    x = np.zeros(max(16, int(work / kernel.cost)), np.float32)
    return kernel.instruction(kernel.views([x, np.zeros_like(x)]))


def _faster(program: ProgramOf, *runs: Callable[[], None]) -> list[float]:
    """The shortest time of each, in turn, while helpers are awake."""
    from .interpreter import WORTH_WAKING
    crew, waking = thread_pool.pool(), program([_instruction(1.5 * WORTH_WAKING)], ALWAYS)
    best = [float("inf")] * len(runs)
    for _ in range(ROUNDS):
        for k, run in enumerate(runs):
            waking()
            if crew is not None:
                crew.reset_backoff()
            began = time.perf_counter()
            run()
            best[k] = min(best[k], time.perf_counter() - began)
    return best


def _read(name: str) -> Thresholds | None:
    """Thresholds that an earlier process stored; None where there are none or they are not valid."""
    content = cache_store.read_plain("", name)
    try:
        given = json.loads(content or b"")
        found = Thresholds(float(given["parts"]), float(given["help"]))
    except (ValueError, TypeError, KeyError):
        return None
    return found if all(low <= n <= high for low, n, high in zip(LEAST, found, MOST)) else None
