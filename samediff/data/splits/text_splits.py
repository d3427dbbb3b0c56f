"""Records in memory as the places that readers read from."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ...base.java_names import ListStringSplitNames, StringSplitNames
from ...errors import ConfigurationError
from .input_split import InputSplit

__all__ = ["InputStreamInputSplit", "ListStringSplit", "StringSplit"]


class _InMemory(InputSplit):
    def locations(self) -> list[Path]:
        raise ConfigurationError(f"{type(self).__name__} is text in memory: it has no files")

    def length(self) -> int:
        return len(self.lines())

    def lines(self) -> list[Any]:
        """The lines of the text; or the values of each record."""
        raise NotImplementedError


class StringSplit(_InMemory, StringSplitNames):
    """A text in place of a file.

    Parameters
    ----------
    data : str
        Its lines.
    """

    def __init__(self, data: str) -> None:
        self._data = data

    def get_data(self) -> str:
        """The text."""
        return self._data

    def lines(self) -> list[str]:
        return self._data.splitlines()


class ListStringSplit(_InMemory, ListStringSplitNames):
    """Records that are lists of texts.

    Parameters
    ----------
    data : iterable of sequence of str
        The values of each record.
    """

    def __init__(self, data: Iterable[Sequence[str]]) -> None:
        self._data = [list(record) for record in data]

    def get_data(self) -> list[list[str]]:
        """The records."""
        return self._data

    def lines(self) -> list[list[str]]:
        return self._data


class InputStreamInputSplit(_InMemory):
    """An open file in place of its path.

    Parameters
    ----------
    stream : file
        Of text or bytes (UTF-8); read once, when the first reader asks.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._lines: list[str] | None = None

    def lines(self) -> list[str]:
        if self._lines is None:
            data = self._stream.read()
            self._lines = list((data.decode("utf-8") if isinstance(data, bytes) else data).splitlines())
        return self._lines
