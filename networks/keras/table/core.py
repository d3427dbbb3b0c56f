"""Dense and layers that compute nothing of their own."""
from __future__ import annotations

from typing import Any

from ....layers.standard.feed_forward import ActivationLayer, DenseLayer
from ....layers.standard.wrappers import TimeDistributed
from ....layers.types.formats import RNNFormat
from ..layer_reading import KerasLayer, Made
from ..own.masking import Masking
from ..own.positions import EinsumDense, PositionDense
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


@keras_layer("EinsumDense", becomes="as `Dense`, where the equation is that of a dense layer; else a layer of this equation",
             lossy="dots for any number of axes are refused there")
def einsum_dense(k: KerasLayer) -> Made:
    equation = str(k.get("equation")).replace(" ", "")
    left, _, right = equation.partition("->")
    x, _, kernel = left.partition(",")
    given, behind = k.get("output_shape"), k.get("bias_axes", None) or ""
    sizes = list(given) if isinstance(given, (list, tuple)) else [given]
    plain = (x.removeprefix("...").lstrip("."), right.removeprefix("...").lstrip("."))
    if len(kernel) == 2 and plain[0][-1:] == kernel[0] and plain[1][-1:] == kernel[1] and plain[0][:-1] == plain[1][:-1] and (
            behind in ("", right[-1:])):
        return dense(k.like(k.inputs, units=int(sizes[-1]), use_bias=bool(behind)))
    if "..." in equation or len(x) != k.rank() + 1 or len(right) != len(sizes) + 1 or not set(behind) <= set(right) <= set(x + kernel):
        raise k.unsupported(f"equation={equation!r} with output_shape={given!r}")
    known = dict(zip(right[1:], sizes)) | {c: n for c, n in zip(x[1:], k.shape) if n is not None}
    weights = tuple(known.get(c) or 0 for c in kernel)
    if 0 in weights:
        raise k.unsupported(f"equation={equation!r} of inputs of the shape {k.shape}")
    bias = tuple(known[c] if c in behind else 1 for c in right[min(map(right.index, behind), default=len(right)):])
    shape = tuple(known.get(c) for c in right[1:])
    conf: Any = EinsumDense(equation=equation, weight_shape=weights, bias_shape=bias, result=tuple(-1 if n is None else n for n in shape),
                            activation=k.activation(), **k.trained())
    makers, names = biased({"W": lambda w: w["kernel"]}, ("kernel",), bool(bias))
    if bias:
        makers["b"] = lambda w: w["bias"].reshape(bias)
    return k.made(conf, makers, names, shape=shape)


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
