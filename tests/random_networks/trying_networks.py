"""Random networks by both executors: ``python -m tests.random_networks.trying_networks CASES [--seed N] [--case N]``.

Lists and graphs of the layers and vertices in the table of layers, with random options, updaters, normalization of gradients, masks and
batches, those of one example and of none among them. Outputs, scores, gradients and parameters after steps are compared.
"""
from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np

from dl4py import layers as L
from dl4py.layers import InputType
from dl4py.networks import BackpropType, ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import MultiDataSet
from dl4py.samediff import training as T
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.training.updaters.gradient_normalization import GradientNormalization
from tests.helpers import randomruns
from tests.layers.function_table import ACTIVATIONS, LOSSES
from tests.layers.layer_table import LAYERS, VERTICES

#: Those that divide by the size of gradients do it with an epsilon at which rounding counts for little. AdaMax has none that counts: where
#: a gradient is 0 but for rounding, its steps are as large as others.
ADAPTIVE = (T.Adam, T.AMSGrad, T.Nadam, T.AdaBelief, T.AdaGrad, T.RmsProp)
UPDATERS = (T.Sgd(0.1), T.Nesterovs(0.05, 0.9), T.NoOp(), T.AdaDelta(0.95, 1e-3),
            *(kind(learning_rate=1e-2, epsilon=1e-3) for kind in ADAPTIVE))
#: What rounding may do in the layers of a network, in terms of what it may do in an op.
LOOSE = 10.0
RNN, FF, CNN, CNN3D = (type(t) for t in (InputType.recurrent(2), InputType.feed_forward(2), InputType.convolutional(2, 2, 2),
                                         InputType.convolutional3d(2, 2, 2, 2)))
#: Losses that take any labels between 0 and 1.
ANY_LABELS = [row[0] for row in LOSSES if type(row[0]).__name__ not in ("LossSparseMCXENT", "LossMixtureDensity", "LossFMeasure", "LogCosh")
              and getattr(row[0], "weights", None) is None]
#: Of these, those that take outputs below 0.
SIGNED = (L.LossMSE, L.LossMAE, L.LossL1, L.LossL2, L.LossHinge, L.LossSquaredHinge, L.LossCosineProximity, L.LossWasserstein)


def _bears_loss(layer: Any) -> bool:
    return isinstance(layer, (L.BaseOutputLayer, L.LossLayer, L.RnnLossLayer, L.CnnLossLayer, L.Cnn3DLossLayer, L.OCNNOutputLayer,
                              L.Yolo2OutputLayer))


HIDDEN = [r for r in LAYERS if not _bears_loss(r.made) and isinstance(r.inputs[0], InputType)]
LAST = [r for r in LAYERS if _bears_loss(r.made) and isinstance(r.inputs[0], InputType)]
YOLO = next(r.made for r in LAYERS if isinstance(r.made, L.Yolo2OutputLayer))
EMBEDDINGS = [r for r in LAYERS if "Embedding" in type(r.made).__name__]


@dataclass
class Member:
    """A layer or vertex, what it reads, and the type of what it gives."""

    name: str
    made: Any
    reads: tuple[str, ...]
    kind: Any


@dataclass
class Drawn:
    """A network and how to feed it."""

    conf: Any
    is_list: bool
    inputs: dict[str, Any] = field(default_factory=dict)       # types
    whole: dict[str, int] = field(default_factory=dict)        # inputs of indices: how many there are
    batches: list[int] = field(default_factory=list)
    masked: bool = False
    length: int = 0
    seed: int = 0

    def __str__(self) -> str:
        said = f"batches {self.batches}, series of {self.length}{', masks' * self.masked}, inputs {self.inputs} {self.whole}"
        return f"{said}\n{self.conf.to_json()}"


