"""Layers around layers."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

from ....layers.base.base import Layer
from ....layers.standard.feed_forward import ActivationLayer
from ....layers.standard.wrappers import Bidirectional, LastTimeStep
from ....layers.types.formats import BidirectionalMode
from ....layers.vertices.combine import ElementWiseOp, ElementWiseVertex, MergeVertex
from ..layer_reading import KerasLayer, LayerPart, Made, Tensor
from ..model import FOLD, UNFOLD
from ..own.positions import EachStep
from ..own.recurrent import Recurrent
from ..own.states import ReversedSteps
from ..own.steps import FoldSteps, UnfoldSteps
from ..registry import TABLE, keras_layer
from ..upgrade import layer_document
from .recurrent import recurrent_layer, stepping, takes_states

MODES = {"concat": BidirectionalMode.CONCAT, "sum": BidirectionalMode.ADD, "mul": BidirectionalMode.MUL, "ave": BidirectionalMode.AVERAGE}
JOINED = {"sum": ElementWiseOp.Add, "mul": ElementWiseOp.Product, "ave": ElementWiseOp.Average}


def held(k: KerasLayer, option: str, inputs: list[Tensor]) -> KerasLayer:
    """The layer inside."""
    name, class_name, config = layer_document(k.get(option), k.label, k.version)
    found = KerasLayer(name, class_name, config, inputs, k.version, k.arguments, k.theano)
    found.left = k.left
    return found


@keras_layer("Bidirectional", becomes="`Bidirectional` around what the layer inside becomes; with states as inputs or results, two results "
                                      "or two different layers these layers and a vertex", lossy="as of the layers inside")
def bidirectional(k: KerasLayer) -> Made:
    mode, series = k.get("merge_mode", "concat"), k.inputs[0]
    if mode not in (*MODES, None):
        raise k.unsupported(f"merge_mode={mode!r}")
    inner = held(k, "layer", [series])
    all_steps, masked = bool(inner.get("return_sequences", False)), series.masked
    explicit = isinstance(k.get("backward_layer", None), dict)
    other = held(k, "backward_layer", [series]) if explicit else inner.like([series], go_backwards=True)
    if mode is None or takes_states(inner) or len(k.inputs) > 1 or inner.get("go_backwards", False) or _different(inner, other):
        return _two_layers(k, inner, other, mode)
    conf, weights, names = recurrent_layer(inner, masked)
    if isinstance(conf, Recurrent):
        conf = conf.replace(zero_masked=masked and all_steps)
    elif not all_steps:
        conf = LastTimeStep(underlying=conf)
    both: dict[str, Any] = {}
    for prefix in ("f", "b"):
        both |= {prefix + name: _of_one(prefix, make) for name, make in weights.items()}
    units = int(inner.get("units")) * (2 if mode == "concat" else 1)
    return k.made(Bidirectional(fwd=conf, bwd=conf, mode=MODES[mode]), both, tuple(p + n for p in "fb" for n in names),
                  shape=(series.shape[0], units) if all_steps else (units,), masked=masked and all_steps)


def _of_one(prefix: str, make: Any) -> Any:
    """A function of the arrays of one direction, whose names have a prefix."""
    return lambda arrays: make({name[1:]: array for name, array in arrays.items() if name[0] == prefix})


def _different(inner: KerasLayer, other: KerasLayer) -> bool:
    """Whether the directions have other options, apart from their names."""
    first, second = (_plain({**one.config, "name": "", "go_backwards": False}) for one in (inner, other))
    return inner.class_name != other.class_name or first != second


def _plain(value: Any) -> Any:
    """A part of a configuration without the numbers by which Keras knows equal objects."""
    if isinstance(value, dict):
        return {name: _plain(v) for name, v in value.items() if name != "shared_object_id"}
    return [_plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def _two_layers(k: KerasLayer, inner: KerasLayer, other: KerasLayer, mode: str | None) -> Made:
    """The directions as two layers, whose results a vertex joins."""
    parts, names, results, states = list[LayerPart](), list[str](), list[int](), list[int]()
    half = (len(k.inputs) - 1) // 2
    all_steps, masked = bool(inner.get("return_sequences", False)), k.inputs[0].masked
    for prefix, one, first in (("f", inner, 0), ("b", other, half)):
        conf, weights, own = recurrent_layer(one, True)
        own_weights = {name: _of_one(prefix, make) for name, make in weights.items()}
        given = tuple(-2 - first - i for i in range(half))
        if half not in (0, len(conf.states)):
            raise k.unsupported(f"{len(k.inputs) - 1} initial states (expected {2 * len(conf.states)})")
        number = len(parts)
        parts += stepping(one, conf.replace(zero_masked=masked and all_steps), own_weights, given, number)
        states += range(number + 1, len(parts) - 1)
        if conf.go_backwards and all_steps:
            parts.append(LayerPart(ReversedSteps()))
        results.append(len(parts) - 1)
        names += [prefix + n for n in own]
    units, last = int(inner.get("units")), int(other.get("units"))
    steps = (k.inputs[0].shape[0],) if all_steps else ()
    state = [Tensor((n,)) for n in (units, last) for _ in range(len(states) // 2)]
    further = list(zip(states, state))
    if mode is None:
        parts.append(LayerPart(ActivationLayer(activation="identity"), sources=(results[0],)))
        further.insert(0, (results[1], Tensor((*steps, last), masked and all_steps)))
        units = int(inner.get("units"))
    elif mode == "concat":
        parts.append(LayerPart(MergeVertex(merge_axis=len(steps) + 1, modified=True), sources=tuple(results)))
        units += last
    else:
        parts.append(LayerPart(ElementWiseVertex(JOINED[mode]), sources=tuple(results)))
    return Made(tuple(parts), Tensor((*steps, units), masked and all_steps), tuple(names), tuple(further))


@keras_layer("TimeDistributed", becomes="the layer itself where it acts on the last axis; else a layer at each step, or what is inside on "
                                        "all steps as examples",
             lossy="batch normalization inside takes its statistics of all steps together")
def time_distributed(k: KerasLayer) -> Made:
    if k.get("part", None) == FOLD:
        return k.made(FoldSteps(), shape=k.shape[1:], masked=False)
    if k.get("part", None) == UNFOLD:
        rows, series = k.inputs
        return k.made(UnfoldSteps(), shape=(series.shape[0], *rows.shape), masked=series.masked)
    step = [Tensor(k.shape[1:])]
    inner = held(k, "layer", step)
    if inner.class_name in LAST_AXIS:
        whole = KerasLayer(k.name, inner.class_name, inner.config, k.inputs, k.version, theano=k.theano)
        whole.left = k.left
        return TABLE[inner.class_name].function(whole)  # type: ignore[no-any-return]
    if inner.class_name not in TABLE:
        raise k.unsupported(f"the layer {inner.class_name} inside")
    made = TABLE[inner.class_name].function(inner)
    confs, sizes = [p.conf for p in made.parts], (*k.shape, *made.output.shape)
    if len(confs) == 1 and isinstance(confs[0], Layer) and None not in sizes:
        conf = EachStep(underlying=confs[0], steps=k.size(0), shape=k.sizes()[1:], result=made.output.shape)
        return k.made(conf, dict(made.parts[0].weights), made.names, shape=(k.size(0), *made.output.shape))
    if made.further:
        raise k.unsupported(f"several results of the layer {inner.class_name} inside")
    parts = [LayerPart(FoldSteps())]
    for part in made.parts:
        sources = None if part.sources is None else tuple(n + 1 if n >= 0 else 0 for n in part.sources)
        parts.append(replace(part, sources=sources, shares=None if part.shares is None else part.shares + 1))
    parts.append(LayerPart(UnfoldSteps(), sources=(len(parts) - 1, -1)))
    return Made(tuple(parts), Tensor((k.shape[0], *made.output.shape), k.input.masked), made.names)


#: Layers for which steps are no different from other axes.
LAST_AXIS = frozenset({"Dense", "Activation", "LeakyReLU", "ELU", "ReLU", "ThresholdedReLU", "Dropout", "GaussianNoise", "GaussianDropout",
                       "Rescaling", "Identity"})
