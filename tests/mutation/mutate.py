"""Makes small mistakes in the sources, one at a time, and tells which ones the tests miss.

    python tests/mutation/mutate.py SECONDS [AREA ...] [--seed N] [--scratch FOLDER] [--note FILE]

The mistakes (:mod:`mistakes`) are drawn at random, as many of each area (:mod:`concerned`), and are made in a copy of the tree with kernels
of its own; the tests that concern the file run until one fails. One that survives is either a test that is missing or no mistake:
the same behaviour in other words, which only reading tells.
"""
from __future__ import annotations

import argparse
import difflib
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from concerned import AREAS, Area, names_with
from in_place import BROKEN, ELSEWHERE
from mistakes import Mistake, mistakes_in

ROOT = Path(__file__).resolve().parents[2]
MOST_SECONDS = 400      # for the tests of one mistake; a mistake may well be a loop without end
CAUGHT, SLOW, SURVIVED = "caught", "too slow", "SURVIVED"


@dataclass(frozen=True)
class Drawn:
    """A mistake in a file, which is named from the root of the tree."""

    area: str
    file: Path
    source: bytes
    mistake: Mistake

    @property
    def diff(self) -> str:
        """The lines that differ."""
        old, new = self.source.decode().splitlines(), self.mistake.made_in(self.source).decode().splitlines()
        lines = list(difflib.unified_diff(old, new, n=0, lineterm=""))[2:]
        return "\n".join([f"{self.file} {lines[0]}", *lines[1:]])


def compiles(source: bytes) -> bool:
    """Whether a mistake is one of meaning."""
    try:
        compile(source, "", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def drawn(area: str, rng: random.Random, root: Path) -> Iterator[Drawn]:
    """Mistakes of an area in random order, every one as likely."""
    files = {f.relative_to(root): f.read_bytes() for f in sorted(root.glob(AREAS[area].sources))}
    found = [Drawn(area, file, source, m) for file, source in files.items() for m in mistakes_in(source)]
    rng.shuffle(found)
    return (d for d in found if compiles(d.mistake.made_in(d.source)))


class Copy:
    """A copy of the tree, in which the mistakes are made.

    Parameters
    ----------
    folder : where it goes; what lies there already are its compiled kernels
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.root, site = folder, folder / "tree", folder / "site" / "dl4py"
        for old in (self.root, site):
            shutil.rmtree(old, ignore_errors=True)
        listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True)
        for name in filter(None, listed.stdout.decode().split("\0")):
            if (ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, self.root / name)
        site.mkdir(parents=True)
        for package in ("samediff", "layers", "networks", "udf"):
            (site / package).symlink_to(self.root / package)
        self.environment = os.environ | {"PYTHONPATH": f"{site.parent}{os.pathsep}{Path(__file__).parent}", "PYTHONDONTWRITEBYTECODE": "1",
                                         "DL4PY_CACHE_DIR": str(folder / "kernels")}


class Tests:
    """The tests of an area in a process that has collected them and makes a copy of itself for each mistake."""

    def __init__(self, area: Area, copy: Copy) -> None:
        self._area, self._copy = area, copy
        ours, theirs = os.pipe(), os.pipe()
        self._command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *area.tests, *area.by_op]
        self._log = (copy.folder / "tests.log").open("w")
        self._process = subprocess.Popen([*self._command, "-p", "in_place"], cwd=copy.root, stdout=self._log, stderr=self._log, pass_fds=(
            theirs[0], ours[1]), env=copy.environment | {"DL4PY_ORDERS": str(theirs[0]), "DL4PY_ANSWERS": str(ours[1])})
        os.close(theirs[0])
        os.close(ours[1])
        self._orders, self._answers = os.fdopen(theirs[1], "w"), os.fdopen(ours[0])
        self._answer()

    def _answer(self) -> int | None:
        line = self._answers.readline()
        if not line:
            raise SystemExit(f"the tests do not start: {self._log.name} says why")
        found: int | None = json.loads(line)
        return found

    def verdict(self, mistake: Drawn) -> tuple[str, str]:
        """What the tests say of a mistake, and which of them or how many."""
        file, told, old = self._copy.root / mistake.file, self._copy.folder / "told", self._copy.folder / "old"
        told.write_text("")
        old.write_bytes(mistake.source)
        file.write_bytes(mistake.mistake.made_in(mistake.source))
        try:
            names = names_with(file, self._copy.root) if self._area.by_op else []
            print(json.dumps({"file": str(file), "old": str(old), "told": str(told), "seconds": MOST_SECONDS, "stem": file.stem.rstrip("s"),
                              "module": ".".join(("dl4py", *mistake.file.with_suffix("").parts)), "by_op": self._area.by_op,
                              "names": names}), file=self._orders, flush=True)
            status = self._answer()
            if status not in (0, ELSEWHERE):
                return {None: SLOW, BROKEN: "broken"}.get(status, CAUGHT), told.read_text()
            if mistake.file.is_relative_to("samediff/cpu"):        # everything would be compiled again
                return (SURVIVED, told.read_text()) if status == 0 else ("not tried", "not in a function")
            return self._apart(["-k", " or ".join(names)] if names else [])
        finally:
            file.write_bytes(mistake.source)

    def _apart(self, select: Sequence[str]) -> tuple[str, str]:
        """The same by a new process: what ran while the tests were collected ran without the mistake."""
        try:
            done = subprocess.run([*self._command, "-x", *select], cwd=self._copy.root, env=self._copy.environment, timeout=MOST_SECONDS,
                                  capture_output=True, text=True)
        except subprocess.TimeoutExpired:
            return SLOW, ""
        lines = done.stdout.splitlines()
        failed = next((s for s in reversed(lines) if s.startswith(("FAILED", "ERROR"))), lines[-1] if lines else "")
        return (CAUGHT if done.returncode not in (0, 5) else SURVIVED), failed       # 5: no test is chosen


def main() -> int:
    """Draw, try, count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", type=float)
    parser.add_argument("areas", nargs="*", choices=[[], *AREAS], metavar="AREA", help=", ".join(AREAS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scratch", type=Path, help="folder of the copy and its kernels, which a later run finds there")
    args = parser.parse_args()
    end, counts = time.monotonic() + args.seconds, Counter[tuple[str, str]]()
    with tempfile.TemporaryDirectory() as temporary:
        copy, areas = Copy(args.scratch or Path(temporary)), args.areas or list(AREAS)
        tests: dict[str, Tests] = {}
        draws = [drawn(a, random.Random(f"{args.seed} {a}"), copy.root) for a in areas]
        for mistake in filter(None, itertools.chain.from_iterable(itertools.zip_longest(*draws))):
            if time.monotonic() > end:
                break
            begin = time.monotonic()
            if mistake.area not in tests:
                tests[mistake.area] = Tests(AREAS[mistake.area], copy)
            verdict, why = tests[mistake.area].verdict(mistake)
            counts[mistake.area, verdict] += 1
            print(f"{verdict}: {mistake.diff}\n    {mistake.mistake.kind}, {time.monotonic() - begin:.0f} s {why:.160}", flush=True)
    for area in areas:
        print(f"{area}: " + ", ".join(f"{counts[area, v]} {v}" for v in (CAUGHT, SLOW, SURVIVED)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
