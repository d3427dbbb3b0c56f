"""Configuration objects of the ``cnn`` namespace."""
from __future__ import annotations

from dataclasses import InitVar
from enum import StrEnum
from typing import Any

from ...base.java_names import (
    Conv1DConfigNames,
    Conv2DConfigNames,
    Conv3DConfigNames,
    DeConv2DConfigNames,
    DeConv3DConfigNames,
    LocalResponseNormalizationConfigNames,
    Pooling2DConfigNames,
    Pooling3DConfigNames,
    Window2DNames,
    Window3DNames,
)
from ...configuration.configuration import Configuration
from ...configuration.declaring import Convertible, configuration, field, option
from .window_fields import Fields1D, Fields2D, Fields3D

_PACKAGE = "org.nd4j.linalg.api.ops.impl.layers.convolution.config."


class PaddingMode(StrEnum):
    """Modes of padding: by given sizes, to keep size / stride cells, or in front only."""

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
    """Kinds of pooling over a window."""

    MAX = "MAX"
    AVG = "AVG"
    PNORM = "PNORM"


Pooling3DType = Pooling2DType


class Divisor(StrEnum):
    """Whether averages include padding."""

    EXCLUDE_PADDING = "EXCLUDE_PADDING"
    INCLUDE_PADDING = "INCLUDE_PADDING"


def _same(values: dict[str, Any], same: bool) -> None:
    values["padding_mode"] = PaddingMode.SAME if same else PaddingMode.VALID


def _last(first: str, last: str, yes_is_last: bool) -> Any:
    def choose(values: dict[str, Any], yes: bool) -> None:
        values["data_format"] = last if yes == yes_is_last else first
    return choose


@configuration(_PACKAGE + "Conv1DConfig", kw_only=True)
class Conv1DConfig(Fields1D, Configuration, Conv1DConfigNames):
    """Options of a one-dimensional convolution.

    Parameters
    ----------
    weights_format : WeightsFormat or str, optional
        Order of the axes of the weights; by default YXIO: (k, in, out).
    is_same_mode : bool, optional
        Sets ``padding_mode`` to SAME or VALID.

    Examples
    --------
    >>> Conv1DConfig(k=3, padding_mode="SAME").k
    3
    """

    padding_mode: Convertible[PaddingMode] = PaddingMode.VALID
    weights_format: Convertible[WeightsFormat | None] = field(None, omit_none=True)
    is_same_mode: InitVar[bool | None] = option(_same)


@configuration
class Window2D(Fields2D, Configuration, Window2DNames):
    """Options of windows over height and width."""

    padding_mode: Convertible[PaddingMode] = PaddingMode.VALID
    is_same_mode: InitVar[bool | None] = option(_same)
    is_nhwc: InitVar[bool | None] = option(_last("NCHW", "NHWC", True))


@configuration
class Window3D(Fields3D, Configuration, Window3DNames):
    """Options of windows over depth, height and width."""

    padding_mode: Convertible[PaddingMode] = PaddingMode.VALID
    is_same_mode: InitVar[bool | None] = option(_same)
    is_ncdhw: InitVar[bool | None] = option(_last("NCDHW", "NDHWC", False))


@configuration(_PACKAGE + "Conv2DConfig", kw_only=True)
class Conv2DConfig(Window2D, Conv2DConfigNames):
    """Options of a two-dimensional convolution.

    Parameters
    ----------
    weights_format : WeightsFormat or str
        Order of the axes of the weights; by default YXIO: (height, width, in, out).

    Examples
    --------
    >>> Conv2DConfig.builder().kH(3).kW(3).paddingMode(PaddingMode.SAME).build()
    Conv2DConfig(k_h=3, k_w=3, padding_mode=PaddingMode.SAME)
    """

    weights_format: Convertible[WeightsFormat] = WeightsFormat.YXIO


@configuration(_PACKAGE + "DeConv2DConfig", kw_only=True)
class DeConv2DConfig(Window2D, DeConv2DConfigNames):
    """Options of a two-dimensional transposed convolution."""


@configuration(_PACKAGE + "Conv3DConfig", kw_only=True)
class Conv3DConfig(Window3D, Conv3DConfigNames):
    """Options of a three-dimensional convolution; the data format is NDHWC unless told otherwise.

    Parameters
    ----------
    bias_used : bool
        Stands in DL4J's files; there is a bias where one is given.
    """

    data_format: str = "NDHWC"
    bias_used: bool = False


@configuration(_PACKAGE + "DeConv3DConfig", kw_only=True)
class DeConv3DConfig(Window3D, DeConv3DConfigNames):
    """Options of a three-dimensional transposed convolution."""


@configuration(_PACKAGE + "Pooling2DConfig", kw_only=True)
class Pooling2DConfig(Window2D, Pooling2DConfigNames):
    """Options of two-dimensional pooling.

    Parameters
    ----------
    type : Pooling2DType or str
        ``MAX`` (default), ``AVG`` or ``PNORM``; methods such as ``sd.cnn.avg_pooling2d`` say it themselves.
    divisor : Divisor or str
        Whether a mean counts padding: ``EXCLUDE_PADDING`` (default) or ``INCLUDE_PADDING``.
    extra : float
        Exponent of ``PNORM``; for a mean 1 counts padding, as ``INCLUDE_PADDING`` does.
    """

    type: Convertible[Pooling2DType] = Pooling2DType.MAX
    divisor: Convertible[Divisor] = Divisor.EXCLUDE_PADDING
    extra: float = 0.0


@configuration(_PACKAGE + "Pooling3DConfig", kw_only=True)
class Pooling3DConfig(Window3D, Pooling3DConfigNames):
    """Options of three-dimensional pooling.

    Parameters
    ----------
    type : Pooling2DType or str
        ``MAX`` (default) or ``AVG``; methods such as ``sd.cnn.avg_pooling3d`` say it themselves.
    divisor : Divisor or str
        Whether a mean counts padding: ``EXCLUDE_PADDING`` (default) or ``INCLUDE_PADDING``.
    """

    type: Convertible[Pooling2DType] = Pooling2DType.MAX
    divisor: Convertible[Divisor] = Divisor.EXCLUDE_PADDING


@configuration(_PACKAGE + "LocalResponseNormalizationConfig", kw_only=True)
class LocalResponseNormalizationConfig(Configuration, LocalResponseNormalizationConfigNames):
    """Options of ``x / (bias + alpha * sum of squares over neighbouring channels) ** beta``.

    Parameters
    ----------
    alpha, beta, bias : float
        The constants; 1, 0.5 and 1 by default.
    depth : int
        Neighbours on each side; 5 by default.
    """

    alpha: float = 1.0
    beta: float = 0.5
    bias: float = 1.0
    depth: int = 5


__all__ = ["Conv1DConfig", "Conv2DConfig", "Conv3DConfig", "DataFormat", "DeConv2DConfig", "DeConv3DConfig", "Divisor",
           "LocalResponseNormalizationConfig", "PaddingMode", "Pooling2DConfig", "Pooling2DType", "Pooling3DConfig", "Pooling3DType",
           "WeightsFormat"]
