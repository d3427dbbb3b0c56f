"""Configurations and parameters of dl4py, of the models of Keras."""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...layers.base.base import Layer
from ...layers.preprocessors import ComposableInputPreProcessor, InputPreProcessor
from ...layers.standard.feed_forward import ActivationLayer
from ...layers.standard.frozen import FrozenLayerWithBackprop
from ...layers.vertices import GraphVertex, PreprocessorVertex
from ...layers.vertices.wrapping import FrozenVertex
from ...samediff.base.datatype import DataType
from ...samediff.errors import ConfigurationError, DL4PyError, FileFormatError, MissingOpError, UnsupportedVersionError, did_you_mean
from ..structure.configuration import ComputationGraphConfiguration, MultiLayerConfiguration, NeuralNetConfiguration
from ..structure.list_builder import ListBuilder
from . import table as table
from .archive import KerasFile, documents_of
from .layer_reading import KerasLayer, LayerPart, Made, Tensor
from .model import Call, KerasModel, further_key, model_of, references
from .own.sharing import SharedVertex
from .registry import TABLE, made_by_user
from .training import loss_layer, losses_of, tell, updater_of
from .upgrade import cells_of, weights_in_order

Array = np.ndarray[Any, Any]


@dataclass
class BuiltModel:
    """A network to be.

    Parameters
    ----------
    configuration : MultiLayerConfiguration or ComputationGraphConfiguration
        Of the network.
    parameters : dict
        Arrays by the names that the network has for them; empty without weights.
    """

    configuration: MultiLayerConfiguration | ComputationGraphConfiguration
    parameters: dict[str, Array]


@dataclass
class ModelMember:
    """A call of a layer with what it becomes.

    Parameters
    ----------
    call : Call
        The layer of Keras.
    made : Made
        What it becomes.
    arrays : list of arrays
        Its weights.
    """

    call: Call
    made: Made
    arrays: list[Array]


def build(file: KerasFile, enforce_training_config: bool = False, graph: bool = False) -> BuiltModel:
    """The network of a file; with ``graph`` always a graph."""
    left: list[str] = []
    with documents_of(file.where):
        model = model_of(file)
        losses = losses_of(file.training, model.output_names)
        updater, settings, unknown = updater_of(file.training)
    known = {name: Tensor(shape) for name, shape in model.inputs.items()}
    members = []
    for call in model.calls:
        made, arrays = _made(file, call, [_result(file, known, n) for n in call.inputs], left)
        known[call.key] = made.output
        known |= {further_key(call.key, i): tensor for i, (_, tensor) in enumerate(made.further, 1)}
        members.append(ModelMember(call, made, arrays))
    for name in model.outputs:
        _result(file, known, name)
    double = any(a.dtype == np.float64 for m in members for a in m.arrays)
    network = NeuralNetConfiguration.Builder().data_type(DataType.DOUBLE if double else DataType.FLOAT)
    left += unknown
    try:
        with documents_of(file.where):
            ends = [(name, None if loss is None else loss_layer(loss, known[name])) for name, loss in zip(model.outputs, losses)]
    except UnsupportedVersionError as error:
        left, ends = [*left, str(error)], [(name, None) for name in model.outputs]
    tell(file.where, left, enforce_training_config)
    if updater is not None:
        network.updater(updater)
    for name, value in settings.items():
        getattr(network, name)(value)
    if model.sequential and not graph and _is_list(members):
        return _list(network, members, ends[0][1])
    return _graph(network, model, members, ends)


def _made(file: KerasFile, call: Call, inputs: list[Tensor], left: list[str]) -> tuple[Made, list[Array]]:
    """The replacement of a layer, and its arrays in the order of the names."""
    turned = file.backend == "theano" and call.class_name in ("Conv1D", "Conv2D")
    layer = KerasLayer(call.name, call.class_name, call.config, inputs, file.version, call.arguments, turned)
    by_name = TABLE.get(call.name)
    entry = by_name if by_name is not None and by_name.own and call.class_name == "Lambda" else TABLE.get(call.class_name)
    if entry is None:
        raise _unknown(file, layer)
    if references(call.arguments.get("mask")) and not all(t.masked for t in inputs):
        raise layer.unsupported("an array given as mask, which does not follow from Masking or Embedding,")
    try:
        found = entry.function(layer)
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        if entry.own or isinstance(error, DL4PyError):
            raise
        why = f"options that the importer cannot read ({type(error).__name__}: {error})"
        raise ConfigurationError(f"{file.where}: {layer.label}: {why}") from error
    made = made_by_user(layer, found) if entry.own else found
    layer.leave(activity_regularizer=None)
    left += layer.left
    if call.config.get("trainable") is False:
        made = replace(made, parts=tuple(map(_frozen, made.parts)))
    if not file.weights.present or not made.names:
        return made, []
    arrays = call.weights.of(call.name, call.class_name, call.beside, cells_of(call.config))
    arrays = weights_in_order(call.class_name, call.config, arrays, file.version)
    if len(arrays) != len(made.names):
        raise FileFormatError(f"{file.where}: {layer.label} has {len(arrays)} arrays in the file; expected {len(made.names)}: "
                              f"{', '.join(made.names)}")
    return made, arrays


def _frozen(part: LayerPart) -> LayerPart:
    if not part.weights:
        return part
    if isinstance(part.conf, Layer):
        return replace(part, conf=FrozenLayerWithBackprop(underlying=part.conf))
    return replace(part, conf=FrozenVertex(part.conf)) if isinstance(part.conf, GraphVertex) else part


