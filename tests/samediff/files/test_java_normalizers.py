"""Normalizers that Java serialized as objects (recorded from DL4J), and Java objects that are no normalizers."""
from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from dl4py.samediff import DataSet
from dl4py.samediff.data import ImagePreProcessingScaler, NormalizerMinMaxScaler, NormalizerStandardize, VGG16ImagePreProcessor
from dl4py.samediff.errors import DL4PyError, FileFormatError, LimitError, TruncatedFileError, UnsupportedVersionError
from dl4py.samediff.files import read_normalizer

FOLDER = Path(__file__).parents[2] / "golden" / "files" / "java_objects"
X = np.array([[1, 2, 3], [4, 6, 9], [2, 2, 2.5], [0, 1, 7]], "f4")
Y = np.array([[1], [2], [3], [5]], "f4")


def recorded(name: str) -> bytes:
    return (FOLDER / f"{name}.ser").read_bytes()


def read(data: bytes):
    return read_normalizer(io.BytesIO(data))


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize(("name", "fresh"), [("standardize", NormalizerStandardize), ("minmax", lambda: NormalizerMinMaxScaler(-1, 2))])
def test_statistics(name, fresh, labels):
    normalizer, expected = read(recorded(f"{name}_{'labels' if labels else 'features'}")), fresh()
    expected.fit_label(labels)
    expected.fit(DataSet(X.copy(), Y.copy()))
    assert type(normalizer) is type(expected)
    assert normalizer.is_fit_label() is labels
    got, want = DataSet(X.copy(), Y.copy()), DataSet(X.copy(), Y.copy())
    normalizer.transform(got)
    expected.transform(want)
    np.testing.assert_allclose(got.get_features(), want.get_features(), rtol=1e-6)
    np.testing.assert_allclose(got.get_labels(), want.get_labels(), rtol=1e-6)


def test_normalizers_of_images():
    image = read(recorded("image"))
    assert isinstance(image, ImagePreProcessingScaler)
    assert (image.min_range, image.max_range, image.max_pixel_val) == (0, 1, 255)
    assert isinstance(read(recorded("vgg")), VGG16ImagePreProcessor)


@pytest.mark.parametrize("name", ["standardize_labels", "minmax_features", "image"])
def test_cut_short(name):
    data = recorded(name)
    for end in range(2, len(data)):
        with pytest.raises(TruncatedFileError):
            read(data[:end])


@pytest.mark.slow
def test_damaged():
    for name in ("standardize_labels", "minmax_labels", "image"):
        good = recorded(name)
        for at in range(2, len(good)):
            for value in (0, 0x71, 0x73, 0x75, 0xFF):
                try:
                    read(good[:at] + bytes([value]) + good[at + 1:])
                except DL4PyError:
                    continue


EMPTY_LIST = (
    b"\xac\xed\0\5sr\0\x13java.util.ArrayListx\x81\xd2\x1d\x99\xc7a\x9d\3\0\1I\0\4sizexp\0\0\0\0w\4\0\0\0\0x")


@pytest.mark.parametrize(("data", "error", "message"), [
    (EMPTY_LIST, UnsupportedVersionError, "java.util.ArrayList"),
    (b"\xac\xed\0\5t\0\4text", UnsupportedVersionError, "no normalizer"),
    (b"\xac\xed\0\5p", UnsupportedVersionError, "no normalizer"),
    (b"\xac\xed\0\5\x7b", UnsupportedVersionError, "kind 0x7b"),
    (b"\xac\xed\0\4p", FileFormatError, "version"),
    (b"\xac\xed\0\5q\0\x7e\0\1", FileFormatError, "reference"),
    (b"\xac\xed\0\5ur\0\2[J" + b"\0" * 8 + b"\2\0\0xp\x7f\xff\xff\xff", LimitError, "elements"),
])
def test_other_objects_are_refused(data, error, message):
    with pytest.raises(error, match=message):
        read(data)


@pytest.mark.parametrize(("columns", "refused"), [(0, True), (-3, True), (2**20 + 1, True), (2**20, False)])
def test_statistics_of_no_or_too_many_columns_are_refused(columns, refused):
    good, shape = recorded("standardize_features"), (1).to_bytes(8, "big") + (3).to_bytes(8, "big")
    assert shape in good
    with pytest.raises(FileFormatError) as caught:
        read(good.replace(shape, shape[:8] + columns.to_bytes(8, "big", signed=True), 1))
    assert (f"a serialized array of shape [1, {columns}]" in str(caught.value)) == refused      # else it lacks the numbers
