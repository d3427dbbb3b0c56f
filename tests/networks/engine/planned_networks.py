"""What runs in Python in the plans of networks of a part of the catalogue: ``python -m tests.networks.engine.planned_networks PART``.

Nothing is compiled: machine code has an address that nobody calls. So this is a process of its own, which prints
``{network: {"fit" or "output": [[label, why], ...]}}``.
"""
from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np

from dl4py import layers as L
from dl4py.layers import InputType
from dl4py.networks import BackpropType, ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.networks.models.profiling import planned
from dl4py.samediff import MultiDataSet
from dl4py.samediff.cpu.native import instruction
from dl4py.samediff.plans.backend import backend_of
from dl4py.samediff.plans.way import why
from tests.interop import network_cases
from tests.layers.function_table import ACTIVATIONS, LOSSES
from tests.layers.layer_table import LAYERS, PREPROCESSORS, VERTICES

RNG = np.random.default_rng(0)
CLASSES = 2
Network = tuple[str, Any, MultiDataSet, bool]       # name, network, data, whether it learns

RECURRENT = {
    "LSTM": lambda a: L.LSTM(n_out=3, activation=a),
    "GravesLSTM": lambda a: L.GravesLSTM(n_out=3, activation=a),
    "GravesBidirectionalLSTM": lambda a: L.GravesBidirectionalLSTM(n_out=3, activation=a),
    "SimpleRnn": lambda a: L.SimpleRnn(n_out=3, activation=a),
    "SimpleRnn with layer normalization": lambda a: L.SimpleRnn(n_out=3, activation=a, has_layer_norm=True),
    "both directions": lambda a: L.Bidirectional("CONCAT", L.LSTM(n_out=3, activation=a)),
    "both directions with layer normalization": lambda a: L.Bidirectional("ADD", L.SimpleRnn(n_out=3, activation=a, has_layer_norm=True)),
    "the last step": lambda a: L.LastTimeStep(L.LSTM(n_out=3, activation=a)),
    "zero steps masked": lambda a: L.MaskZeroLayer(L.LSTM(n_out=3, activation=a), 0.0),
}


def general(dtype: str) -> Any:
    return NeuralNetConfiguration.Builder().seed(3).data_type(dtype)


def rows_of_tables(dtype: str) -> Iterator[Network]:
    """A network for each row of the tables of layers and vertices."""
    kind = np.float64 if dtype == "DOUBLE" else np.float32
    for rows, make in ((LAYERS, network_cases.layer_case), (VERTICES, network_cases.vertex_case)):
        for i, row in enumerate(rows):
            name = f"{type(row.made).__name__}-{i}"
            with mock.patch.object(network_cases, "general", lambda updater=None, dtype=dtype: general(dtype)), \
                    mock.patch.dict(os.environ, {"DL4PY_EXECUTOR": "reference"}):
                case = make(name, row)
            data = case._data()
            yield name, case.net, MultiDataSet(*([a.astype(kind) for a in arrays] for arrays in (data.features, data.labels))), case.trains


def recurrent() -> Iterator[Network]:
    """Recurrent layers with every activation that is made otherwise, masked or not, in pieces or not."""
    activations = ["tanh", "sigmoid", "softmax", "elu", "softsign", L.ActivationReLU(3.0, 1.0, 0.1), L.ActivationRReLU()]
    for name, kind in RECURRENT.items():
        for a in activations if name in ("LSTM", "SimpleRnn with layer normalization") else activations[1:3]:
            for masked in (False, True):
                yield f"{name}, {a}{', masked' * masked}", *series(kind(a), masked), True
    for fmt in ("NCW", "NWC"):
        for name in ("GravesLSTM", "SimpleRnn with layer normalization"):
            yield f"{name}, pieces, {fmt}", *series(RECURRENT[name]("sigmoid"), False, fmt, pieces=True), True
    for gate in ("hardsigmoid", "softmax"):
        yield f"gates {gate}", *series(L.GravesLSTM(n_out=3, gate_activation=gate), False), True


