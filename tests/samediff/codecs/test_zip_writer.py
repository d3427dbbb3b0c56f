"""An interrupt while an archive is written comes through as itself."""
from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

from dl4py.samediff.codecs import zip_writer
from dl4py.samediff.codecs.array_files import write_arrays
from tests.helpers.interrupting import Stop


def test_an_interrupt_within_an_entry():
    stream = io.BytesIO()
    with pytest.raises(Stop), zip_writer.ZipWriter(stream, "w") as archive:
        archive.open("a", "w")          # interrupted before its block begins
        raise Stop
    with zip_writer.ZipWriter(stream, "w") as archive:
        archive.writestr("a", "b")
    assert zipfile.ZipFile(stream).read("a") == b"b"


def test_files_are_written_so(tmp_path, monkeypatch):
    def opened(self, *args, **options):
        zipfile.ZipFile.open(self, *args, **options)
        raise Stop
    monkeypatch.setattr(zip_writer.ZipWriter, "open", opened)
    with pytest.raises(Stop):
        write_arrays(tmp_path / "a.npz", {"a": np.ones(3)})
    assert not (tmp_path / "a.npz").exists()
