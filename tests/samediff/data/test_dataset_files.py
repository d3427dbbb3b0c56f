"""Files of DataSet.save and MultiDataSet.save, as recorded and back."""
from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from dl4py.samediff.data.sets.dataset_files import load_data_set, load_multi_data_set, save_data_set, save_multi_data_set
from dl4py.samediff.errors import FileFormatError, TruncatedFileError

FOLDER = Path(__file__).parents[2] / "golden" / "files" / "datasets"
FILES = sorted(p for p in FOLDER.glob("*.dataset") if p.stem != "metadata")
NAMES = ("features", "labels", "features_mask", "labels_mask")


@pytest.fixture(scope="module")
def recorded():
    with np.load(FOLDER / "arrays.npz") as arrays:
        return dict(arrays)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_data_set(path, recorded):
    parts = load_data_set(path)
    for name, got in zip(NAMES, parts):
        want = recorded.get(f"{path.stem}.{name}")
        assert (got is None) == (want is None)
        if want is not None:
            np.testing.assert_array_equal(got, want)
    out = io.BytesIO()
    save_data_set(out, *parts)
    assert out.getvalue() == path.read_bytes()


def test_metadata_are_left_out_with_a_warning(recorded):
    with pytest.warns(UserWarning, match="metadata"):
        features, *_ = load_data_set(FOLDER / "metadata.dataset")
    np.testing.assert_array_equal(features, recorded["metadata.features"])


def test_multi_data_set(recorded, tmp_path):
    path = FOLDER / "multi.multidataset"
    features, labels, features_masks, labels_masks = load_multi_data_set(path)
    np.testing.assert_array_equal(features[1], recorded["multi.features1"])
    np.testing.assert_array_equal(features_masks[1], recorded["multi.features_mask1"])
    assert features_masks[0] is None and labels_masks == [] and len(labels) == 1
    save_multi_data_set(tmp_path / "m", features, labels, features_masks)
    assert (tmp_path / "m").read_bytes() == path.read_bytes()


def test_damage():
    for flags in (128, 4, 7):
        with pytest.raises(FileFormatError, match=f"flags {flags}"):
            load_data_set(io.BytesIO(bytes([flags]) + bytes(100)))
    with pytest.raises(FileFormatError, match="several inputs"):
        load_multi_data_set(io.BytesIO(b"\x7f" * 16))
    data = (FOLDER / "plain.dataset").read_bytes()
    for cut in range(0, len(data), 23):
        with pytest.raises(TruncatedFileError):
            load_data_set(io.BytesIO(data[:cut]))
