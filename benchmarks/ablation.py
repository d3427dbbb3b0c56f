"""What each part of the CPU back end buys: every workload once as it is and once without each part; prints a table in Markdown.

    python benchmarks/ablation.py [--rounds 3] [--only W1,W2_infer] [--parts fusion,programs] [--no-start]

A part is left out by putting something else in its place, in a process of its own, before anything of dl4py runs (:data:`PARTS`): the
library has no switches for this. Results stay the same, which is checked. Slices are taken in turn as in ``run.py``; a cell says how
many times as long the shortest step takes without the part, so 1.00 is a part that this row does not need. A part runs where
it can matter at all. The last rows are start-ups, by processor time. It takes some ten minutes on two processors.
"""
from __future__ import annotations

import argparse
import importlib
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

from cold_start import bytecode_in, start_up
from measure import Apart, compare
from run import chosen, duration
from workloads import WORKLOADS, Task, Workload

PREFIX = "without_"


def _module(name: str) -> Any:
    return importlib.import_module(f"dl4py.{name}")


def _replace(module: str, name: str, value: Any) -> None:
    """Put a value in the place of ``a.b`` of a module, for good: the process has no other purpose."""
    *path, last = name.split(".")
    owner = _module(module)
    for part in path:
        owner = getattr(owner, part)
    if not hasattr(owner, last):
        raise AttributeError(f"{module} has no {name}")         # it was renamed: nothing would be left out
    mock.patch.object(owner, last, value).start()


def _nothing(*given: Any, **more: Any) -> None:
    """Takes the place of what may say that it does not serve."""


def _no_kernels(*names: str) -> None:
    """The ops of these names ("module.Class") run their ``compute``."""
    table = _module("samediff.cpu.kernel_table").KERNELS
    for name in names:
        module, _, cls = name.rpartition(".")
        op = getattr(_module(f"samediff.ops.{module}"), cls)
        table.find(op)                                          # the rules of its module are there, and no later import brings them back
        table.register(op)(_nothing)


def _fusion() -> None:
    _replace("samediff.executor.fuse", "_fits", lambda one, other: False)


def _programs() -> None:
    """One program for each step, and none for several training steps."""
    def alone(frame: Any, steps: int) -> dict[int, list[int]]:
        return {i: [i] for i in frame.natives}
    _replace("samediff.plans.frame", "Frame._neighbours", alone)
    _fused_step()


def _loops() -> None:
    """Elementwise groups by NumPy, and all else that is an instruction by a call from Python."""
    _replace("samediff.cpu.code.frame", "NativeFrame.instructions", _nothing)


def _products() -> None:
    for name in ("BLAS_FROM", "DOT_ROWS"):
        _replace("samediff.cpu.matrix.matrix_product", name, 0)


def _dots() -> None:
    _replace("samediff.cpu.matrix.matrix_product", "DOT_ROWS", 0)


def _sweeps() -> None:
    for name in ("folded", "swept"):
        _replace("samediff.cpu.sweeps.sweep", name, _nothing)


def _direct() -> None:
    _replace("samediff.cpu.routines.direct_convolution", "DirectConvolution.of", _nothing)


def _pairs() -> None:
    _replace("samediff.cpu.ops.conv.pooling", "_PoolingSizes.lanes", lambda sizes: 0)


def _sequences() -> None:
    _no_kernels(*(f"recurrent.lstm_sequence.LstmSequence{kind}" for kind in ("", "Grad")))


def _batch_norm() -> None:
    _no_kernels(*(f"nn.batch_norm.BatchNorm{kind}" for kind in ("Training", "TrainingGrad", "Inference")))


def _losses() -> None:
    _no_kernels(*(f"losses.cross_entropy.{name}" for name in ("SoftmaxCrossEntropy", "CrossEntropyTerms", "CrossEntropySlope")))


def _masks() -> None:
    _no_kernels("nn.dropout_mask.DropoutMask")


def _fused_step() -> None:
    _replace("samediff.cpu.fused_step", "FusedStep.of", _nothing)


def _series() -> None:
    _replace("networks.engine.steps", "CachedStep.most", property(lambda step: 1))


