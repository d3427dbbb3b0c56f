"""Zip archives from strangers: checked before anything is inflated, each failure a typed error that names the entry."""
from __future__ import annotations

import contextlib
import errno
import struct
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from os import PathLike
from typing import IO, BinaryIO, cast

from ..errors import DL4PyError, FileFormatError, LimitError, TruncatedFileError
from .regular_files import as_stream, open_regular, path_of, read_stream

_LOCAL_HEADER = b"PK\x03\x04"
MOST_STREAMED = 4 << 30     # bytes that are kept of an archive that comes through a pipe
_METHODS = {zipfile.ZIP_STORED: "stored", zipfile.ZIP_DEFLATED: "deflate"}


class SafeZip:
    """A zip archive opened for reading. Nothing is ever unpacked to disk.

    Refused on opening: no archive, more than ``max_entries`` entries, duplicate names, encryption, methods other than
    stored and deflate. Folders are passed over. What an entry inflates to is limited where it is read.

    Parameters
    ----------
    source : a path or a binary stream.
    max_entries : the largest number of entries.
    """

    def __init__(self, source: str | PathLike[str] | BinaryIO, max_entries: int = 10_000) -> None:
        if isinstance(source, (str, PathLike)):
            self.where = path_of(source)
            self._stream: BinaryIO = open_regular(source)
            self._owned = True
        else:
            source = as_stream(source)
            self.where = str(getattr(source, "name", "stream"))
            self._stream = source if source.seekable() else BytesIO(read_stream(source, MOST_STREAMED))
            self._owned = False
        try:
            self._zip = self._open()
            self.entries = self._checked(max_entries)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> SafeZip:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, when it was opened here."""
        if self._owned:
            self._stream.close()

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    @property
    def size(self) -> int:
        """Bytes of the whole file, whatever its entries claim."""
        here = self._stream.tell()
        try:
            return self._stream.seek(0, 2)
        finally:
            self._stream.seek(here)

    @contextlib.contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Open an entry; whatever goes wrong while it is read becomes a typed error."""
        with self._typed(name), self._zip.open(self.entries[name]) as stream:
            yield stream

    def read(self, name: str, limit: int) -> bytes:
        """Return an entry of at most ``limit`` bytes."""
        size = self.entries[name].file_size
        if size > limit:
            raise LimitError(f"{self.where}: entry {name} inflates to {size} bytes, at most {limit} are allowed")
        with self.open(name) as stream:
            data = stream.read()
        if len(data) != size:
            raise TruncatedFileError(f"{self.where}: entry {name} ends after {len(data)} of {size} bytes")
        return data

    def _open(self) -> zipfile.ZipFile:
        start = self._stream.tell()
        try:
            return zipfile.ZipFile(self._stream)
        except (zipfile.BadZipFile, struct.error, ValueError, EOFError, NotImplementedError, OSError) as e:
            self._stream.seek(start)
            head = self._stream.read(4)
            if not head:
                raise FileFormatError(f"{self.where} is empty; expected a zip archive") from None
            if head == _LOCAL_HEADER:
                raise TruncatedFileError(f"{self.where} is a zip archive that was cut short: its directory is missing; "
                                         f"the last entry that begins is {self._last_entry()}") from None
            raise FileFormatError(f"{self.where} is not a zip archive ({e})") from None

    def _last_entry(self) -> str:
        end = self._stream.seek(0, 2)
        self._stream.seek(max(0, end - (1 << 22)))
        tail = self._stream.read()
        at = tail.rfind(_LOCAL_HEADER)
        if at < 0 or len(tail) < at + 30:
            return "unknown"
        length = int.from_bytes(tail[at + 26:at + 28], "little")
        return repr(tail[at + 30:at + 30 + length].decode("utf-8", "replace"))

    def _checked(self, max_entries: int) -> dict[str, zipfile.ZipInfo]:
        entries: dict[str, zipfile.ZipInfo] = {}
        found = self._zip.infolist()
        if len(found) > max_entries:
            raise LimitError(f"{self.where} has {len(found)} entries, at most {max_entries} are allowed")
        for info in found:
            if not info.filename or info.is_dir():
                continue
            if info.filename in entries:
                raise FileFormatError(f"{self.where} has two entries named {info.filename}: which one counts?")
            if info.flag_bits & 1:
                raise FileFormatError(f"{self.where}: entry {info.filename} is encrypted")
            if info.compress_type not in _METHODS:
                raise FileFormatError(f"{self.where}: entry {info.filename} has compression method "
                                      f"{info.compress_type}; expected 0 (stored) or 8 (deflate)")
            entries[info.filename] = info
        return entries

    @contextlib.contextmanager
    def _typed(self, name: str) -> Iterator[None]:
        try:
            yield
        except DL4PyError:
            raise
        except (EOFError, zlib.error) as e:
            kind = TruncatedFileError if isinstance(e, EOFError) or "incomplete" in str(e) else FileFormatError
            raise kind(f"{self.where}: entry {name} is damaged ({e or 'it ends early'})") from None
        except OSError as e:
            if e.errno != errno.EINVAL:     # a place before the file's beginning
                raise
            raise FileFormatError(f"{self.where}: entry {name} is damaged ({e})") from None
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, OverflowError, struct.error) as e:
            raise FileFormatError(f"{self.where}: entry {name} is damaged ({e})") from None


def binary(stream: IO[bytes]) -> BinaryIO:
    """The same stream, under the type that binary readers name."""
    return cast(BinaryIO, stream)