class Drawing:
    """Draws the members of a network."""

    def __init__(self, seed: int, number: int, normalized: bool = True) -> None:
        self.rng = np.random.default_rng((seed, number))
        self.normalized = normalized            # else gradients stay as they are
        self.members: list[Member] = []
        self.length = int(self.rng.integers(2, 7))

    def one(self, choices: Any) -> Any:
        return choices[self.rng.integers(len(choices))]

    def row(self, rows: list[Any]) -> Any:
        """A row of a class, where each class is as likely."""
        name = self.one(sorted({type(r.made).__name__ for r in rows}))
        return self.one([r for r in rows if type(r.made).__name__ == name])

    def start(self) -> Any:
        """A type of inputs: rows, series, images or volumes in one of their formats."""
        n = [int(k) for k in self.rng.integers(1, 5, 4)]
        kind = self.rng.choice(4, p=(0.2, 0.33, 0.34, 0.13))
        if kind == 0:
            return InputType.feed_forward(n[0])
        if kind == 1:
            return InputType.recurrent(n[0], self.length if self.rng.random() < 0.7 else -1, self.one(("NCW", "NCW", "NCW", "NWC")))
        if kind == 2:
            return InputType.convolutional(n[0] + 3, n[1] + 3, self.one((1, 2, 3)), self.one(("NCHW", "NCHW", "NHWC")))
        return InputType.convolutional3d(self.one(("NCDHW", "NDHWC")), n[0] % 3 + 3, n[1] % 3 + 3, n[2] % 3 + 3, self.one((1, 2)))

    def layer(self, rows: list[Any], kind: Any) -> tuple[Any, Any] | None:
        """A layer of the table for inputs of a type, with options of its own, and what it gives; None where the one drawn does not fit."""
        fitting = [r for r in rows if _meets(r.inputs[0], kind)]
        alike = [r for r in fitting if isinstance(r.inputs[0], type(kind))]
        if not fitting:
            return None
        made, rng = self.row(alike if alike and self.rng.random() < 0.8 else fitting).made, self.rng
        options: dict[str, Any] = {}
        fields = type(made)._fields
        if "n_out" in fields and "n_heads" not in fields:
            options["n_out"] = int(rng.integers(1, 6))
        if "activation" in fields and rng.random() < 0.5 and not _bears_loss(made):
            options["activation"] = self.one([a for a in ACTIVATIONS if not isinstance(a, (L.ActivationPReLU, L.ActivationCube))])
        if "dropout" in fields and rng.random() < 0.12 and not _bears_loss(made):
            options["dropout"] = 0.6
        if "l2" in fields and rng.random() < 0.1:
            options.update(l1=0.01, l2=0.02)
        if "has_bias" in fields and rng.random() < 0.15:
            options["has_bias"] = not made.has_bias
        if isinstance(made, (L.OutputLayer, L.RnnOutputLayer, L.LossLayer, L.RnnLossLayer)):
            options["loss_function"] = self.one(ANY_LABELS)
            options["activation"] = self.one(("softmax", "sigmoid", "tanh" if type(options["loss_function"]) in SIGNED else "sigmoid"))
        try:
            made = made.replace(**options)
            given = made.preprocessor_for(kind)
            seen = kind if given is None else given.get_output_type(kind)
            found = made.set_n_in(seen, True).output_type(seen)
        except (DL4PyError, TypeError):
            return None
        if isinstance(kind, RNN) and isinstance(found, FF) and given is not None:
            found = InputType.recurrent(found.size, kind.time_series_length, kind.format)      # rows of a series
        return made, found

    def chain(self, count: int, kind: Any) -> Any:
        """Layers one behind the other; gives the type of the last one."""
        for _ in range(6 * count):
            if len(self.members) == count:
                break
            drawn = self.layer(HIDDEN, kind)
            if drawn is not None and _is_small(drawn[1]):
                made, kind = drawn
                self.members.append(Member(f"l{len(self.members)}", made, (), kind))
        return kind

    def net(self, inputs: dict[str, Any], count: int) -> None:
        """Layers and vertices that read what is there."""
        known = dict(inputs)
        for _ in range(8 * count):
            if len(self.members) >= count:
                break
            name, reads = f"m{len(self.members)}", (self.one(list(known)),)
            if self.rng.random() < 0.5:
                drawn = self.layer(HIDDEN, known[reads[0]])
            else:
                drawn, reads = self.vertex(known, inputs, reads[0])
            if drawn is not None and _is_small(drawn[1]):
                self.members.append(Member(name, drawn[0], reads, drawn[1]))
                known[name] = drawn[1]

    def vertex(self, known: dict[str, Any], inputs: dict[str, Any], first: str) -> tuple[tuple[Any, Any] | None, tuple[str, ...]]:
        row = self.row(VERTICES)
        made, kind = row.made, known[first]
        if isinstance(made, L.StackVertex) and not isinstance(kind, CNN3D):          # and one part of that again
            self.members.append(Member(f"s{len(self.members)}", made, (first, self.one([n for n, t in known.items() if t == kind])), kind))
            return (L.UnstackVertex(int(self.rng.integers(2)), 2), kind), (self.members[-1].name,)
        if isinstance(made, L.ReshapeVertex) and isinstance(kind, FF):
            return (L.ReshapeVertex(-1, kind.size), kind), (first,)
        if isinstance(made, L.PreprocessorVertex) and isinstance(kind, CNN):
            made = L.PreprocessorVertex(L.CnnToFeedForwardPreProcessor(kind.height, kind.width, kind.channels, kind.format))
            return (made, made.output_type(kind)), (first,)
        if isinstance(row.inputs[0], InputType) and not _meets(row.inputs[0], kind):
            return None, ()
        name = getattr(made, "mask_array_input_name", None) or getattr(made, "input_name", None)
        series = [n for n, t in inputs.items() if isinstance(t, RNN)]
        if name == "series":
            if not series:
                return None, ()
            made = made.replace(**{k: series[0] for k in type(made)._fields if getattr(made, k) == "series"})
        if isinstance(made, (L.StackVertex, L.UnstackVertex, L.PreprocessorVertex, L.ReshapeVertex)):
            return None, ()
        count = made.min_vertex_inputs() if made.max_vertex_inputs() else int(self.rng.integers(made.min_vertex_inputs(), 4))
        alike = [n for n, t in known.items() if t == kind] if not isinstance(made, (L.MergeVertex, L.AttentionVertex)) else \
            [n for n, t in known.items() if _merges(t, kind)]
        reads = (first, *(self.one(alike) for _ in range(count - 1)))
        try:
            types = [known[n] for n in reads]
            made = made.with_input_types(*types)
            return (made, made.output_type(*types)), reads
        except DL4PyError:
            return None, ()


