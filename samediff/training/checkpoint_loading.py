"""Models back from a folder of checkpoints."""
from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError

if TYPE_CHECKING:
    from .checkpoint import Checkpoint

Folder = str | os.PathLike[str]


def load_model(path: str, model_type: str) -> Any:
    """Return the model of a file that a checkpoint listener wrote, by the name of its class."""
    if model_type not in ("SameDiff", "MultiLayerNetwork", "ComputationGraph"):
        raise ConfigurationError(f"{path} holds a {model_type}: give the function that reads it as load=")
    if model_type == "SameDiff":
        from ..graph import SameDiff
        return SameDiff.load(path, True)
    return getattr(import_module("...networks", __package__), model_type).load(path)


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

    loadCheckpointMLN, loadCheckpointCG = load_checkpoint_mln, load_checkpoint_cg
    loadLastCheckpointMLN, loadLastCheckpointCG = load_last_checkpoint_mln, load_last_checkpoint_cg


def _load(root_dir: Folder, checkpoint: Checkpoint | int | None, expected: str | None) -> Any:
    from .checkpoint import found_checkpoint, load_checkpoint
    found = found_checkpoint(root_dir, checkpoint)
    if expected is not None and found.model_type != expected:
        raise ConfigurationError(f"checkpoint {found.checkpoint_num} of {root_dir} holds a {found.model_type}, not a {expected}")
    return load_checkpoint(root_dir, found)
