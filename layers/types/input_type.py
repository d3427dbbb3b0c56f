"""Input types: what a layer gets, without the batch dimension."""
from __future__ import annotations

import math
from typing import Any, ClassVar

from ...samediff.base.java.java_enum import JavaEnum
from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.declaring import Convertible, configuration, field
from ...samediff.errors import ConfigurationError
from .formats import CNN2DFormat, CNN3DFormat, RNNFormat
from .java_names import (
    InputTypeConvolutional3DNames,
    InputTypeConvolutionalFlatNames,
    InputTypeConvolutionalNames,
    InputTypeFeedForwardNames,
    InputTypeNames,
    InputTypeRecurrentNames,
)

__all__ = [
    "InputType", "InputTypeConvolutional", "InputTypeConvolutional3D", "InputTypeConvolutionalFlat", "InputTypeFeedForward",
    "InputTypeRecurrent", "set_default_cnn2d_format",
]

_PACKAGE = "org.deeplearning4j.nn.conf.inputs.InputType$"


class Kind(JavaEnum):
    """Kinds of input types: ``InputType.Type``."""

    FF = "FF"
    RNN = "RNN"
    CNN = "CNN"
    CNNFlat = "CNNFlat"
    CNN3D = "CNN3D"


@configuration
class InputType(Configuration, InputTypeNames):
    """Kind and size of activations; made by the factories.

    Shapes: feed_forward (batch, size); recurrent (batch, size, time) or (batch, time, size) for NWC; convolutional
    (batch, channels, height, width) or (batch, height, width, channels) for NHWC; convolutional_flat
    (batch, channels * height * width); convolutional3d (batch, depth, height, width, channels), or channels first
    for NCDHW.
    Unknown lengths are -1.

    Examples
    --------
    >>> InputType.convolutional(28, 28, 1).array_shape()
    (-1, 1, 28, 28)
    """

    kind: ClassVar[str] = ""
    default_cnn2d_format: ClassVar[CNN2DFormat] = CNN2DFormat.NCHW
    Type: ClassVar[type[Kind]] = Kind

    @staticmethod
    def feed_forward(size: int, time_distributed_format: RNNFormat | None = None) -> InputTypeFeedForward:
        """Rows of ``size`` features."""
        return InputTypeFeedForward(size, time_distributed_format)

    @staticmethod
    def recurrent(size: int, *rest: Any, **options: Any) -> InputTypeRecurrent:
        """Time series: ``recurrent(size[, length][, RNNFormat])``."""
        for value in rest:
            options["format" if isinstance(value, (RNNFormat, str)) else "time_series_length"] = value
        return InputTypeRecurrent(size, **options)

    @staticmethod
    def convolutional(height: int, width: int, channels: int,
                      format: CNN2DFormat | str | None = None) -> InputTypeConvolutional:
        """Images of ``channels`` planes."""
        form: Any = format or InputType.default_cnn2d_format
        return InputTypeConvolutional(height, width, channels, form)

    @staticmethod
    def convolutional_flat(height: int, width: int, depth: int) -> InputTypeConvolutionalFlat:
        """Images flattened to rows in (channels, height, width) order."""
        return InputTypeConvolutionalFlat(height, width, depth)

    @staticmethod
    def convolutional3d(*arguments: Any) -> InputTypeConvolutional3D:
        """Volumes: ``convolutional3d([format, ]depth, height, width, channels)``; NDHWC unless a format is given."""
        form = CNN3DFormat.NDHWC
        if len(arguments) == 5:
            form, *arguments = arguments  # type: ignore[assignment]
        if len(arguments) != 4:
            raise ConfigurationError(f"convolutional3d takes [format, ]depth, height, width, channels; got {arguments}")
        return InputTypeConvolutional3D(form, *arguments)

    convolutional3_d = convolutional3D = convolutional3d
    feedForward = feed_forward
    convolutionalFlat = convolutional_flat

    @classmethod
    def infer(cls, array: Any) -> InputType:
        """Return the type of an activations array of rank 2 to 5 (DL4J's ``inferInputType``)."""
        shape = tuple(int(n) for n in array.shape)
        if len(shape) == 2:
            return cls.feed_forward(shape[1])
        if len(shape) == 3:
            return cls.recurrent(shape[1], shape[2])
        if len(shape) == 4:
            return cls.convolutional(shape[2], shape[3], shape[1], CNN2DFormat.NCHW)
        if len(shape) == 5:
            return cls.convolutional3d(CNN3DFormat.NCDHW, shape[2], shape[3], shape[4], shape[1])
        raise ConfigurationError(f"arrays of rank 2 to 5 have an input type; got shape {shape}")

    infer_input_type = infer

    @classmethod
    def infer_input_types(cls, *arrays: Any) -> list[InputType]:
        """Return the types of activations arrays."""
        return [cls.infer(array) for array in arrays]

    def get_type(self) -> Kind:
        """Return the kind, such as ``InputType.Type.CNN``."""
        return Kind[self.kind]

    def array_shape(self) -> tuple[int, ...]:
        """Shape of the activations, batch -1."""
        raise NotImplementedError

    def array_elements_per_example(self) -> int:
        """Number of values per example; unknown lengths raise."""
        shape = self.array_shape()[1:]
        if min(shape) < 0:
            raise ConfigurationError(f"{self} has an unknown length")
        return math.prod(shape)

    def _positive(self, *names: str) -> None:
        for name in names:
            if getattr(self, name) <= 0:
                raise ConfigurationError(f"{type(self).__name__}.{name} must be positive; got {getattr(self, name)}")

    def __str__(self) -> str:
        return repr(self)