def _meets(example: Any, kind: Any) -> bool:
    """Whether a layer that is shown with one type takes the other."""
    if not isinstance(example, type(kind)):
        return isinstance(example, FF) and isinstance(kind, (CNN, CNN3D, RNN))
    return all(getattr(example, n, None) == getattr(kind, n, None) for n in ("format", "data_format"))


def _merges(a: Any, b: Any) -> bool:
    return type(a) is type(b) and all(getattr(a, n, 0) == getattr(b, n, 0)
                                      for n in ("time_series_length", "format", "data_format", "height", "width", "depth"))


def _is_small(kind: Any) -> bool:
    sizes = [n for n in kind.array_shape()[1:] if n != -1]
    return 0 not in sizes and int(np.prod(sizes, dtype=np.int64)) <= 800


def drawn(seed: int, number: int, normalized: bool = True) -> Drawn:
    """The network of that number; without normalization of gradients, if so asked."""
    for attempt in range(60):
        try:
            made = _drawn(Drawing(seed, 1000 * number + attempt, normalized))
            net = built(made)
            _output_shapes(net, made, _features(made, 2, np.random.default_rng(0))[0])
            return made
        except (DL4PyError, LookupError):        # what was drawn does not fit together
            continue
    raise LookupError(f"no network for {seed}, {number}")


