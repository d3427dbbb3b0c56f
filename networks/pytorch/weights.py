"""The arrays of layers as PyTorch has them: names, axes, order of gates."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...layers.standard.attention import SelfAttentionLayer
from ...layers.standard.convolution import (
    Convolution1DLayer,
    Convolution3D,
    ConvolutionLayer,
    Deconvolution2D,
    Deconvolution3D,
    DepthwiseConvolution2D,
    SeparableConvolution2D,
)
from ...layers.standard.embedding import EmbeddingTable
from ...layers.standard.feed_forward import DenseLayer, PReLULayer
from ...layers.standard.normalization import BatchNormalization
from ...layers.standard.output import BaseOutputLayer, CenterLossOutputLayer
from ...layers.standard.recurrent import LSTM, GravesLSTM, SimpleRnn
from ...layers.standard.wrappers import BaseWrapperLayer, Bidirectional
from ...layers.vertices.attention import AttentionVertex
from ...samediff.errors import ConfigurationError
from ..keras.own.attention import MultiHeadAttention
from ..keras.own.normalization import ScaledNormalization
from ..keras.own.recurrent import Recurrent

Array = np.ndarray[Any, Any]
Arrays = dict[str, Array]


@dataclass(frozen=True)
class TorchForm:
    """The form of a layer's parameters in a state of PyTorch.

    Parameters
    ----------
    names : tuple of str
        What PyTorch calls its arrays, behind the name of the module.
    read : function of these arrays
        The parameters by name; it is also given the parameters as they are, for their shapes.
    write : function of the parameters
        The arrays.
    optional : tuple of str
        Arrays that a state may have or lack.
    """

    names: tuple[str, ...]
    read: Callable[[Arrays, Arrays], Arrays]
    write: Callable[[Arrays], Arrays]
    optional: tuple[str, ...] = ()


def form_of(conf: Any, parameters: Arrays) -> TorchForm:
    """The form of a layer or vertex; where PyTorch has no such layer, its parameters under their own names."""
    while isinstance(conf, BaseWrapperLayer):
        conf = conf.underlying
    if isinstance(conf, Bidirectional):
        return _both(form_of(conf.fwd, {n[1:]: a for n, a in parameters.items() if n[0] == "f"}))
    for kinds, make in _FORMS:
        if isinstance(conf, kinds):
            return make(conf, parameters)
    names = tuple(parameters)
    return TorchForm(names, lambda given, _: dict(given), dict)


def _both(one: TorchForm) -> TorchForm:
    """The form of a layer that runs in both directions."""
    def read(given: Arrays, shapes: Arrays) -> Arrays:
        found: dict[str, Any] = {}
        for letter, suffix in (("f", ""), ("b", "_reverse")):
            own = {n: given[n + suffix] for n in (*one.names, *one.optional) if n + suffix in given}
            found |= {letter + n: a for n, a in one.read(own, {n[1:]: a for n, a in shapes.items() if n[0] == letter}).items()}
        return found

    def write(parameters: Arrays) -> Arrays:
        found: dict[str, Any] = {}
        for letter, suffix in (("f", ""), ("b", "_reverse")):
            found |= {n + suffix: a for n, a in one.write({n[1:]: a for n, a in parameters.items() if n[0] == letter}).items()}
        return found
    return TorchForm(tuple(n + s for s in ("", "_reverse") for n in one.names), read, write,
                     tuple(n + s for s in ("", "_reverse") for n in one.optional))


def _weighted(to_here: Callable[[Array], Array], back: Callable[[Array], Array]) -> Callable[[Any, Arrays], TorchForm]:
    """Of W and b, the weight turned."""
    def make(conf: Any, parameters: Arrays) -> TorchForm:
        biased = "b" in parameters
        names = ("weight", "bias") if biased else ("weight",)

        def read(given: Arrays, shapes: Arrays) -> Arrays:
            found = {"W": to_here(given["weight"])}
            return found | ({"b": given["bias"]} if biased else {})

        def write(own: Arrays) -> Arrays:
            return {"weight": back(own["W"])} | ({"bias": own["b"]} if biased else {})
        return TorchForm(names, read, write)
    return make


def _series(conf: Any, parameters: Arrays) -> TorchForm:
    """DL4J reads the values of (out, in, k, 1) as (k, in, out)."""
    out, inner, k, _ = parameters["W"].shape
    return _weighted(lambda a: a.transpose(2, 1, 0).reshape(out, inner, k, 1),
                     lambda a: a.reshape(k, inner, out).transpose(2, 1, 0))(conf, parameters)


def _depthwise(conf: Any, parameters: Arrays) -> TorchForm:
    h, w, inner, many = parameters["W"].shape
    return _weighted(lambda a: a.reshape(inner, many, h, w).transpose(2, 3, 0, 1),
                     lambda a: a.transpose(2, 3, 0, 1).reshape(inner * many, 1, h, w))(conf, parameters)


def _shaped(names: dict[str, str]) -> Callable[[Any, Arrays], TorchForm]:
    """Arrays of the same values in another shape: PyTorch's names by those here."""
    def make(conf: Any, parameters: Arrays) -> TorchForm:
        present = {own: theirs for own, theirs in names.items() if own in parameters}

        def read(given: Arrays, shapes: Arrays) -> Arrays:
            return {own: given[theirs].reshape(shapes[own].shape) for own, theirs in present.items()}

        def write(own: Arrays) -> Arrays:
            return {theirs: own[n].reshape([s for s in own[n].shape if s != 1] or [1]) for n, theirs in present.items()}
        return TorchForm(tuple(present.values()), read, write)
    return make


