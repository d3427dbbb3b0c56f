"""DL4J's class that imports models of Keras."""
from __future__ import annotations

from typing import Any

from ...samediff.errors import FileFormatError
from ..keras.archive import Source, label_of
from ..keras.loading import filled, read_built
from ..structure.configuration import ComputationGraphConfiguration, MultiLayerConfiguration
from ..structure.java_names import KerasModelImportNames
from .computation_graph import ComputationGraph
from .multilayer import MultiLayerNetwork

__all__ = ["KerasModelImport"]


class KerasModelImport(KerasModelImportNames):
    """Imports models of Keras 1, 2 and 3 (``KerasModelImport``); Keras itself is not needed, only h5py.

    Read are HDF5 files, ``.keras`` archives, and configurations in JSON, with weights in an HDF5 file of their own. Methods have both
    spellings, ``importKerasModelAndWeights`` too. Arrays keep the order of axes that they have in Keras.

    Examples
    --------
    >>> import io
    >>> text = '''{"class_name": "Sequential", "config": {"name": "small", "layers": [{"class_name": "Dense", "config":
    ... {"name": "d", "batch_input_shape": [null, 4], "units": 3, "activation": "relu", "use_bias": true}}]}}'''
    >>> configuration = KerasModelImport.import_keras_sequential_configuration(io.BytesIO(text.encode()))
    >>> configuration.layers[0].n_in, configuration.layers[0].n_out
    (4, 3)
    """

    @staticmethod
    def import_keras_sequential_model_and_weights(model: Source, *rest: Any, enforce_training_config: bool = False) -> Any:
        """The network of a Sequential model; see :meth:`import_keras_model_and_weights`.

        A MultiLayerNetwork, or a ComputationGraph where one of its layers becomes a vertex.
        """
        weights, enforce = _arguments(rest, enforce_training_config)
        return _network(model, read_built(model, weights, enforce))

    @staticmethod
    def import_keras_model_and_weights(model: Source, *rest: Any, enforce_training_config: bool = False) -> Any:
        """The network of a model: a ComputationGraph of a functional one, a MultiLayerNetwork of a Sequential one.

        Parameters
        ----------
        model : str, path or binary stream
            An HDF5 file, a ``.keras`` archive, or a configuration in JSON.
        *rest
            The HDF5 file with the weights where the model is JSON, and DL4J's ``enforceTrainingConfig``.
        enforce_training_config : bool
            Whether a loss or an optimizer that cannot be imported is an error; else a warning says what was left out.

        Raises
        ------
        FileFormatError
            No file of Keras, a damaged one, or one that leads to other files.
        MissingOpError
            A class of layers that is not known: ``register_keras_layer`` makes it known. Lambdas are such classes.
        UnsupportedVersionError
            An option that has no counterpart; the text names layer and option.
        MissingPackageError
            h5py is not installed.

        Warns
        -----
        LossyImportWarning
            Parts of the training configuration were left out.
        """
        weights, enforce = _arguments(rest, enforce_training_config)
        return _network(model, read_built(model, weights, enforce))

    @staticmethod
    def import_keras_sequential_configuration(model: Source, enforce_training_config: bool = False) -> MultiLayerConfiguration:
        """The configuration of a Sequential model, from JSON or a file with weights, which are not looked at.

        Parameters
        ----------
        model : str, path or binary stream
            A file as of :meth:`import_keras_model_and_weights`.
        enforce_training_config : bool
            As there.

        Raises
        ------
        FileFormatError
            Also where the model is a functional one.
        """
        found = read_built(model, None, enforce_training_config, bare=True).configuration
        if not isinstance(found, MultiLayerConfiguration):
            raise FileFormatError(f"{model!s:.80} becomes a graph: import_keras_model_configuration reads it")
        return found

    @staticmethod
    def import_keras_model_configuration(model: Source, enforce_training_config: bool = False) -> ComputationGraphConfiguration:
        """The configuration of a model as a graph; a Sequential one becomes a graph too. See the method before."""
        found = read_built(model, None, enforce_training_config, graph=True, bare=True).configuration
        assert isinstance(found, ComputationGraphConfiguration)
        return found


def _arguments(rest: tuple[Any, ...], enforce: bool) -> tuple[Source | None, bool]:
    """DL4J's further arguments: a file with weights, a switch, or both in this order."""
    weights = next((one for one in rest if not isinstance(one, bool)), None)
    return weights, next((one for one in rest if isinstance(one, bool)), enforce)


def _network(model: Source, built: Any) -> MultiLayerNetwork | ComputationGraph:
    kind: Any = MultiLayerNetwork if isinstance(built.configuration, MultiLayerConfiguration) else ComputationGraph
    return filled(kind, built, label_of(model))  # type: ignore[no-any-return]
