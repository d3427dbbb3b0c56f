"""Random cases by both executors: what counts as equal, and a program that tries cases and says which were not."""
from __future__ import annotations

import argparse
import importlib
import math
import multiprocessing
import os
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from dl4py.samediff.errors import DL4PyError

#: By type, relative to the largest entry, or to SMALL where all entries are smaller.
LIMITS = {"float64": 1e-9, "float32": 2e-5, "float16": 1e-2, "bfloat16": 6e-2}
SMALL = 0.1
#: Results that move by a tenth of their difference when inputs change by rounding do not say who is right.
MOVED = 10.0

#: Cases after which a new process goes on, so that the memory of compiled code is bounded, and seconds that one case may take.
MOST_CASES, MOST_SECONDS = 400, 300.0
#: Seconds of one look for an outcome.
SLICE = 1.0


@dataclass
class Outcome:
    """How a case went: "equal", "refused" (by both), "sensitive" (differs as much as the reference does by rounding) or "differs"."""

    kind: str
    text: str = ""
    error: bool = False         # typed, of one executor alone


def attempted(job: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """What comes back, or the error."""
    try:
        return job(), None
    except Exception as error:
        return None, error


def judged(compiled: Callable[[], Sequence[tuple[str, Any]]], reference: Callable[[bool], Sequence[tuple[str, Any]]],
           loose: float = 1.0, least: float = 0.0) -> Outcome:
    """Compare named results, to ``loose`` times the limits (and at least ``least``: a double that was worked out from floats has their
    rounding); ``reference(True)`` computes them from inputs that were changed by rounding."""
    wanted, refused = attempted(lambda: reference(False))
    found, failed = attempted(compiled)
    for who, error in (("reference", refused), ("compiled", failed)):
        if error is not None and not isinstance(error, DL4PyError):
            return Outcome("differs", f"{who}: untyped {''.join(traceback.format_exception(error)[-3:])}")
    if refused is not None or failed is not None:
        both = refused is not None and failed is not None
        return Outcome("refused" if both else "differs", f"compiled: {short(failed)}; reference: {short(refused)}", not both)
    texts = different(found, wanted, None, loose, least)
    if not texts:
        return Outcome("equal")
    moved, error = attempted(lambda: reference(True))
    if error is None and not different(found, wanted, moved, loose, least):
        return Outcome("sensitive", texts[0])
    return Outcome("differs", "; ".join(texts[:4]))


def short(error: BaseException | None) -> str:
    return "done" if error is None else f"{type(error).__name__}: {str(error)[:300]}"


def different(found: Any, wanted: Any, moved: Any = None, loose: float = 1.0, least: float = 0.0) -> list[str]:
    """In words what is not equal, one text for each result."""
    if [n for n, _ in found] != [n for n, _ in wanted]:
        place = next((i for i, (a, b) in enumerate(zip(found, wanted)) if a[0] != b[0]), min(len(found), len(wanted)))
        return [f"result {place}: {found[place:place + 1]} instead of {wanted[place:place + 1]}"]
    others = [None] * len(wanted) if moved is None or [n for n, _ in moved] != [n for n, _ in wanted] else [m for _, m in moved]
    texts = [(n, difference(f, w, m, loose, least)) for (n, f), (_, w), m in zip(found, wanted, others)]
    return [f"{n}: {text}" for n, text in texts if text]


def difference(found: Any, wanted: Any, moved: Any = None, loose: float = 1.0, least: float = 0.0) -> str:
    """In words; nothing where both agree, as far as ``moved`` agrees with ``wanted``."""
    if isinstance(wanted, str) or isinstance(found, str):
        return "" if found == wanted else f"{found!r} instead of {wanted!r}"
    a, b = np.asarray(found), np.asarray(wanted)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return f"{a.dtype}{a.shape} instead of {b.dtype}{b.shape}"
    m = None if moved is None or np.asarray(moved).shape != b.shape else np.asarray(moved)
    # numbers have the limit of float32, in which networks compute most of them
    limit = LIMITS["float32"] if isinstance(wanted, float) else LIMITS.get(str(b.dtype))
    if limit is None:
        return "" if np.array_equal(a, b) or (m is not None and not np.array_equal(m, b)) else \
            f"{np.count_nonzero(a != b)} of {a.size} entries differ: {a.ravel()[:8]} instead of {b.ravel()[:8]}"
    with np.errstate(all="ignore"):
        a, b = a.astype(np.float64), b.astype(np.float64)
        finite = np.isfinite(b)
        off = 0.0 if m is None else np.abs(np.nan_to_num(m.astype(np.float64) - b)).max(initial=0.0)
        if not np.array_equal(np.where(np.isfinite(a), 0.0, a), np.where(finite, 0.0, b), equal_nan=True):
            steady = m is None or np.array_equal(np.isfinite(m), finite)
            return f"other entries are not finite: {a.ravel()[:8]} instead of {b.ravel()[:8]}" if steady else ""
        scale = np.abs(b[finite]).max(initial=SMALL)
        found_off = np.abs(a[finite] - b[finite]).max(initial=0.0)
    limit = max(limit * loose, least)
    return "" if found_off <= limit * scale + MOVED * off else \
        f"off by {found_off:.3g}, {found_off / scale:.1e} of the scale, {limit:g} allowed"


# The program

def main(module: str, document: str) -> int:
    """Try cases of ``module.case(seed, number)``; 1 when some differ, crash or do not end."""
    parser = argparse.ArgumentParser(description=document)
    parser.add_argument("cases", type=int, nargs="?", default=100)
    parser.add_argument("--seconds", type=float, default=math.inf, help="then fewer are tried")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--case", type=int, help="this one alone, in words")
    given = parser.parse_args()
    if given.case is not None:
        cases = importlib.import_module(module)
        print(cases.described(given.seed, given.case))
        print(cases.case(given.seed, given.case))
        return 0
    counts, bad = tried(module, given.cases, given.seed, given.seconds)
    total = sum(counts.values())
    accepted = total - counts["refused"]
    print(f"{total:,} cases, {accepted:,} accepted ({100 * accepted / max(total, 1):.0f} %): "
          + ", ".join(f"{n:,} {kind}" for kind, n in sorted(counts.items())) + f" (seed {given.seed})")
    if bad:
        print(f"differs, crashed or hung, to be run again by --seed {given.seed} --case N: {', '.join(map(str, bad))}")
    return bool(bad)


def tried(module: str, most: int, seed: int, seconds: float = math.inf) -> tuple[Counter[str], list[int]]:
    """Counts of the outcomes and the numbers of bad cases; work is done by processes, which may die."""
    context = multiprocessing.get_context("spawn")
    counts: Counter[str] = Counter()
    bad: list[int] = []
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end and number < most:
        mine, theirs = context.Pipe()
        process = context.Process(target=_cases, args=(module, seed, number, theirs), daemon=True)
        process.start()
        theirs.close()
        try:
            for _ in range(MOST_CASES):
                if not _answers(mine, MOST_SECONDS):
                    raise TimeoutError
                outcome = mine.recv()
                counts[outcome.kind] += 1
                if outcome.kind == "differs":
                    bad.append(number)
                    print(f"-- case {number}: {outcome.text}", flush=True)
                number += 1
                if time.monotonic() > end or number == most:
                    break
        except (EOFError, TimeoutError) as error:
            process.join(1)
            kind = "hung" if isinstance(error, TimeoutError) else f"crashed ({process.exitcode})"
            counts[kind] += 1
            bad.append(number)
            print(f"-- case {number}: {kind}", flush=True)
            number += 1
        finally:
            process.kill()
            process.join()
            mine.close()
    return counts, bad


def _answers(results: Connection, seconds: float) -> bool:
    """Whether an outcome comes in time; while this process is stopped, as those of cases are then, no time passes."""
    left = seconds
    while left > 0:
        began = time.monotonic()
        if results.poll(SLICE):
            return True
        left -= min(time.monotonic() - began, 2 * SLICE)
    return False


def _cases(module: str, seed: int, first: int, results: Connection) -> None:
    os.environ.pop("DL4PY_EXECUTOR", None)
    cases = importlib.import_module(module)
    for number in range(first, first + MOST_CASES):
        results.send(cases.case(seed, number))
