"""DL4J's model archive: configuration, parameters, updater state, normalizer and whatever else it holds.

This is the container only: what the configuration means, and how long the two vectors must be, the caller knows.
"""
from __future__ import annotations

import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from ...samediff.base.datatype import DataType
from ...samediff.codecs.atomic_files import atomic_write
from ...samediff.codecs.nd4j_array import MAX_ELEMENTS, read_array, write_array
from ...samediff.codecs.regular_files import as_stream, open_regular
from ...samediff.codecs.safe_zip import SafeZip, binary
from ...samediff.codecs.zip_writer import ZipWriter
from ...samediff.errors import FileFormatError, LimitError, TruncatedFileError
from ...samediff.text.document_text import MOST_NESTED, MOST_VALUES

CONFIGURATION = "configuration.json"
COEFFICIENTS = "coefficients.bin"
NO_PARAMETERS = "noParams.marker"
UPDATER_STATE = "updaterState.bin"
NORMALIZER = "normalizer.bin"
PREPROCESSOR = "preprocessor.bin"
RESERVED = (CONFIGURATION, COEFFICIENTS, NO_PARAMETERS, UPDATER_STATE, NORMALIZER)

_FREE_TEXT = 4 << 20    # bytes of a configuration that are inflated whatever their proportion
_FREE_VALUES = 80_000   # values of a configuration that are read whatever their proportion
_BYTES_A_VALUE = 4      # of the file, for each further one: configurations compress well, networks that have so many parts do not
_TRAILING = 1 << 20     # bytes behind an array that are passed over, as DL4J does
_EPOCH = (1980, 1, 1, 0, 0, 0)  # equal models give equal files


@dataclass(frozen=True)
class ModelLimits:
    """Limits of what a model file may ask for, checked before anything is inflated.

    ``max_values`` counts the values of the configuration, ``max_layers`` its layers or vertices; with ``proportionate`` more than
    80,000 values need a file of four bytes for each.
    Where their number is not known, parameters that inflate to more than ``ratio_free_bytes`` and ``max_ratio``
    times their compressed size are refused; updater state likewise, unless it is at most three times as large as the
    parameters.
    """

    max_entries: int = 1000
    max_configuration_bytes: int = 64 << 20
    max_nesting: int = MOST_NESTED
    max_values: int = MOST_VALUES
    max_layers: int = 2500
    proportionate: bool = True
    max_extra_bytes: int = 256 << 20
    max_elements: int = MAX_ELEMENTS
    max_ratio: float = 200.0
    ratio_free_bytes: int = 16 << 20


@dataclass(frozen=True, eq=False)
class ModelZip:
    """The content of a model file.

    ``coefficients`` and ``updater_state`` are flat vectors, None where there are none; ``normalizer`` holds the bytes
    of ``normalizer.bin``; ``extra`` every further entry, none of which is ever interpreted. With ``rank_one`` the vectors have
    one axis, as 1.0.0-M2.1 writes them, else they are rows, which all versions read.
    """

    configuration: str
    coefficients: NDArray[Any] | None = None
    updater_state: NDArray[Any] | None = None
    normalizer: bytes | None = None
    extra: Mapping[str, bytes] = field(default_factory=dict)
    rank_one: bool = False


#: The number of parameters and the length of the updater state, as far as they are known.
Lengths = tuple[int | None, int | None]


class OpenModelZip:
    """A model file whose configuration was read: it says how long the vectors are that are read next.

    Parameters
    ----------
    source : a path or a binary stream.
    limits : see :class:`ModelLimits`.

    Raises
    ------
    LimitError : larger than ``limits`` allow.
    FileFormatError : no archive, a missing or damaged entry.
    """

    def __init__(self, source: str | PathLike[str] | BinaryIO, limits: ModelLimits | None = None) -> None:
        self.limits = limits or ModelLimits()
        self._archive = SafeZip(source, self.limits.max_entries)
        try:
            self.configuration = _configuration(self._archive, self.limits)
        except BaseException:
            self._archive.__exit__()
            raise

    def __enter__(self) -> OpenModelZip:
        return self

    def __exit__(self, *exception: object) -> None:
        self._archive.__exit__(*exception)

    def read(self, lengths: Lengths = (None, None), load_updater: bool = True) -> ModelZip:
        """The whole content. Vectors of another length than these, where they are known, are refused before their data are read.

        Parameters
        ----------
        lengths : two of int, None where unknown
            The number of parameters and the length of the updater state.
        load_updater : bool
            False leaves the updater state alone, damaged or not.

        Raises
        ------
        TruncatedFileError : the file or one of its arrays ends early; the text names the entry.
        FileFormatError : arrays that do not fit the configuration.
        """
        archive, limits = self._archive, self.limits
        coefficients = _coefficients(archive, limits, lengths[0])
        updater_state = _vector(archive, UPDATER_STATE, limits, lengths[1]) if load_updater and UPDATER_STATE in archive else None
        normalizer = archive.read(NORMALIZER, limits.max_extra_bytes) if NORMALIZER in archive else None
        flat = coefficients is not None and coefficients.ndim == 1
        return ModelZip(self.configuration, _row(coefficients), _row(updater_state), normalizer, _extra(archive, limits), flat)


