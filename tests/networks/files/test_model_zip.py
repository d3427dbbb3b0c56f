"""The model archive: DL4J's files, what is written back, and damaged or hostile ones."""
from __future__ import annotations

import contextlib
import io
import os
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from dl4py.networks.files.model_zip import ModelLimits, ModelZip, read_model_zip, write_model_zip
from dl4py.samediff.errors import DL4PyError, FileFormatError, LimitError, TruncatedFileError

GOLDEN = Path(__file__).parents[2] / "golden"
BAD = GOLDEN / "bad"
GOOD = BAD / "good.zip"
INDEX = yaml.safe_load((BAD / "index.yaml").read_text())["files"]
ERRORS = {
    "not_a_model": (FileFormatError, "empty|not a zip"),
    "truncated": (FileFormatError, "cut short|ends inside|expected 43"),
    "corrupt_zip": (FileFormatError, "coefficients.bin"), "unsupported_compression": (FileFormatError, "method 12"),
    "missing_entry": (FileFormatError, "has no co"), "duplicate_entry": (FileFormatError, "two entries"),
    "length_mismatch": (FileFormatError, "expected (43|86) values, got"),
    "bad_array": (FileFormatError, "coefficients.bin"),
    "unsupported_type": (FileFormatError, "UTF8"), "too_large": (FileFormatError, "expected 43 values"),
}
LENGTHS = (43, 86)


def model(n=20, **changes):
    vector = np.random.default_rng(1).normal(size=n).astype(np.float32)
    whole = ModelZip('{\r\n  "confs" : [ ]\r\n}', vector, vector.repeat(2), b"norm", {"objects/note": b"x", "a/b": b""})
    return replace(whole, **changes)


def written(content):
    stream = io.BytesIO()
    write_model_zip(stream, content)
    return stream.getvalue()


def same(a, b):
    return (a.configuration == b.configuration and a.normalizer == b.normalizer and dict(a.extra) == dict(b.extra)
            and all(x is y is None or (x.dtype == y.dtype and np.array_equal(x, y))
                    for x, y in ((a.coefficients, b.coefficients), (a.updater_state, b.updater_state))))


@pytest.mark.parametrize("case", ["mlp_adam", "regression_minmax_objects"])
def test_dl4js_own_files(case):
    got = read_model_zip(GOLDEN / "files" / case / "model.zip")
    with np.load(GOLDEN / "files" / case / "arrays.npz") as arrays:
        np.testing.assert_array_equal(got.coefficients, arrays["params"])
        np.testing.assert_array_equal(got.updater_state, arrays["updater"])
    assert same(read_model_zip(io.BytesIO(written(got))), got)
    if case == "regression_minmax_objects":
        assert got.normalizer.startswith(b"\0\nNORMALIZER") and list(got.extra) == ["objects/note"]


@pytest.mark.parametrize("empty", [None, np.zeros(0, np.float32)])
def test_network_without_parameters(empty):
    assert read_model_zip(GOLDEN / "files" / "no_params" / "model.zip").coefficients.size == 0
    data = written(model(coefficients=empty, updater_state=empty))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.namelist()[:3] == ["configuration.json", "coefficients.bin", "noParams.marker"]
        assert "updaterState.bin" not in archive.namelist()
    got = read_model_zip(io.BytesIO(data), lengths=(0, 0))
    assert got.coefficients is None and got.updater_state is None
    with pytest.raises(FileFormatError, match="configuration has 43"):
        read_model_zip(io.BytesIO(data), lengths=LENGTHS)


def test_layout_of_a_written_file():
    with zipfile.ZipFile(io.BytesIO(written(model()))) as archive:
        assert archive.namelist() == ["configuration.json", "coefficients.bin", "updaterState.bin", "normalizer.bin",
                                      "objects/note", "a/b"]
        assert {i.compress_type for i in archive.infolist()} == {zipfile.ZIP_DEFLATED}
        assert archive.testzip() is None
        header = archive.read("coefficients.bin")
    assert int.from_bytes(header[32:40], "big") == 2 and len(header) == 129 + 80      # a row [1, 20]
    assert written(model()) == written(model())


