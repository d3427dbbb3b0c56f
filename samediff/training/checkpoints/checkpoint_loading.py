"""Models back from a folder of checkpoints."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

from ...errors import ConfigurationError
from .checkpoint_folder import Checkpoint, Folder, found_checkpoint
from .resuming import put_back

__all__ = ["load_checkpoint"]

#: Where the classes of models are that a file can name; they are loaded when a checkpoint holds one.
PACKAGES = {"SameDiff": "dl4py.samediff", "MultiLayerNetwork": "dl4py.networks", "ComputationGraph": "dl4py.networks"}


def load_checkpoint(root_dir: Folder, checkpoint: Checkpoint | int | None = None,
                    load: Callable[[str], Any] | None = None) -> Any:
    """Return the model of a checkpoint (None: the newest); ``load`` reads other models than graphs and networks.

    Parameters
    ----------
    root_dir : path
        Folder of the checkpoints.
    checkpoint : Checkpoint or int, optional
        A checkpoint, or its number.
    load : callable, optional
        ``load(path)`` returns the model of a file.
    """
    found = found_checkpoint(root_dir, checkpoint)
    path = str(Path(root_dir) / found.filename)
    if load is not None:
        return load(path)
    if found.model_type not in PACKAGES:
        raise ConfigurationError(f"{path} holds a {found.model_type}: give the function that reads it as load=")
    return getattr(import_module(PACKAGES[found.model_type]), found.model_type).load(path, True)


class OfFolder:
    """A method for the folder of a listener; on the class, as in DL4J, for the folder that is given."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call, self.__doc__ = call, call.__doc__

    def __get__(self, listener: Any, owner: type) -> Callable[..., Any]:
        return self.call if listener is None else partial(self._call, listener.root_dir)

    def _call(self, own: Folder, *given: Any) -> Any:
        return self.call(*given) if given and isinstance(given[0], (str, PathLike)) else self.call(own, *given)


class CheckpointLoading:
    """DL4J's static ways to read checkpoints; each names the kind of model that it expects."""

    @OfFolder
    def load_checkpoint_mln(root_dir: Folder, checkpoint: Checkpoint | int) -> Any:
        """Return the MultiLayerNetwork of a checkpoint, given as such or by number."""
        return _load(root_dir, checkpoint, "MultiLayerNetwork")

    @OfFolder
    def load_checkpoint_cg(root_dir: Folder, checkpoint: Checkpoint | int) -> Any:
        """Return the ComputationGraph of a checkpoint, given as such or by number."""
        return _load(root_dir, checkpoint, "ComputationGraph")

    @staticmethod
    def load_last_checkpoint_mln(root_dir: Folder) -> Any:
        """Return the MultiLayerNetwork of the newest checkpoint."""
        return _load(root_dir, None, "MultiLayerNetwork")

    @staticmethod
    def load_last_checkpoint_cg(root_dir: Folder) -> Any:
        """Return the ComputationGraph of the newest checkpoint."""
        return _load(root_dir, None, "ComputationGraph")

    @staticmethod
    def load_checkpoint(root_dir: Folder, checkpoint: Checkpoint | int | None = None) -> Any:
        """Return the model of a checkpoint, the newest by default, whatever it is."""
        return _load(root_dir, checkpoint, None)

    @staticmethod
    def load_last_checkpoint(root_dir: Folder) -> Any:
        """Return the model of the newest checkpoint, whatever it is."""
        return _load(root_dir, None, None)

    @staticmethod
    def resume(root_dir: Folder, data: Any = None, checkpoint: Checkpoint | int | None = None) -> Any:
        """Return the model of a checkpoint (the newest by default) and bring ``data`` to the batch after it.

        ``model.fit(data, epochs=n)`` then finishes the epoch in which the checkpoint was saved as the first of its epochs, and gives
        the parameters, bit by bit, that the uninterrupted training had. ``data`` must be made as it was made for that training.

        Raises
        ------
        ConfigurationError
            There is no such checkpoint, or ``data`` differs from what the model was trained on.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from dl4py.layers import OutputLayer
        >>> from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
        >>> from dl4py.samediff.data import NumpyDataSetIterator
        >>> from dl4py.samediff.training import CheckpointListener
        >>> def data():
        ...     return NumpyDataSetIterator(np.eye(6), np.eye(6), 2, shuffle_seed=7)
        >>> net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list().layer(OutputLayer(n_in=6, n_out=6)).build()).init()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     net.set_listeners(CheckpointListener.Builder(folder).save_every_n_iterations(4).log_saving(False).build())
        ...     _ = net.fit(data(), epochs=2)                   # six iterations, one checkpoint: after the fifth
        ...     again = data()
        ...     other = CheckpointListener.resume(folder, again)
        >>> _ = other.fit(again)                                # the sixth
        >>> bool((other.params() == net.params()).all())
        True
        """
        found = found_checkpoint(root_dir, checkpoint)
        model = load_checkpoint(root_dir, found)
        put_back(model, Path(root_dir) / found.filename, data)
        return model

    loadCheckpointMLN, loadCheckpointCG = load_checkpoint_mln, load_checkpoint_cg
    loadLastCheckpointMLN, loadLastCheckpointCG = load_last_checkpoint_mln, load_last_checkpoint_cg


def _load(root_dir: Folder, checkpoint: Checkpoint | int | None, expected: str | None) -> Any:
    found = found_checkpoint(root_dir, checkpoint)
    if expected is not None and found.model_type != expected:
        raise ConfigurationError(f"checkpoint {found.checkpoint_num} of {root_dir} holds a {found.model_type}, not a {expected}")
    return load_checkpoint(root_dir, found)
