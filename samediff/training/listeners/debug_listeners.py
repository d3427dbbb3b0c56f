"""Listeners that show or keep what the ops of a graph computed."""
from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...base.java.java_enum import JavaEnum
from ...codecs.nd4j_array import read_array
from ...errors import ConfigurationError
from ...files.nd4j import Nd4j
from .listener import Listener
from .listeners import report
from .operation import At

__all__ = ["ArraySavingListener", "ExecDebuggingListener", "PrintMode"]


class ArraySavingListener(Listener):
    """Writes every output of every op to a file of its own, to compare two runs.

    The files are ND4J arrays named ``<iteration>_<op>__<output>.bin``; an output that is computed again is written again.

    Parameters
    ----------
    directory : path
        Made when it does not exist; must be empty.

    Notes
    -----
    Source: ND4J's ``ArraySavingListener``.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        if any(self.directory.iterdir()):
            raise ConfigurationError(f"ArraySavingListener: {self.directory} is not empty; use another directory")

    def op_execution(self, sd: Any, at: At, batch: Any, op: Any, op_context: Any, outputs: Sequence[Any]) -> None:
        for number, array in enumerate(outputs):
            name = re.sub(r"[^\w.-]", "_", op.name)       # op names hold slashes
            Nd4j.save_binary(array, self.directory / f"{at.iteration()}_{name}__{number}.bin")

    @staticmethod
    def compare(dir1: str | os.PathLike[str], dir2: str | os.PathLike[str], eps: float) -> list[str]:
        """Report and return what differs between two directories: arrays that only one has, shapes, numbers further apart than ``eps``."""
        folders = Path(dir1), Path(dir2)
        names = [{p.name for p in folder.glob("*.bin")} for folder in folders]
        found = [f"{name}: only in {folders[name in names[1]]}" for name in sorted(names[0] ^ names[1])]
        for name in sorted(names[0] & names[1]):
            with (folders[0] / name).open("rb") as first, (folders[1] / name).open("rb") as second:
                a, b = np.asarray(read_array(first)), np.asarray(read_array(second))
            if a.shape != b.shape:
                found.append(f"{name}: shapes {a.shape} and {b.shape}")
            elif not np.allclose(a, b, rtol=0, atol=eps, equal_nan=True):
                apart = np.abs(np.subtract(a, b, dtype=np.float64))
                found.append(f"{name}: up to {np.nanmax(apart, initial=0):.6g} apart")
        for line in found:
            report(line)
        return found


class PrintMode(JavaEnum):
    """Amount of detail that `ExecDebuggingListener` prints for an op."""

    OPS_ONLY = "OPS_ONLY"
    SHAPES_ONLY = "SHAPES_ONLY"
    REPRODUCE = "REPRODUCE"


class ExecDebuggingListener(Listener):
    """Reports the ops of a run in their order: names, shapes, or Python code that repeats each call.

    Parameters
    ----------
    print_mode : PrintMode
        How much is shown of an op.
    max_iterations : int
        Only the first iterations heard; 0 or less for all.
    log_iter : bool
        Report a line before each iteration.

    Notes
    -----
    Source: ND4J's ``ExecDebuggingListener``. Ops run together; the report comes when all of them are done.
    """

    def __init__(self, print_mode: PrintMode, max_iterations: int, log_iter: bool) -> None:
        self.print_mode, self.max_iterations, self.log_iter = PrintMode(print_mode), max_iterations, log_iter
        self._heard: list[tuple[Any, int, int]] = []

    def pre_op_execution(self, sd: Any, at: At, op: Any, op_context: Any) -> None:
        now = (at.operation(), at.epoch(), at.iteration())
        if now not in self._heard:
            self._heard.append(now)
            if self.log_iter and not self._over():
                report(f"--- {now[0].name}: epoch {now[1]}, iteration {now[2]}")
        if self._over():
            return
        line = f"{op.name} ({op.op.id})"
        if self.print_mode is not PrintMode.OPS_ONLY:
            inputs = ", ".join("none" if a is None else f"{np.asarray(a).dtype}{np.asarray(a).shape}" for a in op_context.inputs)
            line += f": {inputs} -> " + ", ".join(f"{np.asarray(a).dtype}{np.asarray(a).shape}" for a in op_context.outputs)
        if self.print_mode is PrintMode.REPRODUCE:
            arrays = ", ".join("None" if a is None else _as_code(np.asarray(a)) for a in op_context.inputs)
            line += f"\n{op.op!r}.compute(np, {arrays})"
        report(line)

    def _over(self) -> bool:
        return 0 < self.max_iterations < len(self._heard)


def _as_code(array: Any) -> str:
    return f"np.array({array.tolist()!r}, np.{array.dtype.name})"
