"""Runs cases recorded from DL4J against dl4py, through its public names alone.

    python -m tests.recorded.check [--area layers] [--case 'training/updaters/*'] [--every N] [--failures] [--golden DIR] [--json]

The cases are those of ``tests/golden``, or of another folder of the same layout. For each area it prints how many cases passed, failed,
lack a name of dl4py, are different by intent (nothing is asked) and have no check here.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from tests.recorded import AREAS, core

ROOT = Path(__file__).resolve().parents[2]

WORDS = {"passed": "passed", "failed": "failed", "missing": "missing", "intent": "by intent", "unsupported": "not supported"}


def work(args) -> int:
    """Run the cases from number args.worker on; a line before and a line after each."""
    out = os.fdopen(os.dup(1), "w")  # keep the lines apart from what libraries print
    os.dup2(2, 1)
    for n, case in enumerate(core.cases(args.golden, args.area, args.case, args.every)):
        if n >= args.worker:
            print(n, file=out, flush=True)
            print(json.dumps(vars(core.run_case(case, AREAS.get(case.area), args.case_seconds))), file=out, flush=True)
    out.flush()
    os._exit(0)


def supervise(args, todo) -> tuple[list, int]:
    """One process for all cases; when a case kills or blocks it (native code hears no alarm), that case failed and a new one goes on."""
    results, start, quiet = [], time.monotonic(), {"stderr": None if args.verbose else subprocess.DEVNULL}
    while len(results) < len(todo):
        if time.monotonic() - start > args.max_seconds:
            break
        command = [
            sys.executable,
            "-m",
            "tests.recorded.check",
            "--golden",
            str(args.golden),
            "--worker",
            str(len(results)),
            "--case-seconds",
            str(args.case_seconds),
            "--every",
            str(args.every),
        ]
        command += [x for a in args.area for x in ("--area", a)] + [x for c in args.case for x in ("--case", c)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **quiet) as child:
            lines, begun, blocked = queue.Queue(), None, False
            threading.Thread(target=pump, args=(child.stdout, lines), daemon=True).start()
            while True:
                rest = args.max_seconds - (time.monotonic() - start)
                try:
                    line = lines.get(timeout=max(0.1, min(rest, args.case_seconds + 15)))
                except queue.Empty:
                    blocked = True
                    break
                if line is None:
                    break
                if line.startswith("{"):
                    results.append(tell(args, core.Result(**json.loads(line))))
                    begun = None
                else:
                    begun = int(line)
            child.kill()
        if len(results) < len(todo) and time.monotonic() - start <= args.max_seconds:
            if begun is None and not blocked:
                sys.exit("the checks did not start; --verbose shows why")
            case, why = todo[len(results)], f"blocked for {args.case_seconds:g} s" if blocked else "ended the process"
            results.append(tell(args, core.Result(case.key, case.area, "failed", why)))
    return results, len(todo) - len(results)


def tell(args, result):
    wanted = args.failures if result.status in ("failed", "missing") else args.intent and result.status != "passed"
    if wanted and not args.json:
        print(f"{WORDS[result.status]:13} {result.key}: {result.text}", flush=True)
    return result


def pump(stream, lines):
    for line in stream:
        lines.put(line)
    lines.put(None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--area", action="append", default=[], help="only this area (may be repeated)")
    parser.add_argument(
        "--case", metavar="GLOB", action="append", default=[], help="only cases whose path matches, e.g. 'training/updaters/*'"
    )
    parser.add_argument("--every", type=int, default=1, metavar="N", help="of each area one case of N")
    parser.add_argument("--failures", action="store_true", help="a line for every case that did not pass")
    parser.add_argument("--intent", action="store_true", help="also list what is by intent or not supported, and why")
    parser.add_argument("--golden", type=Path, default=ROOT / "tests" / "golden", metavar="DIR")
    parser.add_argument("--json", action="store_true", help="everything as one JSON object")
    parser.add_argument("--max-seconds", type=float, default=3600, help="stop starting cases after this time")
    parser.add_argument("--case-seconds", type=float, default=60, help="limit for one case")
    parser.add_argument("--verbose", action="store_true", help="let through what dl4py writes to stderr")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if not args.golden.is_dir():
        parser.error(f"no folder {args.golden}")

    if args.worker is not None:
        return work(args)
    todo = core.cases(args.golden, args.area, args.case, args.every)
    results, left = supervise(args, todo)
    table = {}
    for area in dict.fromkeys(r.area for r in results):
        count = Counter(r.status for r in results if r.area == area)
        table[area] = {word: count.get(status, 0) for status, word in WORDS.items()}
    if args.json:
        print(json.dumps({"areas": table, "not run": left, "cases": [vars(r) for r in results]}))
    else:
        print(f"{'area':12}" + "".join(f"{w:>15}" for w in WORDS.values()) + f"{'share passed':>15}")
        total = Counter()
        for area, row in [*table.items(), ("TOTAL", None)]:
            row = row or total
            total.update(row if row is not total else {})
            asked = row["passed"] + row["failed"] + row["missing"]
            print(f"{area:12}" + "".join(f"{row[w]:15}" for w in WORDS.values()) + f"{row['passed'] / asked if asked else 1:15.1%}")
        if left:
            print(f"{left} cases not run: time was up")
    return 1 if left or any(r.status in ("failed", "missing") for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
