"""Files whose kind is not known."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ...samediff.base.javanames import JavaSpelling
from ...samediff.text.document_text import read_text
from ..files.model_zip import OpenModelZip
from ..keras.archive import is_keras
from ..keras.loading import load_keras
from ..structure.configuration import is_graph, of_document
from .computation_graph import ComputationGraph
from .model_serializer import ModelSerializer
from .multilayer import MultiLayerNetwork


class ModelGuesser(JavaSpelling):
    """Reads models and configurations by what is in the file.

    Examples
    --------
    >>> import io
    >>> from dl4py.layers import OutputLayer
    >>> from dl4py.networks import NeuralNetConfiguration
    >>> file = io.BytesIO()
    >>> MultiLayerNetwork(NeuralNetConfiguration.Builder().list(OutputLayer(n_in=2, n_out=2)).build()).init().save(file)
    >>> ModelGuesser.load_model_guess(io.BytesIO(file.getvalue()))
    <MultiLayerNetwork: 1 layers, 6 parameters>
    """

    @staticmethod
    def load_model_guess(path: Any) -> MultiLayerNetwork | ComputationGraph:
        """Read a list network or a graph from a zip of DL4J, or a graph from a model of Keras."""
        if is_keras(path):
            return load_keras(path, ComputationGraph, True)
        with OpenModelZip(path) as file:
            kind = ComputationGraph if is_graph(read_text(file.configuration, "JSON")) else MultiLayerNetwork
        if hasattr(path, "seek"):
            path.seek(0)
        return kind.load(path)

    @staticmethod
    def load_config_guess(path: str | os.PathLike[str]) -> Any:
        """Read a configuration of either kind, as JSON or YAML."""
        text = Path(path).read_text(encoding="utf-8")
        return of_document(read_text(text, "JSON" if text.lstrip().startswith("{") else "YAML"))

    @staticmethod
    def load_normalizer(path: Any) -> Any:
        """Read the normalizer that was stored with a model, None without one."""
        return ModelSerializer.restore_normalizer_from_file(path)
