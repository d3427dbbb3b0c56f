"""Batches in files: those of users, and those that wait there for their round."""
from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark import SparkContext

from ...samediff.data import DataSet, MultiDataSet
from ...samediff.errors import FileFormatError, PathError
from .contexts import spark_errors
from .failures import Failure, raise_first
from .rounds import batched


@dataclass(frozen=True)
class ExportedBatches:
    """The files of an RDD's batches.

    Parameters
    ----------
    data : RDD
        What they hold.
    paths : RDD
        Of their paths, in the order of the data.
    folder : str
        Their folder, which all machines see.
    """

    data: Any
    paths: Any
    folder: str

    @classmethod
    def of(cls, data: Any, size: int, directory: str) -> ExportedBatches:
        """Write an RDD in batches of so many examples."""
        folder = os.path.join(directory, f"dl4py-{uuid.uuid4().hex}")
        try:
            with spark_errors("exporting the batches"):
                found = data.mapPartitionsWithIndex(_Written(folder, size)).collect()
            raise_first(found)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return cls(data, data.context.parallelize(sorted(found), max(1, data.getNumPartitions())), folder)

    def delete(self) -> bool:
        """Delete the files; whether they were there."""
        found = os.path.isdir(self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)
        return found


class _Written:
    """Writes the batches of a partition; gives their paths."""

    def __init__(self, folder: str, size: int) -> None:
        self.folder, self.size = folder, size

    def __call__(self, index: int, data: Iterator[Any]) -> Iterator[Any]:
        os.makedirs(self.folder, exist_ok=True)
        for number, batch in enumerate(batched(data, self.size)):
            if isinstance(batch, Failure):
                yield batch
                return
            ending = "bin" if isinstance(batch, DataSet) else "multi"
            path = os.path.join(self.folder, f"dataset_{index:06d}_{number:06d}.{ending}")
            batch.save(path)
            yield path


def load_batch(path: str) -> DataSet | MultiDataSet:
    """The batch of a file that a data set wrote, of either kind.

    Raises
    ------
    PathError
        There is no such file on this machine.
    FileFormatError
        It is no data set.
    """
    plain = path.removeprefix("file://").removeprefix("file:")
    if not Path(plain).is_file():
        raise PathError(f"{plain}: no such file on this machine; executors read paths themselves, so all machines must see the folder")
    first, second = (MultiDataSet, DataSet) if plain.endswith(".multi") else (DataSet, MultiDataSet)
    try:
        return _loaded(first, plain)
    except FileFormatError:
        return _loaded(second, plain)


def _loaded(kind: type[DataSet | MultiDataSet], path: str) -> DataSet | MultiDataSet:
    made = kind()
    made.load(path)
    return made


def paths_below(context: SparkContext, folder: str) -> list[str]:
    """The files of a folder in the order of their names, those whose names begin with a dot or underscore left out; or the file itself.

    Raises
    ------
    PathError
        There is no such folder, or it has no file.
    """
    local = folder.removeprefix("file://").removeprefix("file:")
    if "://" in local:
        return _remote(context, folder)
    path = Path(local)
    if path.is_file():
        return [str(path)]
    found = sorted(str(p) for p in path.rglob("*") if p.is_file() and not p.name.startswith((".", "_")))
    if not found:
        raise PathError(f"{folder}: " + ("the folder has no file" if path.is_dir() else "no such file or folder"))
    return found


def _remote(context: SparkContext, folder: str) -> list[str]:
    """The files of a folder in one of Hadoop's file systems."""
    jvm: Any = context._jvm
    path = jvm.org.apache.hadoop.fs.Path(folder)
    found = path.getFileSystem(context._jsc.hadoopConfiguration()).listStatus(path)  # type: ignore[attr-defined]
    return sorted(str(status.getPath()) for status in found if status.isFile())
