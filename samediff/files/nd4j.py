"""``Nd4j``: ND4J's calls for single array files."""
from __future__ import annotations

from os import PathLike, fspath
from typing import Any, BinaryIO

from numpy.typing import ArrayLike, NDArray

from ..codecs.atomic_files import atomic_write
from ..codecs.nd4j_array import read_array, write_array
from ..codecs.regular_files import open_regular
from ..ir.translate_errors import refusing


@refusing("Nd4j")
class Nd4j:
    """Arrays in ND4J's binary format (``Nd4j.readBinary``, ``Nd4j.saveBinary``, ``Nd4j.read``, ``Nd4j.write``).

    Examples
    --------
    >>> import io, numpy as np
    >>> stream = io.BytesIO()
    >>> Nd4j.write(np.arange(3), stream)
    >>> stream.seek(0)
    0
    >>> Nd4j.read(stream)
    array([0, 1, 2])
    """

    @staticmethod
    def read_binary(path: str | PathLike[str]) -> NDArray[Any]:
        """Read the array of a file."""
        with open_regular(path) as stream:
            return read_array(stream, where=fspath(path))

    @staticmethod
    def save_binary(array: ArrayLike, path: str | PathLike[str]) -> None:
        """Write an array to a file; a failure leaves the old file."""
        with atomic_write(path) as stream:
            write_array(stream, array, "k")

    @staticmethod
    def read(stream: BinaryIO) -> NDArray[Any]:
        """Read an array from a binary stream."""
        return read_array(stream)

    @staticmethod
    def write(array: ArrayLike, stream: BinaryIO) -> None:
        """Write an array, in its own memory order, to a binary stream."""
        write_array(stream, array, "k")
