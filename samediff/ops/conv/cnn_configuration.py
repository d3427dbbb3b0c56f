"""Configuration objects of the ``cnn`` namespace."""
from __future__ import annotations

from dataclasses import InitVar
from enum import StrEnum
from typing import Any

from ...configuration.configuration import Configuration, configuration, field, option
from .window_fields import Fields1D, Fields2D, Fields3D

_PACKAGE = "org.nd4j.linalg.api.ops.impl.layers.convolution.config."


class PaddingMode(StrEnum):
    """How images are padded: by given sizes, to keep size / stride cells, or in front only."""

    VALID = "VALID"
    SAME = "SAME"
    CAUSAL = "CAUSAL"


class WeightsFormat(StrEnum):
    """Order of the axes of convolution weights: kernel (YX), input (I) and output (O) channels."""

    YXIO = "YXIO"
    OIYX = "OIYX"
    OYXI = "OYXI"


class DataFormat(StrEnum):
    """Order of the axes of images."""

    NCHW = "NCHW"
    NHWC = "NHWC"


class Pooling2DType(StrEnum):
    """What becomes of the values of a window."""

    MAX = "MAX"
    AVG = "AVG"
    PNORM = "PNORM"


Pooling3DType = Pooling2DType


class Divisor(StrEnum):
    """Whether an average counts padding."""

    EXCLUDE_PADDING = "EXCLUDE_PADDING"
    INCLUDE_PADDING = "INCLUDE_PADDING"


def _same(values: dict[str, Any], same: bool) -> None:
    values["padding_mode"] = PaddingMode.SAME if same else PaddingMode.VALID


def _last(first: str, last: str, yes_is_last: bool) -> Any:
    def choose(values: dict[str, Any], yes: bool) -> None:
        values["data_format"] = last if yes == yes_is_last else first
    return choose


@configuration(_PACKAGE + "Conv1DConfig", kw_only=True)
class Conv1DConfig(Fields1D, Configuration):
    """One-dimensional convolution: kernel k (-1: from the weights), stride s, padding p, dilation d.

    Examples
    --------
    >>> Conv1DConfig(k=3, padding_mode="SAME").k
    3
    """

    padding_mode: PaddingMode = PaddingMode.VALID
    weights_format: WeightsFormat | None = field(None, omit_none=True)
    is_same_mode: InitVar[bool | None] = option(_same)


@configuration
class Window2D(Fields2D, Configuration):
    """Windows over height and width."""

    padding_mode: PaddingMode = PaddingMode.VALID
    is_same_mode: InitVar[bool | None] = option(_same)
    is_nhwc: InitVar[bool | None] = option(_last("NCHW", "NHWC", True))


@configuration
class Window3D(Fields3D, Configuration):
    """Windows over depth, height and width."""

    padding_mode: PaddingMode = PaddingMode.VALID
    is_same_mode: InitVar[bool | None] = option(_same)
    is_ncdhw: InitVar[bool | None] = option(_last("NCDHW", "NDHWC", False))


@configuration(_PACKAGE + "Conv2DConfig", kw_only=True)
class Conv2DConfig(Window2D):
    """Two-dimensional convolution; kernel sizes of -1 are taken from the weights.

    Examples
    --------
    >>> Conv2DConfig.builder().kH(3).kW(3).paddingMode(PaddingMode.SAME).build()
    Conv2DConfig(k_h=3, k_w=3, padding_mode=PaddingMode.SAME)
    """

    weights_format: WeightsFormat = WeightsFormat.YXIO


@configuration(_PACKAGE + "DeConv2DConfig", kw_only=True)
class DeConv2DConfig(Window2D):
    """Two-dimensional transposed convolution."""


@configuration(_PACKAGE + "Conv3DConfig", kw_only=True)
class Conv3DConfig(Window3D):
    """Three-dimensional convolution; the data format is NDHWC unless told otherwise."""

    data_format: str = "NDHWC"
    bias_used: bool = False


@configuration(_PACKAGE + "DeConv3DConfig", kw_only=True)
class DeConv3DConfig(Window3D):
    """Three-dimensional transposed convolution."""


@configuration(_PACKAGE + "Pooling2DConfig", kw_only=True)
class Pooling2DConfig(Window2D):
    """Two-dimensional pooling; ``extra`` is p of PNORM, and 1 for AVG counts padding as ``divisor`` does."""

    type: Pooling2DType = Pooling2DType.MAX
    divisor: Divisor = Divisor.EXCLUDE_PADDING
    extra: float = 0.0


@configuration(_PACKAGE + "Pooling3DConfig", kw_only=True)
class Pooling3DConfig(Window3D):
    """Three-dimensional pooling."""

    type: Pooling2DType = Pooling2DType.MAX
    divisor: Divisor = Divisor.EXCLUDE_PADDING


@configuration(_PACKAGE + "LocalResponseNormalizationConfig", kw_only=True)
class LocalResponseNormalizationConfig(Configuration):
    """x / (bias + alpha * sum of squares over ``depth`` neighbours on each side) ** beta."""

    alpha: float = 1.0
    beta: float = 0.5
    bias: float = 1.0
    depth: int = 5


__all__ = ["Conv1DConfig", "Conv2DConfig", "Conv3DConfig", "DataFormat", "DeConv2DConfig", "DeConv3DConfig", "Divisor",
           "LocalResponseNormalizationConfig", "PaddingMode", "Pooling2DConfig", "Pooling2DType", "Pooling3DConfig", "Pooling3DType",
           "WeightsFormat"]
