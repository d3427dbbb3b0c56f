"""Objects that detectors find."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.networks.zoo import DetectedObject, YoloUtils
from dl4py.samediff.errors import OutOfRangeError, ShapeError

PRIORS = [[1, 2], [3, 4]]


def box(x, y, width, height, confidence, kind=0):
    return DetectedObject(0, x, y, width, height, np.eye(3)[kind], confidence)


def output():
    """Two images of 2 x 3 cells, two boxes per cell, three classes; two boxes are sure."""
    found = np.zeros((2, 2, 8, 2, 3), np.float32)
    found[0, 1, :, 1, 2] = 0.5, 0.25, 1, 2, 0.9, 0.1, 0.7, 0.2
    found[1, 0, :, 0, 1] = 0.25, 0.75, 3, 1, 0.6, 0.5, 0.3, 0.2
    return found.reshape(2, 16, 2, 3)


def test_what_a_box_says_of_itself():
    made = DetectedObject(3, 1.5, 2.5, 4, 6, [0.25, 0.75], 0.5)
    assert (made.get_example_number(), made.get_center_x(), made.get_center_y(), made.get_width(), made.get_height()) == (3, 1.5, 2.5, 4, 6)
    assert made.get_confidence() == 0.5 and list(made.get_class_predictions()) == [0.25, 0.75] and made.get_predicted_class() == 1


def test_boxes_lie_in_the_grid():
    first, second = YoloUtils.getPredictedObjects(PRIORS, output(), 0.5)
    assert (first.example_number, first.center_x, first.center_y, first.width, first.height) == (0, 2.5, 1.25, 1, 2)
    assert first.getPredictedClass() == 1 and first.confidence == pytest.approx(0.9)
    assert second.getTopLeftXY().tolist() == [-0.25, 0.25] and second.getBottomRightXY().tolist() == [2.75, 1.25]
    assert len(YoloUtils.get_predicted_objects(PRIORS, output(), 0.7)) == 1
    assert len(YoloUtils.get_predicted_objects(PRIORS, output(), 0.0)) == 2 * 2 * 6


@pytest.mark.parametrize(("one", "other", "share"), [
    (box(1, 1, 2, 2, 1), box(1, 1, 2, 2, 1), 1), (box(1, 1, 2, 2, 1), box(2, 1, 2, 2, 1), 1 / 3),
    (box(1, 1, 2, 2, 1), box(2, 2, 2, 2, 1), 1 / 7), (box(1, 1, 2, 2, 1), box(5, 1, 2, 2, 1), 0),
    (box(2, 2, 4, 4, 1), box(2, 2, 2, 2, 1), 1 / 4)])
def test_overlap_over_union(one, other, share):
    assert YoloUtils.iou(one, other) == pytest.approx(share) == YoloUtils.iou(other, one)


def test_less_sure_boxes_of_a_class_are_dropped():
    sure, less, elsewhere, other = (box(1, 1, 2, 2, 0.9), box(1.2, 1, 2, 2, 0.8), box(6, 6, 2, 2, 0.3), box(1, 1, 2, 2, 0.5, kind=1))
    boxes = [less, sure, elsewhere, other]
    YoloUtils.nms(boxes, 0.5)
    assert boxes == [sure, elsewhere, other]
    boxes = [less, sure]
    YoloUtils.nms(boxes, 0.95)
    assert boxes == [less, sure]


def test_a_dropped_box_drops_no_other():
    """In the order of the list, as in DL4J: the middle one of three falls first, then nothing overlaps with the last one."""
    boxes = [box(2, 1, 4, 2, 0.8), box(1, 1, 4, 2, 0.9), box(3.5, 1, 4, 2, 0.7)]
    assert YoloUtils.iou(boxes[0], boxes[2]) > 0.4 > YoloUtils.iou(boxes[1], boxes[2])
    kept = [boxes[1], boxes[2]]
    YoloUtils.nms(boxes, 0.4)
    assert boxes == kept


def test_wrong_outputs_are_refused():
    with pytest.raises(ShapeError, match=r"2 \* \(5 \+ classes\)"):
        YoloUtils.get_predicted_objects(PRIORS, np.zeros((1, 15, 2, 2)), 0.5)
    with pytest.raises(ShapeError):
        YoloUtils.get_predicted_objects(PRIORS, np.zeros((16, 2, 2)), 0.5)
    with pytest.raises(OutOfRangeError, match="from 0 to 1"):
        YoloUtils.get_predicted_objects(PRIORS, output(), 50)
