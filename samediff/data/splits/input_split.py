"""Places that readers read from."""
from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote, urlparse

from ...base.java_names import InputSplitNames
from ...codecs.regular_files import check_regular
from ...errors import ConfigurationError

__all__ = ["CollectionInputSplit", "InputSplit", "NumberedFileInputSplit"]

#: What readers take: a split, a path, or several paths.
Source: TypeAlias = "InputSplit | str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"


class InputSplit(InputSplitNames):
    """Base of splits: files in an order. A sub-class defines `locations`.

    Notes
    -----
    Source: DataVec's ``InputSplit``.
    """

    def locations(self) -> list[Path]:
        """The files."""
        raise NotImplementedError(f"{type(self).__name__} must implement locations(self)")

    def lines(self) -> list[Any]:
        """The lines of a text in memory."""
        raise ConfigurationError(f"{type(self).__name__} has files, no text in memory")

    def length(self) -> int:
        """How many files there are."""
        return len(self.locations())

    def reset(self) -> None:
        """Begin a further pass; splits that shuffle do so anew."""

    def reset_supported(self) -> bool:
        """Whether `reset` works."""
        return True

    def locations_iterator(self) -> Iterator[Path]:
        """The files, one after the other."""
        return iter(self.locations())

    def __iter__(self) -> Iterator[Path]:
        return iter(self.locations())

    def __len__(self) -> int:
        return self.length()

    def sample(self, path_filter: Any = None, *weights: float) -> list[InputSplit]:
        """Several splits of these files.

        Parameters
        ----------
        path_filter : PathFilter, optional
            Chooses the files and their order.
        *weights : float
            The share of each split; one split without any.

        Examples
        --------
        >>> [part.length() for part in CollectionInputSplit(["a", "b", "c", "d", "e"]).sample(None, 80, 20)]
        [4, 1]
        """
        paths = self.locations() if path_filter is None else path_filter.filter(self.locations())
        if not weights or weights[0] == 1.0:
            return [CollectionInputSplit(paths)]
        if min(weights) < 0 or sum(weights) <= 0:
            raise ConfigurationError(f"sample takes the shares of splits, from 0 on; got {weights}")
        ends = [math.floor(sum(weights[:k]) * len(paths) / sum(weights) + 0.5) for k in range(len(weights))]     # Java's Math.round
        return [CollectionInputSplit(paths[a:b]) for a, b in zip(ends, [*ends[1:], len(paths)])]

    def regular(self) -> list[Path]:
        """The files; FileNotFoundError when one is missing, PathError for what is no regular file."""
        files = self.locations()
        missing = [str(f) for f in files if not f.exists()]
        if missing:
            raise FileNotFoundError(f"no such file: {', '.join(missing[:5])}{' …' if missing[5:] else ''}")
        for file in files:
            check_regular(file.stat(), str(file), "read")
        return files


class CollectionInputSplit(InputSplit):
    """Given files, in the given order.

    Parameters
    ----------
    paths : iterable of path
        Also as ``file:`` addresses.
    """

    def __init__(self, paths: Iterable[str | os.PathLike[str]]) -> None:
        self._paths = [path_of(path) for path in paths]

    def locations(self) -> list[Path]:
        return list(self._paths)


class NumberedFileInputSplit(InputSplit):
    """Files whose names are numbered.

    Parameters
    ----------
    base_string : str
        The path with ``%d`` (or ``%03d`` …) in place of the number.
    min_idx_inclusive, max_idx_inclusive : int
        The first and the last number.

    Examples
    --------
    >>> [path.name for path in NumberedFileInputSplit("data/file_%02d.csv", 9, 10)]
    ['file_09.csv', 'file_10.csv']
    """

    def __init__(self, base_string: str | os.PathLike[str], min_idx_inclusive: int, max_idx_inclusive: int) -> None:
        text = os.fspath(base_string)
        if len(re.findall(r"%(?:0\d)?d", text)) != 1 or min_idx_inclusive > max_idx_inclusive:
            raise ConfigurationError("NumberedFileInputSplit takes a path with %d (or %03d …) once, the first and the last number; "
                                     f"got {text!r}, {min_idx_inclusive}, {max_idx_inclusive}")
        self._paths = [path_of(re.sub(r"%(?:0\d)?d", lambda found, k=k: found.group() % k, text))   # type: ignore[misc]
                       for k in range(int(min_idx_inclusive), int(max_idx_inclusive) + 1)]

    def locations(self) -> list[Path]:
        return list(self._paths)


def shuffle(random: Any, items: list[Any]) -> None:
    """Permute in place by a generator: a `JavaRandom`, ND4J's, Python's or NumPy's."""
    if hasattr(random, "shuffle"):
        random.shuffle(items)
        return
    for i in range(len(items) - 1, 0, -1):          # as java.util.Collections.shuffle
        j = int(random.next_int(i + 1))
        items[i], items[j] = items[j], items[i]


def path_of(given: str | os.PathLike[str]) -> Path:
    """The path of a path or a ``file:`` address."""
    text = os.fspath(given)
    return Path(unquote(urlparse(text).path)) if text.startswith("file:") else Path(text)
