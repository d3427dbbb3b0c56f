"""The costs of a step of training: memory, and time by the limits of the machine."""
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...samediff.base.javanames import JavaSpelling
from ...samediff.executor.cost_model import flops_of
from ...samediff.plans.backend import backend_of
from ...samediff.plans.plan import Plan
from ..engine.engine import Engine


@dataclass(frozen=True)
class StepEstimate(JavaSpelling):
    """Memory and time of a step of training, before anything has run.

    Parameters
    ----------
    batch_size : int
        Examples.
    memory : dict of str to int
        Bytes by what they are for.
    flops, moved : int
        Operations, as far as they are known, and bytes that are read and written.
    seconds : float
        What the machine needs at least for these, step by step of the plan; caches may make it faster, small steps make it slower.
    """

    batch_size: int
    memory: Mapping[str, int]
    flops: int
    moved: int
    seconds: float

    def total(self) -> int:
        """Return all bytes."""
        return sum(self.memory.values())

    def __str__(self) -> str:
        rows = [*self.memory.items(), ("Total", self.total())]
        lines = [f"A step of training with {self.batch_size} examples", *(f"  {name:<22}{size / 2**20:>12,.2f} MB" for name, size in rows)]
        time = f"{1e3 * self.seconds:,.3f} ms, {self.batch_size / self.seconds:,.0f} examples/s" if self.seconds else "unknown"
        return "\n".join([*lines, f"  {self.flops / 1e6:,.2f} MFLOP, {self.moved / 1e6:,.2f} MB moved: about {time}"])


def estimate_of(engine: Engine, plan: Plan, feeds: Mapping[str, Any], batch_size: int) -> StepEstimate:
    """The estimate for a plan of a training step."""
    top = backend_of(plan.where).peak(np.dtype(np.float64 if engine.flat.dtype == np.float64 else np.float32))
    flops = moved = 0
    seconds = 0.0
    for step in plan.steps:
        done = sum(flops_of(n, plan.specs) or 0 for n in step.nodes)
        names = {n for n in (*step.inputs, *step.outputs) if isinstance(n, str) and n in plan.specs}
        bytes_ = sum(_bytes(plan.specs[n]) for n in names)
        flops, moved = flops + done, moved + bytes_
        seconds += max(done / top.flops, bytes_ / top.bytes)
    flat = engine.flat
    memory = {"Parameters": flat.params.nbytes, "Gradients": flat.gradients.nbytes, "Updater state": flat.state.nbytes,
              "Inputs and labels": sum(np.asarray(a).nbytes for a in feeds.values()), "Working memory": int(plan.arena)}
    return StepEstimate(batch_size, memory, flops, moved, seconds)


def _bytes(spec: Any) -> int:
    return math.prod(spec.shape) * int(spec.dtype.numpy.itemsize) if spec.is_static else 0
