"""Layers around layers."""
from __future__ import annotations

from typing import Any

from ....layers.base.base import Layer
from ....layers.standard.wrappers import Bidirectional, LastTimeStep
from ....layers.types.formats import BidirectionalMode
from ..layer_reading import KerasLayer, Made, Tensor
from ..own.positions import EachStep
from ..own.recurrent import Recurrent
from ..registry import TABLE, keras_layer
from ..upgrade import layer_document
from .recurrent import recurrent_layer

MODES = {"concat": BidirectionalMode.CONCAT, "sum": BidirectionalMode.ADD, "mul": BidirectionalMode.MUL, "ave": BidirectionalMode.AVERAGE}


def held(k: KerasLayer, option: str, inputs: list[Tensor]) -> KerasLayer:
    """The layer inside."""
    name, class_name, config = layer_document(k.get(option), k.label, k.version)
    found = KerasLayer(name, class_name, config, inputs, k.version, theano=k.theano)
    found.left = k.left
    return found


@keras_layer("Bidirectional", becomes="`Bidirectional` around what the layer inside becomes",
             lossy="`merge_mode=None` is refused; as of the layers inside")
def bidirectional(k: KerasLayer) -> Made:
    mode = k.get("merge_mode", "concat")
    if mode not in MODES:
        raise k.unsupported(f"merge_mode={mode!r}")
    inner = held(k, "layer", k.inputs)
    all_steps, masked = bool(inner.get("return_sequences", False)), k.input.masked
    conf, weights, names = recurrent_layer(inner, masked)
    if isinstance(conf, Recurrent):
        conf = conf.replace(return_sequences=all_steps, zero_masked=masked and all_steps)
    elif not all_steps:
        conf = LastTimeStep(underlying=conf)
    both: dict[str, Any] = {}
    for prefix in ("f", "b"):
        for name, make in weights.items():
            both[prefix + name] = lambda w, p=prefix, m=make: m({n[1:]: a for n, a in w.items() if n[0] == p})
    units = int(inner.get("units")) * (2 if mode == "concat" else 1)
    return k.made(Bidirectional(fwd=conf, bwd=conf, mode=MODES[mode]), both, tuple(p + n for p in "fb" for n in names),
                  shape=(k.shape[0], units) if all_steps else (units,), masked=masked and all_steps)


@keras_layer("TimeDistributed", becomes="the layer itself where it acts on the last axis; else a layer at each step",
             lossy="layers inside that become several are refused")
def time_distributed(k: KerasLayer) -> Made:
    step = [Tensor(k.shape[1:])]
    inner = held(k, "layer", step)
    if inner.class_name in LAST_AXIS:
        whole = KerasLayer(k.name, inner.class_name, inner.config, k.inputs, k.version, theano=k.theano)
        whole.left = k.left
        return TABLE[inner.class_name].function(whole)  # type: ignore[no-any-return]
    if inner.class_name not in TABLE:
        raise k.unsupported(f"the layer {inner.class_name} inside")
    made = TABLE[inner.class_name].function(inner)
    confs = [p.conf for p in made.parts]
    if len(confs) != 1 or not isinstance(confs[0], Layer):
        raise k.unsupported(f"the layer {inner.class_name} inside")
    sizes = [k.size(i) for i in range(k.rank())]
    if None in made.output.shape:
        raise k.unsupported("open sizes behind the layer inside")
    conf = EachStep(underlying=confs[0], steps=sizes[0], shape=tuple(sizes[1:]), result=made.output.shape)
    return k.made(conf, dict(made.parts[0].weights), made.names, shape=(sizes[0], *made.output.shape))


#: Layers for which steps are no different from other axes.
LAST_AXIS = frozenset({"Dense", "Activation", "LeakyReLU", "ELU", "ReLU", "ThresholdedReLU", "Dropout", "GaussianNoise", "GaussianDropout",
                       "Rescaling", "Identity"})