@configuration(_PACKAGE + "InputTypeFeedForward")
class InputTypeFeedForward(InputType, InputTypeFeedForwardNames):
    """Rows of features, (batch, size).

    Parameters
    ----------
    size : int
        Number of features.
    time_distributed_format : RNNFormat, optional
        Order of the axes of the series whose steps these rows are.
    """

    kind: ClassVar[str] = "FF"
    size: int
    time_distributed_format: Convertible[RNNFormat | None] = None

    def array_shape(self) -> tuple[int, ...]:
        return (-1, self.size)


@configuration(_PACKAGE + "InputTypeRecurrent")
class InputTypeRecurrent(InputType, InputTypeRecurrentNames):
    """Time series, (batch, size, time) or (batch, time, size).

    Parameters
    ----------
    size : int
        Number of features of a step.
    time_series_length : int
        Number of steps; -1 (default) where it is not known.
    format : RNNFormat or str
        NCW (default): (batch, size, steps); NWC: (batch, steps, size).
    pooled : bool
        Whether the arrays are rows (batch, size) all the same: those of a GlobalPoolingLayer, whose type stays a series as in DL4J.
    """

    kind: ClassVar[str] = "RNN"
    size: int
    time_series_length: int = -1
    format: Convertible[RNNFormat] = RNNFormat.NCW
    pooled: bool = field(default=False, saved=False)

    def validate(self) -> None:
        self._positive("size")

    def array_shape(self) -> tuple[int, ...]:
        sizes = (self.size, self.time_series_length)
        return (-1, *(sizes if self.format is RNNFormat.NCW else sizes[::-1]))


@configuration(_PACKAGE + "InputTypeConvolutional")
class InputTypeConvolutional(InputType, InputTypeConvolutionalNames):
    """Images.

    Parameters
    ----------
    height, width, channels : int
        Sizes of an image, at least 1.
    format : CNN2DFormat or str
        NCHW (default): (batch, channels, height, width); NHWC: (batch, height, width, channels).
    """

    kind: ClassVar[str] = "CNN"
    height: int
    width: int
    channels: int = field(aliases=("depth",))
    format: Convertible[CNN2DFormat] = CNN2DFormat.NCHW

    def validate(self) -> None:
        self._positive("height", "width", "channels")

    def array_shape(self) -> tuple[int, ...]:
        if self.format is CNN2DFormat.NCHW:
            return (-1, self.channels, self.height, self.width)
        return (-1, self.height, self.width, self.channels)


@configuration(_PACKAGE + "InputTypeConvolutionalFlat")
class InputTypeConvolutionalFlat(InputType, InputTypeConvolutionalFlatNames):
    """Images as rows in (channels, height, width) order.

    Parameters
    ----------
    height, width : int
        Size of an image, at least 1.
    depth : int
        Number of channels.
    """

    kind: ClassVar[str] = "CNNFlat"
    height: int
    width: int
    depth: int = field(aliases=("channels",))

    def validate(self) -> None:
        self._positive("height", "width", "depth")

    @property
    def flattened_size(self) -> int:
        """Number of values of a row."""
        return self.height * self.width * self.depth

    def unflattened_type(self) -> InputTypeConvolutional:
        """The image that the row holds."""
        return InputTypeConvolutional(self.height, self.width, self.depth, CNN2DFormat.NCHW)

    def array_shape(self) -> tuple[int, ...]:
        return (-1, self.flattened_size)


@configuration(_PACKAGE + "InputTypeConvolutional3D")
class InputTypeConvolutional3D(InputType, InputTypeConvolutional3DNames):
    """Volumes.

    Parameters
    ----------
    data_format : Convolution3D.DataFormat or str
        NCDHW or NDHWC: where the channels stand.
    depth, height, width, channels : int
        Sizes of a volume, at least 1.
    """

    kind: ClassVar[str] = "CNN3D"
    data_format: Convertible[CNN3DFormat] = field(aliases=("format",))
    depth: int
    height: int
    width: int
    channels: int

    def validate(self) -> None:
        self._positive("depth", "height", "width", "channels")

    def array_shape(self) -> tuple[int, ...]:
        volume = (self.depth, self.height, self.width)
        return (-1, self.channels, *volume) if self.data_format is CNN3DFormat.NCDHW else (-1, *volume, self.channels)


for _one in (InputTypeFeedForward, InputTypeRecurrent, InputTypeConvolutional, InputTypeConvolutionalFlat, InputTypeConvolutional3D):
    setattr(InputType, _one.__name__, _one)         # DL4J's place of them


def set_default_cnn2d_format(format: CNN2DFormat | str) -> None:
    """Set the format of :meth:`InputType.convolutional` for the whole process.

    Parameters
    ----------
    format : CNN2DFormat or str
        NCHW or NHWC.
    """
    InputType.default_cnn2d_format = CNN2DFormat(format)
