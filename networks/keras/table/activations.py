"""Activation functions that are layers."""
from __future__ import annotations

from typing import Any

from ....layers.functions.activations import (
    ActivationELU,
    ActivationLReLU,
    ActivationReLU,
    ActivationSoftmax,
    ActivationThresholdedReLU,
    IActivation,
)
from ....layers.standard.feed_forward import ActivationLayer, PReLULayer
from .. import options
from ..layer_reading import KerasLayer, Made
from ..own.activations import SoftmaxAlong
from ..registry import keras_layer


@keras_layer("LeakyReLU", becomes="`ActivationLayer` with `ActivationLReLU`")
def leaky(k: KerasLayer) -> Made:
    return k.made(ActivationLayer(activation=ActivationLReLU(alpha=float(k.get("negative_slope", k.get("alpha", 0.3))))))


@keras_layer("ELU", becomes="`ActivationLayer` with `ActivationELU`")
def elu(k: KerasLayer) -> Made:
    return k.made(ActivationLayer(activation=ActivationELU(alpha=float(k.get("alpha", 1.0)))))


@keras_layer("ReLU", becomes="`ActivationLayer` with `ActivationReLU`")
def relu(k: KerasLayer) -> Made:
    most, slope, threshold = k.get("max_value", None), k.get("negative_slope", 0.0), k.get("threshold", 0.0)
    found = ActivationReLU(max=None if most is None else float(most), threshold=float(threshold) if threshold else None,
                           negative_slope=float(slope) if slope else None)
    return k.made(ActivationLayer(activation=found))


@keras_layer("ThresholdedReLU", becomes="`ActivationLayer` with `ActivationThresholdedReLU`")
def thresholded(k: KerasLayer) -> Made:
    return k.made(ActivationLayer(activation=ActivationThresholdedReLU(theta=float(k.get("theta", 1.0)))))


@keras_layer("Softmax", becomes="`ActivationLayer` with `ActivationSoftmax`, or softmax along another axis")
def softmax(k: KerasLayer) -> Made:
    axis = k.axis(k.get("axis", -1))
    found: IActivation = ActivationSoftmax() if axis == k.rank() else SoftmaxAlong(axis)
    return k.made(ActivationLayer(activation=found))


@keras_layer("PReLU", becomes="`PReLULayer`")
def prelu(k: KerasLayer) -> Made:
    shared = k.get("shared_axes", None)
    first = options.initialiser(k.get("alpha_initializer", None), k.label)
    fields: dict[str, Any] = {} if first is None else {"weight_init": first}
    conf = PReLULayer(input_shape=tuple(1 if shared and i in shared else n or 0 for i, n in enumerate(k.shape, 1)),
                      shared_axes=tuple(shared) if shared else None, **fields)
    return k.made(conf, {"W": lambda w: w["alpha"]}, ("alpha",))
