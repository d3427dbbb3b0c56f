"""Labels of files, by their paths."""
from __future__ import annotations

import os
from typing import Any

from ...base.java_names import PathLabelGeneratorNames
from ...errors import ConfigurationError
from ...text.java_regex import split
from .input_split import path_of

__all__ = ["ParentPathLabelGenerator", "PathLabelGenerator", "PatternPathLabelGenerator"]


class PathLabelGenerator(PathLabelGeneratorNames):
    """Base of generators; a sub-class defines `get_label_for_path`."""

    def get_label_for_path(self, path: str | os.PathLike[str]) -> Any:
        """The label of the file."""
        raise NotImplementedError(f"{type(self).__name__} must implement get_label_for_path(self, path)")

    def infer_label_classes(self) -> bool:
        """Whether labels are names of classes; numbers for regression otherwise."""
        return True


class ParentPathLabelGenerator(PathLabelGenerator):
    """The name of the folder that holds the file.

    Examples
    --------
    >>> ParentPathLabelGenerator().getLabelForPath("animals/bear/1.jpg")
    'bear'
    """

    def get_label_for_path(self, path: str | os.PathLike[str]) -> str:
        return path_of(path).parent.name


class PatternPathLabelGenerator(PathLabelGenerator):
    """A part of the file's name.

    Parameters
    ----------
    pattern : str
        A regular expression that stands between the parts.
    pattern_position : int, default 0
        The part, from 0.

    Examples
    --------
    >>> PatternPathLabelGenerator("_", 1).get_label_for_path("pictures/1_cat_left.png")
    'cat'
    """

    def __init__(self, pattern: str, pattern_position: int = 0) -> None:
        self._pattern, self._position = pattern, pattern_position

    def get_label_for_path(self, path: str | os.PathLike[str]) -> str:
        parts = split(path_of(path).stem, self._pattern)
        if not 0 <= self._position < len(parts):
            raise ConfigurationError(f"the name {path_of(path).name!r} has {len(parts)} parts between {self._pattern!r}; part "
                                     f"{self._position} is asked for (from 0)")
        return parts[self._position]
