"""Recurrent layers."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ....layers.functions.dropout import Dropout
from ....layers.standard.recurrent import LSTM, SimpleRnn
from ....layers.standard.wrappers import LastTimeStep
from ....layers.types.formats import RNNFormat
from .. import options
from ..layer_reading import Array, KerasLayer, LayerPart, Made, Tensor
from ..model import references
from ..own.recurrent import Recurrent
from ..own.states import RecurrentVertex, StepsOf
from ..registry import keras_layer
from ..upgrade import layer_document

NAMES = ("kernel", "recurrent", "bias")
#: The gates of DL4J's LSTM by their numbers in Keras: block, forget, output, input.
ORDER = (2, 1, 3, 0)


def reordered(array: Array) -> Array:
    """Columns i, f, c, o as DL4J has them."""
    parts = np.split(array, 4, axis=-1)
    return np.concatenate([parts[i] for i in ORDER], axis=-1)


def cell_of(k: KerasLayer) -> str:
    """Which cell a layer has."""
    for cell in ("lstm", "gru", "simple"):
        if cell in k.class_name.lower():
            return cell
    raise k.unsupported("the cell")


def recurrent_layer(k: KerasLayer, stepped: bool) -> tuple[Any, dict[str, Any], tuple[str, ...]]:
    """The layer that gives all steps, its weights and names; ``stepped`` asks for the one that knows masks and states."""
    k.rank(2)
    note_state(k)
    cell, units, has_bias = cell_of(k), int(k.get("units")), bool(k.get("use_bias", True))
    fields = {"n_in": k.size(), "n_out": units, "activation": k.activation() if k.get("activation", None) else "tanh",
              **k.trained(recurrent="recurrent")}
    if k.get("dropout", 0):
        fields["dropout"] = Dropout(1 - float(k.get("dropout")))
    gates = options.activation(k.get("recurrent_activation", "sigmoid"), k.label, k.version)
    names = NAMES if has_bias else NAMES[:2]
    if cell == "gru" or stepped or not has_bias:
        conf: Any = Recurrent(cell=cell, recurrent_activation=gates, has_bias=has_bias, reset_after=bool(k.get("reset_after", False)),
                              return_sequences=bool(k.get("return_sequences", False)), go_backwards=bool(k.get("go_backwards", False)),
                              zero_masked=bool(k.get("zero_output_for_mask", False)), **fields)
        weights: dict[str, Any] = {"W": lambda w: w["kernel"], "RW": lambda w: w["recurrent"]}
        return conf, weights | ({"b": lambda w: w["bias"]} if has_bias else {}), names
    turn = reordered if cell == "lstm" else lambda array: array
    fields["rnn_data_format"] = RNNFormat.NWC
    weights = {"W": lambda w: turn(w["kernel"]), "RW": lambda w: turn(w["recurrent"]), "b": lambda w: turn(w["bias"])}
    if cell == "simple":
        return SimpleRnn(**fields), weights, names
    return LSTM(gate_activation=gates, forget_gate_bias_init=float(bool(k.get("unit_forget_bias", True))), **fields), weights, names


def note_state(k: KerasLayer, kept: bool = True) -> None:
    """Note what of the state of a layer has no counterpart; ``kept`` where ``rnn_time_step`` keeps it."""
    k.leave(recurrent_dropout=0)
    if k.get("stateful", False):
        k.left.append(f"{k.label}: stateful: each batch starts from a state of zeros{'; rnn_time_step keeps the state' if kept else ''}")


def takes_states(k: KerasLayer) -> bool:
    """Whether states come from other layers, or go to them."""
    return len(k.inputs) > 1 or bool(k.get("return_state", False))


def sees_mask(k: KerasLayer, states: int) -> bool:
    """Whether a mask of the series counts: Keras 3 passes it on to a layer with initial states where it is given alone."""
    return not states or k.version < 3 or bool(references(k.arguments.get("mask")))


def stepping(k: KerasLayer, conf: Any, weights: dict[str, Any], states: tuple[int, ...], number: int) -> list[LayerPart]:
    """The parts of a layer that takes or gives states, counted from ``number``: the layer, its states, its result."""
    vertex = LayerPart(RecurrentVertex(conf, bool(k.get("return_state", False)), sees_mask(k, len(states))), weights, (-1, *states))
    if not k.get("return_state", False):
        return [vertex]
    count, own = len(conf.states), (number,)
    result = StepsOf(without=count) if conf.return_sequences else StepsOf(step=-count)
    return [vertex, *(LayerPart(StepsOf(step=i - count), sources=own) for i in range(count)), LayerPart(result, sources=own)]


def with_states(k: KerasLayer, conf: Any, weights: dict[str, Any], names: tuple[str, ...], output: Tensor) -> Made:
    """A layer with its states as further inputs and results."""
    if len(k.inputs) not in (1, 1 + len(conf.states)):
        raise k.unsupported(f"{len(k.inputs) - 1} initial states (expected {len(conf.states)})")
    parts = stepping(k, conf, weights, tuple(-2 - i for i in range(len(k.inputs) - 1)), 0)
    state = Tensor(output.shape[1:] if conf.return_sequences else output.shape)
    return Made(tuple(parts), output, names, tuple((i, state) for i in range(1, len(parts) - 1)))


@keras_layer("LSTM", "CuDNNLSTM", "SimpleRNN", "GRU", "CuDNNGRU",
             becomes="`LSTM`, `SimpleRnn`, in a `LastTimeStep` without `return_sequences`; GRU, and all of them behind masks, backwards, "
                     "without bias or with states as inputs and results, a layer that steps",
             lossy="`recurrent_dropout`, and `dropout` draws for each step; the state of `stateful` is kept by `rnn_time_step` alone")
def recurrent(k: KerasLayer) -> Made:
    series = k.inputs[0]
    backwards, all_steps = bool(k.get("go_backwards", False)), bool(k.get("return_sequences", False))
    conf, weights, names = recurrent_layer(k.like([series]), series.masked or backwards or takes_states(k))
    size = (series.shape[0], int(k.get("units")))
    output = Tensor(size if all_steps else size[1:], series.masked and all_steps and not backwards)
    if takes_states(k):
        return with_states(k, conf, weights, names, output)
    if not isinstance(conf, Recurrent) and not all_steps:
        conf = LastTimeStep(underlying=conf)
    return k.made(conf, weights, names, shape=output.shape, masked=output.masked)


@keras_layer("RNN", becomes="the layers of its cells, one behind the other", lossy="cells of one's own and initial states are refused")
def cells(k: KerasLayer) -> Made:
    kinds = {"LSTMCell": "LSTM", "GRUCell": "GRU", "SimpleRNNCell": "SimpleRNN"}
    given = k.get("cell")
    inner = given.get("config", {}).get("cells") if given.get("class_name") == "StackedRNNCells" else None
    read = [layer_document(one, k.label, k.version) for one in (inner or [given])]
    tensor, made, names = k.input, list[LayerPart](), list[str]()
    if k.get("return_state", False) and len(read) > 1:
        raise k.unsupported("return_state of several cells")
    for i, (_, kind, config) in enumerate(read):
        if kind not in kinds:
            raise k.unsupported(f"the cell {kind}")
        last = i == len(read) - 1
        one = KerasLayer(k.name, kinds[kind], {
            **config, "go_backwards": bool(k.get("go_backwards", False)) and not i, "stateful": k.get("stateful", False),
            "return_sequences": bool(k.get("return_sequences", False)) or not last, "return_state": k.get("return_state", False),
            "zero_output_for_mask": k.get("zero_output_for_mask", False)}, [tensor], k.version)
        one.left = k.left
        found = recurrent(one)
        own = {name: f"{i}{name}" for name in found.names}
        parts = [replace(part, weights={n: _renamed(make, own) for n, make in part.weights.items()}) for part in found.parts]
        if len(read) == 1:
            return replace(found, parts=tuple(parts), names=tuple(own.values()))
        made, names, tensor = [*made, *parts], [*names, *own.values()], found.output
    return Made(tuple(made), tensor, tuple(names))


def _renamed(make: Any, own: dict[str, str]) -> Any:
    """A function of arrays by other names."""
    return lambda arrays: make({name: arrays[key] for name, key in own.items()})