def read_model_zip(source: str | PathLike[str] | BinaryIO, limits: ModelLimits | None = None, *,
                   lengths: Lengths = (None, None), load_updater: bool = True) -> ModelZip:
    """Read a model file of DL4J 0.5.0 or later; arguments and errors as those of :class:`OpenModelZip` and its ``read``."""
    with OpenModelZip(source, limits) as file:
        return file.read(lengths, load_updater)


def read_configuration(source: str | PathLike[str] | BinaryIO, limits: ModelLimits | None = None) -> str:
    """The text of the configuration in a model file; errors as :func:`read_model_zip`."""
    limits = limits or ModelLimits()
    with SafeZip(source, limits.max_entries) as archive:
        return _configuration(archive, limits)


def is_model_zip(path: str | PathLike[str]) -> bool:
    """Whether a file is an archive with the configuration of a network, whatever its name and whatever stands in front of the archive."""
    with open_regular(path) as stream:
        begins = stream.read(2) == b"PK"
        stream.seek(0)
        if not begins and not zipfile.is_zipfile(stream):
            return False
        try:
            with SafeZip(stream, ModelLimits().max_entries) as archive:
                return CONFIGURATION in archive
        except FileFormatError:
            if not begins:          # bytes of another kind of file that only looked like the end of an archive
                return False
            raise


def write_model_zip(target: str | PathLike[str] | BinaryIO, model: ModelZip) -> None:
    """Write a model file that DL4J reads; a path is replaced only when the whole file is on disk.

    The vectors are stored as rows unless ``rank_one`` says otherwise; a network without parameters gets an empty
    entry and the marker. Equal models give equal bytes.
    """
    if isinstance(target, (str, PathLike)):
        with atomic_write(fspath(target)) as stream:
            _write(stream, model)
    else:
        _write(as_stream(target, "write"), model)