def test_round_trip_keeps_everything(tmp_path):
    path = tmp_path / "m.zip"
    for content in (model(), model(coefficients=np.arange(3.0)), model(normalizer=None, updater_state=None, extra={})):
        write_model_zip(path, content)
        assert same(read_model_zip(path), content)
        with open(path, "rb") as stream:
            assert same(read_model_zip(stream), content)
    assert [p.name for p in tmp_path.iterdir()] == ["m.zip"]


@pytest.mark.parametrize("name", ["../evil", "/etc/x", "C:\\x", "Configuration.JSON", "normalizer.bin"])
def test_failed_write_leaves_the_old_file(tmp_path, name):
    path = tmp_path / "m.zip"
    write_model_zip(path, model())
    old = path.read_bytes()
    with pytest.raises(FileFormatError, match="cannot be named"):
        write_model_zip(path, model(extra={name: b""}))
    assert path.read_bytes() == old and os.listdir(tmp_path) == ["m.zip"]


@pytest.mark.parametrize("case", [c for c in INDEX if c["expect"] in ERRORS], ids=lambda c: c["file"])
def test_damaged_file(case):
    error, text = ERRORS[case["expect"]]
    if case["file"].startswith(("cut_", "updater_zero")):
        error = TruncatedFileError
    with pytest.raises(error, match=text) as caught:
        read_model_zip(BAD / case["file"], lengths=LENGTHS)
    assert case["file"] in str(caught.value)


def test_without_the_updater_a_damaged_one_does_not_matter():
    assert read_model_zip(BAD / "updater_zero_bytes.zip", load_updater=False).coefficients.size == 43


def test_bomb_is_refused_without_expected_lengths_too():
    with pytest.raises(LimitError, match="out of all proportion"):
        read_model_zip(BAD / "bomb_deflated_150MB.zip")
    data = written(model(coefficients=np.zeros(100, np.float32), updater_state=None))
    with pytest.raises(LimitError, match="at most 10"):
        read_model_zip(io.BytesIO(data), ModelLimits(max_elements=10))
    with pytest.raises(LimitError, match="entries"):
        read_model_zip(io.BytesIO(written(model())), ModelLimits(max_entries=3))
    with pytest.raises(LimitError, match="objects/note"):
        read_model_zip(io.BytesIO(written(model(normalizer=None, extra={"objects/note": b"12345"}))),
                       ModelLimits(max_extra_bytes=4))


def test_fresh_updater_state_is_no_bomb():
    data = written(model(n=3_000_000, updater_state=np.zeros(6_000_000, np.float32)))
    assert read_model_zip(io.BytesIO(data)).updater_state.size == 6_000_000


def test_hostile_names_and_java_objects():
    with pytest.warns(UserWarning, match="leads out of the archive"):
        assert not read_model_zip(BAD / "path_traversal.zip").extra
    with pytest.warns(UserWarning, match="serialized Java object"):
        assert list(read_model_zip(BAD / "preprocessor_java_serialized.zip").extra) == ["preprocessor.bin"]
    with pytest.raises(FileFormatError, match="UTF-8"):
        read_model_zip(BAD / "json_utf16.zip")


@pytest.mark.parametrize("seed", range(4))
def test_any_flipped_byte_loads_or_is_a_typed_error(seed):
    good, rng = GOOD.read_bytes(), np.random.default_rng(seed)
    for _ in range(60):
        data = bytearray(good)
        data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
        with contextlib.suppress(DL4PyError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read_model_zip(io.BytesIO(bytes(data)), lengths=LENGTHS)
    for cut in rng.integers(len(good), size=30):
        with pytest.raises(DL4PyError):
            read_model_zip(io.BytesIO(good[:cut]), lengths=LENGTHS)
