"""Attention."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

from .. import options
from ..layer_reading import KerasLayer, LayerPart, Made, Tensor
from ..model import references
from ..own.attention import Attention, MultiHeadAttention
from ..registry import keras_layer
from ..shapes import Shape


def _series(k: KerasLayer) -> list[Tensor]:
    """The queries, values and keys; a mask may follow them."""
    count = len(k.inputs) - len(k.arguments.get("attention_mask") or ())
    if not 2 <= count <= 3 or any(len(t.shape) != 2 for t in k.inputs):
        raise k.unsupported("inputs that are not two or three series")
    for name in ("training", "query_mask", "value_mask", "key_mask"):
        given = k.arguments.get(name)
        if given and not (references(given) and all(t.masked for t in k.inputs[:count])):
            raise k.unsupported(f"the argument {name}")
    return k.inputs[:count]


def _weighs_itself(k: KerasLayer) -> bool:
    """Whether Keras computes the weights of the scores apart, after which those of masked keys are 0; kernels of back ends leave them."""
    return k.version == 3 and bool(k.get("dropout", 0) or k.arguments.get("return_attention_scores"))


def _with_scores(k: KerasLayer, conf: Any, weights: dict[str, Any], names: tuple[str, ...], output: Shape, scores: Shape) -> Made:
    """The vertex, and one more for the scores where they are a result too."""
    made = k.made(conf, weights, names, shape=output)
    if not k.arguments.get("return_attention_scores"):
        return made
    parts = (LayerPart(conf.replace(scores=True), sources=tuple(-1 - i for i in range(len(k.inputs))), shares=1 if names else None),
             replace(made.parts[0], sources=tuple(-1 - i for i in range(len(k.inputs)))))
    return replace(made, parts=parts, further=((0, Tensor(scores)),))


@keras_layer("MultiHeadAttention", "GroupQueryAttention", "GroupedQueryAttention", becomes="a vertex of several heads with biases",
             lossy="`dropout` while training; other axes, and masks of steps as arguments, are refused")
def multi_head(k: KerasLayer) -> Made:
    series = _series(k)
    k.leave(dropout=0)
    k.refuse(use_gate=False, sliding_window=None)
    axes = k.get("attention_axes", None)
    if axes not in (None, [1], (1,), [-2], 1):
        raise k.unsupported(f"attention_axes={axes!r}")
    query, value = series[0].shape, series[1].shape
    key = series[2].shape if len(series) > 2 else value
    grouped = k.class_name != "MultiHeadAttention"
    heads = int(k.get("num_query_heads") if grouped else k.get("num_heads"))
    shared = int(k.get("num_key_value_heads")) if grouped else heads
    size = int(k.get("head_dim") if grouped else k.get("key_dim"))
    inner = size if grouped else int(k.get("value_dim", None) or size)
    behind = k.get("output_shape", None)
    behind = int((behind[-1] if isinstance(behind, (list, tuple)) else behind or query[-1]) or 0)
    sizes = [s[-1] or 0 for s in (query, key, value)]
    if 0 in sizes:
        raise k.unsupported("open sizes of steps")
    has_bias = bool(k.get("use_bias", True))
    conf: Any = MultiHeadAttention(
        n_in_queries=sizes[0], n_in_keys=sizes[1], n_in_values=sizes[2], n_heads=heads, key_heads=shared, head_size=size, value_size=inner,
        n_out=behind, has_bias=has_bias, causal=bool(k.arguments.get("use_causal_mask", False)),
        given_mask=len(series) < len(k.inputs), blind_zero=_weighs_itself(k),
        regularization=options.regularization(k.get("kernel_regularizer", None), k.label))
    names, weights = [], dict[str, Any]()
    for letter, before, after in conf.sizes():
        names.append(f"W{letter}")
        weights[f"W{letter}"] = lambda w, n=f"W{letter}", shape=(before, after): w[n].reshape(shape)
        if has_bias:
            names.append(f"b{letter}")
            weights[f"b{letter}"] = lambda w, n=f"b{letter}": w[n].reshape(-1)
    return _with_scores(k, conf, weights, tuple(names), (query[0], behind), (heads, query[0], value[0]))


@keras_layer("Attention", "AdditiveAttention", becomes="a vertex of scores of dot products, or of sums",
             lossy="`dropout` while training")
def attention(k: KerasLayer) -> Made:
    _series(k)
    k.leave(dropout=0)
    additive = k.class_name == "AdditiveAttention" or k.get("score_mode", "dot") == "concat"
    if k.class_name == "Attention" and additive:
        raise k.unsupported("score_mode='concat'")
    size = k.inputs[0].shape[-1]
    scaled = bool(k.get("use_scale", k.class_name == "AdditiveAttention"))
    shape = None if not scaled else (int(size or 0),) if additive else ()
    conf: Any = Attention(additive=additive, scale_shape=shape,
                          causal=bool(k.arguments.get("use_causal_mask", k.get("causal", False))))
    weights = {"scale": lambda w: w["scale"].reshape(shape or (1,))} if scaled else {}
    query, value = k.inputs[0].shape, k.inputs[1].shape
    return _with_scores(k, conf, weights, ("scale",) if scaled else (), (query[0], value[-1]), (query[0], value[0]))