def _fast_path() -> None:
    _replace("networks.models.trainer", "Trainer.takes_compiled_steps", _nothing)


def _helpers() -> None:
    _replace("samediff.cpu.native.thread_pool", "pool", _nothing)


@dataclass(frozen=True)
class Part:
    """What can be left out.

    ``leave_out`` does so, ``title`` is its name in the table, ``rows`` the workloads where it matters (all, unless it says so).
    """

    leave_out: Callable[[], None]
    title: str
    rows: str = ""


NETWORKS = "W0,W1,W2,W3,W7,W8"
PARTS = {
    "fusion": Part(_fusion, "fusion of elementwise groups"),
    "programs": Part(_programs, "programs of many steps"),
    "loops": Part(_loops, "instructions at all"),
    "products": Part(_products, "own matrix products", "W0,W1,W2,W5,W6_mm,W7,W8,W10"),
    "dots": Part(_dots, "dot products of few rows", "W0_infer,W1_infer,W2_infer"),
    "sweeps": Part(_sweeps, "reductions, softmax", f"{NETWORKS},W4,W5,W10"),
    "direct": Part(_direct, "convolutions in registers", "W2"),
    "pairs": Part(_pairs, "2 x 2 pooling", "W2"),
    "sequences": Part(_sequences, "sequence kernels", "W3_uci"),     # of W3_char a step would take seconds
    "batch_norm": Part(_batch_norm, "batch norm kernels", "W8"),
    "losses": Part(_losses, "loss kernels", f"{NETWORKS},W10"),
    "masks": Part(_masks, "dropout masks", "W8"),
    "fused_step": Part(_fused_step, "fused step", f"{NETWORKS},W5,W10"),
    "series": Part(_series, "several steps a call", f"{NETWORKS},W10"),
    "fast_path": Part(_fast_path, "fast path", f"{NETWORKS},W10"),
    "helpers": Part(_helpers, "helper threads"),
}
TRAINING = ("fused_step", "series", "fast_path", "losses")


def make(workload: Workload, system: str) -> Task:
    """The workload in dl4py without a part."""
    PARTS[system.removeprefix(PREFIX)].leave_out()
    made: Task = importlib.import_module("with_dl4py").make(workload)
    return made


def parts_for(workload: Workload, parts: Sequence[str]) -> list[str]:
    """Those of the parts that are left out of a workload."""
    return [p for p in parts if chosen(workload.name, PARTS[p].rows) and not (p in TRAINING and workload.kind in ("infer", "call"))]


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="slices of 0.2 s")
    parser.add_argument("--only", default="", help="workloads or their beginnings, with commas between")
    parser.add_argument("--parts", default=",".join(PARTS), help="with commas between")
    parser.add_argument("--start", action=argparse.BooleanOptionalAction, default=True, help="also start-ups (the default)")
    return parser.parse_args()


def print_row(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def main() -> None:
    """Run what is asked for."""
    args = options()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= bytecode_in(folder)
        report(args)


def report(args: argparse.Namespace) -> None:
    """Run the workloads and print the table."""
    parts = args.parts.split(",")
    print_row("", "time", *(PARTS[p].title for p in parts))
    print_row("---", *["--:"] * (len(parts) + 1))
    for w in WORKLOADS:
        if chosen(w.name, args.only):
            systems = {p: PREFIX + p for p in parts_for(w, parts)}
            found = compare(w, ["dl4py", *systems.values()], args.rounds, Apart)
            whole = found["dl4py"]["min"]
            print_row(w.name, duration(whole), *(f"{found[systems[p]]['min'] / whole:.2f}" if p in systems else "" for p in parts))
    if args.start:
        print("\nProcessor time of a start and five steps, in seconds:\n")
        print_row("", "lean compiler", "Numba as it is", "kernels on disk")
        print_row("---", "--:", "--:", "--:")
        for name in ("W0", "W2"):
            starts = [start_up(name, kept, compiler, 1) for kept, compiler in ((False, ""), (False, "plain"), (True, ""))]
            print_row(name, *(f"{one.processor:.2f}" for (one,) in starts))


if __name__ == "__main__":
    main()
