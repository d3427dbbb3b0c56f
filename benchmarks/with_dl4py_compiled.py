"""The workloads that only compute, as functions over arrays that ``compiled`` traces."""
from __future__ import annotations

from typing import Any

import numpy as np
from workloads import Task, Workload, looped, total

from dl4py import Nd4j, compiled

SYSTEMS = ("dl4py_compiled",)


def _map(x: Any) -> Any:
    return x * Nd4j.nn.sigmoid(x * 1.7) + np.tanh(x) * np.exp(-x * x)


def _tiny(x: Any, b: Any) -> Any:
    for _ in range(10):
        x = np.tanh(x * 1.01 + b)
    return x


def _tiny_mm(x: Any, b: Any, W: Any) -> Any:
    for _ in range(10):
        x = np.tanh(x @ W + b)
    return x


def _loss(p: Any, x: Any, y: Any) -> Any:
    hidden = np.maximum(x @ p["W1"] + p["bW1"], 0)
    return -(Nd4j.nn.log_softmax(hidden @ p["W2"] + p["bW2"]) * y).sum() / len(x)


def make(w: Workload, system: str = "dl4py_compiled") -> Task | None:
    """The workload as one compiled function; None where it is more than that."""
    function = {"map": lambda: compiled(_map), "chain": lambda: compiled(lambda x: _map(x).sum()).value_and_gradient(),
                "tiny": lambda: compiled(_tiny), "tiny_mm": lambda: compiled(_tiny_mm),
                "tiny_grad": lambda: compiled(_tiny).value_and_gradient((0, 1)),
                "slopes": lambda: compiled(_loss).value_and_gradient()}.get(w.task)
    if function is None:
        return None
    call, p = function(), w.weights()
    more = {"tiny_mm": (p.get("b"), p.get("W"))}.get(w.task, (p.get("b"),) if p else ())
    given: list[Any] = [(p, x, y) if w.task == "slopes" else (x, *more) for x, y in w.batches()]

    return Task(looped(call, given), lambda: total(call(*given[0])))
