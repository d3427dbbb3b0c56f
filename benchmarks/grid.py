"""Every layer, vertex, loss, updater and many graphs, in two sizes: which of them are slow beside JAX, the worst first.

    python benchmarks/grid.py [--only lstm,pool] [--kind train] [--rounds 3] [--every 5] [--worst 3] [--json F]

Nobody tunes for these rows. JAX runs the same graph (:mod:`graph_in_jax`), one jitted function for a whole step with its update; both
begin with the same numbers and must have the same score after 20 steps. Where JAX has no such thing the row shows the time alone. Of the
worst rows the steps of the plan that cost most are printed too. All rows take over an hour on two processors; ``--every 5`` takes each
fifth.
"""
from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from grid_rows import Call, Row, table
from measure import Apart, compare
from run import duration

SYSTEMS = ("grid_dl4py", "grid_jax")
SHOWN = 3       # steps of a plan


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="parts of names, such as lstm or series/lstm tanh/small, with commas between")
    parser.add_argument("--kind", default="", choices=("", "train", "infer", "call"))
    parser.add_argument("--rounds", type=int, default=3, help="slices of 0.2 s of each system")
    parser.add_argument("--every", type=int, default=1, help="take each n-th row only")
    parser.add_argument("--worst", type=int, default=10, help="of how many rows the costliest steps are shown")
    parser.add_argument("--json", help="a file for all figures")
    return parser.parse_args()


def measured(row: Row, rounds: int) -> dict[str, Any]:
    """Seconds of each system, or why there are none."""
    try:
        found = compare(row, SYSTEMS, rounds, Apart)  # type: ignore[arg-type]  # has what is asked of workloads
    except SystemExit as differs:
        return {"name": row.name, "problem": str(differs)}
    return {"name": row.name, **{s.removeprefix("grid_"): found[s]["min"] for s in SYSTEMS if s in found}}


def costliest(row: Row) -> list[str]:
    """The steps of the plan that take longest, and how they run."""
    made = row.build()
    if isinstance(made, Call):
        profile = made.sd.profile(made.feeds, *made.outputs)
    else:
        profile = made.net.profile(made.data()[0] if row.kind == "train" else made.batches[0].inputs[0])
    steps = sorted(profile.steps, key=lambda s: -s.seconds)[:SHOWN]
    return [f"{s.op} {s.way.value} {duration(s.seconds)}" for s in steps]


def report(rows: list[dict[str, Any]], worst: int) -> None:
    """The table, worst row first, and how the ratios are spread."""
    compared = sorted((r for r in rows if "jax" in r), key=lambda r: -r["dl4py"] / r["jax"])
    ratios = np.array([r["dl4py"] / r["jax"] for r in compared])
    by_name = {row.name: row for row in table()}
    print("| row | dl4py | jax | ratio | steps that cost most |\n|---|--:|--:|--:|---|")
    for i, r in enumerate(compared):
        steps = "; ".join(costliest(by_name[r["name"]])) if i < worst else ""
        print(f"| {r['name']} | {duration(r['dl4py'])} | {duration(r['jax'])} | {r['dl4py'] / r['jax']:.2f} | {steps} |")
    for r in rows:
        if "jax" not in r:
            print(f"| {r['name']} | {duration(r['dl4py']) if 'dl4py' in r else ''} | | | {r.get('problem', '')} |")
    if len(ratios):
        print(f"\n{len(ratios)} rows beside JAX: worst {ratios.max():.2f}, 95 % at most {np.quantile(ratios, 0.95):.2f}, "
              f"median {np.median(ratios):.2f}; {(ratios <= 1.1).mean():.0%} at most 1.1")


def main() -> None:
    """Measure what is asked for."""
    args = options()
    words = [w for w in args.only.split(",") if w]
    rows = [r for r in table() if (not words or any(w in r.name for w in words)) and args.kind in ("", r.kind)][::args.every]
    found = []
    for row in rows:
        found.append(measured(row, args.rounds))
        print(*found[-1].values(), file=sys.stderr, flush=True)
    report(found, args.worst)
    if args.json:
        Path(args.json).write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