def _batch_norm(conf: BatchNormalization, parameters: Arrays) -> TorchForm:
    logarithm = "log10stdev" in parameters
    present = {n: t for n, t in (("gamma", "weight"), ("beta", "bias"), ("mean", "running_mean")) if n in parameters}

    def read(given: Arrays, shapes: Arrays) -> Arrays:
        found, variance = {n: given[t] for n, t in present.items()}, given["running_var"]
        return found | ({"log10stdev": np.log10(variance) / 2} if logarithm else {"var": variance})

    def write(own: Arrays) -> Arrays:
        variance = 10 ** (2 * own["log10stdev"]) if logarithm else own["var"]
        return {t: own[n] for n, t in present.items()} | {"running_var": variance, "num_batches_tracked": np.zeros((), np.int64)}
    return TorchForm((*present.values(), "running_var"), read, write, ("num_batches_tracked",))


def _prelu(conf: PReLULayer, parameters: Arrays) -> TorchForm:
    def read(given: Arrays, shapes: Arrays) -> Arrays:
        shape, slopes = shapes["W"].shape, given["weight"]
        slopes = slopes if slopes.size == 1 else slopes.reshape(-1, *[1] * (len(shape) - 1))
        return {"W": np.broadcast_to(slopes, shape)}

    def write(own: Arrays) -> Arrays:
        rows = own["W"].reshape(own["W"].shape[0], -1)
        if (rows != rows[:, :1]).any():
            raise ConfigurationError(f"{conf.label}: PyTorch's PReLU has one slope for a channel; this layer has {own['W'].shape}")
        return {"weight": rows[:, 0]}
    return TorchForm(("weight",), read, write)


def _columns(array: Array, order: tuple[int, ...]) -> Array:
    parts = np.split(array, len(order), axis=-1)
    return np.concatenate([parts[i] for i in order], axis=-1)


def _gates(to_here: tuple[int, ...], two_biases: bool = False) -> Callable[[Any, Arrays], TorchForm]:
    """Of recurrent layers: W, RW and b, whose columns are gates; ``to_here`` says which gate of PyTorch stands at each place here."""
    back = tuple(int(i) for i in np.argsort(to_here))

    def make(conf: Any, parameters: Arrays) -> TorchForm:
        biased = "b" in parameters

        def read(given: Arrays, shapes: Arrays) -> Arrays:
            found = {"W": _columns(given["weight_ih"].T, to_here), "RW": _columns(given["weight_hh"].T, to_here)}
            if not biased:
                return found
            both = [_columns(given[n], to_here) for n in ("bias_ih", "bias_hh")]
            return found | {"b": np.stack(both) if two_biases else both[0] + both[1]}

        def write(own: Arrays) -> Arrays:
            found = {"weight_ih": _columns(own["W"], back).T, "weight_hh": _columns(own["RW"], back).T}
            if not biased:
                return found
            first, second = own["b"] if two_biases else (own["b"], np.zeros_like(own["b"]))
            return found | {"bias_ih": _columns(first, back), "bias_hh": _columns(second, back)}
        return TorchForm(("weight_ih", "weight_hh", *(("bias_ih", "bias_hh") if biased else ())), read, write)
    return make


