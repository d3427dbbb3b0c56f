"""Models from files of every kind."""
from __future__ import annotations

import os
from typing import Any, BinaryIO

from ...samediff.codecs.array_files import read_arrays
from ...samediff.errors import FileFormatError
from ...samediff.graph.graph import SameDiff
from ...samediff.text.document_text import read_text
from ..files.exchange import set_arrays
from ..files.model_zip import CONFIGURATION, read_configuration
from ..models.computation_graph import ComputationGraph
from ..models.keras_import import KerasModelImport
from ..models.model_serializer import ModelSerializer
from ..models.multilayer import MultiLayerNetwork
from ..structure.configuration import ComputationGraphConfiguration, is_graph, read
from .formats import FORMATS, format_of


def open_model(path: str, stream: BinaryIO | None = None) -> Any:
    """The network or graph of a file; ``stream`` is read in place of it where it is given.

    Raises
    ------
    FileFormatError
        No model, or arrays without the configuration of one.
    """
    kind = format_of(path)
    if kind is FORMATS["arrays"]:
        return _from_arrays(path)
    if kind is FORMATS["Keras model"]:
        return KerasModelImport.import_keras_model_and_weights(stream or path)
    if kind is FORMATS["model zip"]:
        return restored(path, stream)
    if kind is FORMATS["ONNX model"]:           # by its path: tensors may lie in files beside it
        return SameDiff.import_onnx(path)
    if kind is FORMATS["TensorFlow graph"]:
        return SameDiff.import_frozen_tf(path)
    if kind is FORMATS["PyTorch"]:
        raise FileFormatError(f"{path} holds weights of PyTorch without the layers: set_state_dict(net, {os.path.basename(path)!r}) takes "
                              "them over into a network")
    return SameDiff.load(stream or path)


def restored(path: str, stream: BinaryIO | None = None) -> Any:
    """The network of a model zip, of either kind."""
    if is_graph(read_text(read_configuration(path), "JSON")):
        return ModelSerializer.restore_computation_graph(stream or path)
    return ModelSerializer.restore_multi_layer_network(stream or path)


def _from_arrays(path: str) -> Any:
    arrays, texts = read_arrays(path)
    if CONFIGURATION not in texts:
        raise FileFormatError(f"{os.fspath(path)} holds {len(arrays)} arrays and no configuration of a network; "
                              f"a text named {CONFIGURATION} beside them would be one")
    configuration = read(texts[CONFIGURATION])
    net = (ComputationGraph(configuration) if isinstance(configuration, ComputationGraphConfiguration)
           else MultiLayerNetwork(configuration))
    set_arrays(net.init(), arrays)
    return net
