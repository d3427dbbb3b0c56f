"""Archives from strangers: exact limits, what is refused when they are opened, what damaged entries say."""
from __future__ import annotations

import io
import warnings
import zipfile

import pytest

from dl4py.samediff.codecs import safe_zip
from dl4py.samediff.codecs.safe_zip import SafeZip
from dl4py.samediff.errors import FileFormatError, LimitError, TruncatedFileError

TEXT = bytes(range(256)) * 40


def archive(method=zipfile.ZIP_DEFLATED, **entries):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as made:
        for name, data in (entries or {"a": TEXT, "b": b"xyz", "folder/": b""}).items():
            made.writestr(name, data)
    return stream.getvalue()


class Pipe(io.RawIOBase):
    """A stream that cannot go back."""

    def __init__(self, data):
        self._data = io.BytesIO(data)

    def readable(self):
        return True

    def readinto(self, room):
        return self._data.readinto(room)


def test_what_comes_through_a_pipe_is_kept_up_to_a_limit(monkeypatch):
    data = archive()
    monkeypatch.setattr(safe_zip, "MOST_STREAMED", len(data))
    with SafeZip(Pipe(data)) as found:
        assert found.read("a", 1 << 20) == TEXT and found.size == len(data)
    monkeypatch.setattr(safe_zip, "MOST_STREAMED", len(data) - 1)
    with pytest.raises(LimitError, match=f"more than the {len(data) - 1} bytes"):
        SafeZip(Pipe(data))
    with SafeZip(io.BytesIO(data)) as found:
        assert list(found.entries) == ["a", "b"]


def test_numbers_of_entries():
    data = archive(a=b"1", b=b"2", c=b"3")
    assert len(SafeZip(io.BytesIO(data), 3).entries) == 3
    with pytest.raises(LimitError, match="has 3 entries, at most 2 are allowed"):
        SafeZip(io.BytesIO(data), 2)


def test_entries_are_read_up_to_a_limit():
    with SafeZip(io.BytesIO(archive())) as found:
        assert "a" in found and "folder/" not in found and "c" not in found
        assert found.read("a", len(TEXT)) == TEXT and found.read("b", 3) == b"xyz"
        with pytest.raises(LimitError, match=f"entry a inflates to {len(TEXT)} bytes, at most {len(TEXT) - 1}"):
            found.read("a", len(TEXT) - 1)


def test_files_are_closed_streams_are_left_open(tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(archive())
    with SafeZip(path) as found:
        assert found.where == str(path) and found.size == path.stat().st_size and found.read("b", 3) == b"xyz"
    assert found._stream.closed
    with path.open("rb") as stream:
        with SafeZip(stream) as found:
            stream.seek(5)
            assert found.size == path.stat().st_size and stream.tell() == 5 and found.where == str(path)
        assert not stream.closed
    assert SafeZip(io.BytesIO(path.read_bytes())).where == "stream"
    path.write_bytes(b"no archive")
    kept = []
    real = safe_zip.open_regular
    try:
        safe_zip.open_regular = lambda p: kept.append(real(p)) or kept[0]
        with pytest.raises(FileFormatError, match="is not a zip archive"):
            SafeZip(path)
    finally:
        safe_zip.open_regular = real
    assert kept[0].closed


def twice():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as made:
            made.writestr("a", b"1")
            made.writestr("a", b"2")
        return stream.getvalue()


def encrypted():
    data = bytearray(archive(a=b"1"))
    data[data.rfind(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


WHOLE = archive(zipfile.ZIP_STORED, first=b"1" * 50, second=b"2" * 50)
LAST = WHOLE.rfind(b"PK\x03\x04")


@pytest.mark.parametrize(("data", "kind", "text"), [
    (b"", FileFormatError, "is empty; expected a zip archive"), (b"PK\x03", FileFormatError, "is not a zip archive"),
    (twice(), FileFormatError, "two entries named a"), (encrypted(), FileFormatError, "entry a is encrypted"),
    (archive(zipfile.ZIP_BZIP2, a=b"1"), FileFormatError, r"compression method 12; expected 0 \(stored\) or 8"),
    (WHOLE[:LAST], TruncatedFileError, "cut short: its directory is missing; the last entry that begins is 'first'"),
    (WHOLE[:LAST + 29], TruncatedFileError, "the last entry that begins is unknown"),
    (WHOLE[:LAST + 30], TruncatedFileError, "the last entry that begins is ''"),
    (WHOLE[:LAST + 33], TruncatedFileError, "the last entry that begins is 'sec'"),
    (WHOLE[:LAST + 60], TruncatedFileError, "the last entry that begins is 'second'")])
def test_archives_that_are_refused(data, kind, text):
    with pytest.raises(kind, match=text) as caught:
        SafeZip(io.BytesIO(data))
    assert type(caught.value) is kind


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_damaged_entries_are_named(method):
    data = bytearray(archive(method, a=TEXT))
    data[60] ^= 255
    with SafeZip(io.BytesIO(bytes(data))) as found, pytest.raises(FileFormatError, match="stream: entry a is damaged"):
        found.read("a", 1 << 20)


def test_entries_that_end_early():
    data = archive(zipfile.ZIP_STORED, a=TEXT)
    directory = bytearray(data)
    at = directory.rfind(b"PK\x01\x02")
    directory[at + 24:at + 28] = (len(TEXT) + 7).to_bytes(4, "little")      # the size that it claims
    with SafeZip(io.BytesIO(bytes(directory))) as found, pytest.raises(
            TruncatedFileError, match=f"entry a ends after {len(TEXT)} of {len(TEXT) + 7} bytes|damaged"):
        found.read("a", 1 << 20)
