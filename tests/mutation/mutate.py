"""Makes small mistakes in the sources, one at a time, and tells which ones the tests miss.

    python -m tests.mutation.mutate SECONDS [AREA ...] [--seed N] [--scratch FOLDER] [--again LOG]

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
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.concerned import AREAS, defined_in, names_with
from tests.mutation.in_place import ELSEWHERE, MOST_SECONDS, UNREACHED
from tests.mutation.limits import BROKEN, at_most, waited
from tests.mutation.mistakes import Mistake, mistakes_in
from tests.mutation.record import Row, function_at

ROOT = Path(__file__).resolve().parents[2]
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


def _lines(diff: str) -> list[str]:
    """A diff without the numbers of its lines."""
    first, *lines = diff.splitlines()
    return [first.partition(" @@")[0], *(line for line in lines if line[0] in "+-")]


def survived(log: Path) -> list[list[str]]:
    """The mistakes of a log that no test noticed."""
    return [_lines(diff) for diff in re.findall(rf"^{SURVIVED}: (.*?)\n    \w", log.read_text(), re.MULTILINE | re.DOTALL)]


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
        self.environment = os.environ | {"PYTHONPATH": f"{site.parent}{os.pathsep}{self.root}", "PYTHONDONTWRITEBYTECODE": "1",
                                         "DL4PY_CACHE_DIR": str(folder / "kernels")}


class Tests:
    """The tests of an area in a process that has collected them and makes a copy of itself for each mistake."""

    def __init__(self, name: str, copy: Copy) -> None:
        self._area, self._copy, self._rows = AREAS[name], copy, copy.folder / f"{name}.json"
        ours, theirs = os.pipe(), os.pipe()
        self._command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        self._tests = [*self._area.tests, *self._area.by_op]
        self._log = (copy.folder / f"{name}.log").open("w")
        recorded = [] if self._area.by_op else [str(f.relative_to(copy.root)) for f in sorted(copy.root.glob(self._area.sources))]
        told = {"DL4PY_ORDERS": str(theirs[0]), "DL4PY_ANSWERS": str(ours[1]), "DL4PY_RECORDED": " ".join(recorded),
                "DL4PY_RECORD": str(self._rows)}
        self._process = subprocess.Popen([*self._command, *self._tests, "-p", "tests.mutation.in_place"], cwd=copy.root,
                                         env=copy.environment | told, stdout=self._log, stderr=self._log, pass_fds=(theirs[0], ours[1]))
        os.close(theirs[0])
        os.close(ours[1])
        self._orders, self._answers = os.fdopen(theirs[1], "w"), os.fdopen(ours[0])
        self._answer()
        self.rows = {test: Row(*row) for test, row in json.loads(self._rows.read_text())["rows"].items()} if recorded else {}

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
            print(json.dumps({"file": str(file), "old": str(old), "told": str(told), "stem": file.stem.rstrip("s"),
                              "module": ".".join(("dl4py", *mistake.file.with_suffix("").parts)), "by_op": self._area.by_op,
                              "function": f"{mistake.file}:{function_at(mistake.source, mistake.mistake.start)}",
                              "names": names, "defined": defined_in(file, self._copy.root)}), file=self._orders, flush=True)
            status = self._answer()
            if status not in (0, ELSEWHERE, UNREACHED):
                return {None: SLOW, BROKEN: "broken"}.get(status, CAUGHT), told.read_text()
            if mistake.file.is_relative_to("samediff/cpu"):        # everything would be compiled again
                return (SURVIVED, told.read_text()) if status == 0 else ("not tried", "not in a function")
            if self.rows and status == 0:
                return SURVIVED, told.read_text()
            near = [test for test, row in self.rows.items() if any(f.startswith(f"{mistake.file}:") for f in row.reached or ())]
            return self._apart(["-k", " or ".join(names), *self._tests] if names else near or self._tests)
        finally:
            file.write_bytes(mistake.source)

    def _apart(self, select: Sequence[str]) -> tuple[str, str]:
        """The same by a new process: what ran while the tests were collected ran without the mistake."""
        log = self._copy.folder / "apart.log"
        with log.open("w") as out, subprocess.Popen(
                [*self._command, "-x", *select], cwd=self._copy.root, env=self._copy.environment, stdout=out, stderr=out,
                start_new_session=True, preexec_fn=lambda: at_most(3 * MOST_SECONDS)) as process:
            status = waited(process.pid)
        lines = log.read_text().splitlines()
        failed = next((s for s in reversed(lines) if s.startswith(("FAILED", "ERROR"))), lines[-1] if lines else "")
        return SLOW if status is None else CAUGHT if status not in (0, 5) else SURVIVED, failed       # 5: no test is chosen


def main() -> int:
    """Draw, try, count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", type=float)
    parser.add_argument("areas", nargs="*", choices=[[], *AREAS], metavar="AREA", help=", ".join(AREAS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scratch", type=Path, help="folder of the copy and its kernels, which a later run finds there")
    parser.add_argument("--again", type=Path, help="what an earlier run printed: only what survived is tried")
    args = parser.parse_args()
    end, counts = time.monotonic() + args.seconds, Counter[tuple[str, str]]()
    with tempfile.TemporaryDirectory() as temporary:
        copy, areas = Copy(args.scratch or Path(temporary)), args.areas or list(AREAS)
        tests: dict[str, Tests] = {}
        draws: list[Iterable[Drawn]] = [drawn(a, random.Random(f"{args.seed} {a}"), copy.root) for a in areas]
        if args.again:
            wanted = survived(args.again)
            draws = [(d for d in found if _lines(d.diff) in wanted) for found in draws]
        for mistake in filter(None, itertools.chain.from_iterable(itertools.zip_longest(*draws))):
            if time.monotonic() > end:
                break
            begin = time.monotonic()
            if mistake.area not in tests:
                tests[mistake.area] = Tests(mistake.area, copy)
                failing = [test for test, row in tests[mistake.area].rows.items() if not row.passed]
                print(f"{mistake.area}: {len(tests[mistake.area].rows)} tests recorded; fail without a mistake: {failing}", flush=True)
            verdict, why = tests[mistake.area].verdict(mistake)
            counts[mistake.area, verdict] += 1
            print(f"{verdict}: {mistake.diff}\n    {mistake.mistake.kind}, {time.monotonic() - begin:.0f} s {why:.160}", flush=True)
    for area in areas:
        print(f"{area}: " + ", ".join(f"{counts[area, v]} {v}" for v in (CAUGHT, SLOW, SURVIVED)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