def _unknown(file: KerasFile, layer: KerasLayer) -> MissingOpError:
    name = layer.name if layer.class_name == "Lambda" else layer.class_name
    why = ("the code of a Lambda is never run: write it as a layer of dl4py, and" if layer.class_name == "Lambda"
           else f"no layer of that class can be imported{did_you_mean(layer.class_name, TABLE)};")
    return MissingOpError(f"{file.where}: {layer.label}: {why} register it with "
                          f"register_keras_layer({name!r}, function_that_makes_a_layer)")


def _result(file: KerasFile, known: dict[str, Tensor], key: str) -> Tensor:
    """Shape and mask of a result."""
    found = known.get(key)
    if found is None:
        name, _, number = key.rpartition(":")
        raise FileFormatError(f"{file.where}: the layer {name!r} has no result {number}")
    return found


def _is_list(members: list[ModelMember]) -> bool:
    """Whether one part follows the other, each with weights of its own."""
    parts, owners = [p for m in members for p in m.made.parts], [m.call.owner for m in members if m.made.names]
    return len(owners) == len(set(owners)) and all(isinstance(p.conf, (Layer, InputPreProcessor)) and p.sources is None for p in parts)


class SizedListBuilder(ListBuilder):
    """A list whose layers know their sizes."""

    def _sized(self, layers: list[Layer]) -> tuple[list[Layer], dict[int, InputPreProcessor]]:
        return layers, dict(self._preprocessors)


def _list(network: Any, members: list[ModelMember], loss: Layer | None) -> BuiltModel:
    builder = SizedListBuilder(network)
    parameters: dict[str, Array] = {}
    waiting: list[InputPreProcessor] = []
    number = 0

    def add(layer: Layer) -> None:
        nonlocal number
        if waiting:
            builder.input_pre_processor(number, waiting[0] if len(waiting) == 1 else ComposableInputPreProcessor(*waiting))
            waiting.clear()
        builder.layer(layer)
        number += 1

    for m in members:
        for i, part in enumerate(m.made.parts):
            if isinstance(part.conf, InputPreProcessor):
                waiting.append(part.conf)
                continue
            assert isinstance(part.conf, Layer)
            parameters |= _values(m, part, str(number))
            add(part.conf.replace(layer_name=_part_name(m, i)))
    if waiting or not number:
        add(ActivationLayer(activation="identity", layer_name="result"))
    if loss is not None:
        add(loss.replace(layer_name="loss"))
    return BuiltModel(builder.validate_output_layer_config(False).build(), parameters)


def _part_name(m: ModelMember, i: int) -> str:
    """The last part has the name of the layer."""
    return m.call.key if i == len(m.made.parts) - 1 else f"{m.call.key}-{i}"


def _graph(network: Any, model: KerasModel, members: list[ModelMember], ends: list[tuple[str, Layer | None]]) -> BuiltModel:
    builder = network.graph_builder().add_inputs(*model.inputs)
    parameters: dict[str, Array] = {}
    called = {name: name for name in model.inputs}      # what gives a tensor of Keras
    owners: dict[tuple[str, int], str] = {}             # what has the weights of a part of a layer
    for m in members:
        inputs = [called[n] for n in m.call.inputs]
        results: list[str] = []
        for i, part in enumerate(m.made.parts):
            name = _part_name(m, i)
            sources = (results[-1:] or inputs) if part.sources is None else [results[n] if n >= 0 else inputs[-1 - n] for n in part.sources]
            conf: Any = PreprocessorVertex(part.conf) if isinstance(part.conf, InputPreProcessor) else part.conf
            place = i if part.shares is None else part.shares
            owner = owners.setdefault((m.call.owner, place), _part_name(m, place))
            if owner != name and (part.weights or part.shares is not None):
                conf = SharedVertex(conf, owner)
            else:
                parameters |= _values(m, part, name)
            (builder.add_layer if isinstance(conf, Layer) else builder.add_vertex)(name, conf, *sources)
            results.append(name)
        called[m.call.key] = results[-1] if results else inputs[0]
        called |= {further_key(m.call.key, i): results[number] for i, (number, _) in enumerate(m.made.further, 1)}
    outputs: list[str] = []
    for key, loss in ends:
        source = called[key]
        if loss is not None:
            builder.add_layer(f"{key}_loss", loss, source)
            source = f"{key}_loss"
        elif source in model.inputs or source in outputs:
            builder.add_layer(f"{key}_result_{len(outputs)}", ActivationLayer(activation="identity"), source)
            source = f"{key}_result_{len(outputs)}"
        outputs.append(source)
    conf = builder.set_outputs(*outputs).allow_disconnected(True).validate_output_layer_config(False).build()
    return BuiltModel(conf, parameters)


def _values(m: ModelMember, part: LayerPart, prefix: str) -> dict[str, Array]:
    """The parameters of a part by the names that the network has for them."""
    if not part.weights or (m.made.names and not m.arrays):
        return {}
    given = dict(zip(m.made.names, m.arrays))
    found = {}
    for name, make in part.weights.items():
        try:
            found[f"{prefix}_{name}"] = np.asarray(make(given))
        except (ValueError, IndexError, KeyError) as error:
            shapes = ", ".join(f"{n} {a.shape}" for n, a in given.items())
            raise FileFormatError(f"Keras layer {m.call.name!r} ({m.call.class_name}): its arrays do not fit its options ({error}): "
                                  f"{shapes}") from error
    return found
