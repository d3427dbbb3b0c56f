"""Progress of reading a large file."""
from __future__ import annotations

import io
import os
from typing import TextIO, cast

from ...samediff.codecs.regular_files import open_regular


class ReadingProgress(io.BufferedReader):
    """A file opened for reading that says every tenth part of it that was read; files below 100 MB are read in silence."""

    QUIET = 100_000_000

    def __init__(self, path: str, messages: TextIO | None = None) -> None:
        super().__init__(cast(io.BufferedReader, open_regular(path)).detach())
        self._size = os.path.getsize(path)
        self._messages = messages if self._size > self.QUIET else None
        self._furthest = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        if self._messages is not None:
            at = self.tell()
            if at * 10 // self._size > self._furthest * 10 // self._size:
                print(f"reading {self.name}: {at * 100 // self._size} %", file=self._messages)
            self._furthest = max(self._furthest, at)
        return data
