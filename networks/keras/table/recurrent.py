"""Recurrent layers."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....layers.functions.dropout import Dropout
from ....layers.standard.recurrent import LSTM, SimpleRnn
from ....layers.standard.wrappers import LastTimeStep
from ....layers.types.formats import RNNFormat
from .. import options
from ..layer_reading import Array, KerasLayer, Made
from ..own.conv_lstm import ConvolutionalLSTM
from ..own.recurrent import Recurrent
from ..registry import keras_layer

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
    """The layer that gives all steps, its weights and names; ``stepped`` asks for the one that knows masks."""
    k.rank(2)
    k.refuse(return_state=False, stateful=False)
    k.leave(recurrent_dropout=0)
    cell, units, has_bias = cell_of(k), int(k.get("units")), bool(k.get("use_bias", True))
    fields = {"n_in": k.size(), "n_out": units, "activation": k.activation() if k.get("activation", None) else "tanh",
              **k.trained(recurrent="recurrent")}
    if k.get("dropout", 0):
        fields["dropout"] = Dropout(1 - float(k.get("dropout")))
    gates = options.activation(k.get("recurrent_activation", "sigmoid"), k.label, k.version)
    names = NAMES if has_bias else NAMES[:2]
    if cell == "gru" or stepped or not has_bias:
        reset = bool(k.get("reset_after", False))
        conf: Any = Recurrent(cell=cell, recurrent_activation=gates, has_bias=has_bias, reset_after=reset, return_sequences=True, **fields)
        weights: dict[str, Any] = {"W": lambda w: w["kernel"], "RW": lambda w: w["recurrent"]}
        return conf, weights | ({"b": lambda w: w["bias"]} if has_bias else {}), names
    turn = reordered if cell == "lstm" else lambda array: array
    fields["rnn_data_format"] = RNNFormat.NWC
    weights = {"W": lambda w: turn(w["kernel"]), "RW": lambda w: turn(w["recurrent"]), "b": lambda w: turn(w["bias"])}
    if cell == "simple":
        return SimpleRnn(**fields), weights, names
    return LSTM(gate_activation=gates, forget_gate_bias_init=float(bool(k.get("unit_forget_bias", True))), **fields), weights, names


@keras_layer("LSTM", "CuDNNLSTM", "SimpleRNN", "GRU", "CuDNNGRU",
             becomes="`LSTM`, `SimpleRnn`, in a `LastTimeStep` without `return_sequences`; GRU, and all of them behind masks, backwards or "
                     "without bias, a layer that steps",
             lossy="`recurrent_dropout`, and `dropout` draws for each step; `return_state` and `stateful` are refused")
def recurrent(k: KerasLayer) -> Made:
    backwards, all_steps = bool(k.get("go_backwards", False)), bool(k.get("return_sequences", False))
    conf, weights, names = recurrent_layer(k, k.input.masked or backwards)
    if isinstance(conf, Recurrent):
        conf = conf.replace(return_sequences=all_steps, go_backwards=backwards, zero_masked=bool(k.get("zero_output_for_mask", False)))
    elif not all_steps:
        conf = LastTimeStep(underlying=conf)
    size = (k.shape[0], conf_size(k))
    return k.made(conf, weights, names, shape=size if all_steps else size[1:], masked=k.input.masked and all_steps and not backwards)


def conf_size(k: KerasLayer) -> int:
    """The size of the state."""
    return int(k.get("units"))


@keras_layer("ConvLSTM2D", becomes="a layer that steps",
             lossy="`recurrent_dropout`, and `dropout` draws for each step; `return_state`, `stateful`, `channels_first`, masks and open "
                   "sizes are refused")
def convolutional_lstm(k: KerasLayer) -> Made:
    k.rank(4)
    k.refuse(return_state=False, stateful=False, data_format="channels_last")
    k.leave(recurrent_dropout=0)
    if k.input.masked:
        raise k.unsupported("a mask of the steps")
    if k.get("padding", "valid") not in ("valid", "same"):
        raise k.unsupported(f"padding={k.get('padding')!r:.60}")
    k.sizes()
    has_bias = bool(k.get("use_bias", True))
    conf = ConvolutionalLSTM(
        n_in=k.size(), n_out=int(k.get("filters")), kernel_size=k.several("kernel_size", 2), stride=k.several("strides", 2, 1),
        dilation=k.several("dilation_rate", 2, 1), same=k.get("padding", "valid") == "same", has_bias=has_bias,
        activation=k.activation() if k.get("activation", None) else "tanh",
        recurrent_activation=options.activation(k.get("recurrent_activation", "sigmoid"), k.label, k.version),
        return_sequences=bool(k.get("return_sequences", False)), go_backwards=bool(k.get("go_backwards", False)),
        dropout=Dropout(1 - float(k.get("dropout"))) if k.get("dropout", 0) else None, **k.trained(recurrent="recurrent"))
    weights: dict[str, Any] = {"W": lambda w: w["kernel"], "RW": lambda w: w["recurrent"]}
    return k.made(conf, weights | ({"b": lambda w: w["bias"]} if has_bias else {}), NAMES if has_bias else NAMES[:2],
                  shape=conf.result_shape(k.shape), masked=False)