def _stepped(conf: Recurrent, parameters: Arrays) -> TorchForm:
    if conf.cell == "gru" and not conf.reset_after:
        raise ConfigurationError(f"{conf.label}: PyTorch's GRU resets behind the product with the state (reset_after=True)")
    order = {"simple": (0,), "gru": (1, 0, 2), "lstm": (0, 1, 2, 3)}[conf.cell]
    return _gates(order, conf.cell == "gru")(conf, parameters)


def _attention(conf: Any, parameters: Arrays) -> TorchForm:
    """Of several heads: PyTorch has the three projections in one array where their sizes are equal."""
    if not {"Wq", "Wk", "Wv", "Wo"} <= set(parameters):
        raise ConfigurationError(f"{conf.label}: PyTorch's attention has projections (project_input=True)")
    heads = parameters["Wq"].ndim == 3                      # (heads, size of a head, features); else (features, heads * size)
    biased = "bq" in parameters
    shapes = {n: a.shape for n, a in parameters.items()}

    def rows(name: str, own: Array) -> Array:
        return own.reshape(-1, own.shape[-1]) if heads else own.T
    one = len({rows(n, parameters[n]).shape for n in ("Wq", "Wk", "Wv")}) == 1
    weights = ("in_proj_weight",) if one else ("q_proj_weight", "k_proj_weight", "v_proj_weight")
    names = (*weights, "out_proj.weight", *(("in_proj_bias", "out_proj.bias") if biased else ()))

    def read(given: Arrays, _: Arrays) -> Arrays:
        three = np.split(given["in_proj_weight"], 3) if one else [given[n] for n in weights]
        found = {n: a.reshape(shapes[n]) if heads else a.T for n, a in zip(("Wq", "Wk", "Wv"), three)}
        found["Wo"] = given["out_proj.weight"].T
        if biased:
            return found | dict(zip(("bq", "bk", "bv"), np.split(given["in_proj_bias"], 3))) | {"bo": given["out_proj.bias"]}
        if any(given[n].any() for n in ("in_proj_bias", "out_proj.bias") if n in given):
            raise ConfigurationError(f"{conf.label} has no biases, and those of the state are not 0")
        return found

    def write(own: Arrays) -> Arrays:
        three = [rows(n, own[n]) for n in ("Wq", "Wk", "Wv")]
        found = {"in_proj_weight": np.concatenate(three)} if one else dict(zip(weights, three))
        found["out_proj.weight"] = own["Wo"].T
        if biased:
            found |= {"in_proj_bias": np.concatenate([own[n] for n in ("bq", "bk", "bv")]), "out_proj.bias": own["bo"]}
        return found
    return TorchForm(names, read, write, () if biased else ("in_proj_bias", "out_proj.bias"))


def _no_form(conf: Any, parameters: Arrays) -> TorchForm:
    raise ConfigurationError(f"{conf.label}: PyTorch has no layer like {type(conf).__name__}; leave it out of names=")


def _same(array: Array) -> Array:
    return array


_FORMS: tuple[tuple[Any, Callable[[Any, Arrays], TorchForm]], ...] = (
    ((SeparableConvolution2D, CenterLossOutputLayer, GravesLSTM), _no_form),
    ((DenseLayer, BaseOutputLayer), _weighted(np.transpose, np.transpose)),
    (EmbeddingTable, _weighted(_same, _same)),
    (DepthwiseConvolution2D, _depthwise),
    ((Deconvolution2D, ConvolutionLayer, Convolution3D), _weighted(_same, _same)),
    (Convolution1DLayer, _series),
    (Deconvolution3D, _weighted(lambda a: a.transpose(2, 3, 4, 1, 0), lambda a: a.transpose(4, 3, 0, 1, 2))),
    (BatchNormalization, _batch_norm),
    (ScaledNormalization, _shaped({"gamma": "weight", "beta": "bias"})),
    (PReLULayer, _prelu),
    (LSTM, _gates((2, 1, 3, 0))),
    (SimpleRnn, _gates((0,))),
    (Recurrent, _stepped),
    ((SelfAttentionLayer, AttentionVertex, MultiHeadAttention), _attention),
)


def has_form(kind: type[Any]) -> bool:
    """Whether layers of a class take the weights of a module of PyTorch; wrappers do where the layer inside does."""
    if issubclass(kind, (BaseWrapperLayer, Bidirectional)):
        return True
    found = next((make for kinds, make in _FORMS if issubclass(kind, kinds)), _no_form)
    return found is not _no_form
