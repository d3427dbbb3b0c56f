"""Statistics of a training as numbers: made of arrays, kept in memory or in a file."""
from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np

from ...base.javanames import JavaSpelling
from ...base.user_code.abstract_methods import unwritten
from ...codecs.atomic_files import extend_file, write_file
from ...codecs.regular_files import open_regular
from ...errors import FileFormatError, UnknownNameError, did_you_mean

__all__ = ["FileStatsStorage", "InMemoryStatsStorage", "StatsStorage", "StatsStorageRouter"]

_FORMAT, _VERSION = "dl4py-training-stats", 1
_MANY = 4096            # numbers of which a histogram is made
_PIECE = 8192           # numbers that are added up at once


def summary_of(array: Any, bins: int) -> dict[str, Any]:
    """Norm, mean, mean magnitude, deviation and histogram of an array; infinite and undefined numbers are counted apart.

    The histogram of a large array is that of numbers at equal distances, which ``every`` tells.

    Examples
    --------
    >>> found = summary_of([1.0, -1.0, 3.0, float("nan")], 2)
    >>> found["mean"], found["not_finite"], found["histogram"]["counts"]
    (1.0, 1, [1, 2])
    """
    every = np.asarray(array).ravel(order="K")
    values: Any = every.astype(np.float32 if every.dtype == np.float32 and every.size > _MANY else np.float64, copy=False)
    with np.errstate(all="ignore"):
        total, sizes, squares = _sums(values)
        if not math.isfinite(squares):
            values = values[np.isfinite(values)].astype(np.float64)
            total, sizes, squares = _sums(values)
        made: dict[str, Any] = {"not_finite": int(every.size - values.size)}
        if values.size:
            mean, square = total / values.size, squares / values.size
            variance = square - mean * mean
            if variance <= 1e-3 * square:           # its digits do not suffice
                variance = _sums(values - values.dtype.type(mean))[2] / values.size
            made |= {"l2": _finite(math.sqrt(squares)), "mean": _finite(mean), "mean_magnitude": _finite(sizes / values.size),
                     "stdev": _finite(math.sqrt(variance))}
            if bins:
                made["histogram"] = _histogram(values, bins)
    return made


def _sums(values: Any) -> tuple[float, float, float]:
    """Sums of numbers, of their sizes and of their squares: piece by piece in the cache, and without threads, which would stay awake."""
    total = sizes = squares = 0.0
    for at in range(0, values.size, _PIECE):
        piece = values[at:at + _PIECE]
        total += float(piece.sum())
        sizes += float(np.abs(piece).sum())
        squares += float(piece @ piece)
    return total, sizes, squares


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None      # JSON has no other numbers


