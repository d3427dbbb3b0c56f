"""Objects that a detector has found: the boxes that the output of a `Yolo2OutputLayer` describes."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...samediff.errors import OutOfRangeError, ShapeError
from .java_names import DetectedObjectNames, YoloUtilsNames

__all__ = ["DetectedObject", "YoloUtils"]


@dataclass(frozen=True, eq=False)
class DetectedObject(DetectedObjectNames):
    """An object in an image. Lengths are in cells: with 416 pixels and 13 cells, one cell is 32 pixels.

    Parameters
    ----------
    example_number : int
        Which image of the batch.
    center_x, center_y, width, height : float
        The box, from the top left corner of the image.
    class_predictions : array (classes,)
        Probability of each class.
    confidence : float
        How sure the network is that there is an object, from 0 to 1.
    """

    example_number: int
    center_x: float
    center_y: float
    width: float
    height: float
    class_predictions: NDArray[Any]
    confidence: float

    def get_top_left_xy(self) -> NDArray[np.float64]:
        """x and y of the top left corner."""
        return np.array([self.center_x - self.width / 2, self.center_y - self.height / 2])

    def get_bottom_right_xy(self) -> NDArray[np.float64]:
        """x and y of the bottom right corner."""
        return np.array([self.center_x + self.width / 2, self.center_y + self.height / 2])

    def get_predicted_class(self) -> int:
        """The class of the largest probability."""
        return int(np.argmax(self.class_predictions))

    def get_example_number(self) -> int:
        """Which image of the batch."""
        return self.example_number

    def get_center_x(self) -> float:
        """x of the center."""
        return self.center_x

    def get_center_y(self) -> float:
        """y of the center."""
        return self.center_y

    def get_width(self) -> float:
        """Width of the box."""
        return self.width

    def get_height(self) -> float:
        """Height of the box."""
        return self.height

    def get_confidence(self) -> float:
        """How sure the network is that there is an object."""
        return self.confidence

    def get_class_predictions(self) -> NDArray[Any]:
        """Probability of each class."""
        return self.class_predictions


class YoloUtils(YoloUtilsNames):
    """Reads the output of networks that end with a `Yolo2OutputLayer`.

    Examples
    --------
    >>> output = np.zeros((1, 7, 2, 2), np.float32)                     # one box per cell, two classes
    >>> output[0, :, 1, 0] = 0.5, 0.25, 1, 2, 0.9, 0.2, 0.8             # in the second row
    >>> box, = YoloUtils.get_predicted_objects([[1, 1]], output, 0.5)
    >>> box.center_x, box.center_y, box.get_predicted_class()
    (0.5, 1.25, 1)
    """

    @staticmethod
    def get_predicted_objects(bounding_box_priors: Any, network_output: Any, conf_threshold: float,
                              nms_threshold: float = 0.0) -> list[DetectedObject]:
        """The objects whose confidence reaches a threshold: by image, then column, row and box.

        Parameters
        ----------
        bounding_box_priors : array (boxes, 2)
            The priors of the output layer; only their number matters here.
        network_output : array (batch, boxes * (5 + classes), height, width)
            What the network gave.
        conf_threshold : float
            Least confidence, from 0 to 1.
        nms_threshold : float
            Overlap from which on the less sure one of two boxes of one class is dropped, see :meth:`nms`; 0 keeps all.

        Raises
        ------
        ShapeError
            An output with other axes, or channels that are not those of the boxes.
        OutOfRangeError
            A confidence outside of 0 to 1.
        """
        output, boxes = np.asarray(network_output), len(np.asarray(bounding_box_priors))
        if output.ndim != 4 or not boxes or output.shape[1] % boxes or output.shape[1] // boxes < 5:
            raise ShapeError(f"the output of a network with {boxes} bounding boxes is (batch, {boxes} * (5 + classes), height, width); "
                             f"got {list(output.shape)}")
        if not 0 <= conf_threshold <= 1:
            raise OutOfRangeError(f"conf_threshold is from 0 to 1; got {conf_threshold}")
        parts = output.reshape(output.shape[0], boxes, -1, *output.shape[2:]).transpose(0, 4, 3, 1, 2)
        found = []
        for example, column, row, box in np.argwhere(parts[..., 4] >= conf_threshold).tolist():
            x, y, width, height, confidence = parts[example, column, row, box, :5].tolist()
            classes = parts[example, column, row, box, 5:].copy()
            found.append(DetectedObject(example, x + column, y + row, width, height, classes, confidence))
        if nms_threshold > 0:
            YoloUtils.nms(found, nms_threshold)
        return found

    @staticmethod
    def nms(objects: list[DetectedObject], iou_threshold: float) -> None:
        """Drop from the list each object that overlaps with one of its class of which the network is surer: non-maximum suppression.

        As in DL4J, what has been dropped drops no others, and the images that the objects are in do not matter: give those of one image.

        Parameters
        ----------
        objects : list of DetectedObject
            The list, which is changed.
        iou_threshold : float
            Largest overlap that is allowed, see :meth:`iou`.
        """
        boxes = np.array([[*o.get_top_left_xy(), *o.get_bottom_right_xy()] for o in objects]).reshape(-1, 4)
        areas = np.array([o.width * o.height for o in objects])
        classes, confidences = np.array([o.get_predicted_class() for o in objects]), np.array([o.confidence for o in objects])
        kept = np.ones(len(objects), bool)
        for i in range(len(objects)):
            surer = np.flatnonzero(kept & (classes == classes[i]) & (confidences > confidences[i]))
            sides = np.minimum(boxes[i, 2:], boxes[surer, 2:]) - np.maximum(boxes[i, :2], boxes[surer, :2])
            shared = np.maximum(sides, 0).prod(axis=1)
            kept[i] = not (shared / (areas[i] + areas[surer] - shared) > iou_threshold).any()
        objects[:] = [o for o, stays in zip(objects, kept) if stays]

    @staticmethod
    def iou(one: DetectedObject, other: DetectedObject) -> float:
        """The area that two boxes share, divided by the area that they cover together."""
        (ax, ay), (bx, by) = one.get_top_left_xy(), one.get_bottom_right_xy()
        (cx, cy), (dx, dy) = other.get_top_left_xy(), other.get_bottom_right_xy()
        shared = YoloUtils.overlap(ax, bx, cx, dx) * YoloUtils.overlap(ay, by, cy, dy)
        return shared / (one.width * one.height + other.width * other.height - shared)

    @staticmethod
    def overlap(x1: float, x2: float, x3: float, x4: float) -> float:
        """The length that the lines from x1 to x2 and from x3 to x4 share."""
        return max(0.0, float(min(x2, x4) - max(x1, x3)))
