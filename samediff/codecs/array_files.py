"""Arrays by name with a few texts beside them: NumPy's ``.npz`` and ``.safetensors`` files."""
from __future__ import annotations

import io
import json
import os
import tokenize
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from ..base.datatype import DataType
from ..errors import ConfigurationError, FileFormatError, LimitError, MissingPackageError
from .atomic_files import atomic_write
from .nd4j_array import MAX_ELEMENTS
from .regular_files import path_of, read_file
from .safe_zip import SafeZip, binary
from .zip_writer import ZipWriter

Path = str | os.PathLike[str]
_METADATA = "__metadata__"


def write_arrays(path: Path, arrays: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> None:
    """Write arrays to an ``.npz`` or ``.safetensors`` file, as the suffix says; a failure leaves the old file.

    Parameters
    ----------
    path : path
    arrays : mapping from names to arrays
        bfloat16, which NumPy does not know, is stored as float32.
    metadata : mapping from names to texts, optional

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_arrays(folder + "/a.npz", {"w": np.ones(2)}, {"note": "two ones"})
    ...     arrays, texts = read_arrays(folder + "/a.npz")
    >>> arrays["w"].tolist(), texts
    ([1.0, 1.0], {'note': 'two ones'})
    """
    given = {name: _known_type(np.asarray(a)) for name, a in arrays.items()}
    if _METADATA in given:
        raise ConfigurationError(f"an array cannot be named {_METADATA}")
    if _is_safetensors(path):
        with atomic_write(path) as stream:
            stream.write(_safetensors().numpy.save(given, dict(metadata or {}) or None))
        return
    texts = np.frombuffer(json.dumps(dict(metadata or {})).encode(), np.uint8)
    with atomic_write(path) as stream, ZipWriter(stream, "w") as archive:
        for name, array in [*given.items(), (_METADATA, texts)]:
            with archive.open(f"{name}.npy", "w", force_zip64=array.nbytes > 1 << 30) as entry:
                np.lib.format.write_array(binary(entry), array, allow_pickle=False)


def read_arrays(path: Path, max_elements: int = MAX_ELEMENTS) -> tuple[dict[str, Any], dict[str, str]]:
    """Read an ``.npz`` or ``.safetensors`` file: the arrays and the texts.

    Raises
    ------
    FileFormatError
        No such file, or objects in it that are no arrays of numbers (they are never unpickled).
    LimitError
        More than ``max_elements`` elements.
    MissingPackageError
        ``.safetensors`` needs the package of that name.
    """
    where = path_of(path)
    arrays = _read_safetensors(where) if _is_safetensors(path) else _read_npz(where, max_elements)
    texts = arrays.pop(_METADATA, {})
    if isinstance(texts, np.ndarray):
        try:
            texts = json.loads(texts.tobytes())
        except ValueError as error:
            raise FileFormatError(f"{where}: entry {_METADATA} is damaged ({error})") from None
    return arrays, {str(k): str(v) for k, v in texts.items()} if isinstance(texts, dict) else {}


def _is_safetensors(path: Path) -> bool:
    suffix = os.path.splitext(path_of(path))[1].lower()
    if suffix not in (".npz", ".safetensors"):
        raise ConfigurationError(f"{path_of(path)}: expected a name that ends in .npz or .safetensors")
    return suffix == ".safetensors"


def _known_type(array: Any) -> Any:
    kind = DataType.of(array)
    if not kind.is_numeric:
        raise ConfigurationError(f"arrays of type {kind.name} have no place in these files")
    return np.ascontiguousarray(array, np.float32 if kind is DataType.BFLOAT16 else None).reshape(array.shape)


def _safetensors() -> Any:
    try:
        import safetensors
        import safetensors.numpy
    except ImportError:
        raise MissingPackageError("safetensors files need the package safetensors: pip install 'dl4py[safetensors]'") from None
    return safetensors


def _read_safetensors(where: str) -> dict[str, Any]:
    library = _safetensors()
    data = read_file(where)
    try:
        arrays = library.numpy.load(data)
    except (library.SafetensorError, KeyError, ValueError) as error:      # KeyError: a type that NumPy does not have
        raise FileFormatError(f"{where} is no safetensors file that NumPy can hold ({type(error).__name__}: {error})") from None
    header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    return {name: np.array(array) for name, array in arrays.items()} | {_METADATA: header.get(_METADATA, {})}


def _read_npz(where: str, max_elements: int) -> dict[str, Any]:
    arrays: dict[str, Any] = {}
    with SafeZip(where) as archive:
        for entry, info in archive.entries.items():
            with archive.open(entry) as stream:
                arrays[entry.removesuffix(".npy")] = read_npy(binary(stream), f"{where}: entry {entry}", max_elements, info.file_size)
    return arrays


def read_npy(stream: BinaryIO, where: str, max_elements: int, size: int) -> Any:
    """One array; its header is looked at before memory is taken."""
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(stream)
    except (ValueError, SyntaxError, TypeError, OverflowError, RecursionError, tokenize.TokenError) as error:    # of the header's text
        raise FileFormatError(f"{where} is no array ({error})") from None
    count = int(np.prod(shape, dtype=object))
    if dtype.hasobject or dtype.kind not in "biuf":
        raise FileFormatError(f"{where} holds {dtype}; expected numbers")
    if count > max_elements:
        raise LimitError(f"{where}: {count} elements, at most {max_elements} are allowed")
    if count * dtype.itemsize > size:
        raise FileFormatError(f"{where} states {count} elements and has {size} bytes")
    data = io.BytesIO(stream.read(count * dtype.itemsize)).getbuffer()
    if len(data) < count * dtype.itemsize:
        raise FileFormatError(f"{where} ends after {len(data)} of {count * dtype.itemsize} bytes")
    array = np.frombuffer(data, dtype).astype(dtype.newbyteorder("="), copy=False)
    return array.reshape(shape, order="F" if fortran else "C")
