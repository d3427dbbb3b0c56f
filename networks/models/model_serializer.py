"""DL4J's class for model files."""
from __future__ import annotations

import io
import os
from dataclasses import replace
from typing import Any, BinaryIO

from ...samediff.base.javanames import JavaSpelling
from ...samediff.files import read_normalizer
from ..files.model_reader import read_model
from ..files.model_writer import normalizer_bytes, write_model
from ..files.model_zip import ModelLimits, read_model_zip, write_model_zip
from .computation_graph import ComputationGraph
from .multilayer import MultiLayerNetwork
from .network import Network

Source = str | os.PathLike[str] | BinaryIO


class ModelSerializer(JavaSpelling):
    """Writes and reads DL4J's model files (``ModelSerializer``): networks, their updater state, a normalizer.

    Loading executes nothing that the file names: classes are those registered in this process.
    """

    @staticmethod
    def write_model(net: Network, path: Source, save_updater: bool = True, normalizer: Any = None) -> None:
        """Write a network; what an earlier file held and nobody here knows (extra entries) is kept with the network."""
        write_model(net, path, save_updater, normalizer)

    @staticmethod
    def restore_multi_layer_network(path: Source, load_updater: bool = True, limits: ModelLimits | None = None) -> MultiLayerNetwork:
        """Read a list network.

        Raises
        ------
        FileFormatError
            Not a model file, or that of a graph; TruncatedFileError and LimitError are kinds of it.

        Warns
        -----
        MissingClassWarning
            Classes are not registered here: :meth:`~dl4py.networks.MultiLayerNetwork.missing_classes` lists them, what does not need them
            runs, and saving writes them as they were.
        """
        return read_model(path, MultiLayerNetwork, load_updater, limits)

    @staticmethod
    def restore_computation_graph(path: Source, load_updater: bool = True, limits: ModelLimits | None = None) -> ComputationGraph:
        """Read a graph."""
        return read_model(path, ComputationGraph, load_updater, limits)

    @staticmethod
    def restore_normalizer_from_file(path: Source) -> Any:
        """The normalizer stored with a model, None when there is none."""
        content = read_model_zip(path, load_updater=False).normalizer
        return None if content is None else read_normalizer(io.BytesIO(content))

    @staticmethod
    def add_normalizer_to_model(path: str | os.PathLike[str], normalizer: Any) -> None:
        """Put a normalizer into an existing model file."""
        write_model_zip(path, replace(read_model_zip(path), normalizer=normalizer_bytes(normalizer)))
