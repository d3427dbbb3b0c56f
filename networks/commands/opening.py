"""Models from files of every kind."""
from __future__ import annotations

import os
from typing import Any, BinaryIO

from ...samediff.document_text import read_text
from ...samediff.errors import FileFormatError
from ...samediff.files.array_files import read_arrays
from ...samediff.files.safe_zip import SafeZip
from ...samediff.graph import SameDiff
from ..computation_graph import ComputationGraph
from ..configuration import ComputationGraphConfiguration, is_graph, read
from ..exchange import set_arrays
from ..model_serializer import ModelSerializer
from ..model_zip import CONFIGURATION, ModelLimits
from ..multilayer import MultiLayerNetwork

ARRAYS = (".npz", ".safetensors")


def is_model_zip(path: str) -> bool:
    """Whether a file is an archive with the configuration of a network."""
    with open(path, "rb") as stream:
        if stream.read(2) != b"PK":
            return False
    if path.endswith(ARRAYS):
        return False
    with SafeZip(path) as archive:
        return CONFIGURATION in archive


def open_model(path: str, stream: BinaryIO | None = None) -> Any:
    """The network or graph of a file; ``stream`` is read in place of it where it is given.

    Raises
    ------
    FileFormatError
        No model, or arrays without the configuration of one.
    """
    if path.endswith(ARRAYS):
        return _from_arrays(path)
    if not is_model_zip(path):
        return SameDiff.load(stream or path)
    return restored(path, stream)


def restored(path: str, stream: BinaryIO | None = None) -> Any:
    """The network of a model zip, of either kind."""
    if is_graph(read_text(configuration_of(path), "JSON")):
        return ModelSerializer.restore_computation_graph(stream or path)
    return ModelSerializer.restore_multi_layer_network(stream or path)


def configuration_of(path: str) -> str:
    """The configuration's text in a model zip."""
    with SafeZip(path) as archive:
        return archive.read(CONFIGURATION, ModelLimits().max_configuration_bytes).decode("utf-8", "replace")


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
