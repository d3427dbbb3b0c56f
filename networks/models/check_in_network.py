"""The part of checking a layer or vertex that needs a network: parameters, training, model files, steps of series."""
from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ...layers.checks.check_subject import Runner, Subject, time_axis
from ...layers.standard.output import OutputLayer
from ...layers.standard.recurrent import RnnOutputLayer
from ...layers.types.input_type import InputTypeRecurrent
from ...samediff.base.user_code import new_process
from ...samediff.base.user_code.check_report import CheckFailure, CheckReport
from ...samediff.data import MultiDataSet
from ...samediff.training.updaters.updaters import Sgd
from ..structure.configuration import NeuralNetConfiguration
from .computation_graph import ComputationGraph
from .multilayer import MultiLayerNetwork

_MODEL, _INPUTS = "model.zip", "inputs.npz"


def network_checks(report: CheckReport, subject: Subject, seed: int) -> None:
    """Add the checks in a network to a report."""
    if subject.output_type(*subject.kinds) is None:
        return
    made: list[Small] = []
    if not report.run("parameters in a network", lambda: _start(made, subject, seed)):
        return
    small = made[0]
    if not report.run("training step", small.step):
        return
    report.run("saved and loaded", small.files)
    if not type(subject.given).__module__.startswith("dl4py."):
        report.run("saved, in a new process", small.elsewhere)
    if small.pieces_make_sense():
        report.run("series in pieces", small.pieces)


def _start(made: list[Small], subject: Subject, seed: int) -> str:
    made.append(Small(subject, seed))
    return made[0].parameters()


def output_of_saved(process: str, kind: str, folder: str) -> None:
    """The part of a new process: the output of a model file for the inputs beside it."""
    net = {k.__name__: k for k in (MultiLayerNetwork, ComputationGraph)}[kind].load(Path(folder) / _MODEL)
    with np.load(Path(folder) / _INPUTS) as given:
        found = net.output(*[given[n] for n in given.files])
    np.save(Path(folder) / f"output{process}.npy", found[0] if isinstance(found, list) else found)


