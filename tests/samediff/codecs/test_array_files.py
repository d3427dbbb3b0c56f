"""``.npz`` and ``.safetensors`` files."""
from __future__ import annotations

import io
import sys
import zipfile

import numpy as np
import pytest

from dl4py.samediff import DataType
from dl4py.samediff.codecs.array_files import read_arrays, write_arrays
from dl4py.samediff.errors import ConfigurationError, FileFormatError, LimitError, MissingPackageError

ARRAYS = {"matrix": np.arange(6, dtype="f4").reshape(2, 3), "scalar": np.float64(2.5), "empty": np.zeros((0, 3), "i8"),
          "flags": np.array([True, False]), "a/b": np.arange(3, dtype="u1"), "columns": np.asfortranarray(np.arange(4.0).reshape(2, 2))}


@pytest.fixture(params=[".npz", ".safetensors"])
def path(request, tmp_path):
    return tmp_path / ("file" + request.param)


def test_round_trip(path):
    write_arrays(path, ARRAYS, {"note": "ä ü"})
    arrays, texts = read_arrays(path)
    assert texts == {"note": "ä ü"}
    assert sorted(arrays) == sorted(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == np.asarray(array).dtype
        assert arrays[name].flags.writeable


def test_bfloat16_becomes_float32(path):
    write_arrays(path, {"x": np.array([1.5, 2], DataType.BFLOAT16.numpy)})
    assert read_arrays(path)[0]["x"].dtype == np.float32


def test_files_of_others(tmp_path):
    np.savez_compressed(tmp_path / "theirs.npz", a=np.arange(3), b=np.asfortranarray(np.eye(2)))
    arrays, texts = read_arrays(tmp_path / "theirs.npz")
    assert texts == {}
    np.testing.assert_array_equal(arrays["b"], np.eye(2))


def test_damaged_files(path):
    write_arrays(path, ARRAYS)
    data = path.read_bytes()
    for cut in range(0, len(data), 37):
        path.write_bytes(data[:cut])
        with pytest.raises(FileFormatError):
            read_arrays(path)


def test_objects_are_never_unpickled(tmp_path):
    np.savez(tmp_path / "objects.npz", a=np.array([{"x": 1}], dtype=object))
    with pytest.raises(FileFormatError, match="expected numbers"):
        read_arrays(tmp_path / "objects.npz")


def test_sizes_are_looked_at_before_memory_is_taken(tmp_path):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (1 << 40,)})
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w") as archive:
        archive.writestr("a.npy", stream.getvalue())
    with pytest.raises(LimitError, match="at most"):
        read_arrays(tmp_path / "bomb.npz")
    with pytest.raises(FileFormatError, match="states"):
        read_arrays(tmp_path / "bomb.npz", max_elements=1 << 41)


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(ConfigurationError, match=r"\.npz or \.safetensors"):
        write_arrays(tmp_path / "x.bin", ARRAYS)
    with pytest.raises(ConfigurationError, match="UTF8"):
        write_arrays(tmp_path / "x.npz", {"a": np.array(["text"])})
    assert list(tmp_path.iterdir()) == []


def test_without_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(MissingPackageError, match="pip install"):
        write_arrays(tmp_path / "x.safetensors", ARRAYS)