def series(layer: Any, masked: bool, fmt: str = "NCW", pieces: bool = False) -> tuple[Any, MultiDataSet]:
    """A layer on series of five steps before an output layer."""
    whole = not isinstance(layer, L.LastTimeStep)
    builder = general("FLOAT").list(layer, (L.RnnOutputLayer if whole else L.OutputLayer)(n_out=CLASSES))
    builder = builder.set_input_type(InputType.recurrent(3, 5, fmt))
    if pieces:
        builder = builder.backprop_type(BackpropType.TruncatedBPTT).t_bptt_length(3)
    x, y = RNG.normal(size=(4, 3, 5)), np.moveaxis(np.eye(CLASSES)[RNG.integers(0, CLASSES, (4, 5))], -1, 1)
    given = [np.asarray(a if fmt == "NCW" else a.transpose(0, 2, 1), np.float32) for a in (x, y)] if whole else [x, y[:, :, 0]]
    mask = np.ones((4, 5), np.float32)
    mask[1, 3:] = 0
    data = MultiDataSet([given[0].astype(np.float32)], [given[1].astype(np.float32)], [mask] if masked else None,
                        [mask] if masked and whole else None)
    return MultiLayerNetwork(builder.build()).init(), data


def functions() -> Iterator[Network]:
    """Losses with and without masks, over rows and over series; activations; preprocessors."""
    for i, (loss, labels, scores, activation) in enumerate(LOSSES):
        for steps in (0, 5):
            out: Any = L.RnnOutputLayer if steps else L.OutputLayer
            first, kind = (L.LSTM(n_out=4), InputType.recurrent(5, 5)) if steps else (L.DenseLayer(n_out=4), InputType.feed_forward(5))
            layers = [first, out(n_out=scores.shape[1], activation=activation, loss_function=loss)]
            net = MultiLayerNetwork(general("FLOAT").list(*layers).set_input_type(kind).validate_output_layer_config(False).build()).init()
            x, y = RNG.normal(size=(4, 5)), np.asarray(labels)
            x, y = (np.repeat(a[:, :, None], 5, 2) if steps else a for a in (x, y))
            for mask in (None, [np.ones((4, 5) if steps else (4, 1), np.float32)]):
                name = f"{type(loss).__name__}-{i}{', series' * bool(steps)}{', masked' * bool(mask)}"
                yield name, net, MultiDataSet([x.astype(np.float32)], [y.astype(np.float32)], None, mask), True
    x, y = RNG.normal(size=(4, 5)).astype(np.float32), np.eye(CLASSES, dtype=np.float32)[[0, 1, 0, 1]]
    for i, activation in enumerate(ACTIVATIONS):
        if not isinstance(activation, L.ActivationPReLU):
            layers = [L.DenseLayer(n_out=4, activation=activation), L.OutputLayer(n_out=CLASSES)]
            conf = general("FLOAT").list(*layers).set_input_type(InputType.feed_forward(5)).build()
            yield f"{type(activation).__name__}-{i}", MultiLayerNetwork(conf).init(), MultiDataSet([x], [y]), True
    for i, row in enumerate(PREPROCESSORS):
        if isinstance(row.inputs[0], InputType):
            conf = general("FLOAT").graph_builder().add_inputs("x").add_vertex("y", L.PreprocessorVertex(row.made), "x")
            net = ComputationGraph(conf.set_outputs("y").set_input_types(row.inputs[0]).build()).init()
            x = RNG.normal(size=[4 if n == -1 and k == 0 else 5 if n == -1 else n for k, n in enumerate(row.inputs[0].array_shape())])
            yield f"{type(row.made).__name__}-{i}", net, MultiDataSet([x.astype(np.float32)], []), False


PARTS = {"FLOAT": lambda: rows_of_tables("FLOAT"), "DOUBLE": lambda: rows_of_tables("DOUBLE"), "recurrent": recurrent,
         "functions": functions}


def in_python(net: Any, data: MultiDataSet, train: bool) -> list[list[str]]:
    """Label and reason of each step that runs in Python."""
    plan, _ = planned(net, net._profiled_batch(data), train)
    frame, kernels = plan.peek(), backend_of(plan.where).kernels
    return [[step.label, reason] for i, step in enumerate(plan.steps) if (reason := why(plan, frame, i, kernels))]


def main(part: str) -> None:
    """Print what a part of the catalogue runs in Python."""
    with mock.patch.object(instruction, "compiled_entry", lambda *args, **options: (1, True)):
        print(json.dumps({name: {what: in_python(net, data, what == "fit") for what in ("fit", "output")[not learns:]}
                          for name, net, data, learns in PARTS[part]()}))


if __name__ == "__main__":
    main(sys.argv[1])
