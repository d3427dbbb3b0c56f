"""Recurrent layers of pictures."""
from __future__ import annotations

from typing import Any

from ....layers.functions.dropout import Dropout
from .. import options
from ..layer_reading import KerasLayer, Made, Tensor
from ..own.conv_lstm import ConvolutionalLSTM
from ..registry import keras_layer
from .recurrent import NAMES, note_state, takes_states, with_states


@keras_layer("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", becomes="a layer that steps",
             lossy="`recurrent_dropout`, and `dropout` draws for each step; the state of `stateful` starts anew with each batch")
def convolutional_lstm(k: KerasLayer) -> Made:
    series = k.inputs[0]
    axes = int(k.class_name[-2])
    alone = k.like([series])
    alone.rank(axes + 2)
    note_state(k, kept=False)
    if k.get("padding", "valid") not in ("valid", "same"):
        raise k.unsupported(f"padding={k.get('padding')!r:.60}")
    has_bias, first, all_steps = bool(k.get("use_bias", True)), k.channels_first(), bool(k.get("return_sequences", False))
    conf = ConvolutionalLSTM(
        n_in=alone.size(1 if first else -1), n_out=int(k.get("filters")), kernel_size=k.several("kernel_size", axes),
        stride=k.several("strides", axes, 1), dilation=k.several("dilation_rate", axes, 1), same=k.get("padding", "valid") == "same",
        has_bias=has_bias, activation=k.activation() if k.get("activation", None) else "tanh", channels_first=first,
        recurrent_activation=options.activation(k.get("recurrent_activation", "sigmoid"), k.label, k.version),
        return_sequences=all_steps, go_backwards=bool(k.get("go_backwards", False)),
        dropout=Dropout(1 - float(k.get("dropout"))) if k.get("dropout", 0) else None, **k.trained(recurrent="recurrent"))
    weights: dict[str, Any] = {"W": lambda w: w["kernel"], "RW": lambda w: w["recurrent"]}
    weights |= {"b": lambda w: w["bias"]} if has_bias else {}
    names = NAMES if has_bias else NAMES[:2]
    output = Tensor(conf.result_shape(series.shape), series.masked and all_steps and not conf.go_backwards)
    if takes_states(k):
        return with_states(k, conf, weights, names, output)
    return k.made(conf, weights, names, shape=output.shape, masked=output.masked)
