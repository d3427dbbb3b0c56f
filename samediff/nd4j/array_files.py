"""Arrays in files: ND4J's binary format and texts, NumPy's files and texts."""
from __future__ import annotations

import io
import json
import re
from decimal import Decimal
from os import PathLike, fspath
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import INDArray
from ..arrays.default_type import default_type
from ..base.datatype import DataType
from ..codecs.array_files import read_arrays, read_npy
from ..codecs.atomic_files import atomic_write, write_file
from ..codecs.nd4j_array import MAX_ELEMENTS, read_array, write_array
from ..codecs.regular_files import read_file
from ..errors import FileFormatError
from ..files import nd4j
from ..ir.translate_errors import refusing

Path = str | PathLike[str]
_WORDS = {"NaN": "NaN", "Infinity": "Infinity", "-Infinity": "-Infinity"}


@refusing("Nd4j")
class ArrayFiles(nd4j.Nd4j):
    """Arrays in files and streams."""

    @staticmethod
    def read_binary(path: Path) -> INDArray:
        """Read an array in ND4J's binary format."""
        return INDArray.of(nd4j.Nd4j.read_binary(path))

    @staticmethod
    def read(stream: BinaryIO) -> INDArray:
        """Read an array in ND4J's binary format from a stream."""
        return INDArray.of(nd4j.Nd4j.read(stream))

    @staticmethod
    def write(array: Any, stream: Any) -> None:
        """Write an array in ND4J's binary format to a stream; the two may stand in either order, as in DL4J."""
        if hasattr(array, "write") and not hasattr(array, "__array__"):
            array, stream = stream, array
        nd4j.Nd4j.write(array, stream)

    @staticmethod
    def to_byte_array(array: ArrayLike) -> bytes:
        """An array in ND4J's binary format."""
        stream = io.BytesIO()
        write_array(stream, array, "k")
        return stream.getvalue()

    @staticmethod
    def from_byte_array(content: bytes) -> INDArray:
        """The array of such bytes."""
        return INDArray.of(read_array(io.BytesIO(content)))

    # NumPy's files

    @staticmethod
    def create_npy_from_byte_array(content: bytes) -> INDArray:
        """The array of the bytes of an ``.npy`` file."""
        return INDArray.of(read_npy(io.BytesIO(content), "the bytes given", MAX_ELEMENTS, len(content)))

    @staticmethod
    def create_from_npy_file(path: Path) -> INDArray:
        """Read an ``.npy`` file."""
        content = read_file(path)
        return INDArray.of(read_npy(io.BytesIO(content), fspath(path), MAX_ELEMENTS, len(content)))

    read_npy = create_from_npy_file

    @staticmethod
    def create_npy_from_input_stream(stream: BinaryIO) -> INDArray:
        """Read an ``.npy`` file from a stream."""
        return ArrayFiles.create_npy_from_byte_array(stream.read())

    @staticmethod
    def create_from_npz_file(path: Path) -> dict[str, INDArray]:
        """Read an ``.npz`` file: arrays by name."""
        return {name: INDArray.of(a) for name, a in read_arrays(path)[0].items()}

    @staticmethod
    def to_npy_byte_array(array: ArrayLike) -> bytes:
        """An array as the bytes of an ``.npy`` file.

        Examples
        --------
        >>> from dl4py import Nd4j
        >>> Nd4j.createNpyFromByteArray(Nd4j.toNpyByteArray(Nd4j.ones(2))).tolist()
        [1.0, 1.0]
        """
        stream = io.BytesIO()
        np.lib.format.write_array(stream, np.asarray(array), allow_pickle=False)
        return stream.getvalue()

    @staticmethod
    def write_as_numpy(array: ArrayLike, target: Any) -> None:
        """Write an ``.npy`` file, by path or into a stream."""
        content = ArrayFiles.to_npy_byte_array(array)
        if hasattr(target, "write"):
            target.write(content)
            return
        with atomic_write(target) as stream:
            stream.write(content)

    write_npy = write_as_numpy

    # Texts

    @staticmethod
    def read_numpy(*args: Any) -> INDArray:
        """Read a matrix from text, a row in each line: a data type (optional), a path, what separates numbers (white space)."""
        given = list(args)
        kind = DataType.storable(given.pop(0)) if isinstance(given[0], DataType) else default_type()
        path, separator = given[0], given[1] if len(given) > 1 else None
        text = read_file(path).decode() if not hasattr(path, "read") else path.read()
        lines = (text.decode() if isinstance(text, bytes) else text).splitlines()
        try:
            rows = [[float(n) for n in line.split(None if separator in (None, " ", "\t") else separator) if n.strip()]
                    for line in lines if line.strip()]
            return INDArray.of(np.array(rows, kind.numpy))
        except ValueError as error:
            raise FileFormatError(f"{path} is no matrix of numbers separated by {separator or 'white space'!r}: {error}") from None

    @staticmethod
    def write_txt(array: ArrayLike, path: Path) -> None:
        """Write an array as DL4J's text: order, shape, and numbers with all their digits."""
        write_file(path, ArrayFiles.write_txt_string(array))

    @staticmethod
    def write_txt_string(array: ArrayLike) -> str:
        """An array as DL4J's text."""
        x = np.asarray(array)
        order = "f" if x.ndim > 1 and x.flags.f_contiguous and not x.flags.c_contiguous else "c"
        shape = ", ".join(map(str, x.shape))
        return f'{{\n"filefrom": "dl4j",\n"ordering": "{order}",\n"shape":\t[{shape}],\n"data":\n{_numbers(x)}\n}}\n'

    @staticmethod
    def read_txt(path: Path) -> INDArray:
        """Read DL4J's text, in the type ``Nd4j.dataType()``; what it says of its shape must hold."""
        return ArrayFiles.read_txt_string(read_file(path).decode())

    @staticmethod
    def read_txt_string(text: Any) -> INDArray:
        """Read DL4J's text from a text or a stream."""
        content = text.read() if hasattr(text, "read") else text
        content = content.decode() if isinstance(content, bytes) else content
        try:
            found = json.loads(re.sub(r"\bInfinity|\bNaN", lambda m: _WORDS[m[0]], content))
            shape, data, order = [int(n) for n in found["shape"]], np.array(found["data"], default_type().numpy), found.get("ordering", "c")
            if order not in ("c", "f") or data.size != int(np.prod(shape, dtype=object)):
                raise ValueError(f"{data.size} numbers do not fill the shape {shape}")
            return INDArray.of(np.array(data.reshape(shape), order=order.upper()))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise FileFormatError(f"the text holds no array of DL4J: {error}") from None


def _numbers(x: Any, depth: int = 1) -> str:
    if x.ndim == 0:
        return _number(x)
    if x.ndim == 1:
        return f"[{','.join(_number(v).rjust(25) for v in x)}]"
    gap = ", \n" + "\n" * (x.ndim - 2) + " " * depth
    return f"[{gap.join(_numbers(part, depth + 1) for part in x)}]"


def _number(value: Any) -> str:
    """With 18 digits behind the point, the shortest that tell a double from its neighbours, as DL4J writes it."""
    number = float(value)
    if not number or np.asarray(value).dtype.kind in "iub":
        return str(int(value))
    if not np.isfinite(number):
        return "NaN" if np.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    mantissa, exponent = f"{Decimal(repr(number)):.18E}".split("E")
    return f"{mantissa}E{int(exponent)}"