def _drawn(d: Drawing) -> Drawn:
    rng, is_list = d.rng, d.rng.random() < 0.5
    settings = NeuralNetConfiguration.Builder().seed(int(rng.integers(1, 1000))).data_type(d.one(("DOUBLE", "FLOAT")))
    settings = settings.updater(d.one(UPDATERS)).activation(d.one(("tanh", "relu", "sigmoid", "elu")))
    if rng.random() < 0.3:
        normalization = d.one(list(GradientNormalization))
        if d.normalized:
            settings = settings.gradient_normalization(normalization).gradient_normalization_threshold(0.5)
    if rng.random() < 0.2:
        settings = settings.l2(0.01) if rng.random() < 0.5 else settings.weight_decay(0.01)
    if rng.random() < 0.1:
        settings = settings.mini_batch(False)
    made = Drawn(None, is_list, masked=bool(rng.random() < 0.5), length=d.length, seed=int(rng.integers(1 << 30)),
                 batches=[(4, 1, 3, 2, 5, 0)[k] for k in rng.choice(6, 3, p=(0.25, 0.25, 0.15, 0.15, 0.1, 0.1))])
    if is_list:
        row = d.one(EMBEDDINGS) if rng.random() < 0.07 else None
        kind = d.start() if row is None else row.options["input_type"]
        made.inputs["in"] = kind
        if row is not None:
            made.whole["in"] = kind.size
            kind = row.made.set_n_in(kind, True).output_type(kind)
        last = d.chain(int(rng.integers(0, 4)), kind)
        output = _needed(_output(d, last))
        if isinstance(last, CNN) and last.format.name == "NCHW" and rng.random() < 0.1:
            d.members.append(Member("boxes", L.ConvolutionLayer(kernel_size=1, n_out=14, activation="identity"), (), last))
            output = YOLO, last
        layers = [*([row.made] if row else []), *(m.made for m in d.members), output[0]]
        builder = settings.list(*layers).set_input_type(made.inputs["in"])
        if isinstance(made.inputs["in"], RNN) and rng.random() < 0.15:
            builder = builder.backprop_type(BackpropType.TruncatedBPTT).t_bptt_length(2)
        made.conf = builder.build()
        return made
    for k in range(int(rng.integers(1, 4))):
        made.inputs[f"in{k}"] = d.one(list(made.inputs.values())) if k and rng.random() < 0.5 else d.start()
    d.net(made.inputs, int(rng.integers(1, 7)))
    ends = [m for m in d.members if not any(m.name in o.reads for o in d.members)][:2]
    outputs = {f"out{k}": (m.name, _needed(_output(d, m.kind))[0]) for k, m in enumerate(ends)}
    wanted = {m.name for m in ends}
    for m in reversed(d.members):
        wanted |= set(m.reads) if m.name in wanted else set()
    named = {n for m in d.members if m.name in wanted for n in (getattr(m.made, k) for k in type(m.made)._fields) if isinstance(n, str)}
    made.inputs = {n: t for n, t in made.inputs.items() if n in wanted or n in named}
    graph = settings.graph_builder().add_inputs(*made.inputs).set_input_types(*made.inputs.values())
    for m in d.members:
        if m.name in wanted:
            graph = (graph.add_layer if isinstance(m.made, L.Layer) else graph.add_vertex)(m.name, m.made, *m.reads)
    for name, (read, output) in outputs.items():
        graph = graph.add_layer(name, output, read)
    made.conf = graph.set_outputs(*outputs).build()
    return made


def _output(d: Drawing, kind: Any) -> tuple[Any, Any] | None:
    for _ in range(5):
        found = d.layer(LAST, kind)
        if found is not None:
            return found
    return None


def _needed(found: tuple[Any, Any] | None) -> tuple[Any, Any]:
    if found is None:
        raise LookupError("no output layer")
    return found


def members(made: Drawn) -> list[Any]:
    """The layers and vertices of a network."""
    if made.is_list:
        return [c.layer for c in made.conf.confs]
    return [getattr(v, "layer", v) for v in made.conf.vertices.values()]


# Running

def built(made: Drawn) -> Any:
    return (MultiLayerNetwork if made.is_list else ComputationGraph)(made.conf).init()


