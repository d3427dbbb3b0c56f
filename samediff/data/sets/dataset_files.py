"""Files of ``DataSet.save`` and ``MultiDataSet.save``: which arrays there are, then the arrays."""
from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from os import PathLike, fspath
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ...codecs.atomic_files import atomic_write
from ...codecs.data_stream import DataInput, DataOutput
from ...codecs.java_strings import read_string_list
from ...codecs.nd4j_array import read_array, write_array
from ...codecs.regular_files import as_stream, open_regular

Arrays = NDArray[Any]
Target = str | PathLike[str] | BinaryIO

_FEATURES, _LABELS, _SAME, _FEATURES_MASK, _LABELS_MASK = 1, 2, 4, 8, 16
_TEXTS = {"metadata": 32, "label_names": 64}
_MAX_ARRAYS = 1 << 16


def save_data_set(target: Target, features: Arrays | None, labels: Arrays | None, features_mask: Arrays | None = None,
                  labels_mask: Arrays | None = None) -> None:
    """Write the arrays of a data set as ``DataSet.save`` does; labels that are the features object are stored once."""
    same = labels is not None and labels is features
    parts = ((_FEATURES, features), (_SAME if same else _LABELS, labels), (_FEATURES_MASK, features_mask),
             (_LABELS_MASK, labels_mask))
    with _writing(target) as stream:
        stream.write(bytes([sum(bit for bit, array in parts if array is not None)]))
        for bit, array in parts:
            if array is not None and bit != _SAME:
                write_array(stream, array, "k")


def load_data_set(source: Target, texts: dict[str, list[str]] | None = None,
                  ) -> tuple[Arrays | None, Arrays | None, Arrays | None, Arrays | None]:
    """Return features, labels, features mask and labels mask of a file of ``DataSet.save``; None for what it lacks.

    Metadata of the examples and label names (serialized Java objects) are put into ``texts`` as "metadata" and
    "label_names" where they are plain texts, and otherwise left out with a warning.
    """
    with _reading(source) as data:
        flags = data.read_exact(1, "the flags")[0]
        if flags >= 2 * _TEXTS["label_names"] or (flags & _SAME and (flags & _LABELS or not flags & _FEATURES)):
            raise data.error(f"not a data set: flags {flags}")

        def part(bit: int) -> Arrays | None:
            return read_array(data.stream, where=data.where) if flags & bit else None

        features = part(_FEATURES)
        labels = features if flags & _SAME else part(_LABELS)
        masks = part(_FEATURES_MASK), part(_LABELS_MASK)
        stored = [name for name, bit in _TEXTS.items() if flags & bit]
        if stored and (texts is None or not _read_texts(data, stored, texts)):
            _warn(data)
        return features, labels, *masks


def save_multi_data_set(target: Target, features: Sequence[Arrays], labels: Sequence[Arrays],
                        features_masks: Sequence[Arrays | None] | None = None,
                        labels_masks: Sequence[Arrays | None] | None = None) -> None:
    """Write lists of arrays as ``MultiDataSet.save`` does; an absent mask in a list is stored as a single -1."""
    lists = [list(part or ()) for part in (features, labels, features_masks, labels_masks)]
    with _writing(target) as stream:
        for part in lists:
            DataOutput(stream).write_int(len(part))
        for array in (a for part in lists for a in part):
            write_array(stream, np.full(1, -1, np.float32) if array is None else array, "k")


def load_multi_data_set(source: Target) -> tuple[list[Arrays], list[Arrays], list[Arrays | None], list[Arrays | None]]:
    """Return features, labels, features masks and labels masks of a file of ``MultiDataSet.save``."""
    with _reading(source) as data:
        counts = [data.read_int("the number of arrays") for _ in range(4)]
        if not all(0 <= n <= _MAX_ARRAYS for n in counts):
            raise data.error(f"not a data set of several inputs: {counts} arrays")
        lists = [[read_array(data.stream, where=data.where) for _ in range(n)] for n in counts]
        if any(data.stream.read(4)):
            _warn(data)
        masks = [[None if m.size == 1 and m.ravel()[0] == -1 else m for m in part] for part in lists[2:]]
        return lists[0], lists[1], masks[0], masks[1]


def _read_texts(data: DataInput, stored: list[str], texts: dict[str, list[str]]) -> bool:
    """Fill in the metadata and the label names; False when one of them is not a list of texts."""
    for name in stored:
        found = read_string_list(data)
        if found is None:
            return False
        texts[name] = found
    return True


def _warn(data: DataInput) -> None:
    warnings.warn(f"{data.where}: the examples' metadata are serialized Java objects and are left out", stacklevel=4)


@contextlib.contextmanager
def _writing(target: Target) -> Iterator[BinaryIO]:
    if isinstance(target, (str, PathLike)):
        with atomic_write(target) as stream:
            yield stream
    else:
        yield as_stream(target, "write")


@contextlib.contextmanager
def _reading(source: Target) -> Iterator[DataInput]:
    if isinstance(source, (str, PathLike)):
        with open_regular(source) as stream:
            yield DataInput(stream, fspath(source))
    else:
        yield DataInput(as_stream(source))
