"""Many small files in few larger ones, which clusters read better."""
from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from ...samediff.base.javanames import JavaSpelling
from ...samediff.data.iterators.list_iterators import check_batch
from ...samediff.errors import FileFormatError, PathError
from .contexts import context_of, is_rdd, spark_errors

_URIS = "originalUris.txt"


class FileBatch(JavaSpelling):
    """Some files with the places that they come from, as one zip (DL4J's class of the same name).

    Parameters
    ----------
    file_bytes : list of bytes
        Their contents.
    original_uris : list of str
        Where each was.
    """

    def __init__(self, file_bytes: Sequence[bytes], original_uris: Sequence[str]) -> None:
        self.file_bytes, self.original_uris = list(file_bytes), list(original_uris)

    @classmethod
    def for_files(cls, files: Iterable[str | Path]) -> FileBatch:
        """A batch of files of this machine."""
        paths = [Path(str(file).removeprefix("file:")) for file in files]
        return cls([path.read_bytes() for path in paths], [path.absolute().as_uri() for path in paths])

    @classmethod
    def read_from_zip(cls, path: str | Path) -> FileBatch:
        """The batch of a zip.

        Raises
        ------
        FileFormatError
            The zip is none that :meth:`write_as_zip` or DL4J wrote.
        """
        try:
            with zipfile.ZipFile(str(path).removeprefix("file:")) as archive:
                names = archive.namelist()
                uris = archive.read(_URIS).decode().splitlines()
                numbered = sorted((int(Path(name).stem.rpartition("_")[2]), name) for name in names if name != _URIS)
                return cls([archive.read(name) for _, name in numbered], uris)
        except (zipfile.BadZipFile, KeyError, ValueError) as error:
            raise FileFormatError(f"{path}: no batch of files: {error}") from error

    def write_as_zip(self, path: str | Path) -> None:
        """Write the zip."""
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(_URIS, "\n".join(self.original_uris))
            for number, (data, uri) in enumerate(zip(self.file_bytes, self.original_uris)):
                archive.writestr(f"file_{number}{Path(uri).suffix}", data)

    def __len__(self) -> int:
        return len(self.file_bytes)


class SparkDataUtils(JavaSpelling):
    """Puts files together for training on a cluster (DL4J's class of the same name)."""

    @staticmethod
    def create_file_batches_local(input_directory: str | Path, extensions: Sequence[str] | None, recursive: bool,
                                  output_directory: str | Path, batch_size: int) -> list[str]:
        """Write the files of a folder in zips of so many; gives their paths.

        Parameters
        ----------
        input_directory, output_directory : path
            The folders.
        extensions : sequence of str, optional
            Endings of the files that are taken, such as ``"csv"``; all by default.
        recursive : bool
            Whether files of folders inside are taken too.
        batch_size : int
            Files in a zip.
        """
        folder = Path(input_directory)
        if not folder.is_dir():
            raise PathError(f"{folder}: no such folder")
        endings = None if extensions is None else tuple("." + e.lstrip(".") for e in extensions)
        files = [p for p in folder.glob("**/*" if recursive else "*") if p.is_file()]
        found = sorted(str(p) for p in files if endings is None or p.name.endswith(endings))
        return list(_written(iter(found), str(output_directory), check_batch(batch_size), ""))

    @staticmethod
    def create_file_batches_spark(file_paths: Any, root_output_dir: str, batch_size: int, spark: Any) -> list[str]:
        """Write the files of an RDD of paths in zips of so many, each partition its own; gives their paths.

        Parameters
        ----------
        file_paths : RDD or list of str
            Files that the executors see.
        root_output_dir : str
            A folder that they see.
        batch_size : int
            Files in a zip.
        spark : SparkContext or SparkSession
            The Spark whose executors work.
        """
        paths = file_paths if is_rdd(file_paths) else context_of(spark).parallelize(list(file_paths))
        with spark_errors("writing batches of files"):
            return sorted(paths.mapPartitionsWithIndex(_Batches(root_output_dir, check_batch(batch_size))).collect())


class _Batches:
    def __init__(self, folder: str, size: int) -> None:
        self.folder, self.size = folder, size

    def __call__(self, index: int, paths: Iterator[str]) -> Iterator[str]:
        return _written(paths, self.folder, self.size, f"{index:06d}_")


def _written(paths: Iterator[str], folder: str, size: int, name: str) -> Iterator[str]:
    os.makedirs(folder, exist_ok=True)
    number = 0
    while some := list(islice(paths, size)):
        path = os.path.join(folder, f"filebatch_{name}{number:06d}.zip")
        FileBatch.for_files(some).write_as_zip(path)
        number += 1
        yield path
