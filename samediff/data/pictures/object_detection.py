"""Records of pictures and the objects in them, for `Yolo2OutputLayer`."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...base.javanames import method_of
from ...errors import ConfigurationError, FileFormatError
from ..normalizers.image_transforms import ImageTransform, Picture
from ..records.record_meta_data import RecordMetaDataLine
from ..splits.input_split import Source
from .image_objects import ImageObject
from .image_record_reader import ImageRecordReader

__all__ = ["ObjectDetectionRecordReader"]


class ObjectDetectionRecordReader(ImageRecordReader):
    """Every picture file is a record: its values, and the boxes and classes of what it shows.

    Shapes: values (1, channels, height, width), 0 to 255, blue, green, red; labels (1, 4 + classes, grid height, grid width): at the cell
    that holds the middle of an object left, top, right and bottom of its box, in cells, and 1 for its class. Without ``nchw``
    (1, height, width, channels) and (1, grid height, grid width, 4 + classes).

    Parameters
    ----------
    height, width, channels : int
        What pictures are brought to.
    grid_h, grid_w : int
        Cells of the grid, as many as the network's output has.
    *options : bool, ImageObjectLabelProvider, ImageTransform
        Whether channels come first, where objects are, a change of every picture and the boxes in it; the boxes' middles that it moves
        out of the picture are left out.

    Notes
    -----
    Source: DataVec's ``ObjectDetectionRecordReader``. Classes are numbered in the order of their names.
    `RecordReaderDataSetIterator(reader, batch, 1, 1, True)` decodes batch by batch, in several threads.
    """

    def __init__(self, height: int, width: int, channels: int, grid_h: int, grid_w: int, *options: Any) -> None:
        transforms = [one for one in options if isinstance(one, ImageTransform)]
        providers = [one for one in options if method_of(one, "get_image_objects_for_path") is not None]
        flags = [one for one in options if isinstance(one, bool)]
        if len(providers) != 1 or len(transforms) + len(flags) + 1 != len([one for one in options if one is not None]):
            raise ConfigurationError("ObjectDetectionRecordReader takes height, width, channels, grid height and width, then whether "
                                     "channels come first, a label provider such as VocLabelProvider(folder), and an ImageTransform, "
                                     f"whose moved() moves boxes; got {options!r:.120}")
        if min(grid_h, grid_w) < 1:
            raise ConfigurationError(f"ObjectDetectionRecordReader: a grid has cells; got {grid_h} x {grid_w}")
        super().__init__(height, width, channels, *transforms)
        self._provider, self._nchw, self._grid = providers[0], all(flags), (int(grid_h), int(grid_w))
        self._objects: list[list[ImageObject]] = []

    def initialize(self, split: Source, *others: Any) -> Self:
        super().initialize(split, *others)
        objects_of = method_of(self._provider, "get_image_objects_for_path")
        self._objects = [list(objects_of(path)) for path in self.files]
        self._names = sorted({one.label for objects in self._objects for one in objects})
        return self

    def read(self) -> Iterator[tuple[list[Any], RecordMetaDataLine]]:
        for k in self.order:
            yield [*self.detections([k])], self.origin(k)

    def detections(self, records: Sequence[int]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The pictures of these files, and their labels."""
        found = self._changed(records, self._example)
        pictures, labels = (np.stack(part) for part in zip(*found))
        return (pictures, labels) if self._nchw else (pictures.transpose(0, 2, 3, 1), labels.transpose(0, 2, 3, 1))

    def _example(self, record: int, random: np.random.Generator) -> tuple[Picture, NDArray[np.float32]]:
        objects = self._objects[record]
        corners = np.array([[o.x1, o.y1, o.x2, o.y2] for o in objects], float).reshape(-1, 2)
        size, moved = (0, 0), self._transform is not None

        def change(picture: Picture) -> Picture:
            nonlocal corners, size
            if isinstance(self._transform, ImageTransform):
                picture, corners = self._transform.moved(picture, corners, random)
            size = picture.shape[1:]
            return picture

        picture = self._loader.picture(self.files[record], change)
        return picture, self._label([o.label for o in objects], corners.reshape(-1, 2, 2), size, moved, record)

    def _label(self, names: list[str], corners: NDArray[Any], size: tuple[int, int], moved: bool, record: int) -> NDArray[np.float32]:
        """Corners (objects, 2, 2) are x and y, in pixels of a picture of that size (height, width)."""
        boxes = np.concatenate([corners.min(1), corners.max(1)], 1)
        boxes = np.floor(boxes + 0.5) if moved else boxes           # pixels, as they were
        cells = np.tile(np.array([self._grid[1] / size[1], self._grid[0] / size[0]]), 2)
        label = np.zeros((4 + len(self._names), *self._grid), np.float32)
        for name, box in zip(names, boxes * cells):
            column, row = np.floor((box[:2] + box[2:]) / 2).astype(int)
            if not (0 <= row < self._grid[0] and 0 <= column < self._grid[1]):
                if moved:
                    continue
                raise FileFormatError(f"{self.files[record]}: the middle of a box of {name!r} lies outside of the picture, which has "
                                      f"{size[0]} x {size[1]} pixels: {(box / cells).tolist()}")
            label[:4, row, column] = box
            label[4 + self._names.index(name), row, column] = 1
        return label
