"""Evaluations and points as records hold them."""
from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from dl4py.samediff.errors import MissingPackageError
from dl4py.samediff.training.tracking.embedding import plane_of
from dl4py.samediff.training.tracking.evaluated import evaluated


def test_classes_one_column_series_and_numbers():
    two = evaluated([[1, 0], [0, 1], [0, 1]], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    one = evaluated([[0], [1], [1]], [[0.1], [0.4], [0.8]])
    assert two["confusion"] == [[1, 0], [1, 1]] and two["accuracy"] == pytest.approx(2 / 3)
    assert one["confusion"] == two["confusion"] and one["roc"] == two["roc"]
    assert two["precision_recall"]["1"]["total"] == 3 and list(two["roc"]) == ["1"]
    series = evaluated(np.eye(3)[[[0, 1], [2, 2]]].transpose(0, 2, 1), np.full((2, 3, 2), 1 / 3))
    assert np.sum(series["confusion"]) == 4 and set(series["roc"]) == {"0", "1", "2"}
    assert evaluated([[1.5], [2.5]], [[1.0], [3.0]])["mean_squared_error"] == 0.25
    assert evaluated([[1, 0]], [[np.nan, 0]]) == {"not_finite": 1}


def test_scores_that_are_no_chances_have_no_curves():
    assert evaluated([[1, 0], [0, 1]], [[3.0, -1.0], [-2.0, 5.0]])["roc"] == {}


def test_planes(monkeypatch):
    rows = np.random.default_rng(0).random((20, 5)) * [9, 3, 1, 1, 1]
    points = plane_of(rows)
    assert points.shape == (20, 2) and points[:, 0].var() > points[:, 1].var()
    assert np.allclose(plane_of(rows), points)
    assert plane_of(np.ones((3, 1))).tolist() == [[0, 0]] * 3
    asked = {}

    class TSNE:
        def __init__(self, size, **options):
            asked.update(options, size=size)

        def fit_transform(self, given):
            return given[:, :2] / 3

    monkeypatch.setitem(sys.modules, "sklearn.manifold", SimpleNamespace(TSNE=TSNE))
    assert np.allclose(plane_of(rows, "tsne"), rows[:, :2] / 3, atol=1e-4) and asked["size"] == 2 and asked["perplexity"] == 19 / 3
    monkeypatch.setitem(sys.modules, "sklearn.manifold", None)
    with pytest.raises(MissingPackageError, match="t-SNE needs scikit-learn"):
        plane_of(rows, "tsne")
