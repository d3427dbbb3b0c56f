"""Files in folders that Spark reads."""
from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark import SparkContext

from ...samediff.errors import PathError


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
