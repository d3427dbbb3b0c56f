"""Normalizer files: DL4J's bytes read, used and written back; everything else refused by type."""
from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
import pytest

from dl4py.samediff.data import (
    DataSet,
    ImagePreProcessingScaler,
    MultiDataSet,
    MultiNormalizerHybrid,
    NormalizerMinMaxScaler,
    NormalizerStandardize,
    VGG16ImagePreProcessor,
)
from dl4py.samediff.errors import (
    ConfigurationError,
    DL4PyError,
    FileFormatError,
    MissingOpError,
    TruncatedFileError,
    UnsupportedVersionError,
)
from dl4py.samediff.files import NormalizerSerializer, read_normalizer, write_normalizer

FOLDER = Path(__file__).parents[2] / "golden" / "files" / "normalizers"
FILES = sorted(FOLDER.glob("*.normalizer"))


def written(normalizer):
    stream = io.BytesIO()
    write_normalizer(stream, normalizer)
    return stream.getvalue()


def read(data):
    return read_normalizer(io.BytesIO(data), "here")


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_recorded_file(path):
    assert written(NormalizerSerializer.get_default().restore(path)) == path.read_bytes()


@pytest.mark.parametrize("name", ["standardize", "standardize_labels", "standardize_images", "minmax_range_labels",
                                  "image_range_bits", "multi_hybrid", "multi_minmax_labels"])
def test_restored_normalizer_transforms_as_dl4js(name):
    normalizer = NormalizerSerializer.getDefault().restore(str(FOLDER / f"{name}.normalizer"))
    with np.load(FOLDER / "arrays.npz") as arrays:
        a = {k[len(name) + 1:]: v for k, v in arrays.items() if k.startswith(name + ".")}
    if "x" in a:
        data = DataSet(a["x"], a.get("y", np.zeros((len(a["x"]), 1), np.float32)))
        normalizer.transform(data)
        np.testing.assert_allclose(data.get_features(), a["x_out"], rtol=2e-5, atol=1e-6)
        if "y_out" in a:
            np.testing.assert_allclose(data.get_labels(), a["y_out"], rtol=2e-5, atol=1e-6)
        return
    data = MultiDataSet([a[f"x{i}"] for i in range(2) if f"x{i}" in a], [a[f"y{i}"] for i in range(2) if f"y{i}" in a])
    normalizer.transform(data)
    for i, got in enumerate(data.get_features()):
        np.testing.assert_allclose(got, a[f"x{i}_out"], rtol=2e-5, atol=1e-6)


def test_fit_write_read():
    x = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    for normalizer in (NormalizerStandardize(), NormalizerMinMaxScaler(-1, 2)):
        normalizer.fit_label(True)
        normalizer.fit(DataSet(x, x[:, :2]))
        again = read(written(normalizer))
        assert type(again) is type(normalizer) and again.is_fit_label()
        np.testing.assert_array_equal(again.transform(x), normalizer.transform(x))
        np.testing.assert_array_equal(again.revert_labels(x[:, :2]), normalizer.revert_labels(x[:, :2]))
    hybrid = MultiNormalizerHybrid().standardize_all_inputs().min_max_scale_input(1, -1, 1).min_max_scale_output(0)
    hybrid.fit(MultiDataSet([x, x], [x]))
    again = read(written(hybrid))
    assert again.strategies == hybrid.strategies and written(again) == written(hybrid)


def test_path_is_replaced_only_when_all_is_written(tmp_path):
    path = tmp_path / "n.bin"
    serializer = NormalizerSerializer.get_default()
    serializer.write(ImagePreProcessingScaler(-1, 1), path)
    refused = {"call fit": NormalizerStandardize(), "cannot be stored": VGG16ImagePreProcessor(), "int cannot": 3}
    for text, bad in refused.items():
        with pytest.raises(ConfigurationError, match=text):
            serializer.write(bad, path)
    assert serializer.restore(path).min_range == -1
    assert [p.name for p in tmp_path.iterdir()] == ["n.bin"]


def test_streams_and_paths_hold_the_same(tmp_path):
    serializer, normalizer, stream = NormalizerSerializer.getDefault(), ImagePreProcessingScaler(-1, 2, 5), io.BytesIO()
    serializer.write(normalizer, stream)
    for target in (tmp_path / "n.bin", str(tmp_path / "m.bin")):
        serializer.write(normalizer, target)
        assert Path(target).read_bytes() == stream.getvalue()
        assert vars(serializer.restore(target)) == vars(normalizer)
    stream.seek(0)
    assert vars(serializer.restore(stream)) == vars(normalizer)


def header(kind, version=1):
    raw = kind.encode()
    return b"\0\nNORMALIZER" + struct.pack(">i", version) + struct.pack(">H", len(raw)) + raw


@pytest.mark.parametrize(("data", "error", "text"), [
    (b"", TruncatedFileError, "header"),
    (b"\xac\xed\0\5sr", TruncatedFileError, "Java class"),
    (b"PK\3\4 and so on, and on", FileFormatError, "not a normalizer"),
    (header("STANDARDIZE", 2), UnsupportedVersionError, "format 2"),
    (header("STANDARDISE"), MissingOpError, "did you mean 'STANDARDIZE'"),
    (header("CUSTOM") + b"\0\3a.B", MissingOpError, r"a\.B"),
    (header("IMAGE_MIN_MAX") + struct.pack(">3d", 0, 1, 100), FileFormatError, "2.bits"),
    (header("IMAGE_MIN_MAX") + struct.pack(">3d", 0, 1, float("nan")), FileFormatError, "2.bits"),
    (header("IMAGE_MIN_MAX") + struct.pack(">3d", 1, 0, 255), FileFormatError, "low < high"),
    (header("MULTI_STANDARDIZE") + b"\0" + struct.pack(">2i", 1 << 30, -1), FileFormatError, "1073741824 inputs"),
    (header("MULTI_HYBRID") + struct.pack(">3i", 1, 0, 9), FileFormatError, "kind of statistics 9"),
])
def test_refused(data, error, text):
    with pytest.raises(error, match=text):
        read(data)


@pytest.mark.parametrize("name", ["standardize_labels", "multi_hybrid"])
def test_damage_is_a_typed_error(name):
    good, rng = (FOLDER / f"{name}.normalizer").read_bytes(), np.random.default_rng(2)
    for cut in rng.integers(len(good), size=40):
        with pytest.raises(TruncatedFileError):
            read(good[:cut])
    for at in rng.integers(len(good), size=80):
        data = bytearray(good)
        data[at] ^= 1 << int(rng.integers(8))
        try:
            read(bytes(data))
        except DL4PyError:
            continue
