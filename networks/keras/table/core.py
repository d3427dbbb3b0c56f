"""Dense and layers that compute nothing of their own."""
from __future__ import annotations

from typing import Any

from ....layers.standard.feed_forward import ActivationLayer, DenseLayer
from ....layers.standard.wrappers import TimeDistributed
from ....layers.types.formats import RNNFormat
from ..layer_reading import KerasLayer, Made
from ..own.masking import Masking
from ..own.positions import PositionDense
from ..registry import keras_layer


def biased(weights: dict[str, Any], names: tuple[str, ...], has_bias: bool) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Weights and names, with those of a bias."""
    return ({**weights, "b": lambda w: w["bias"]}, (*names, "bias")) if has_bias else (weights, names)


@keras_layer("Dense", becomes="`DenseLayer`; on series in a `TimeDistributed`, on masked series and images a dense layer at each position")
def dense(k: KerasLayer) -> Made:
    has_bias = bool(k.get("use_bias", True))
    units, shape = int(k.get("units")), k.shape
    kind = DenseLayer if k.rank() < 3 and not k.input.masked else PositionDense
    conf: Any = kind(n_in=k.size(), n_out=units, has_bias=has_bias, activation=k.activation(), **k.trained())
    weights, names = biased({"W": lambda w: w["kernel"]}, ("kernel",), has_bias)
    if k.rank() == 2 and kind is DenseLayer:
        conf = TimeDistributed(underlying=conf, rnn_data_format=RNNFormat.NWC)
    return k.made(conf, weights, names, shape=(*shape[:-1], units))


@keras_layer("EinsumDense", becomes="as `Dense`, where the equation is that of a dense layer", lossy="other equations are refused")
def einsum_dense(k: KerasLayer) -> Made:
    equation = str(k.get("equation")).replace(" ", "")
    left, _, right = equation.partition("->")
    x, _, kernel = left.partition(",")
    x, right = x.removeprefix("...").lstrip("."), right.removeprefix("...").lstrip(".")
    if len(kernel) != 2 or x[-1:] != kernel[0] or right[-1:] != kernel[1] or x[:-1] != right[:-1]:
        raise k.unsupported(f"equation={equation!r}")
    shape = k.get("output_shape")
    units = int(shape[-1] if isinstance(shape, (list, tuple)) else shape)
    bias = k.get("bias_axes", None)
    if bias not in (None, right[-1:]):
        raise k.unsupported(f"bias_axes={bias!r}")
    return dense(KerasLayer(k.name, k.class_name, {**k.config, "units": units, "use_bias": bias is not None}, k.inputs, k.version))


@keras_layer("Activation", becomes="`ActivationLayer`")
def activation(k: KerasLayer) -> Made:
    return k.made(ActivationLayer(activation=k.activation()))


@keras_layer("Masking", becomes="a layer that masks steps by their values")
def masking(k: KerasLayer) -> Made:
    k.rank(2)
    return k.made(Masking(mask_value=float(k.get("mask_value", 0.0))), masked=True)


@keras_layer("InputLayer", "Identity", becomes="nothing")
def nothing(k: KerasLayer) -> Made:
    return k.made(None)


@keras_layer("ActivityRegularization", becomes="nothing", lossy="the penalty of activations while training")
def unpenalized(k: KerasLayer) -> Made:
    k.left.append(k.label)
    return k.made(None)
