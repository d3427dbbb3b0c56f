"""Results of an op after it was saved, and loaded by processes in which nothing has run before."""
from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...samediff.base.datatype import is_floating
from ...samediff.base.user_code import new_process
from ...samediff.base.user_code.check_report import CheckFailure
from ...samediff.errors import GradientError
from ...samediff.graph.graph import SameDiff
from ...samediff.ir.op import Op
from ...samediff.ir.variable import SDVariable
from ..java.java_op import JavaOp
from . import runs
from .examples import Example

_GRAPH = "graph.sdz"


def in_new_process(op: Op, arrays: Example) -> str:
    """Outputs and gradients are those of this process."""
    owner = op.user_class if isinstance(op, JavaOp) else type(op)
    if why := new_process.unreachable(owner):
        return f"not run: {why}"
    with tempfile.TemporaryDirectory() as folder:
        sd = _graph(op, arrays)
        sd.save(Path(folder) / _GRAPH)
        wanted = [np.asarray(v) for v in _values(sd)]
        new_process.call(owner, f"{__name__}:compute_saved", folder)
        for k in range(new_process.PROCESSES):
            saved = SameDiff.load(Path(folder) / _values_file(k))
            _compared([saved.stored(f"value{i}") for i in range(len(wanted))], wanted, len(sd.outputs()))
    return f"{len(wanted)} arrays"


def _compared(found: Sequence[Any], wanted: Sequence[Any], outputs: int) -> None:
    for i, (a, b) in enumerate(zip(found, wanted)):
        if not runs.equal([a], [b]):
            what = f"output {i}" if i < outputs else f"gradient {i - outputs}"
            raise CheckFailure(f"{what} is another one after saving, in a new process: {a.ravel()[:4]} instead of {b.ravel()[:4]}. "
                               f"{new_process.ADVICE}")


def compute_saved(process: str, folder: str) -> None:
    """The part of a new process: the values of the graph in a folder, as constants of another one."""
    sd = SameDiff.create()
    for i, value in enumerate(_values(SameDiff.load(Path(folder) / _GRAPH))):
        sd.constant(f"value{i}", np.asarray(value))
    sd.save(Path(folder) / _values_file(int(process)))


def _values_file(process: int) -> str:
    return f"values{process}.sdz"


def _graph(op: Op, arrays: Example) -> SameDiff:
    """The op on inputs named ``input0``, ``input1`` …, with its outputs and what gradients it has as outputs of the graph."""
    sd = SameDiff.create()
    given = [None if a is None else (sd.var if is_floating(a.dtype) else sd.constant)(f"input{i}", a) for i, a in enumerate(arrays)]
    made = sd.place_op(op, given)
    results: list[SDVariable] = [v for v in (made if isinstance(made, (list, tuple)) else [made]) if v is not None]
    sd.set_outputs(*[v.name() for v in results])
    return sd


def _values(sd: SameDiff) -> list[Any]:
    """Outputs as ``compute`` gives them in the first step of training with seed 1; gradients of their sum, where there are some."""
    (node,) = sd.nodes()
    found = list(runs.results(node.op, [None if n is None else sd.stored(n) for n in node.inputs]))
    floating = [sd.variable(n) for n in sd.outputs() if sd.variable(n).dtype.is_floating]
    inputs = [sd.variable(n) for n in node.inputs if n is not None and sd.variable(n).dtype.is_floating]
    if node.op.gradient != "full" or node.op.stateful or not floating or not inputs:
        return found
    try:
        gradients = [g for g in sd.gradients(sum(v.sum() for v in floating), inputs) if g is not None]
    except GradientError:
        return found
    return [*found, *sd.output({}, *[g.name() for g in gradients]).values()]

