"""HDF5 files from strangers, read with h5py: what leads out of the file or asks for more memory than it has is refused."""
from __future__ import annotations

import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np

from ...samediff.errors import DL4PyError, FileFormatError, LimitError, MissingPackageError

SIGNATURE = b"\x89HDF\r\n\x1a\n"
MOST_RATIO = 1000           # bytes of arrays for each byte of the file: packed weights have a few
MOST_DEPTH = 64
MOST_MEMBERS = 100_000


def h5py() -> Any:
    """The package that reads HDF5.

    Raises
    ------
    MissingPackageError
        It is not installed.
    """
    try:
        import h5py as found
    except ImportError:
        raise MissingPackageError("reading weights of Keras needs the package h5py: pip install 'dl4py[keras]'") from None
    return found


@contextmanager
def opened(content: bytes | BinaryIO, where: str) -> Iterator[Hdf5Group]:
    """The root of a file; all that goes wrong inside is a FileFormatError that names it."""
    package = h5py()
    stream = io.BytesIO(content) if isinstance(content, (bytes, bytearray)) else content
    size = stream.seek(0, 2)
    stream.seek(0)
    if stream.read(len(SIGNATURE)) != SIGNATURE:
        raise FileFormatError(f"{where} is no HDF5 file")
    stream.seek(0)
    try:
        with package.File(stream, "r") as file:
            yield Hdf5Group(file, "/", Budget(size * MOST_RATIO, where), 0)
    except DL4PyError:
        raise
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, EOFError, MemoryError) as problem:
        raise FileFormatError(f"{where}: the HDF5 file is damaged: {problem}") from None


class Budget:
    """The remaining limits of a file: bytes and members."""

    def __init__(self, most: int, where: str) -> None:
        self.left, self.where, self.members = most, where, MOST_MEMBERS

    def take(self, size: int, name: str) -> None:
        """Count bytes before memory is taken for them."""
        self.left -= size
        if self.left < 0:
            raise LimitError(f"{self.where}: the arrays up to {name} would have more than {MOST_RATIO} times the bytes of the file")

    def count(self, members: int, name: str) -> None:
        """Count the members of a group."""
        self.members -= members
        if self.members < 0:
            raise LimitError(f"{self.where}: more than {MOST_MEMBERS} groups and arrays up to {name}")


class Hdf5Group:
    """A group: its attributes, groups and arrays, all of which lie in the file itself.

    Parameters
    ----------
    group : the group as h5py has it.
    name : its path in the file.
    budget : what may still be read.
    depth : number of groups around it.
    """

    def __init__(self, group: Any, name: str, budget: Budget, depth: int) -> None:
        self._group, self.name, self._budget, self.depth = group, name, budget, depth
        if depth > MOST_DEPTH:
            raise LimitError(f"{budget.where}: groups are nested more than {MOST_DEPTH} deep at {name}")

    def __contains__(self, name: str) -> bool:
        return name in self._group

    def names(self) -> list[str]:
        """The names of its members."""
        self._budget.count(len(self._group), self.name)
        return list(self._group)

    def attribute(self, name: str) -> Any:
        """An attribute as text, list of texts or array; None where there is none. Long lists lie in pieces, name0, name1 …"""
        if name not in self._group.attrs:
            pieces, found = 0, []
            while f"{name}{pieces}" in self._group.attrs:
                found += list(self._value(f"{name}{pieces}"))
                pieces += 1
            return found or None
        return self._value(name)

    def _value(self, name: str) -> Any:
        identity = self._group.attrs.get_id(name)
        self._budget.take(int(math.prod(identity.shape or ())) * max(int(identity.dtype.itemsize), 1), f"{self.name}@{name}")
        value = self._group.attrs[name]
        if isinstance(value, np.ndarray):
            return [_text(v) for v in value.tolist()]
        return _text(value)

    def group(self, *path: str) -> Hdf5Group:
        """A group inside."""
        found = self
        for name in path:
            member = found.member(name)
            if not isinstance(member, h5py().Group):
                raise FileFormatError(f"{self._budget.where}: {found.name}{name} is no group")
            found = Hdf5Group(member, f"{found.name}{name}/", self._budget, found.depth + 1)
        return found

    def array(self, path: str) -> np.ndarray[Any, Any]:
        """An array of numbers inside, by its path."""
        *groups, name = [part for part in path.split("/") if part]
        holder = self.group(*groups)
        data = holder.member(name)
        label = f"{self._budget.where}: {holder.name}{name}"
        if not isinstance(data, h5py().Dataset):
            raise FileFormatError(f"{label} is no array")
        if data.dtype.kind not in "fiub" and data.dtype.name != "bfloat16":
            raise FileFormatError(f"{label} holds {data.dtype}, no numbers")
        if data.external or data.is_virtual:
            raise FileFormatError(f"{label} lies in another file, which is not read")
        self._budget.take(int(data.size or 0) * data.dtype.itemsize, holder.name + name)
        found: np.ndarray[Any, Any] = np.asarray(data[()])
        return found

    def member(self, name: str) -> Any:
        package = h5py()
        if name in ("", ".", "..") or name not in self._group:
            raise FileFormatError(f"{self._budget.where}: {self.name} has no member {name!r}")
        if not isinstance(self._group.get(name, getlink=True), package.HardLink):
            raise FileFormatError(f"{self._budget.where}: {self.name}{name} is a link to another place, which is not followed")
        return self._group[name]


def _text(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
