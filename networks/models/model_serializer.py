"""DL4J's classes for model files."""
from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from ...samediff.base.java.pair import Pair
from ...samediff.files import read_normalizer
from ...samediff.files.missing import Missing
from ...samediff.text.document_text import read_text
from ..files.model_objects import add_object, stored_keys, stored_object
from ..files.model_reader import read_model
from ..files.model_writer import normalizer_bytes, write_model
from ..files.model_zip import ModelLimits, OpenModelZip, read_model_zip, write_model_zip
from ..keras.archive import is_keras
from ..keras.loading import load_keras
from ..structure.configuration import is_graph, of_document
from ..structure.java_names import ModelGuesserNames, ModelSerializerNames
from .computation_graph import ComputationGraph
from .multilayer import MultiLayerNetwork
from .network import Network

Source = str | os.PathLike[str] | BinaryIO


class ModelSerializer(ModelSerializerNames):
    """Writes and reads DL4J's model files (``ModelSerializer``): networks, their updater state, a normalizer.

    Loading executes nothing that the file names: classes are those registered in this process.
    """

    @staticmethod
    def write_model(net: Network, path: Source, save_updater: bool = True, normalizer: Any = None) -> None:
        """Write a network; what an earlier file held and nobody here knows (extra entries) is kept with the network.

        Parameters
        ----------
        net : MultiLayerNetwork or ComputationGraph
            The network, which stays as it is.
        path : str, path or binary stream
            Where to write to; a file is replaced as a whole or not at all.
        save_updater : bool
            Whether the updater's state is saved too, so that training can go on where it was.
        normalizer : normalizer, optional
            A fitted one, which :meth:`restore_normalizer_from_file` gives back.
        """
        write_model(net, path, save_updater, normalizer)

    @staticmethod
    def restore_multi_layer_network(path: Source, load_updater: bool = True, limits: ModelLimits | None = None, *,
                                    missing: Missing = "warn") -> MultiLayerNetwork:
        """Read a list network.

        Parameters
        ----------
        path : str, path or binary stream
            A file that :meth:`write_model` or DL4J wrote.
        load_updater : bool
            Whether the updater's state is read too, where there is one.
        limits : ModelLimits, optional
            What a file may ask for before anything is inflated.
        missing : "warn", "keep" or "error"
            What happens where classes are not registered here. The file opens as far as it goes, with a warning or ("keep") without:
            :meth:`~dl4py.networks.MultiLayerNetwork.missing_classes` lists them, what does not need them runs, and saving writes them
            as they were. Or it is an error that names all of them.

        Raises
        ------
        FileFormatError
            Not a model file, or that of a graph; TruncatedFileError and LimitError are kinds of it.
        MissingOpError
            With ``missing="error"``, classes are not registered here.
        """
        return read_model(path, MultiLayerNetwork, load_updater, limits, missing)

    @staticmethod
    def restore_computation_graph(path: Source, load_updater: bool = True, limits: ModelLimits | None = None, *,
                                  missing: Missing = "warn") -> ComputationGraph:
        """Read a graph; parameters and errors as of :meth:`restore_multi_layer_network`."""
        return read_model(path, ComputationGraph, load_updater, limits, missing)

    @staticmethod
    def restore_normalizer_from_file(path: Source) -> Any:
        """The normalizer stored with a model, None when there is none."""
        content = read_model_zip(path, load_updater=False).normalizer
        return None if content is None else read_normalizer(io.BytesIO(content))

    restore_normalizer_from_input_stream = restore_normalizer_from_file

    @staticmethod
    def restore_multi_layer_network_and_normalizer(path: Source, load_updater: bool = True) -> Pair[MultiLayerNetwork, Any]:
        """A list network and the normalizer that was stored with it."""
        return Pair(read_model(path, MultiLayerNetwork, load_updater), ModelSerializer.restore_normalizer_from_file(path))

    @staticmethod
    def restore_computation_graph_and_normalizer(path: Source, load_updater: bool = True) -> Pair[ComputationGraph, Any]:
        """A graph and the normalizer that was stored with it."""
        return Pair(read_model(path, ComputationGraph, load_updater), ModelSerializer.restore_normalizer_from_file(path))

    @staticmethod
    def add_normalizer_to_model(path: str | os.PathLike[str], normalizer: Any) -> None:
        """Put a normalizer into an existing model file."""
        write_model_zip(path, replace(read_model_zip(path), normalizer=normalizer_bytes(normalizer)))

    @staticmethod
    def add_object_to_file(path: str | os.PathLike[str], key: str, value: Any) -> None:
        """Put a value into an existing model file, as Java serializes it, beside others of other keys.

        Parameters
        ----------
        path : path
            The file.
        key : str
            The name of the value.
        value : str, number, bool, None, list, dict or array of numbers
            Lists of these, and dictionaries, too. Nothing else: files hold no code.

        Raises
        ------
        ConfigurationError
            The file has an object of that key, or the key is one of the file's own entries.
        DataTypeError
            A value of another kind.
        """
        add_object(path, key, value)

    @staticmethod
    def get_object_from_file(path: str | os.PathLike[str], key: str) -> Any:
        """The value that was stored with a model under that key: lists, dictionaries, texts, numbers; arrays of numbers are lists.

        Raises
        ------
        UnknownNameError
            There is no object of that key.
        UnsupportedVersionError
            An object of another class of Java, which is never made.
        """
        return stored_object(path, key)

    @staticmethod
    def list_objects_in_file(path: str | os.PathLike[str]) -> list[str]:
        """The keys of the values that were stored with a model."""
        return stored_keys(path)


class ModelGuesser(ModelGuesserNames):
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
