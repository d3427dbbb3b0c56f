"""Networks: one for each row of the table of layers and vertices, one for each updater, and some of every kind."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dl4py import layers as L
from dl4py.layers import InputType, InputTypeRecurrent
from dl4py.layers.checks.check import _examples, _label
from dl4py.layers.checks.check_subject import Runner, Subject
from dl4py.networks import ComputationGraph, ModelSerializer, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.data import DataSet, MultiDataSet, NormalizerStandardize
from dl4py.samediff.training.updaters import updaters as U
from tests.interop.cases import Case, Folder
from tests.interop.known_differences import NO_STEP, OTHER_CONFIGURATION, REFUSED_LAYERS, found
from tests.layers.layer_table import LAYERS, VERTICES, Row

RNG = np.random.default_rng(5)


@dataclass
class NetworkCase(Case):
    """A network that has been trained for a step: outputs, the next step, updater state, and the file that DL4J makes of it."""

    net: Any = None
    inputs: tuple[Any, ...] = ()
    labels: Any = None
    label_mask: Any = None
    feature_masks: Any = None           # one for each input
    trains: bool = True
    same_step: bool = True              # whether DL4J's step is right
    same_configuration: bool = True     # whether DL4J writes what it has read
    normalizer: Any = None

    def write(self, folder: Folder) -> dict[str, Any]:
        net, data = self.net, self._data()
        if self.trains:
            net.fit(data)
        file = f"{self.id}.zip"
        ModelSerializer.write_model(net, folder.given / file, True, self.normalizer)
        put = folder.put
        entry = {"kind": "graph" if isinstance(net, ComputationGraph) else "list", "file": file, "inputs": [put(x) for x in data.features],
                 "outputs": [put(o) for o in self._outputs(net)], "normalizer": self.normalizer and True}
        if self.feature_masks is not None:
            entry["featureMasks"] = [put(m) for m in data.features_masks]
        if self.trains:
            entry |= {"labels": [put(y) for y in data.labels], "labelMasks": data.labels_masks and [put(m) for m in data.labels_masks]}
            net.fit(data)
        return entry

    def check(self, folder: Folder, result: dict[str, Any]) -> None:
        net = self.net
        self.note("outputs", result["outputs"], self.tolerance)
        again = type(net).load(folder.found / f"{self.id}.zip")
        if self.same_configuration:
            assert again.get_configuration() == net.get_configuration(), "the configuration that DL4J saved is another one"
        assert again.get_iteration_count() == net.get_iteration_count()
        for what, ending, mine, theirs in (("parameters", ".params", net.params(), again.params()),
                                           ("updater state", ".state", net.engine.flat.state, again.engine.flat.state)):
            if mine.size:
                self.compare(f"{what} read again", theirs, folder.got(self, ending).ravel(), 0)
            if mine.size and self.same_step:
                self.compare(what, folder.got(self, ending).ravel(), mine, self.step)
        if self.trains and self.same_step and np.isfinite(result["score"]):
            self.compare("score", result["score"], net.score(), self.step)
        for i, output in enumerate(self._outputs(again)):
            self.compare("outputs of DL4J's file", output, folder.got(self, f".{i}"), self.tolerance)
        if self.normalizer:
            norm = ModelSerializer.restore_normalizer_from_file(folder.found / f"{self.id}.zip")
            for name in ("mean", "std"):
                self.compare(f"{name} of the normalizer", getattr(norm, f"get_{name}")(), getattr(self.normalizer, f"get_{name}")(), 0)

    def _data(self) -> MultiDataSet:
        masks = self.label_mask if self.label_mask is None or isinstance(self.label_mask, list) else [self.label_mask]
        labels = [] if self.labels is None else self.labels if isinstance(self.labels, list) else [self.labels]
        return MultiDataSet(self._typed(self.inputs), self._typed(labels), self._masks(), masks and self._typed(masks))

    def _typed(self, arrays: Any) -> list[Any]:
        """Arrays of the type of the network, as DL4J wants them."""
        return [np.asarray(a, self.net.params().dtype if self.net.num_params() else np.float32) for a in arrays]

    def _masks(self) -> list[Any] | None:
        return None if self.feature_masks is None else self._typed(self.feature_masks)

    def _outputs(self, net: Any) -> list[Any]:
        inputs, masks = self._typed(self.inputs), self._masks()
        if isinstance(net, ComputationGraph):
            return net.output(*inputs, features_masks=masks)
        return [net.output(inputs[0], features_mask=masks and masks[0])]


def general(updater: Any = None, dtype: str = "FLOAT") -> Any:
    """The common part of all configurations."""
    return NeuralNetConfiguration.Builder().seed(3).data_type(dtype).updater(updater or U.Adam(0.05))


def _subject(row: Row, is_layer: bool) -> Subject:
    options = row.options
    types = [options["input_type"]] if "input_type" in options else options.get("input_types")
    count = 1 if is_layer else len(row.inputs)
    kinds, arrays = _examples(row.inputs[:count], types, 0)
    labels = row.inputs[1] if is_layer and len(row.inputs) > 1 else None
    subject = Subject.of_layer(row.made, kinds[0], arrays[0], labels) if is_layer else Subject.of_vertex(row.made, kinds, arrays)
    subject.draw(0)
    if subject.needs_labels and labels is None:
        _label(subject, 0)
    subject.label_mask = options.get("mask") if subject.has_loss else None
    return subject


def layer_case(name: str, row: Row) -> NetworkCase:
    """The layer, and an output layer behind it where it has no loss."""
    subject = _subject(row, True)
    stack = general().list().layer(subject.given)
    if not subject.has_loss:
        stack.layer(_last(subject))
    net = MultiLayerNetwork(stack.set_input_type(subject.kinds[0]).build()).init()
    labels = subject.labels if subject.has_loss else _labels(net, subject)
    return NetworkCase(name, net=net, inputs=tuple(subject.arrays), labels=labels, label_mask=subject.label_mask,
                       **_known(net.get_configuration().layers[0]))


def vertex_case(name: str, row: Row) -> NetworkCase:
    """The vertex between the inputs and an output layer."""
    subject = _subject(row, False)
    named = subject.conf.named_inputs()
    own = [f"input{i}" for i in range(len(subject.kinds) - len(named))]
    builder = general().graph_builder().add_inputs(*own, *named).add_vertex("checked", subject.given, *own)
    builder.add_layer("out", _last(subject), "checked").set_outputs("out").set_input_types(*subject.kinds)
    net = ComputationGraph(builder.build()).init()
    return NetworkCase(name, net=net, inputs=tuple(subject.arrays), labels=_labels(net, subject), **_known(row.made))


def _known(made: Any) -> dict[str, Any]:
    return {"refused": found(REFUSED_LAYERS, made), "same_step": not found(NO_STEP, made),
            "same_configuration": not found(OTHER_CONFIGURATION, made)}


def _last(subject: Subject) -> Any:
    kind = subject.output_type(*subject.kinds)
    if isinstance(kind, InputTypeRecurrent) and Runner(subject).run().activations.ndim == 3:
        return L.RnnOutputLayer(n_out=2, rnn_data_format=kind.format)
    return L.OutputLayer(n_out=2)


def _labels(net: Any, subject: Subject) -> Any:
    """One of two classes, in the shape of the output."""
    out = net.output(*[np.asarray(x, np.float32) for x in subject.arrays])
    out = out[0] if isinstance(out, list) else out
    axis = 1 if out.ndim < 3 or out.shape[1] == 2 else 2
    return np.moveaxis(np.eye(2)[np.random.default_rng(0).integers(0, 2, np.delete(out.shape, axis))], -1, axis)


def _mlp(updater: Any, dtype: str = "FLOAT", **options: Any) -> MultiLayerNetwork:
    builder = general(updater, dtype).list().layer(L.DenseLayer(n_in=4, n_out=5, activation="tanh", **options))
    return MultiLayerNetwork(builder.layer(L.OutputLayer(n_in=5, n_out=3)).build()).init()


def _two_headed() -> ComputationGraph:
    builder = general(U.Nesterovs(0.1, 0.9)).graph_builder().add_inputs("a", "b")
    builder.add_layer("left", L.DenseLayer(n_out=4, activation="relu", updater=U.Sgd(0.1)), "a")
    builder.add_layer("right", L.DenseLayer(n_out=4, activation="tanh", bias_updater=U.Sgd(0.3)), "b")
    builder.add_vertex("both", L.ElementWiseVertex("Add"), "left", "right").add_layer("norm", L.BatchNormalization(), "both")
    builder.add_layer("class", L.OutputLayer(n_out=3), "norm").add_layer("value", L.OutputLayer(n_out=2, loss_function="mse",
                                                                                               activation="identity"), "both", "a")
    return ComputationGraph(builder.set_outputs("class", "value").set_input_types(InputType.feed_forward(3),
                                                                                  InputType.feed_forward(2)).build()).init()


def own_cases() -> list[NetworkCase]:
    """Updaters, data types, options of training, a normalizer, two inputs and outputs."""
    x, y = RNG.normal(size=(6, 4)), np.eye(3)[[0, 1, 2, 2, 1, 0]]
    cases = [NetworkCase(f"updater/{type(u).__name__}", net=_mlp(u), inputs=(x,), labels=y)
             for u in (U.Adam(0.05), U.AMSGrad(0.05), U.AdaMax(0.05), U.Nadam(0.05), U.AdaDelta(), U.AdaGrad(0.05), U.RmsProp(0.05),
                       U.Nesterovs(0.1, 0.8), U.Sgd(0.1), U.NoOp())]
    cases.append(NetworkCase("network/double", 1e-12, 1e-12, net=_mlp(U.Adam(0.05), "DOUBLE"), inputs=(x,), labels=y))
    cases.append(NetworkCase("network/regularized", net=_mlp(U.Adam(0.05), l1=0.01, l2=0.02, weight_decay_bias=0.1), inputs=(x,), labels=y))
    norm = NormalizerStandardize()
    norm.fit(DataSet(np.asarray(x, np.float32), np.asarray(y, np.float32)))
    cases.append(NetworkCase("network/normalizer", net=_mlp(U.RmsProp(0.01)), inputs=(x,), labels=y, normalizer=norm))
    cases.append(NetworkCase("network/two inputs and outputs", net=_two_headed(), inputs=(x[:, :3], x[:, 2:]), labels=[y, x[:, :2]]))
    return cases


def network_cases() -> dict[str, Any]:
    """Functions that make the cases, by name."""
    made: dict[str, Any] = {c.name: (lambda c=c: c) for c in own_cases()}
    for kind, rows, make in (("layer", LAYERS, layer_case), ("vertex", VERTICES, vertex_case)):
        for i, row in enumerate(rows):
            if type(row.made).__module__.startswith("dl4py."):
                name = f"{kind}/{type(row.made).__name__}-{i}"
                made[name] = (lambda make=make, name=name, row=row: make(name, row))
    return made
