"""Zip archives that are written."""
from __future__ import annotations

import zipfile
from types import TracebackType


class ZipWriter(zipfile.ZipFile):
    """A new archive. After an error or an interrupt it is left as it is, without an attempt to complete it, which would fail in turn."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self.fp = None
