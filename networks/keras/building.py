"""Configurations and parameters of dl4py, of the models of Keras."""
from __future__ import annotations

from dataclasses import dataclass
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
from .model import Call, KerasModel, model_of, references
from .registry import TABLE, made_by_user
from .training import loss_layer, losses_of, tell, updater_of
from .upgrade import weights_in_order

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
        made, arrays = _made(file, call, [known[n] for n in call.inputs], left)
        known[call.key] = made.output
        members.append(ModelMember(call, made, arrays))
    _refuse_shared(file, members)
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
    for name in ("mask", "initial_state"):
        if references(call.arguments.get(name)) and (name != "mask" or not all(t.masked for t in inputs)):
            raise layer.unsupported(f"an array given as {name}, which does not follow from Masking or Embedding,")
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
        made = Made(tuple(map(_frozen, made.parts)) if made.names else made.parts, made.output, made.names)
    if not file.weights.present or not made.names:
        return made, []
    arrays = weights_in_order(call.class_name, call.config, call.weights.of(call.name, call.class_name, call.beside), file.version)
    if len(arrays) != len(made.names):
        raise FileFormatError(f"{file.where}: {layer.label} has {len(arrays)} arrays in the file; expected {len(made.names)}: "
                              f"{', '.join(made.names)}")
    return made, arrays


def _frozen(part: LayerPart) -> LayerPart:
    if not part.weights:
        return part
    if isinstance(part.conf, Layer):
        return LayerPart(FrozenLayerWithBackprop(underlying=part.conf), part.weights)
    return LayerPart(FrozenVertex(part.conf), part.weights) if isinstance(part.conf, GraphVertex) else part


def _unknown(file: KerasFile, layer: KerasLayer) -> MissingOpError:
    name = layer.name if layer.class_name == "Lambda" else layer.class_name
    why = ("the code of a Lambda is never run: write it as a layer of dl4py, and" if layer.class_name == "Lambda"
           else f"no layer of that class can be imported{did_you_mean(layer.class_name, TABLE)};")
    return MissingOpError(f"{file.where}: {layer.label}: {why} register it with "
                          f"register_keras_layer({name!r}, function_that_makes_a_layer)")


def _refuse_shared(file: KerasFile, members: list[ModelMember]) -> None:
    seen: set[str] = set()
    for m in members:
        if m.made.names and m.call.owner in seen:
            raise UnsupportedVersionError(f"{file.where}: the layer {m.call.owner!r} ({m.call.class_name}) is called several times, and "
                                          "has weights; layers of dl4py do not share parameters")
        seen.add(m.call.owner)


def _is_list(members: list[ModelMember]) -> bool:
    return all(isinstance(p.conf, (Layer, InputPreProcessor)) for m in members for p in m.made.parts)


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
    for m in members:
        sources = [called[n] for n in m.call.inputs]
        for i, part in enumerate(m.made.parts):
            name = _part_name(m, i)
            if isinstance(part.conf, Layer):
                builder.add_layer(name, part.conf, *sources)
            else:
                vertex = PreprocessorVertex(part.conf) if isinstance(part.conf, InputPreProcessor) else part.conf
                builder.add_vertex(name, vertex, *sources)
            parameters |= _values(m, part, name)
            sources = [name]
        called[m.call.key] = sources[0]
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
