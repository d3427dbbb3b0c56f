"""Normalizers as DL4J stores them (``NormalizerSerializer``, the entry ``normalizer.bin`` of a model file).

A file is the text NORMALIZER, the version 1, a type name and what that type writes: flags, ranges and statistics.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import cache
from io import BytesIO
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from ..codecs.atomic_files import atomic_write
from ..codecs.data_stream import DataInput, DataOutput
from ..codecs.regular_files import as_stream, open_regular
from ..data.normalizers import image_scalers, multi_normalizers, normalizers
from ..data.normalizers.image_scalers import ImagePreProcessingScaler
from ..data.normalizers.normalizers import NormalizerMinMaxScaler, NormalizerStandardize
from ..errors import ConfigurationError, MissingOpError, UnsupportedVersionError, did_you_mean
from .java_normalizers import read_java_normalizer
from .multi_normalizers import (
    read_hybrid,
    read_multi_min_max,
    read_multi_standardize,
    read_stats,
    write_hybrid,
    write_multi,
    write_stats,
)

if TYPE_CHECKING:
    from ..data.normalizers.image_scalers import ImagePreProcessingScaler
    from ..data.normalizers.normalizers import FittedNormalizer

_HEADER, _VERSION = "NORMALIZER", 1
_JAVA_OBJECT = b"\xac\xed"      # how Java's own serialization begins


def write_normalizer(stream: BinaryIO, normalizer: Any) -> None:
    """Write a fitted normalizer; ``read_normalizer`` and DL4J read it.

    Parameters
    ----------
    stream : binary stream
        Where to write to; nothing is written when something fails.
    normalizer : normalizer
        A fitted one, or an ImagePreProcessingScaler.

    Raises
    ------
    ConfigurationError
        The normalizer has no statistics yet, or is of a class that this format does not know.
    """
    kind = next((k for k, codec in _codecs().items() if type(normalizer) is codec.kind), None)
    if kind is None:
        known = ", ".join(codec.kind.__name__ for codec in _codecs().values())
        raise ConfigurationError(f"{type(normalizer).__name__} cannot be stored as a normalizer; these can: {known}")
    if hasattr(type(normalizer), "is_fit") and not normalizer.is_fit():
        raise ConfigurationError(f"{type(normalizer).__name__} has no statistics to store: call fit() first")
    body = BytesIO()            # nothing is written when something fails
    out = DataOutput(body)
    out.write_utf(_HEADER)
    out.write_int(_VERSION)
    out.write_utf(kind)
    _codecs()[kind].write(out, normalizer)
    stream.write(body.getvalue())


def read_normalizer(stream: BinaryIO, where: str = "") -> Any:
    """Read a normalizer that ``write_normalizer`` or DL4J wrote.

    Parameters
    ----------
    stream : binary stream
        Read from where it stands.
    where : str
        Names the source in error texts.

    Raises
    ------
    TruncatedFileError
        The data end early.
    UnsupportedVersionError
        A serialized Java object of another class than the normalizers', or a later version of the format.
    MissingOpError
        A custom or unknown type of normalizer.
    FileFormatError
        Anything else that is not a normalizer.
    """
    source = DataInput(stream, where)
    start = bytes(source.read_exact(2, "the header"))
    if start == _JAVA_OBJECT:
        return read_java_normalizer(source)
    if start != len(_HEADER).to_bytes(2, "big") or source.read_exact(len(_HEADER), "the header") != _HEADER.encode():
        raise source.error(f"not a normalizer: it does not begin with {_HEADER}")
    version = source.read_int("the version")
    if version != _VERSION:
        raise UnsupportedVersionError(f"{source.where}: normalizer format {version}; expected {_VERSION}")
    kind = source.read_utf("the type", limit=1024)
    if kind == "CUSTOM":
        raise MissingOpError(f"{source.where}: a custom normalizer of the Java class "
                             f"{source.read_utf('the class', limit=1024)}, which does not exist here")
    codec = _codecs().get(kind)
    if codec is None:
        raise MissingOpError(f"{source.where}: unknown type of normalizer {kind!r}{did_you_mean(kind, _codecs())}")
    try:
        return codec.read(source)
    except ConfigurationError as e:
        raise source.error(f"the stored values make no {codec.kind.__name__}: {e}") from None


class NormalizerSerializer:
    """DL4J's way to normalizer files.

    Examples
    --------
    >>> import io
    >>> from dl4py.samediff.data import NormalizerStandardize
    >>> stream = io.BytesIO()
    >>> NormalizerSerializer.get_default().write(NormalizerStandardize([1.0], [2.0]), stream)
    >>> stream.seek(0)
    0
    >>> NormalizerSerializer.get_default().restore(stream).get_std().tolist()
    [[2.0]]
    """

    @classmethod
    def get_default(cls) -> NormalizerSerializer:
        """Return a serializer of all types."""
        return cls()

    getDefault = get_default

    def write(self, normalizer: Any, target: str | PathLike[str] | BinaryIO) -> None:
        """Write a normalizer to a path (replaced when all is written) or a binary stream."""
        if isinstance(target, (str, PathLike)):
            with atomic_write(target) as stream:
                write_normalizer(stream, normalizer)
        else:
            write_normalizer(as_stream(target, "write"), normalizer)

    def restore(self, source: str | PathLike[str] | BinaryIO) -> Any:
        """Read the normalizer of a path or a binary stream."""
        if isinstance(source, (str, PathLike)):
            with open_regular(source) as stream:
                return read_normalizer(stream, fspath(source))
        return read_normalizer(as_stream(source))


class _Codec(NamedTuple):
    kind: type
    write: Callable[[DataOutput, Any], None]
    read: Callable[[DataInput], Any]


@cache
def _codecs() -> dict[str, _Codec]:
    """The types by name; made late, because data sets read and write files too."""
    return {
        "STANDARDIZE": _Codec(normalizers.NormalizerStandardize, _write_single, _read_standardize),
        "MIN_MAX": _Codec(normalizers.NormalizerMinMaxScaler, _write_min_max, _read_min_max),
        "IMAGE_MIN_MAX": _Codec(image_scalers.ImagePreProcessingScaler, _write_image, _read_image),
        "MULTI_STANDARDIZE": _Codec(multi_normalizers.MultiNormalizerStandardize, write_multi, read_multi_standardize),
        "MULTI_MIN_MAX": _Codec(multi_normalizers.MultiNormalizerMinMaxScaler, write_multi, read_multi_min_max),
        "MULTI_HYBRID": _Codec(multi_normalizers.MultiNormalizerHybrid, write_hybrid, read_hybrid),
    }


def _write_single(out: DataOutput, normalizer: FittedNormalizer, targets: tuple[float, ...] = ()) -> None:
    out.write_boolean(normalizer.is_fit_label())
    for target in targets:
        out.write_double(target)
    for stats in (normalizer.feature_stats, normalizer.label_stats if normalizer.is_fit_label() else None):
        if stats is not None:
            write_stats(out, stats)


def _write_min_max(out: DataOutput, normalizer: FittedNormalizer) -> None:
    _write_single(out, normalizer, (normalizer.target_min, normalizer.target_max))


def _read_standardize(source: DataInput) -> Any:
    return _fill(source, NormalizerStandardize(), source.read_boolean("fitLabels"))


def _read_min_max(source: DataInput) -> Any:
    labels = source.read_boolean("fitLabels")
    return _fill(source, NormalizerMinMaxScaler(*(source.read_double("the range") for _ in range(2))), labels)


def _fill(source: DataInput, normalizer: FittedNormalizer, labels: bool) -> FittedNormalizer:
    normalizer.fit_label(labels)
    normalizer.set_feature_stats(*read_stats(source))
    if labels:
        normalizer.set_label_stats(*read_stats(source))
    return normalizer


def _write_image(out: DataOutput, scaler: ImagePreProcessingScaler) -> None:
    for value in (scaler.min_range, scaler.max_range, scaler.max_pixel_val):
        out.write_double(value)


def _read_image(source: DataInput) -> Any:
    low, high, largest = (source.read_double("the range") for _ in range(3))
    bits = int(largest + 1).bit_length() - 1 if 1 <= largest < 2**53 else 0
    if 2**bits - 1 != largest or bits < 1:
        raise source.error(f"a largest pixel value of {largest}; expected 2^bits - 1")
    return ImagePreProcessingScaler(low, high, bits)
