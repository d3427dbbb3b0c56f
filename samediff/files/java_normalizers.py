"""Normalizers that Java serialized as objects: ``normalizer.bin`` before 0.8.0, ``preprocessor.bin``."""
from __future__ import annotations

import math
from io import BytesIO
from typing import Any

import numpy as np

from ..codecs.data_stream import DataInput
from ..codecs.java_stream import JavaObject, JavaStream
from ..codecs.nd4j_array import read_buffer
from ..data.normalizers.image_scalers import ImagePreProcessingScaler, VGG16ImagePreProcessor
from ..data.normalizers.normalizers import NormalizerMinMaxScaler, NormalizerStandardize
from ..errors import ConfigurationError, FileFormatError, UnsupportedVersionError

_PACKAGE = "org.nd4j.linalg.dataset.api.preprocessor."
_ARRAYS = ("org.nd4j.linalg.api.ndarray.BaseNDArrayProxy",)
_CLASSES = {_PACKAGE + name for name in (
    "NormalizerStandardize", "NormalizerMinMaxScaler", "ImagePreProcessingScaler", "VGG16ImagePreProcessor", "AbstractDataSetNormalizer",
    "AbstractNormalizer", "StandardizeStrategy", "MinMaxStrategy", "stats.DistributionStats", "stats.MinMaxStats")}
_MOST_ELEMENTS = 1 << 20


def read_java_normalizer(source: DataInput) -> Any:
    """The normalizer behind the two bytes ``AC ED``.

    Raises
    ------
    UnsupportedVersionError
        An object of another class; it is never deserialized.
    FileFormatError
        A damaged one; TruncatedFileError and LimitError are kinds of it.
    """
    if source.read_exact(2, "the version of the stream") != b"\x00\x05":
        raise source.error("an unknown version of Java's serialization")
    found = JavaStream(source, {*_CLASSES, *_ARRAYS}).read()
    name = found.name.removeprefix(_PACKAGE) if isinstance(found, JavaObject) else type(found).__name__
    make = {"NormalizerStandardize": _standardize, "NormalizerMinMaxScaler": _min_max, "ImagePreProcessingScaler": _image,
            "VGG16ImagePreProcessor": _vgg16}.get(name)
    if make is None:
        raise UnsupportedVersionError(f"{source.where}: a serialized Java object of {name}, which is no normalizer that is read")
    try:
        return make(found.fields, source)
    except (KeyError, AttributeError, TypeError, ValueError, ConfigurationError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise source.error(f"the serialized {name} lacks or misstates {error}") from None


def _standardize(fields: dict[str, Any], source: DataInput) -> Any:
    return _filled(NormalizerStandardize(), fields, ("mean", "std"), source)


def _min_max(fields: dict[str, Any], source: DataInput) -> Any:
    strategy = fields["strategy"].fields
    return _filled(NormalizerMinMaxScaler(strategy["minRange"], strategy["maxRange"]), fields, ("lower", "upper"), source)


def _filled(normalizer: Any, fields: dict[str, Any], names: tuple[str, str], source: DataInput) -> Any:
    normalizer.fit_label(bool(fields["fitLabels"]))
    normalizer.set_feature_stats(*(_array(fields["featureStats"].fields[n], source) for n in names))
    if normalizer.is_fit_label():
        normalizer.set_label_stats(*(_array(fields["labelStats"].fields[n], source) for n in names))
    return normalizer


def _image(fields: dict[str, Any], source: DataInput) -> Any:
    return ImagePreProcessingScaler(fields["minRange"], fields["maxRange"], fields["maxBits"] or 8)


def _vgg16(fields: dict[str, Any], source: DataInput) -> Any:
    return VGG16ImagePreProcessor()


def _array(value: JavaObject, source: DataInput) -> Any:
    shape = [int(n) for n in value.fields["arrayShape"]]
    count = math.prod(shape)
    if value.name not in _ARRAYS or min(shape, default=1) < 1 or count > _MOST_ELEMENTS:
        raise source.error(f"a serialized array of shape {shape}")
    flat = read_buffer(DataInput(BytesIO(value.blocks), f"{source.where} (a serialized array)"), count)
    return np.asarray(flat).reshape(shape, order="F" if value.fields["arrayOrdering"] == "f" else "C")