def _histogram(values: Any, bins: int) -> dict[str, Any]:
    step = -(-values.size // _MANY)
    chosen = values[::step].astype(np.float64)
    low, high = float(chosen.min()), float(chosen.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    width = high / bins - low / bins            # neither overflows
    places = np.minimum(((chosen - low) / width).astype(np.intp), bins - 1) if width > 0 else np.zeros(chosen.size, np.intp)
    made: dict[str, Any] = {"min": low, "max": high, "counts": np.bincount(places, minlength=bins).tolist()}
    return made | ({"every": step} if step > 1 else {})


def update_ratios(record: dict[str, Any]) -> dict[str, float]:
    """The common logarithm of the mean magnitude of each update of a record divided by that of its parameter."""
    made = {}
    for name, update in record.get("updates", {}).items():
        sizes = update.get("mean_magnitude"), record.get("parameters", {}).get(name, {}).get("mean_magnitude")
        if sizes[0] and sizes[1]:
            made[name] = math.log10(sizes[0] / sizes[1])
    return made


class StatsStorageRouter(JavaSpelling):
    """Destination of the records of trainings: a storage, a folder of TensorBoard, a server, an experiment tracker.

    A record is a dictionary for JSON. All have ``session`` (the run that it belongs to) and ``time``, nearly all ``iteration`` and
    ``epoch``; besides these whatever was recorded then: ``score``, ``learning_rate``, ``iteration_ms``, ``etl_ms``, ``examples``,
    ``memory_mb``; ``parameters``, ``gradients``, ``updates`` and ``activations`` with norms and histograms by name; ``evaluation``,
    ``pictures`` and ``embedding`` of a :class:`WatchListener`; ``run``, in the first one of a session, with the drawing of the
    model, hyperparameters and environment.

    Examples
    --------
    >>> class Printed(StatsStorageRouter):
    ...     def put(self, record):
    ...         print(record["iteration"], record["score"])
    >>> Printed().put({"iteration": 3, "score": 0.5})
    3 0.5
    """

    @unwritten(when_called=True)
    def put(self, record: dict[str, Any]) -> None:
        """Take a record."""
        raise NotImplementedError

    def close(self) -> None:
        """Write what is left; nothing is put afterwards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class StatsStorage(StatsStorageRouter):
    """Storage of the records of iterations, oldest first."""

    @unwritten(when_called=True)
    def records(self) -> list[dict[str, Any]]:
        """All records."""
        raise NotImplementedError

    def list_session_ids(self) -> list[str]:
        """The runs that have records, in the order of their first one."""
        return list(dict.fromkeys(record["session"] for record in self.records() if "session" in record))

    listSessionIDs = list_session_ids

    def since(self, mark: int) -> tuple[list[dict[str, Any]], int]:
        """Records that were added since a mark, 0 at first, and the mark from which to go on."""
        found = self.records()
        return found[mark:], len(found)

    def series(self, *path: str) -> tuple[list[int], list[Any]]:
        """Iterations and values of one quantity, where it was recorded.

        ``series("score")``, ``series("learning_rate")``, ``series("parameters", "0_W", "mean_magnitude")``.
        """
        found = [(r["iteration"], value) for r in self.records() if "iteration" in r and (value := _at(r, path)) is not None]
        if not found:
            known = sorted({key for r in self.records() for key in _keys(r, path[:-1])})
            raise UnknownNameError(f"no record has {'/'.join(path)!r}{did_you_mean(path[-1], known)}; "
                                   f"there are: {', '.join(known) or 'none'}")
        return [i for i, _ in found], [v for _, v in found]


def _at(record: Any, path: Iterable[str]) -> Any:
    for key in path:
        record = record.get(key) if isinstance(record, dict) else None
    return record


def _keys(record: Any, path: Iterable[str]) -> list[str]:
    inner = _at(record, path)
    return list(inner) if isinstance(inner, dict) else []


class InMemoryStatsStorage(StatsStorage):
    """Keeps the records in memory.

    Examples
    --------
    >>> storage = InMemoryStatsStorage()
    >>> storage.put({"iteration": 0, "score": 1.5})
    >>> storage.series("score")
    ([0], [1.5])
    """

    def __init__(self) -> None:
        self._records: list[dict[str, Any]] = []

    def put(self, record: dict[str, Any]) -> None:
        self._records.append(record)

    def records(self) -> list[dict[str, Any]]:
        return list(self._records)


class FileStatsStorage(StatsStorage):
    """Keeps the records in a file of JSON lines, one for each iteration, so that another program can read them meanwhile.

    Parameters
    ----------
    path : path
        Made when it does not exist; else records are added to it.

    Raises
    ------
    FileFormatError
        The file is there and is not one of these.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if self.path.exists() and self.path.stat().st_size:
            self.records()
        else:
            write_file(self.path, _line({"format": _FORMAT, "version": _VERSION}) + b"\n")

    def put(self, record: dict[str, Any]) -> None:
        extend_file(self.path, b"\n" + _line(record), b"\n")

    def records(self) -> list[dict[str, Any]]:
        return self.since(0)[0]

    def since(self, mark: int) -> tuple[list[dict[str, Any]], int]:
        if self.path.stat().st_size < mark:         # another file has taken its place
            mark = 0
        with open_regular(self.path) as stream:
            stream.seek(mark)
            *lines, _ = stream.read().split(b"\n")  # a line without end is still being written
        try:
            found = [json.loads(line) for line in lines]
        except (ValueError, RecursionError) as error:
            raise FileFormatError(f"{self.path}: not a file of training statistics ({error})") from None
        if mark == 0:
            head, *found = found or [None]
            if not isinstance(head, dict) or head.get("format") != _FORMAT or head.get("version") != _VERSION:
                raise FileFormatError(f"{self.path}: not a file of training statistics of version {_VERSION}")
        for record in found:
            if not isinstance(record, dict):
                raise FileFormatError(f"{self.path}: expected a record in every line, got {record!r:.60}")
        return found, mark + sum(len(line) + 1 for line in lines)


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, allow_nan=False, separators=(",", ":")).encode()