def _configuration(archive: SafeZip, limits: ModelLimits) -> str:
    missing = [name for name in (CONFIGURATION, COEFFICIENTS) if name not in archive]
    if missing:
        has = ", ".join(archive.entries) or "nothing"
        raise FileFormatError(f"{archive.where} is not a DL4J model: it has no {' and no '.join(missing)}; it holds "
                              f"{has}")
    entry = archive.entries[CONFIGURATION]
    if entry.file_size > max(_FREE_TEXT, limits.max_ratio * entry.compress_size):
        raise LimitError(f"{archive.where}: entry {CONFIGURATION} inflates from {entry.compress_size} to {entry.file_size} bytes, "
                         "out of all proportion; raise ModelLimits.max_ratio to read it nevertheless")
    raw = archive.read(CONFIGURATION, limits.max_configuration_bytes)
    values, allowed = sum(map(raw.count, (b",", b"[", b"{"))), max(_FREE_VALUES, archive.size // _BYTES_A_VALUE)
    if limits.proportionate and values > allowed:
        raise LimitError(f"{archive.where}: entry {CONFIGURATION} holds about {values} values, out of all proportion to a file of "
                         f"{archive.size} bytes (at most {allowed}); ModelLimits(proportionate=False) reads it nevertheless")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as e:
        raise FileFormatError(f"{archive.where}: entry {CONFIGURATION} is not UTF-8 text (byte {e.start})") from None


def _coefficients(archive: SafeZip, limits: ModelLimits, expected: int | None) -> NDArray[Any] | None:
    if archive.entries[COEFFICIENTS].file_size:
        return _vector(archive, COEFFICIENTS, limits, expected)
    if NO_PARAMETERS not in archive:
        raise TruncatedFileError(f"{archive.where}: entry {COEFFICIENTS} is empty, and there is no {NO_PARAMETERS}")
    if expected:
        raise FileFormatError(f"{archive.where}: {NO_PARAMETERS} says that there are no parameters, but the "
                              f"configuration has {expected}")
    return None


def _vector(archive: SafeZip, name: str, limits: ModelLimits, expected: int | None) -> NDArray[Any]:
    where = f"{archive.where}: entry {name}"
    if expected is None:
        _check_ratio(archive, name, limits)
    elif expected > limits.max_elements:
        raise LimitError(f"{where}: the configuration has {expected} values, at most {limits.max_elements} are allowed")
    with archive.open(name) as stream:
        array = read_array(binary(stream), max_elements=limits.max_elements, where=where, expected=expected)
        rest = archive.entries[name].file_size - stream.tell()
        if rest > _TRAILING:
            raise LimitError(f"{where}: {rest} bytes follow the array")
        while stream.read(1 << 16):     # to the end: only there the checksum is compared
            pass
    if array.ndim != 1 and array.shape[:-1] != (1,):
        raise FileFormatError(f"{where}: expected a row vector, got an array of shape {list(array.shape)}")
    if not DataType.of(array).is_floating:
        raise FileFormatError(f"{where}: expected floating point numbers, got {DataType.of(array).name}")
    return array


def _row(array: NDArray[Any] | None) -> NDArray[Any] | None:
    return None if array is None else array.reshape(-1)


def _check_ratio(archive: SafeZip, name: str, limits: ModelLimits) -> None:
    entry = archive.entries[name]
    allowed = max(limits.ratio_free_bytes, limits.max_ratio * entry.compress_size)
    if name == UPDATER_STATE:       # fresh state is all zero: the parameters tell what is plausible
        allowed = max(allowed, 3 * archive.entries[COEFFICIENTS].file_size + 4096)
    if entry.file_size > allowed:
        raise LimitError(f"{archive.where}: entry {name} inflates from {entry.compress_size} to {entry.file_size} "
                         "bytes, out of all proportion; raise ModelLimits.max_ratio to read it nevertheless")


def _extra(archive: SafeZip, limits: ModelLimits) -> dict[str, bytes]:
    extra: dict[str, bytes] = {}
    room = limits.max_extra_bytes
    for name in archive.entries:
        if name in RESERVED:
            continue
        if not _is_plain(name):
            warnings.warn(f"{archive.where}: entry {name!r} is left out: its name leads out of the archive",
                          stacklevel=4)
            continue
        if name == PREPROCESSOR:
            warnings.warn(f"{archive.where}: {name} is a serialized Java object; it is kept, but not used",
                          stacklevel=4)
        extra[name] = archive.read(name, room)
        room -= len(extra[name])
    return extra


def _is_plain(name: str) -> bool:
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return ".." not in parts and not PurePosixPath(name).is_absolute() and not PureWindowsPath(name).anchor


def _write(stream: BinaryIO, model: ModelZip) -> None:
    for name in model.extra:
        if name.lower() in {r.lower() for r in RESERVED} or not _is_plain(name):
            raise FileFormatError(f"an additional entry cannot be named {name!r}; choose a relative name other than "
                                  f"{', '.join(RESERVED)}")
    with ZipWriter(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        _put(archive, CONFIGURATION, model.configuration.encode("utf-8"))
        if model.coefficients is not None and (model.coefficients.size or model.rank_one):
            _put(archive, COEFFICIENTS, model.coefficients, model.rank_one)
        else:
            _put(archive, COEFFICIENTS, b"")
            _put(archive, NO_PARAMETERS, b"")
        if model.updater_state is not None and model.updater_state.size:
            _put(archive, UPDATER_STATE, model.updater_state, model.rank_one)
        if model.normalizer is not None:
            _put(archive, NORMALIZER, model.normalizer)
        for name, data in model.extra.items():
            _put(archive, name, data)


def _put(archive: zipfile.ZipFile, name: str, content: bytes | NDArray[Any], rank_one: bool = False) -> None:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    size = len(content) if isinstance(content, bytes) else content.nbytes
    with archive.open(info, "w", force_zip64=size > 1 << 30) as stream:
        if isinstance(content, bytes):
            stream.write(content)
        else:
            write_array(cast(BinaryIO, stream), np.reshape(content, -1 if rank_one else (1, -1)))
