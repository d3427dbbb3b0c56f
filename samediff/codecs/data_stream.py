"""Java's DataInput and DataOutput: big-endian numbers and modified UTF-8, read strictly."""
from __future__ import annotations

import struct
from typing import BinaryIO

from ..errors import FileFormatError, LimitError, TruncatedFileError

_BLOCK = 1 << 20    # read at most this much at once: a false length costs no memory


class DataInput:
    """Read Java's primitive types from a binary stream.

    ``where`` names the source in error texts. A stream that ends early raises :class:`TruncatedFileError`.

    Examples
    --------
    >>> import io
    >>> DataInput(io.BytesIO(b"\\0\\0\\0\\7\\0\\2ab")).read_int()
    7
    """

    def __init__(self, stream: BinaryIO, where: str = "") -> None:
        self.stream = stream
        self.where = where or str(getattr(stream, "name", "stream"))
        self.offset = 0

    def error(self, text: str) -> FileFormatError:
        """Return an error that names the source and the place in it."""
        return FileFormatError(f"{self.where}: {text} (before byte {self.offset})")

    def read_exact(self, count: int, what: str = "data") -> bytearray:
        """Read ``count`` bytes, in blocks."""
        data = bytearray()
        while len(data) < count:
            block = self.stream.read(min(_BLOCK, count - len(data)))
            if not block:
                raise TruncatedFileError(f"{self.where}: ends inside {what}: expected {count} bytes from offset "
                                         f"{self.offset}, got {len(data)}")
            data += block
        self.offset += count
        return data

    def read_boolean(self, what: str = "boolean") -> bool:
        """Read one byte, 0 or 1."""
        return self.read_exact(1, what)[0] != 0

    def read_int(self, what: str = "int") -> int:
        """Read a signed 32-bit number."""
        return int(struct.unpack(">i", self.read_exact(4, what))[0])

    def read_long(self, what: str = "long") -> int:
        """Read a signed 64-bit number."""
        return int(struct.unpack(">q", self.read_exact(8, what))[0])

    def read_double(self, what: str = "double") -> float:
        """Read a 64-bit float."""
        return float(struct.unpack(">d", self.read_exact(8, what))[0])

    def read_utf(self, what: str = "text", limit: int = 0xFFFF) -> str:
        """Read a text: 16-bit byte length, then modified UTF-8 (NUL as C0 80, surrogates encoded one by one)."""
        length = int(struct.unpack(">H", self.read_exact(2, what))[0])
        if length > limit:
            raise LimitError(f"{self.where}: {what} at offset {self.offset - 2} claims {length} bytes, at most {limit} "
                             "are expected here; the file is damaged or of another format")
        raw = bytes(self.read_exact(length, what)).replace(b"\xc0\x80", b"\0")
        try:
            text = raw.decode("utf-8", "surrogatepass")
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeError:
            raise self.error(f"{what} at offset {self.offset - length} is not modified UTF-8") from None


class DataOutput:
    """Write Java's primitive types to a binary stream."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream

    def write_boolean(self, value: bool) -> None:
        """Write one byte, 0 or 1."""
        self.stream.write(b"\1" if value else b"\0")

    def write_int(self, value: int) -> None:
        """Write a signed 32-bit number."""
        self.stream.write(struct.pack(">i", value))

    def write_long(self, value: int) -> None:
        """Write a signed 64-bit number."""
        self.stream.write(struct.pack(">q", value))

    def write_double(self, value: float) -> None:
        """Write a 64-bit float."""
        self.stream.write(struct.pack(">d", value))

    def write_utf(self, text: str) -> None:
        """Write a text of at most 65535 bytes in modified UTF-8."""
        units = text.encode("utf-16-be", "surrogatepass")
        raw = b"".join(_modified(units[i] << 8 | units[i + 1]) for i in range(0, len(units), 2))
        if len(raw) > 0xFFFF:
            raise FileFormatError(f"texts of this format have at most 65535 bytes, got {len(raw)}")
        self.stream.write(struct.pack(">H", len(raw)) + raw)


def _modified(unit: int) -> bytes:
    return chr(unit).encode("utf-8", "surrogatepass") if unit else b"\xc0\x80"
