"""Steps of pretraining for one layer."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...layers.types.parameters import LayerScope, expect_variable
from ...samediff.graph.graph import SameDiff
from ...samediff.ir.run_context import RunContext
from ...samediff.ops.elementwise.masking import drop_marks
from ...samediff.training.listeners.calls import Listeners
from ...samediff.training.listeners.operation import At, Operation
from ...samediff.training.steps.step import FlatParameters, TrainingStep
from ...samediff.training.steps.transaction import Transaction
from ..batches.batch import NetworkBatch
from ..batches.batch_checks import time_axis
from ..structure.structure import Member
from .forward import Forward
from .gradient import Gradient
from .member_rules import constrain, scale_gradients


class Pretrainer:
    """Trains one layer, with updater state of its own."""

    def __init__(self, member: Member, dtype: Any) -> None:
        self.member, self.score = member, 0.0
        self.counter = np.zeros(1, np.int64)
        slots = [replace(slot, order="c", regularization=member.conf.regularization_for(p), updated=True) for slot, p in member.slots()]
        self._flat = FlatParameters(slots, dtype)
        self._steps: dict[tuple[int, int], TrainingStep] = {}       # by the ranks of input and mask

    @property
    def iteration(self) -> int:
        """Number of steps done."""
        return self.counter.item()

    def state(self) -> dict[str, Any]:
        """The state from which a copy continues."""
        flat = self._flat
        return {"score": self.score, "iteration": self.iteration, "state": flat.state.copy(), "gradients": flat.gradients.copy()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on with the updater state and the counter of another one."""
        self.score, self.counter[0] = state["score"], state["iteration"]
        self._flat.state[...], self._flat.gradients[...] = state["state"], state["gradients"]

    def _made(self, rank: int, masked: int, seed: int, dtype: Any, axis: int) -> TrainingStep:
        if (rank, masked) not in self._steps:
            sd = SameDiff.create()
            sd.seed = seed
            x = sd.placeholder("input", dtype, *[-1] * rank)
            x = drop_marks(x, sd.placeholder("mask", dtype, *[-1] * masked) if masked else None, axis == 1)
            own = {n.removeprefix(f"{self.member.key}_"): sd.attach(n, a) for n, a in self._flat.arrays.items()}
            noise = getattr(self.member.conf, "weight_noise", None)
            if noise is not None:
                own = noise.applied(sd, own, self.member.conf.parameter_table())
            if self.member.preprocessor is not None:
                x = self.member.preprocessor.define(sd, x)
            scores, steps = self.member.conf.define_pretraining(sd, x, LayerScope(self.member.label, own))
            checked = {n: expect_variable(f"{self.member.label}: the pretraining step of {n!r}", v, own[n].spec) for n, v in steps.items()}
            names = {f"{self.member.key}_{n}": v.name() for n, v in checked.items()}
            rows = sd.call("base", "size_at", x, 0)         # of series that a preprocessor folds: their steps
            self._steps[rank, masked] = TrainingStep(sd, names, self._flat, [scores.sum().name(), rows.name()])
        return self._steps[rank, masked]

    def step(self, forward: Forward, batch: NetworkBatch, hear: Listeners, view: Any) -> None:
        """One step on the activations of the layers before this one."""
        structure, flat, epoch = forward.structure, forward.graphs.parameters.flat, forward.progress.epoch
        below = self.member.inputs[0]
        feeds = {}
        if below in structure.inputs:
            i = structure.inputs.index(below)
            x, mask = batch.inputs[i], batch.features_masks[i] if i < len(batch.features_masks) else None
            if mask is not None:
                feeds["mask"] = mask.astype(structure.dtype.numpy)
        else:
            x, mask = forward.activations(batch, [below])[0][0], None
        for name, array in self._flat.arrays.items():
            array[...] = flat.arrays[name]
        seed = forward.progress.seed
        step = self._made(x.ndim, 0 if mask is None else mask.ndim, seed, structure.dtype, time_axis(structure))
        penalty = self._penalty(epoch)
        context = RunContext(True, seed, self.iteration, epoch=epoch)
        total, rows = map(float, step.compute({"input": x, **feeds}, context))
        hear.call("on_gradient_calculation", view)
        scale_gradients(self.member, self._flat.slots, self._flat.gradient_arrays, 1.0 / rows if structure.mini_batch else 1.0)
        done = At(epoch, self.iteration, Operation.TRAINING)
        pairs = [(flat.arrays[name], array) for name, array in self._flat.arrays.items()]
        with flat.gate, Transaction([self._flat.state, *(array for array, _ in pairs)], self.counter):
            step.update(self.iteration, epoch)
            constrain(self.member, self._flat.arrays)
            for array, new in pairs:
                array[...] = new
            self.counter += 1
        self.score = total / rows + penalty
        hear.iteration_done(view, done)

    def gradient(self) -> Gradient:
        """The gradient of the last step, by the names of the layer."""
        arrays = {n.removeprefix(f"{self.member.key}_"): a for n, a in self._flat.gradient_arrays.items()}
        return Gradient(self._flat.gradients, arrays)

    def _penalty(self, epoch: int) -> float:
        return sum(float(r.score(np, self._flat.arrays[s.name].astype(np.float64), r.coefficient(self.iteration, epoch)))
                   for s in self._flat.slots for r in s.regularization)
