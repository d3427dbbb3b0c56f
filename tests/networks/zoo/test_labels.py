"""Names of classes, from the caller or a local file."""
from __future__ import annotations

import json

import numpy as np
import pytest

from dl4py.networks.zoo import BaseLabels, COCOLabels, DarknetLabels, ImageNetLabels, VOCLabels
from dl4py.samediff.errors import ConfigurationError, FileFormatError, OutOfRangeError, PathError, ShapeError


@pytest.mark.parametrize(("name", "text"), [
    ("names.txt", "cat\ndog\n\nowl\n"), ("names.json", '["cat", "dog", "owl"]'),
    ("index.json", json.dumps({"1": ["n2", "dog"], "0": ["n1", "cat"], "2": ["n3", "owl"]}))])
def test_files(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    labels = BaseLabels(tmp_path / name)
    assert labels.labels == ("cat", "dog", "owl") and labels.getLabel(1) == "dog"


@pytest.mark.parametrize("text", ['{"0": "cat", "2": "owl"}', "[1, ", '{"0": []}'])
def test_damaged_files(tmp_path, text):
    (tmp_path / "names.json").write_text(text)
    with pytest.raises(FileFormatError, match=r"names\.json"):
        BaseLabels(tmp_path / "names.json")


def test_names_are_needed(tmp_path):
    for kind in (COCOLabels, ImageNetLabels, DarknetLabels, BaseLabels):
        with pytest.raises(ConfigurationError, match=f"{kind.__name__} needs the names"):
            kind()
    with pytest.raises(ConfigurationError, match="80 classes; got 1"):
        COCOLabels(["person"])
    with pytest.raises(PathError, match=r"none\.txt"):
        COCOLabels(tmp_path / "none.txt")
    assert len(VOCLabels().labels) == 20


def test_likeliest_classes():
    labels = BaseLabels(["cat", "dog", "owl"])
    rows = np.array([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]])
    found = labels.decodePredictions(rows, 2)
    assert [[(p.getNumber(), p.getLabel(), p.getProbability()) for p in row] for row in found] == [
        [(2, "owl", 0.5), (1, "dog", 0.3)], [(0, "cat", 0.6), (2, "owl", 0.3)]]
    assert labels.decode_predictions(rows[0], 2) == found[:1]
    assert labels.decode_predictions(rows[:, :, None, None], 2) == found
    with pytest.raises(ShapeError, match=r"\(batch, 3\)"):
        labels.decode_predictions(np.zeros((2, 4)))
    with pytest.raises(OutOfRangeError):
        labels.get_label(3)
