"""Arrays and types of ONNX files."""
from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.datatype import DataType
from ..codecs.regular_files import open_regular
from ..errors import DataTypeError, FileFormatError
from .bulk import OWN

#: Element types of ONNX that arrays here have, by their codes.
TYPES = {
    1: DataType.FLOAT, 2: DataType.UBYTE, 3: DataType.BYTE, 4: DataType.UINT16, 5: DataType.SHORT, 6: DataType.INT, 7: DataType.LONG,
    8: DataType.UTF8, 9: DataType.BOOL, 10: DataType.HALF, 11: DataType.DOUBLE, 12: DataType.UINT32, 13: DataType.UINT64,
    16: DataType.BFLOAT16}
CODES = {t: code for code, t in TYPES.items()}

#: Types of ONNX that arrays here do not have, held in wider ones: whole numbers of 4 and 2 bits, floating ones of 8 and 4.
NARROW_WHOLE = {21: (0, 15), 22: (-8, 7), 25: (0, 3), 26: (-2, 1)}
NARROW_FLOATING = {17: "float8_e4m3fn", 18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz", 23: "float4_e2m1fn",
                   24: "float8_e8m0fnu"}
NARROW = {code: DataType.UBYTE if low == 0 else DataType.BYTE for code, (low, _) in NARROW_WHOLE.items()} | dict.fromkeys(
    NARROW_FLOATING, DataType.FLOAT)


@dataclass(eq=False)
class Held:
    """A value that is known while the graph is built; it becomes a variable where a node takes it.

    Parameters
    ----------
    array : ndarray
        The value.
    name : str
        Its name in the file.
    trainable : bool
        Whether it becomes a trainable variable.
    code : int
        The type of ONNX that is held in a wider one, 0 for all others.
    """

    array: np.ndarray[Any, Any]
    name: str = ""
    trainable: bool = False
    variable: Any = None
    code: int = 0


class Dead:
    """The result of a branch that is not taken, where a condition is known."""

    code = 0

    def __repr__(self) -> str:
        return "<nothing: the other branch is taken>"


DEAD = Dead()


def data_type(code: int, what: str) -> DataType:
    """The data type of a code of ONNX."""
    found = TYPES.get(code) or NARROW.get(code)
    if found is None:
        from onnx import TensorProto
        name = TensorProto.DataType.Name(code) if code in TensorProto.DataType.values() else str(code)
        known = ", ".join(t.name for t in TYPES.values())
        raise DataTypeError(f"{what} has elements of ONNX type {name}, which arrays here do not have; they have {known}")
    return found


def array_of(tensor: Any, file: str, what: str) -> np.ndarray[Any, Any]:
    """The array of a tensor, from the file of the model or one beside it where it is kept there."""
    from onnx import numpy_helper
    kind = data_type(tensor.data_type, what)
    if tensor.data_location == tensor.EXTERNAL:
        return _external(tensor, file, kind, what)
    try:
        made = numpy_helper.to_array(tensor)
    except (ValueError, TypeError, KeyError) as error:
        raise FileFormatError(f"{what}: the tensor cannot be read: {error}") from error
    return made.astype(object) if kind is DataType.UTF8 else np.asarray(made, kind.numpy)


def _external(tensor: Any, file: str, kind: DataType, what: str) -> np.ndarray[Any, Any]:
    entries = {e.key: e.value for e in tensor.external_data}
    own = OWN in entries and bool(file)
    path = file if own else inside(os.path.dirname(file), entries.get("location", ""), what)
    count = int(np.prod(tensor.dims, dtype=np.int64)) if len(tensor.dims) else 1
    size = count * kind.numpy.itemsize
    try:
        offset, length = int(entries.get("offset", 0)), int(entries.get("length", size))
    except ValueError:
        raise FileFormatError(f"{what}: offset and length of external data are numbers, got {entries}") from None
    if own and tensor.data_type in NARROW:
        return _narrow(tensor, path, offset, length, what)
    if tensor.data_type in NARROW or kind is DataType.UTF8 or length != size or offset < 0 or min(tensor.dims, default=0) < 0:
        raise FileFormatError(f"{what}: {count} elements of {kind.name} are {size} bytes; the external data has offset {offset} and "
                              f"length {length}")
    if offset + size > os.path.getsize(path):           # before memory is taken
        raise FileFormatError(f"{what}: {path} ends before byte {offset + size}")
    made = np.empty(tuple(tensor.dims), kind.numpy)
    with open_regular(path) as stream:
        stream.seek(offset)
        if stream.readinto(made.reshape(-1).view(np.uint8)) != size:  # type: ignore[attr-defined]  # of buffered readers
            raise FileFormatError(f"{what}: {path} ends before byte {offset + size}")
    return made if sys.byteorder == "little" else made.byteswap()


def _narrow(tensor: Any, path: str, offset: int, length: int, what: str) -> np.ndarray[Any, Any]:
    """A tensor of a type that is held in a wider one, from the file of the model."""
    whole = type(tensor)(data_type=tensor.data_type, dims=tensor.dims)
    with open_regular(path) as stream:
        stream.seek(offset)
        whole.raw_data = stream.read(length)
    return array_of(whole, "", what)


def inside(folder: str, location: str, what: str) -> str:
    """The path of a file in the folder of a model; FileFormatError for any other place."""
    if not folder:
        raise FileFormatError(f"{what}: its data lies in the file {location!r} beside the model; give the path of the model, not its bytes")
    parts = location.replace("\\", "/").split("/")
    path = os.path.join(folder, *parts)
    if not location or os.path.isabs(location) or ":" in parts[0] or any(p in ("", "..") for p in parts):
        raise FileFormatError(f"{what}: external data must lie in the folder of the model; got {location!r}")
    walked = folder
    for part in parts:
        walked = os.path.join(walked, part)
        if os.path.islink(walked):
            raise FileFormatError(f"{what}: external data {location!r} is reached through a link, which is not followed")
    if not os.path.isfile(path):
        raise FileFormatError(f"{what}: there is no regular file {location!r} beside the model")
    return path