def _features(made: Drawn, size: int, rng: np.random.Generator) -> tuple[list[Any], list[Any]]:
    """Features and their masks."""
    xs, masks = [], []
    for name, kind in made.inputs.items():
        shape = [size] + [made.length if n == -1 else n for n in kind.array_shape()[1:]]
        if name in made.whole:
            shape = [size, 1] if isinstance(kind, FF) else [size, made.length]
            xs.append(rng.integers(0, made.whole[name], shape).astype(np.float64))
        else:
            xs.append(rng.normal(size=shape))
        masks.append(_mask(rng, size, made.length) if made.masked and isinstance(kind, RNN) and not made.whole else None)
    return xs, masks


def batch(net: Any, made: Drawn, size: int, rng: np.random.Generator) -> MultiDataSet:
    """Features, labels of the shape of the outputs, and masks."""
    xs, masks = _features(made, size, rng)
    ys, label_masks = [], []
    for two, layer in zip(_output_shapes(net, made, xs), _output_layers(net)):
        shape = two[0] * size // 2, *two[1:]
        if isinstance(layer, L.Yolo2OutputLayer):
            ys.append(_boxes(rng, shape))
            label_masks.append(None)
            continue
        axis = len(shape) - 1 if str(_format(layer)) in ("NWC", "NHWC", "NDHWC") else 1
        y = rng.uniform(0.1, 0.9, shape)
        softmax = "SoftMax" in type(layer.activation).__name__ or "Softmax" in type(layer.activation).__name__
        ys.append(y / y.sum(axis, keepdims=True) if softmax else y)
        label_masks.append(_mask(rng, size, made.length) if made.masked and len(shape) == 3 and rng.random() < 0.6 else None)
    return MultiDataSet(xs, ys, masks if any(m is not None for m in masks) else None,
                        label_masks if any(m is not None for m in label_masks) else None)


