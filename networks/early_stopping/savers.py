"""Savers of the best and the latest model of early stopping."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

from ...samediff.base.user_code.abstract_methods import unwritten
from ...samediff.errors import ConfigurationError
from ..models.computation_graph import ComputationGraph
from ..models.multilayer import MultiLayerNetwork
from ..structure.java_names import EarlyStoppingModelSaverNames


class EarlyStoppingModelSaver(EarlyStoppingModelSaverNames):
    """Base: keeps models and gives them back."""

    @unwritten(when_called=True)
    def save_best_model(self, model: Any, score: float) -> None:
        """Keep the best model so far."""
        raise NotImplementedError

    @unwritten(when_called=True)
    def save_latest_model(self, model: Any, score: float) -> None:
        """Keep the latest model."""
        raise NotImplementedError

    @unwritten(when_called=True)
    def get_best_model(self) -> Any:
        """The best model, None before there is one."""
        raise NotImplementedError

    @unwritten(when_called=True)
    def get_latest_model(self) -> Any:
        """The latest model, None before there is one."""
        raise NotImplementedError


class InMemoryModelSaver(EarlyStoppingModelSaver):
    """Keeps copies in memory."""

    def __init__(self) -> None:
        self._best: Any = None
        self._latest: Any = None

    def save_best_model(self, model: Any, score: float) -> None:
        """A copy of the model."""
        self._best = model.clone()

    def save_latest_model(self, model: Any, score: float) -> None:
        """A copy of the model."""
        self._latest = model.clone()

    def get_best_model(self) -> Any:
        """The copy of the best."""
        return self._best

    def get_latest_model(self) -> Any:
        """The copy of the latest."""
        return self._latest

    def __repr__(self) -> str:
        return "InMemoryModelSaver()"


class LocalFileModelSaver(EarlyStoppingModelSaver):
    """Keeps DL4J model zips in a folder: ``bestModel.bin`` and ``latestModel.bin``; ``encoding`` has no effect, text in zips is UTF-8.

    Parameters
    ----------
    directory : str or path
        A folder that exists.
    encoding : str
        Without effect.

    Raises
    ------
    ConfigurationError
        The folder does not exist.
    """

    names: ClassVar[tuple[str, str]] = ("bestModel.bin", "latestModel.bin")
    kind: ClassVar[type[Any]] = MultiLayerNetwork

    def __init__(self, directory: str | os.PathLike[str], encoding: str = "UTF-8") -> None:
        self.directory = Path(directory)
        if not self.directory.is_dir():
            raise ConfigurationError(f"the folder {str(self.directory)!r} does not exist; make it first")

    def save_best_model(self, model: Any, score: float) -> None:
        """Write the zip with the updater's state."""
        model.save(self.directory / self.names[0])

    def save_latest_model(self, model: Any, score: float) -> None:
        """Write the zip with the updater's state."""
        model.save(self.directory / self.names[1])

    def get_best_model(self) -> Any:
        return self._read(self.names[0])

    def get_latest_model(self) -> Any:
        return self._read(self.names[1])

    def _read(self, name: str) -> Any:
        path = self.directory / name
        return self.kind.load(path) if path.exists() else None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dir={self.directory})"


class LocalFileGraphSaver(LocalFileModelSaver):
    """The same for graphs: ``bestGraph.bin`` and ``latestGraph.bin``."""

    names: ClassVar[tuple[str, str]] = ("bestGraph.bin", "latestGraph.bin")
    kind: ClassVar[type[Any]] = ComputationGraph
