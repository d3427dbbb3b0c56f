"""Paths of another split, changed."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...base.java_names import TransformSplitNames
from ...errors import ConfigurationError
from .input_split import InputSplit, path_of

__all__ = ["TransformSplit"]


class TransformSplit(InputSplit, TransformSplitNames):
    """The files that belong to those of another split, such as labels beside features.

    Parameters
    ----------
    source : InputSplit
        The other split.
    transform : callable
        Gives the path for each path.

    Examples
    --------
    >>> from dl4py.samediff.data import CollectionInputSplit
    >>> features = CollectionInputSplit(["0/inputs.txt", "1/inputs.txt"])
    >>> [path.as_posix() for path in TransformSplit.of_search_replace(features, "inputs", "outputs")]
    ['0/outputs.txt', '1/outputs.txt']
    """

    def __init__(self, source: InputSplit, transform: Callable[[Path], Any]) -> None:
        if not callable(transform):
            raise ConfigurationError(f"TransformSplit takes a split and a function of paths; got {transform!r:.60}")
        self._source, self._transform = source, transform

    @staticmethod
    def of_search_replace(source: InputSplit, search: str, replace: str) -> TransformSplit:
        """A split of paths in which a text is replaced."""
        return TransformSplit(source, lambda path: str(path).replace(search, replace))

    def locations(self) -> list[Path]:
        return [path_of(self._transform(path)) for path in self._source.locations()]

    def reset(self) -> None:
        self._source.reset()
