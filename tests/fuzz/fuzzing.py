"""Runs damaged files through the readers: ``python -m tests.fuzz.fuzzing FILES [TARGET ...] [--seed N]``, so many files for each target.

What comes back must be a value or a typed error, within ten seconds and without taking memory out of proportion.
Files that break this are kept in tests/fuzz/corpus/TARGET and tried by the tests from then on.
"""
from __future__ import annotations

import argparse
import hashlib
import math
import random
import resource
import sys
import time
import traceback
import warnings
from pathlib import Path

from dl4py.samediff.errors import DL4PyError
from tests.fuzz.targets import TARGETS, Target

CORPUS = Path(__file__).parent / "corpus"
MOST_SECONDS = 10.0       # of the processor; shared cores are slow
MOST_BYTES = 2 << 30        # of address space on top of what the process has


def problem_of(target: Target, data: bytes) -> str | None:
    """What is wrong with how a file was read; None when nothing is."""
    begin = time.process_time()      # other programs do not count
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            target.read(data)
        except DL4PyError:
            pass
        except Exception:
            return traceback.format_exc(limit=-4)
    took = time.process_time() - begin
    return f"took {took:.1f} s" if took > MOST_SECONDS else None


def fuzz(target: Target, files: int, seed: int, until: float = math.inf) -> tuple[int, dict[str, bytes]]:
    """Number of files tried, fewer than asked for when the clock says ``until``, and one file for each kind of problem."""
    rng = random.Random(f"{target.name} {seed}")
    seeds = target.seeds()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for good in seeds:
            target.read(good)
    found: dict[str, bytes] = {}
    pool, count = list(seeds), 0
    while count < files and time.monotonic() < until:
        data = target.mutate(rng, rng.choice(pool))
        problem = problem_of(target, data)
        count += 1
        if problem is not None:
            found.setdefault(problem.splitlines()[-1][:80] + problem.splitlines()[min(1, len(problem.splitlines()) - 1)], data)
            print(f"-- {target.name}: {problem}", flush=True)
        elif len(data) < 1 << 16 and rng.random() < 0.02:       # damage on damage
            pool.append(data)
            if len(pool) > 200:
                pool[rng.randrange(len(seeds), len(pool))] = pool.pop()
    return count, found


def small_seeds(target: Target) -> list[bytes]:
    """The three shortest good files."""
    return sorted(target.seeds(), key=len)[:3]


def flipped_bits(target: Target, most: int | None = None) -> str | None:
    """Flip every bit of the small files, one after the other (of a file with more than ``most`` bits every second, third ...)."""
    for good in small_seeds(target):
        for at in range(0, 8 * len(good), 1 + (8 * len(good) // most if most else 0)):
            data = bytearray(good)
            data[at // 8] ^= 1 << at % 8
            problem = problem_of(target, bytes(data))
            if problem is not None:
                return f"bit {at % 8} of byte {at // 8} of {len(good)}: {problem}"
    return None


def main() -> int:
    """Try them all; 1 when something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=int)
    parser.add_argument("targets", nargs="*", default=list(TARGETS))
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--seconds", type=float, default=math.inf, help="shared among the targets; then fewer files are tried")
    parser.add_argument("--every-bit", action="store_true", help="flip each bit of three small files instead")
    given = parser.parse_args()
    chosen = given.targets or list(TARGETS)
    if given.every_bit:
        problems = [f"{name}: {found}" for name in chosen if (found := flipped_bits(TARGETS[name]))]
        print("\n".join(problems) or "every flipped bit gave a value or a typed error")
        return bool(problems)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if Path("/proc").exists() else 8 << 30
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST_BYTES, resource.RLIM_INFINITY))
    total, bad = 0, 0
    for name in chosen:
        count, found = fuzz(TARGETS[name], given.files, given.seed, time.monotonic() + given.seconds / len(chosen))
        for data in found.values():
            path = CORPUS / name / (hashlib.sha256(data).hexdigest()[:16] + ".bin")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        print(f"{name}: {count:,} files, {len(found)} problems", flush=True)
        total, bad = total + count, bad + len(found)
    print(f"{total:,} files in all, {bad} problems (seed {given.seed})")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
