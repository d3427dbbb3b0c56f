"""Records of picture files."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...base.java_names import ImageRecordReaderNames
from ...base.javanames import method_of
from ...errors import ConfigurationError
from ..normalizers.image_transforms import Transform, applied
from ..records.record_meta_data import RecordMetaDataLine
from ..records.record_reader import RecordReader
from ..records.writables import plain
from ..splits.file_split import FileSplit
from ..splits.input_split import Source
from .image_loader import NativeImageLoader
from .image_meta_data import RecordMetaDataImageURI

__all__ = ["ImageRecordReader"]

T = TypeVar("T")
_WORKERS = 8        # threads that decode; Pillow lets others run meanwhile


class ImageRecordReader(RecordReader, ImageRecordReaderNames):
    """Every picture file is a record: its values, and the number of its class.

    Shapes: values (1, channels, height, width), 0 to 255, blue, green, red.

    Parameters
    ----------
    height, width, channels : int
        What pictures are brought to.
    *options : PathLabelGenerator, or ImageTransform
        Where labels come from (no label without), and a change of every picture.
    label_generator : PathLabelGenerator, optional
        The first of these.
    image_transform : function of (picture, random), optional
        The second.

    Notes
    -----
    Source: DataVec's ``ImageRecordReader``. Classes are numbered in the order of their names. `RecordReaderDataSetIterator` decodes batch
    by batch, in several threads.
    """

    def __init__(self, height: int = 28, width: int = 28, channels: int = 1, *options: Any, label_generator: Any = None,
                 image_transform: Transform | None = None) -> None:
        for one in options:
            if method_of(one, "get_label_for_path") is not None:
                label_generator = one
            elif callable(one):
                image_transform = one
            elif one is not None:
                raise ConfigurationError(f"ImageRecordReader takes a label generator and an image transform; got {one!r:.80}")
        self._loader, self._generator, self._transform = NativeImageLoader(height, width, channels), label_generator, image_transform
        self._files: list[Path] = []
        self._labels: list[Any] = []
        self._names: list[str] = []
        self.order: Sequence[int] = ()      # records keep their numbers when the split shuffles
        self._pass = 0

    def initialize(self, split: Source, *others: Any) -> Self:
        super().initialize(split, *others)
        self._transform = next((one for one in others if callable(one)), self._transform)
        self._files = FileSplit.files_of(self.split)
        self.order = range(len(self._files))
        found = [] if self._generator is None else [plain(method_of(self._generator, "get_label_for_path")(path)) for path in self._files]
        if self._generator is None or not _infers(self._generator):
            self._labels, self._names = found, []
        else:
            self._names = sorted({str(name) for name in found})
            self._labels = [self._names.index(str(name)) for name in found]
        return self

    def read(self) -> Iterator[tuple[list[Any], RecordMetaDataLine]]:
        for k in self.order:
            yield [self.pictures([k]), *self._labels[k:k + 1]], self.origin(k)

    def reset(self) -> None:
        super().reset()
        self._pass += 1
        if self._split is not None:
            numbers = {path: k for k, path in enumerate(self._files)}
            self.order = [numbers[path] for path in self._split.locations()]

    @property
    def files(self) -> list[Path]:
        """The files, in the order that they had at first."""
        if not self._files:
            raise ConfigurationError("ImageRecordReader: call initialize(split) first")
        return self._files

    @property
    def labels(self) -> NDArray[Any]:
        """The label of each file: the number of a class, or a number."""
        return np.array(self._labels)

    def pictures(self, records: Sequence[int]) -> NDArray[np.float32]:
        """The pictures of these files. Shapes: (records, channels, height, width)."""
        transform, load, files = self._transform, self._loader.picture, self.files
        return np.stack(self._changed(records, lambda k, random: load(
            files[k], None if transform is None else lambda picture: applied(transform, picture, random))))

    def _changed(self, records: Sequence[int], make: Callable[[int, np.random.Generator], T]) -> list[T]:
        """What is made of each record with random numbers of its own, in threads where there are several."""
        def made(k: int) -> T:
            return make(k, np.random.default_rng((self._pass, int(k))))

        if len(records) == 1:
            return [made(records[0])]
        with ThreadPoolExecutor(min(_WORKERS, len(records))) as threads:
            return list(threads.map(made, records))

    def get_labels(self) -> list[str] | None:
        return list(self._names) or None

    def num_labels(self) -> int:
        """How many classes there are."""
        return len(self._names)

    def get_current_file(self) -> Path | None:
        """The file of the last record."""
        return None if self._last is None else Path(self._last.uri)

    def origins(self) -> list[RecordMetaDataLine]:
        """The source of each record."""
        return [self.origin(k) for k in range(len(self.files))]

    def origin(self, record: int) -> RecordMetaDataImageURI:
        """The source of one record."""
        return RecordMetaDataImageURI(0, str(self.files[record]), record)


def _infers(generator: Any) -> bool:
    asked = method_of(generator, "infer_label_classes")
    return True if asked is None else bool(asked())