class Small:
    """A network of the subject and, where it has no loss itself, an output layer."""

    def __init__(self, subject: Subject, seed: int) -> None:
        self.subject = subject
        general = NeuralNetConfiguration.Builder().seed(seed + 1).data_type("DOUBLE").updater(Sgd(0.1))
        self.net: Any = self._graph(general) if not subject.is_layer else self._list(general)
        self.key = "0" if subject.is_layer else "checked"
        labels = subject.labels if subject.has_loss else self._labels(seed)
        self.data = MultiDataSet(subject.arrays, None if labels is None else [labels])

    def _last(self) -> Any:
        kind = self.subject.output_type(*self.subject.kinds)
        if isinstance(kind, InputTypeRecurrent) and Runner(self.subject).run().activations.ndim == 3:
            return RnnOutputLayer(n_out=2, rnn_data_format=kind.format)
        return OutputLayer(n_out=2)

    def _list(self, general: Any) -> MultiLayerNetwork:
        stack = general.list().layer(self.subject.given)
        if not self.subject.has_loss:
            stack.layer(self._last())
        return MultiLayerNetwork(stack.set_input_type(self.subject.kinds[0]).build()).init()

    def _graph(self, general: Any) -> ComputationGraph:
        subject = self.subject
        named = subject.conf.named_inputs()
        own = [f"input{i}" for i in range(len(subject.kinds) - len(named))]
        builder = general.graph_builder().add_inputs(*own, *named).add_vertex("checked", subject.given, *own)
        builder.add_layer("out", self._last(), "checked").set_outputs("out").set_input_types(*subject.kinds)
        return ComputationGraph(builder.build()).init()

    def _labels(self, seed: int) -> Any:
        out = self.output()
        picked = np.random.default_rng(seed).integers(0, 2, out.size // 2)
        if out.ndim == 2:
            return np.eye(2)[picked]
        wide = np.eye(2)[picked].reshape(out.shape[0], -1, 2)
        return wide if out.shape[2] == 2 and out.shape[1] != 2 else wide.reshape(out.shape[0], -1, 2).transpose(0, 2, 1).copy()

    def output(self) -> Any:
        """The activations of the last layer."""
        found = self.net.output(*self.subject.arrays)
        return found[0] if isinstance(found, list) else found

    def parameters(self) -> str:
        """Check that the network has the parameters that the subject declares."""
        table = {n.removeprefix(f"{self.key}_"): a.shape for n, a in self.net.param_table().items() if n.startswith(f"{self.key}_")}
        declared = {p.name: p.shape for p in self.subject.parameters}
        if table != declared:
            raise CheckFailure(f"the network has {table}, declared are {declared}")
        return f"{sum(p.size for p in self.subject.parameters)} values"

    def step(self) -> str:
        """Parameters move where they have a gradient, frozen ones stay; everything is finite."""
        before, old = self.net.params().copy(), self.net.get_iteration_count()
        self.net.fit(self.data)
        after, score = self.net.params(), self.net.score()
        if not np.isfinite(score) or not np.isfinite(after).all():
            raise CheckFailure(f"after a step the score is {score} and {int((~np.isfinite(after)).sum())} parameters are not finite")
        if before.size and self.net.get_iteration_count() != old + 1:
            raise CheckFailure("fitting one batch was not one iteration")
        gradient, size = self.net.gradient().gradient(), sum(p.size for p in self.subject.parameters)
        moved = before != after
        if self.subject.frozen and moved[:size].any():
            raise CheckFailure("parameters of a frozen layer moved")
        if before.size and (gradient != 0).any() and not moved.any():
            raise CheckFailure("no parameter moved")
        return f"score {score:.2g}"

    def files(self) -> str:
        """A model file gives an equal configuration, equal parameters and equal output."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.zip"
            self.net.save(path)
            again = type(self.net).load(path)
        if again != self.net:
            raise CheckFailure("the network is not equal after saving and loading")
        old, self.net = self.output(), again
        if not np.array_equal(old, self.output()):
            raise CheckFailure("the output is not equal after saving and loading")
        return "1 file"

    def elsewhere(self) -> str:
        """New processes compute from the file what this one does."""
        owner = type(self.subject.given)
        if why := new_process.unreachable(owner):
            return f"not run: {why}"
        with tempfile.TemporaryDirectory() as folder:
            self.net.save(Path(folder) / _MODEL)
            np.savez(Path(folder) / _INPUTS, *self.subject.arrays)
            new_process.call(owner, f"{__name__}:output_of_saved", type(self.net).__name__, folder)
            found = [np.load(Path(folder) / f"output{k}.npy") for k in range(new_process.PROCESSES)]
        wanted = self.output()
        for a in found:
            if a.shape != wanted.shape or not np.allclose(a, wanted, 1e-12, 1e-300, equal_nan=True):
                raise CheckFailure(f"the output is another one in a new process: {a.ravel()[:4]} instead of {wanted.ravel()[:4]}. "
                                   f"{new_process.ADVICE}")
        return f"{wanted.size} values"

    def pieces_make_sense(self) -> bool:
        """Whether the subject is a layer that carries state along series of any length."""
        subject = self.subject
        if not (subject.is_layer and len(subject.arrays) == 1 and time_axis(subject.kinds[0], subject.arrays[0].ndim)):
            return False
        made = [g for v, g in self.net.engine.graphs.plain.items() if not v.stateful]
        return bool(made and made[0].states)

    def pieces(self) -> str:
        """Step by step gives what the whole series gives."""
        x = self.subject.arrays[0]
        axis = time_axis(self.subject.kinds[0], x.ndim) or 2
        first, second = np.split(x, [2], axis)
        whole, changed = self.net.output(x), x.copy()
        changed[(slice(None),) * axis + (-1,)] *= 2
        if whole.ndim != 3:
            return "one result for the whole series"
        if not np.array_equal(np.split(self.net.output(changed), [2], axis)[0], np.split(whole, [2], axis)[0]):
            return "needs the whole series: early steps depend on late ones"
        self.net.rnn_clear_previous_state()
        found = [self.net.rnn_time_step(piece) for piece in (first, second)]
        if not np.allclose(np.concatenate(found, axis), whole, 1e-9, 1e-12):
            raise CheckFailure("activations of a series in two pieces differ from those of the whole")
        return f"{first.shape[axis]} and {second.shape[axis]} steps"
