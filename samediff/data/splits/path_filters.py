"""Filters of the files of a split, and their order."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...base.java.varargs import flat
from ...base.javanames import JavaSpelling, method_of
from .input_split import shuffle
from .path_labels import ParentPathLabelGenerator

__all__ = ["BalancedPathFilter", "PathFilter", "RandomPathFilter"]


class PathFilter(JavaSpelling):
    """Base of filters; a sub-class defines `filter`."""

    def filter(self, paths: Sequence[Path]) -> list[Path]:
        """The paths that remain, in their new order."""
        raise NotImplementedError(f"{type(self).__name__} must implement filter(self, paths)")


class RandomPathFilter(PathFilter):
    """Shuffled paths of these endings.

    Parameters
    ----------
    random : JavaRandom
        Shuffles them.
    *extensions : str, or a sequence of str
        Endings without a dot; all files without any.
    max_paths : int, default 0
        At most so many; 0 for all.
    """

    def __init__(self, random: Any, *extensions: Any, max_paths: int = 0) -> None:
        if extensions and not isinstance(extensions[0], str):
            extensions, max_paths = tuple(extensions[0] or ()), next(iter(extensions[1:]), max_paths)
        self._random, self._endings, self._most = random, tuple(f".{ending}" for ending in extensions), max_paths

    def filter(self, paths: Sequence[Path]) -> list[Path]:
        mixed = list(paths)
        shuffle(self._random, mixed)
        found = [path for path in mixed if not self._endings or str(path).endswith(self._endings)]
        return found[: self._most or None]


class BalancedPathFilter(RandomPathFilter):
    """As many paths of each label, in turns.

    Parameters
    ----------
    random : JavaRandom
        Shuffles them first.
    *arguments
        As in DL4J: endings, the label generator, then up to five numbers and names.
        One number is ``max_paths_per_label``; two are ``max_labels, max_paths_per_label``; three and more are
        ``max_paths, max_labels, [min_paths_per_label,] max_paths_per_label, *labels``.
    max_paths, max_labels, min_paths_per_label, max_paths_per_label : int, default 0
        Bounds; 0 for none.
    labels : sequence of str
        The labels that count; all without any.
    """

    def __init__(self, random: Any, *arguments: Any, max_paths: int = 0, max_labels: int = 0, min_paths_per_label: int = 0,
                 max_paths_per_label: int = 0, labels: Sequence[str] = ()) -> None:
        given = list(arguments)
        endings = (given.pop(0) or ()) if given and (given[0] is None or isinstance(given[0], (list, tuple))) else ()
        self._labelled = given.pop(0) if given and method_of(given[0], "get_label_for_path") else ParentPathLabelGenerator()
        numbers = [one for one in given if isinstance(one, int)]
        if len(numbers) == 1:
            max_paths_per_label = numbers[0]
        elif len(numbers) == 2:
            max_labels, max_paths_per_label = numbers
        elif numbers:
            max_paths, max_labels, max_paths_per_label = numbers[0], numbers[1], numbers[-1]
            min_paths_per_label = numbers[2] if len(numbers) > 3 else 0
        super().__init__(random, *endings, max_paths=max_paths)
        self._max_labels, self._min, self._max = max_labels, min_paths_per_label, max_paths_per_label
        self._labels = {*labels, *(label for label in flat(given) if isinstance(label, str))}

    def filter(self, paths: Sequence[Path]) -> list[Path]:
        groups: dict[str, list[Path]] = {}
        for path in super().filter(paths):
            label = str(method_of(self._labelled, "get_label_for_path")(path))
            if (not self._labels or label in self._labels) and (
                    label in groups or not self._max_labels or len(groups) < self._max_labels):
                groups.setdefault(label, []).append(path)
        count = max(min([len(group) for group in groups.values()] + [self._max] * bool(self._max), default=0), self._min)
        return [group[k] for k in range(count) for group in groups.values() if k < len(group)]
