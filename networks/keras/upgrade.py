"""Layers of Keras 1 in the terms of Keras 2, and their weights in its order."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...samediff.errors import FileFormatError
from .weights import Array

#: Classes by their old names.
CLASSES = {
    "Convolution1D": "Conv1D", "Convolution2D": "Conv2D", "Convolution3D": "Conv3D", "AtrousConvolution1D": "Conv1D",
    "AtrousConvolution2D": "Conv2D", "SeparableConvolution1D": "SeparableConv1D", "SeparableConvolution2D": "SeparableConv2D",
    "DepthwiseConvolution2D": "DepthwiseConv2D", "Deconvolution2D": "Conv2DTranspose", "Deconvolution3D": "Conv3DTranspose",
    "Convolution2DTranspose": "Conv2DTranspose", "Convolution3DTranspose": "Conv3DTranspose", "Convolution1DTranspose": "Conv1DTranspose",
    "MaxPool1D": "MaxPooling1D", "MaxPool2D": "MaxPooling2D", "MaxPool3D": "MaxPooling3D", "AvgPool1D": "AveragePooling1D",
    "AvgPool2D": "AveragePooling2D", "AvgPool3D": "AveragePooling3D", "GlobalMaxPool1D": "GlobalMaxPooling1D",
    "GlobalMaxPool2D": "GlobalMaxPooling2D", "GlobalMaxPool3D": "GlobalMaxPooling3D", "GlobalAvgPool1D": "GlobalAveragePooling1D",
    "GlobalAvgPool2D": "GlobalAveragePooling2D", "GlobalAvgPool3D": "GlobalAveragePooling3D"}

#: Options by their old names, for all classes and for some.
OPTIONS = {
    "nb_filter": "filters", "filter_length": "kernel_size", "border_mode": "padding", "subsample": "strides",
    "subsample_length": "strides", "atrous_rate": "dilation_rate", "bias": "use_bias", "init": "kernel_initializer",
    "inner_init": "recurrent_initializer", "W_regularizer": "kernel_regularizer", "b_regularizer": "bias_regularizer",
    "U_regularizer": "recurrent_regularizer", "W_constraint": "kernel_constraint", "b_constraint": "bias_constraint",
    "U_constraint": "recurrent_constraint", "inner_activation": "recurrent_activation", "pool_length": "pool_size", "p": "rate",
    "sigma": "stddev", "gamma_init": "gamma_initializer", "beta_init": "beta_initializer", "length": "size", "stride": "strides"}
UNITS = ("Dense", "LSTM", "GRU", "SimpleRNN", "TimeDistributedDense")
#: Functions that are layers as well.
ARITHMETIC = ("Add", "Subtract", "Multiply", "Divide", "TrueDivide")
MERGES = {"sum": "Add", "mul": "Multiply", "concat": "Concatenate", "ave": "Average", "max": "Maximum", "dot": "Dot", "cos": "Dot"}


def layer_document(document: Any, owner: str, version: int) -> tuple[str, str, dict[str, Any]]:
    """Name, class and options of a layer in a file, in the terms of Keras 2 and 3."""
    if not isinstance(document, dict) or not isinstance(document.get("class_name"), str) or not isinstance(document.get("config"), dict):
        raise FileFormatError(f"{owner}: expected a layer with class_name and config; got {str(document)[:80]}")
    class_name, config = document["class_name"], dict(document["config"])
    package, _, plain = class_name.rpartition(">")
    registered = document.get("registered_name")
    if isinstance(registered, str) and ">" in registered and not registered.startswith("keras"):
        class_name = registered
    elif package and not package.startswith("keras"):
        plain = class_name
    else:
        class_name = plain
    if version == 3 and _is_function(document) and class_name not in ARITHMETIC:
        class_name = f"ops.{class_name}"        # may have the name of a layer
    name = str(config.get("name") or document.get("name") or class_name)
    return name, *_in_new_terms(class_name, config, version)


def cells_of(config: dict[str, Any]) -> list[str]:
    """The classes of the cells of a layer that has several."""
    cell = config.get("cell")
    inner = cell.get("config") if isinstance(cell, dict) else None
    cells = inner.get("cells") if isinstance(inner, dict) else None
    return [str(one.get("class_name")) for one in cells if isinstance(one, dict)] if isinstance(cells, list) else []


def _is_function(document: dict[str, Any]) -> bool:
    """Whether what a model calls is a function: HDF5 files do not say its module, but all layers say whether they train."""
    called = document.get("inbound_nodes")
    if "module" in document or not isinstance(called, list) or not called:
        return str(document.get("module")).startswith("keras.src.ops")
    return isinstance(called[0], dict) and "trainable" not in document["config"] and ">" not in document["class_name"]


def _in_new_terms(class_name: str, config: dict[str, Any], version: int) -> tuple[str, dict[str, Any]]:
    old = class_name in CLASSES and "filters" not in config and "pool_size" not in config
    class_name = CLASSES.get(class_name, class_name)
    if class_name == "Merge":
        return _merge(config)
    if "dim_ordering" in config:
        config["data_format"] = "channels_first" if config.pop("dim_ordering") == "th" else "channels_last"
    if version > 1 and not old:
        return class_name, config
    for before, after in OPTIONS.items():
        if before in config and after not in config:
            config[after] = config.pop(before)
    if "nb_row" in config and "kernel_size" not in config:
        depth = [config["kernel_dim1"]] if "kernel_dim1" in config else []
        config["kernel_size"] = [*depth, config.pop("nb_row"), config.pop("nb_col")]
    if "kernel_dim1" in config and "kernel_size" not in config:
        config["kernel_size"] = [config.pop(f"kernel_dim{i}") for i in (1, 2, 3)]
    if class_name in UNITS and "output_dim" in config and "units" not in config:
        config["units"] = config.pop("output_dim")
    if class_name == "TimeDistributedDense":
        class_name = "Dense"
    if "forget_bias_init" in config:
        config["unit_forget_bias"] = config.pop("forget_bias_init") == "one"
    return class_name, config


def _merge(config: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    mode = config.get("mode", "sum")
    if mode not in MERGES:
        raise FileFormatError(f"Keras layer {config.get('name')!r} (Merge): mode {str(mode)[:40]!r} cannot be imported; "
                              f"{', '.join(MERGES)} can")
    return MERGES[mode], {**config, "axis": config.get("concat_axis", -1), "axes": config.get("dot_axes", -1), "normalize": mode == "cos"}


def weights_in_order(class_name: str, config: dict[str, Any], arrays: list[Array], version: int) -> list[Array]:
    """The arrays of a layer as Keras 2 has them."""
    if class_name == "LSTM" and len(arrays) == 12:
        return _gates(arrays, (0, 2, 1, 3))
    if class_name == "GRU" and len(arrays) == 9:
        return _gates(arrays, (0, 1, 2))
    if class_name == "CuDNNLSTM" and len(arrays) == 3 and arrays[2].ndim == 1 and arrays[2].size == 8 * config.get("units", 0):
        return [*arrays[:2], np.add(*np.split(arrays[2], 2))]
    if class_name == "CuDNNGRU" and len(arrays) == 3 and arrays[2].ndim == 1:
        return [*arrays[:2], arrays[2].reshape(2, -1)]
    if version == 1 and arrays and class_name == "Conv1D" and arrays[0].ndim == 4:
        return [arrays[0][:, 0], *arrays[1:]]
    if version == 1 and arrays and class_name == "Conv2D" and config.get("data_format") == "channels_first":
        return [arrays[0].transpose(2, 3, 1, 0), *arrays[1:]]
    if version == 1 and arrays and class_name == "Conv3D" and config.get("data_format") == "channels_first":
        return [arrays[0].transpose(2, 3, 4, 1, 0), *arrays[1:]]
    return arrays


def _gates(arrays: list[Array], order: tuple[int, ...]) -> list[Array]:
    """Arrays of each gate, W, U and b, joined in the order of Keras 2."""
    return [np.concatenate([arrays[3 * gate + kind] for gate in order], axis=-1) for kind in range(3)]
