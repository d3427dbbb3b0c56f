"""Pictures of detections; they need Pillow."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.networks.zoo import BaseLabels, DetectedObject, draw_detections
from dl4py.samediff.errors import MissingPackageError, ShapeError

BOX = DetectedObject(0, 2, 2, 2, 2, np.array([0.25, 0.75]), 0.9)         # cells 1 to 3 of 4: pixels 16 to 48 of 64


@pytest.fixture
def pillow():
    return pytest.importorskip("PIL.Image")


@pytest.mark.parametrize("shape, kind", [((3, 64, 64), "f4"), ((64, 64, 3), "u1"), ((1, 64, 64), "f8"), ((64, 64), "u1")])
def test_boxes_lie_where_the_objects_are(pillow, shape, kind):
    picture = draw_detections(np.zeros(shape, kind), [BOX], (4, 4), ["cat", "dog"])
    assert picture.shape == (64, 64, 3) and picture.dtype == np.uint8
    assert [bool(picture[y, x].any()) for y, x in ((48, 32), (32, 16), (32, 48), (32, 32), (60, 60))] == [True, True, True, False, False]


def test_a_file(pillow, tmp_path):
    picture = draw_detections(np.full((3, 64, 64), 0.5), [BOX], (4, 4), BaseLabels(["cat", "dog"]), tmp_path / "found.png")
    assert (np.asarray(pillow.open(tmp_path / "found.png")) == picture).all()


def test_classes_have_colours_of_their_own(pillow):
    other = DetectedObject(0, 2, 2, 2, 2, np.array([0.75, 0.25]), 0.9)
    assert (draw_detections(np.zeros((64, 64)), [BOX], (4, 4)) != draw_detections(np.zeros((64, 64)), [other], (4, 4))).any()


def test_what_is_no_image(pillow):
    with pytest.raises(ShapeError, match="got \\[2, 5, 5\\]"):
        draw_detections(np.zeros((2, 5, 5)), [], (1, 1))


def test_without_pillow(monkeypatch):
    import sys
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingPackageError, match="Pillow"):
        draw_detections(np.zeros((4, 4)), [], (1, 1))
