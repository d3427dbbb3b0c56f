"""Names of the classes that published networks tell apart."""
from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ...samediff.errors import ConfigurationError, FileFormatError, OutOfRangeError, PathError, ShapeError
from ..structure.java_names import BaseLabelsNames, ClassPredictionNames, ImageNetLabelsNames

__all__ = ["BaseLabels", "COCOLabels", "ClassPrediction", "DarknetLabels", "ImageNetLabels", "VOCLabels"]


@dataclass(frozen=True)
class ClassPrediction(ClassPredictionNames):
    """A class, its name and its probability.

    Parameters
    ----------
    number : int
        Number of the class.
    label : str
        Its name.
    probability : float
        From 0 to 1.
    """

    number: int
    label: str
    probability: float


class BaseLabels(BaseLabelsNames):
    """Names of classes, in the order of a network's outputs. Nothing is downloaded: they come from the caller or from a local file.

    Parameters
    ----------
    labels : str, path or sequence of str, optional
        A text file with a name in each line, a JSON file with a list or Keras' index ``{"0": ["n01440764", "tench"], ...}``, or the names.

    Raises
    ------
    PathError
        There is no such file.
    FileFormatError
        The file holds something else.
    ConfigurationError
        Names are needed and none were given, or not as many as there are classes.

    Examples
    --------
    >>> labels = BaseLabels(["cat", "dog", "owl"])
    >>> labels.decode_predictions(np.array([[0.125, 0.75, 0.125]]), 1)
    [[ClassPrediction(number=1, label='dog', probability=0.75)]]
    """

    #: What DL4J's class of that name reads, for the error's text; how many classes there are.
    file: ClassVar[str] = ""
    count: ClassVar[int | None] = None
    default: ClassVar[Sequence[str] | None] = None

    def __init__(self, labels: str | os.PathLike[str] | Sequence[str] | None = None) -> None:
        given = self.default if labels is None else labels
        if given is None:
            where = f", such as {self.file}" if self.file else ""
            raise ConfigurationError(f"{type(self).__name__} needs the names of the classes: pass a sequence, or a local file{where}")
        self.labels = _read(Path(given)) if isinstance(given, (str, os.PathLike)) else tuple(map(str, given))
        if self.count not in (None, len(self.labels)):
            raise ConfigurationError(f"{type(self).__name__} has {self.count} classes; got {len(self.labels)} names")

    def get_label(self, n: int) -> str:
        """The name of class ``n``.

        Raises
        ------
        OutOfRangeError
            There is no such class.
        """
        if not 0 <= n < len(self.labels):
            raise OutOfRangeError(f"classes are 0 to {len(self.labels) - 1}; got {n}")
        return self.labels[n]

    def decode_predictions(self, predictions: Any, n: int = 5) -> Any:
        """The likeliest classes of each example, the likeliest first.

        Parameters
        ----------
        predictions : array (batch, classes)
            Outputs of a network; also (classes,) and (batch, classes, 1, 1).
        n : int
            How many classes; 5 by default.

        Returns
        -------
        list of list of ClassPrediction
            One list for each example.

        Raises
        ------
        ShapeError
            Another number of classes than there are names.
        """
        rows = np.asarray(predictions)
        rows = rows.reshape(1, -1) if rows.ndim == 1 else rows
        if rows.ndim == 4 and rows.shape[2:] == (1, 1):
            rows = rows[:, :, 0, 0]
        if rows.ndim != 2 or rows.shape[1] != len(self.labels):
            raise ShapeError(f"expected predictions (batch, {len(self.labels)}), a column for each label; got {list(rows.shape)}")
        best = np.argsort(-rows, axis=1, kind="stable")[:, :n]
        return [[ClassPrediction(i, self.labels[i], float(row[i])) for i in chosen.tolist()] for row, chosen in zip(rows, best)]


class ImageNetLabels(BaseLabels, ImageNetLabelsNames):
    """The 1000 classes of ImageNet, from the caller or a local file: Keras' ``imagenet_class_index.json``, or a line for each class.

    Parameters
    ----------
    labels : str, path or sequence of str
        See `BaseLabels`.
    """

    file = "imagenet_class_index.json of Keras, which stands in DL4J's jar of the zoo"
    count = 1000


class DarknetLabels(BaseLabels):
    """The classes of ImageNet in Darknet's order, for `Darknet19`: ``imagenet.shortnames.list`` in a local file.

    Parameters
    ----------
    labels : str, path or sequence of str
        See `BaseLabels`.
    """

    file = "Darknet's data/imagenet.shortnames.list"


class VOCLabels(BaseLabels):
    """The 20 classes of Pascal VOC, for `TinyYOLO`.

    Parameters
    ----------
    labels : str, path or sequence of str, optional
        Other names than those of the data set; see `BaseLabels`.

    Examples
    --------
    >>> VOCLabels().get_label(14)
    'person'
    """

    default = ("aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "diningtable", "dog", "horse",
               "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor")
    count = 20


class COCOLabels(BaseLabels):
    """The 80 classes of COCO, for `YOLO2`: ``coco.names`` in a local file.

    Parameters
    ----------
    labels : str, path or sequence of str
        See `BaseLabels`.
    """

    file = "Darknet's data/coco.names"
    count = 80


def _read(path: Path) -> tuple[str, ...]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise PathError(f"{path}: {error.strerror or error}; labels are read from a local text or JSON file") from None
    except UnicodeDecodeError:
        raise FileFormatError(f"{path} is no text in UTF-8; labels are a name in each line, or JSON") from None
    if text.lstrip()[:1] not in ("{", "["):
        return tuple(line.strip() for line in text.splitlines() if line.strip())
    try:
        found = json.loads(text)
        if isinstance(found, dict):
            found = [found[str(i)] for i in range(len(found))]
        return tuple(str(entry[1] if isinstance(entry, list) else entry) for entry in found)
    except (ValueError, KeyError, IndexError, RecursionError) as error:
        raise FileFormatError(f"{path}: expected a list of names or {{\"0\": [id, name], ...}}; {error}") from None
