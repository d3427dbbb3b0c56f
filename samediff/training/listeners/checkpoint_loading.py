"""Models back from a folder of checkpoints."""
from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import ConfigurationError
from .resuming import put_back

if TYPE_CHECKING:
    from .checkpoint import Checkpoint

Folder = str | os.PathLike[str]


def load_model(path: str, model_type: str) -> Any:
    """Return the model of a file that a checkpoint listener wrote, by the name of its class."""
    if model_type not in ("SameDiff", "MultiLayerNetwork", "ComputationGraph"):
        raise ConfigurationError(f"{path} holds a {model_type}: give the function that reads it as load=")
    if model_type == "SameDiff":
        from ...graph.graph import SameDiff
        return SameDiff.load(path, True)
    return getattr(import_module("dl4py.networks"), model_type).load(path)


class CheckpointLoading:
    """DL4J's static ways to read checkpoints; each names the kind of model that it expects."""

    @staticmethod
    def load_checkpoint_mln(root_dir: Folder, checkpoint: Checkpoint | int) -> Any:
        """Return the MultiLayerNetwork of a checkpoint, given as such or by number."""
        return _load(root_dir, checkpoint, "MultiLayerNetwork")

    @staticmethod
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
        from .checkpoint import found_checkpoint, load_checkpoint
        found = found_checkpoint(root_dir, checkpoint)
        model = load_checkpoint(root_dir, found)
        put_back(model, Path(root_dir) / found.filename, data)
        return model

    loadCheckpointMLN, loadCheckpointCG = load_checkpoint_mln, load_checkpoint_cg
    loadLastCheckpointMLN, loadLastCheckpointCG = load_last_checkpoint_mln, load_last_checkpoint_cg


def _load(root_dir: Folder, checkpoint: Checkpoint | int | None, expected: str | None) -> Any:
    from .checkpoint import found_checkpoint, load_checkpoint
    found = found_checkpoint(root_dir, checkpoint)
    if expected is not None and found.model_type != expected:
        raise ConfigurationError(f"checkpoint {found.checkpoint_num} of {root_dir} holds a {found.model_type}, not a {expected}")
    return load_checkpoint(root_dir, found)
