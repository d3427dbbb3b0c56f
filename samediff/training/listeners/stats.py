"""Statistics of a training as numbers: made of arrays, kept in memory or in a file."""
from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ...base.javanames import JavaSpelling
from ...base.user_code.abstract_methods import unwritten
from ...codecs.atomic_files import extend_file, write_file
from ...codecs.regular_files import read_file
from ...errors import FileFormatError, UnknownNameError, did_you_mean

__all__ = ["FileStatsStorage", "InMemoryStatsStorage", "StatsStorage"]

_FORMAT, _VERSION = "dl4py-training-stats", 1


def summary_of(array: Any, bins: int) -> dict[str, Any]:
    """Norm, mean, mean magnitude, deviation and histogram of an array; infinite and undefined numbers are counted apart.

    Examples
    --------
    >>> found = summary_of([1.0, -1.0, 3.0, float("nan")], 2)
    >>> found["mean"], found["not_finite"], found["histogram"]["counts"]
    (1.0, 1, [1, 2])
    """
    every = np.asarray(array, np.float64).reshape(-1)
    values = every[np.isfinite(every)]
    made: dict[str, Any] = {"not_finite": int(every.size - values.size)}
    if values.size:
        made |= {"l2": float(np.sqrt((values ** 2).sum())), "mean": float(values.mean()),
                 "mean_magnitude": float(np.abs(values).mean()), "stdev": float(values.std())}
        if bins:
            counts, edges = np.histogram(values, bins)
            made["histogram"] = {"min": float(edges[0]), "max": float(edges[-1]), "counts": counts.tolist()}
    return made


class StatsStorage(JavaSpelling):
    """Storage of the records of iterations, oldest first."""

    @unwritten(when_called=True)
    def put(self, record: dict[str, Any]) -> None:
        """Add a record."""
        raise NotImplementedError

    @unwritten(when_called=True)
    def records(self) -> list[dict[str, Any]]:
        """All records."""
        raise NotImplementedError

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
        lines = read_file(self.path).split(b"\n")[:-1]      # a line without end is still being written
        try:
            head, *found = [json.loads(line) for line in lines]
        except (ValueError, RecursionError) as error:
            raise FileFormatError(f"{self.path}: not a file of training statistics ({error})") from None
        for line, record in enumerate(found, 2):
            if not isinstance(record, dict):
                raise FileFormatError(f"{self.path}, line {line}: expected a record, got {record!r:.60}")
        if not isinstance(head, dict) or head.get("format") != _FORMAT or head.get("version") != _VERSION:
            raise FileFormatError(f"{self.path}: not a file of training statistics of version {_VERSION}")
        return found


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, allow_nan=False, separators=(",", ":")).encode()