def _boxes(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Labels of one object in each image, of one of two classes."""
    size, _, height, width = shape
    y = np.zeros((size, 6, height, width))
    for k in range(size):
        row, column = int(rng.integers(height)), int(rng.integers(width))
        y[k, :4, row, column] = column + 0.1, row + 0.2, column + 0.8, row + 0.9
        y[k, 4 + rng.integers(2), row, column] = 1
    return y


def _format(layer: Any) -> Any:
    found = getattr(layer, "rnn_data_format", None) or getattr(layer, "data_format", None) or getattr(layer, "format", None)
    return getattr(found, "name", found)


def _mask(rng: np.random.Generator, size: int, length: int) -> Any:
    mask = (rng.random((size, length)) < 0.7).astype(np.float64)
    mask[:, 0] = 1
    return mask


def _output_layers(net: Any) -> list[Any]:
    if isinstance(net, MultiLayerNetwork):
        return [net.get_layer_wise_configurations().confs[-1].layer]
    conf = net.get_configuration()
    return [conf.vertices[n].layer for n in conf.network_outputs]


def _output_shapes(net: Any, made: Drawn, xs: list[Any]) -> list[tuple[int, ...]]:
    """For a batch of two, which every network takes."""
    two = [np.resize(x, (2, *x.shape[1:])) for x in xs]
    with mock.patch.dict(os.environ, {"DL4PY_EXECUTOR": "reference"}):
        found = net.output(*two)
    return [y.shape for y in (found if isinstance(found, list) else [found])]


def _run(made: Drawn, reference: bool, moved: bool = False) -> list[tuple[str, Any]]:
    """Names and values of what comes out of a network, before and after steps."""
    noted: list[tuple[str, Any]] = []
    rng = np.random.default_rng(made.seed)
    with warnings.catch_warnings(), mock.patch.dict(os.environ, {"DL4PY_EXECUTOR": "reference"} if reference else {}):
        warnings.simplefilter("ignore")
        net = built(made)
        params = np.array(net.params())
        params += rng.normal(scale=0.05, size=params.shape)
        if moved:
            params *= 1 + 4 * np.finfo(params.dtype).eps * np.where(np.arange(params.size).reshape(params.shape) % 2, 1, -2)
        if params.size:
            net.set_params(params)
        for k, size in enumerate(made.batches):
            data = batch(net, made, size, rng)
            for what, job in (("output", _outputs), ("score", lambda n, x: [n.score(x)]), ("gradient", _gradient)):
                _note(noted, f"{what} of {k}", job, net, data)
        for k, size in enumerate(made.batches):
            data = batch(net, made, size, rng)
            _note(noted, f"step {k}", _step, net, data)
    return noted


def _note(noted: list[tuple[str, Any]], what: str, job: Callable[[Any, Any], list[Any]], net: Any, data: Any) -> None:
    try:
        noted += [(f"{what}:{i}", value) for i, value in enumerate(job(net, data))]
    except DL4PyError as error:
        noted.append((f"{what}: {type(error).__name__}", ""))


def _single(net: Any, data: MultiDataSet) -> tuple[Any, ...]:
    masks = data.get_features_mask_arrays(), data.get_labels_mask_arrays()
    if isinstance(net, MultiLayerNetwork):
        return tuple(None if m is None else m[0] for m in masks)
    return masks


def _outputs(net: Any, data: MultiDataSet) -> list[Any]:
    features, labels = _single(net, data)
    if isinstance(net, MultiLayerNetwork):
        return [net.output(data.get_features()[0], features_mask=features, labels_mask=labels)]
    return list(net.output(*data.get_features(), features_masks=features, labels_masks=labels))


def _gradient(net: Any, data: MultiDataSet) -> list[Any]:
    features, labels = _single(net, data)
    if isinstance(net, MultiLayerNetwork):
        net.set_input(data.get_features()[0])
        net.set_labels(data.get_labels()[0])
    else:
        net.set_inputs(*data.get_features())
        net.set_labels(*data.get_labels())
    net.set_layer_mask_arrays(features, labels)
    net.compute_gradient_and_score()
    return [np.array(net.gradient().gradient()), net.score()]


def _step(net: Any, data: MultiDataSet) -> list[Any]:
    if isinstance(net, MultiLayerNetwork):
        from dl4py.samediff import DataSet
        net.fit(DataSet(data.get_features()[0], data.get_labels()[0], *_single(net, data)))
    else:
        net.fit(data)
    return [np.array(net.params()), net.score()]


def case(seed: int, number: int) -> randomruns.Outcome:
    """Run a network by both executors and compare."""
    try:
        made = drawn(seed, number)
    except LookupError as error:
        return randomruns.Outcome("refused", str(error))
    outcome = _compared(made)
    if outcome.kind == "differs":
        if _rounding_gets_a_length(made) and _compared(drawn(seed, number, normalized=False)).kind != "differs":
            outcome.kind = "sensitive"
        outcome.text = f"{[type(m).__name__ for m in members(made)]}, batches {made.batches}\n   {outcome.text}"
    return outcome


def _compared(made: Drawn) -> randomruns.Outcome:
    return randomruns.judged(lambda: _run(made, False), lambda moved: _run(made, True, moved), LOOSE)


def _rounding_gets_a_length(made: Drawn) -> bool:
    """Whether a gradient that is 0 but for rounding is divided by its length: where that points is nobody's choice, and only what the
    network does without that says whether the executors agree."""
    net, sizes = built(made), [n for n in made.batches if n]
    if not sizes or "Renormalize" not in str(getattr(members(made)[-1], "gradient_normalization", "")):
        return False
    _gradient(net, batch(net, made, sizes[0], np.random.default_rng(made.seed)))
    return any(float(np.abs(g).max(initial=0.0)) < 1e-12 for g in net.gradient().gradient_for_variable().values())


def described(seed: int, number: int) -> str:
    """A network in words."""
    return str(drawn(seed, number))


if __name__ == "__main__":
    sys.exit(randomruns.main("tests.random_networks.trying_networks", __doc__ or ""))
