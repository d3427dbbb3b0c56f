"""Files of a folder."""
from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ...base.java_names import FileSplitNames
from ...errors import ConfigurationError
from .input_split import CollectionInputSplit, InputSplit, Source, path_of, shuffle

__all__ = ["FileSplit"]


class FileSplit(InputSplit, FileSplitNames):
    """One file, or all files of a folder in the order of their names.

    Parameters
    ----------
    path : str or Path
        A file, or a folder with those inside of it.
    *arguments : sequence of str, JavaRandom, or bool
        As in DL4J: endings of the files that count, a generator that shuffles them, whether folders in the folder count.
    allow_format : sequence of str, optional
        The endings, such as ``["jpg", "png"]``.
    random : JavaRandom, optional
        Shuffles the files, at every `reset` anew.
    recursive : bool, default True
        Whether folders in the folder count.
    """

    def __init__(self, path: str | os.PathLike[str], *arguments: Any, allow_format: Iterable[str] | None = None, random: Any = None,
                 recursive: bool = True) -> None:
        self.path = path_of(path)
        for given in arguments:
            if isinstance(given, bool):
                recursive = given
            elif hasattr(given, "shuffle") or hasattr(given, "next_int"):
                random = given
            elif isinstance(given, (list, tuple)) and all(isinstance(ending, str) for ending in given):
                allow_format = given
            elif given is not None:
                raise ConfigurationError(f"FileSplit takes endings of files, a random generator and whether folders in the folder count; "
                                         f"got {given!r:.80}")
        self._endings = None if allow_format is None else tuple(allow_format)
        self._random, self._recursive = random, recursive
        self._order: list[Path] | None = None

    def get_root_dir(self) -> Path:
        """The folder, or the file."""
        return self.path

    def locations(self) -> list[Path]:
        if not self.path.is_dir():
            return [self.path]
        if self._order is None:
            found = self.path.rglob("*") if self._recursive else self.path.glob("*")
            self._order = sorted(p for p in found if p.is_file() and (self._endings is None or p.name.endswith(self._endings)))
            if self._random is not None:
                shuffle(self._random, self._order)
        return list(self._order)

    def reset(self) -> None:
        if self._random is not None and self._order is not None:
            shuffle(self._random, self._order)

    @staticmethod
    def files_of(split: Source) -> list[Path]:
        """The files of a split, a path, or several paths; FileNotFoundError when there is none."""
        files = as_split(split).regular()
        if not files:
            raise FileNotFoundError(f"no file in {split if isinstance(split, (str, Path)) else getattr(split, 'path', split)}")
        return files

    def __str__(self) -> str:
        return str(self.path)


def as_split(source: Source) -> InputSplit:
    """The split itself, or one of the paths."""
    if isinstance(source, InputSplit):
        return source
    return FileSplit(source) if isinstance(source, (str, os.PathLike)) else CollectionInputSplit(source)
