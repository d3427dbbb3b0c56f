"""The networks in DL4J itself: a Java process that reads the arrays from files and is then asked by lines. "dl4j_1t" has one thread.

Needs Java 11 or later and ``DL4J_CLASSPATH``, such as ``"jars/*"``: the jars of deeplearning4j-core and nd4j-native 1.0.0-M2.1.
"""
from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import weakref
from pathlib import Path

import numpy as np
from workloads import Task, Workload

SYSTEMS = ("dl4j", "dl4j_1t")
SOURCE = Path(__file__).with_name("Dl4jBenchmark.java")
if not (shutil.which("java") and os.environ.get("DL4J_CLASSPATH")):
    raise ImportError("needs Java and DL4J_CLASSPATH")


def _features_first(a: np.ndarray) -> np.ndarray:
    return a.swapaxes(1, 2) if a.ndim == 3 else a


def _end(process: subprocess.Popen[str], folder: tempfile.TemporaryDirectory[str]) -> None:
    process.communicate()
    folder.cleanup()


def make(w: Workload, system: str = "dl4j") -> Task | None:
    """The workload in DL4J; None where it is not a plain network."""
    if w.task not in ("mlp", "regular", "lenet", "char", "uci"):
        return None
    batches = [(_features_first(x), _features_first(y)) for x, y in w.batches()]
    folder = tempfile.TemporaryDirectory()
    for name, arrays in ("weights", w.weights().values()), ("batches", [a for pair in batches for a in pair]):
        Path(folder.name, name).write_bytes(b"".join(a.astype("<f4").tobytes() for a in arrays))
    shapes = [",".join(map(str, s)) for s in (w.sizes, *(a.shape for a in batches[0]))]
    process = subprocess.Popen(["java", "-cp", os.environ["DL4J_CLASSPATH"], str(SOURCE), w.task, w.kind, *shapes, folder.name],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               env=os.environ | ({"OMP_NUM_THREADS": "1"} if system == "dl4j_1t" else {}))

    def ask(what: object) -> str:
        print(what, file=process.stdin, flush=True)
        return answer()

    def answer() -> str:
        line = process.stdout.readline().strip()         # type: ignore[union-attr]
        if not line:
            raise RuntimeError(f"the Java process ended with {process.wait()}")
        return line
    answer()
    task = Task(ask, lambda: float(ask("score")))
    weakref.finalize(task, _end, process, folder)
    return task
