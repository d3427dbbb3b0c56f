"""Arrays as ND4J's ``BinarySerde`` has them in buffers and files."""
from __future__ import annotations

import io
from os import PathLike, fspath

from numpy.typing import ArrayLike

from ..arrays import INDArray
from ..base.java_names import BinarySerdeNames
from ..codecs.atomic_files import atomic_write
from ..codecs.binary_serde import read_header, read_serde, write_serde
from ..codecs.data_stream import DataInput
from ..codecs.regular_files import open_regular
from ..ir.translate_errors import refusing

Path = str | PathLike[str]


@refusing("BinarySerde")
class BinarySerde(BinarySerdeNames):
    """ND4J's format of arrays for buffers that programs share: a header, then the elements as they lie in memory.

    Errors are those of :meth:`Nd4j.read_binary`. DL4J 1.0.0-M2.1 itself reads back wrong elements of BOOL, BFLOAT16 and the unsigned
    types above UBYTE; what it writes is right, and read here.

    Examples
    --------
    >>> from dl4py import BinarySerde, Nd4j
    >>> BinarySerde.to_array(BinarySerde.to_byte_buffer(Nd4j.ones(2))).tolist()
    [1.0, 1.0]
    """

    @staticmethod
    def to_byte_buffer(array: ArrayLike) -> bytes:
        """An array as bytes."""
        return write_serde(array)

    @staticmethod
    def to_array(buffer: bytes | bytearray | memoryview, offset: int = 0) -> INDArray:
        """The array that begins at a byte of a buffer."""
        return INDArray.of(read_serde(DataInput(io.BytesIO(memoryview(buffer)[offset:]), "the buffer")))

    @staticmethod
    def write_array_to_disk(array: ArrayLike, path: Path) -> None:
        """Write an array to a file; a failure leaves the old file."""
        content = write_serde(array)
        with atomic_write(path) as stream:
            stream.write(content)

    @staticmethod
    def read_from_disk(path: Path) -> INDArray:
        """Read the array of a file."""
        with open_regular(path) as stream:
            return INDArray.of(read_serde(DataInput(stream, fspath(path))))

    @staticmethod
    def read_shape_from_disk(path: Path) -> list[int]:
        """The shape buffer of the array in a file: rank, shape, strides, options, step between elements, order."""
        with open_regular(path) as stream:
            return read_header(DataInput(stream, fspath(path)))[1]
