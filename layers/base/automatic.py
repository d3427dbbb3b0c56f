"""The preprocessors that go in front of a layer by themselves, by layer family and input type."""
from __future__ import annotations

from ...samediff.errors import ConfigurationError
from ..preprocessors import (
    Cnn3DToFeedForwardPreProcessor,
    CnnToFeedForwardPreProcessor,
    CnnToRnnPreProcessor,
    FeedForwardToCnnPreProcessor,
    FeedForwardToRnnPreProcessor,
    InputPreProcessor,
    RnnToFeedForwardPreProcessor,
)
from ..types.formats import CNN2DFormat, CNN3DFormat, RNNFormat
from ..types.input_type import (
    InputType,
    InputTypeConvolutional,
    InputTypeConvolutional3D,
    InputTypeConvolutionalFlat,
    InputTypeFeedForward,
    InputTypeRecurrent,
)


def refuse(owner: str, input_type: InputType, expected: str) -> ConfigurationError:
    """The error of an input type that a layer cannot take."""
    return ConfigurationError(f"{owner} expects {expected} input; got {input_type!r}")


def refuse_channels_last(owner: str, *input_types: InputType) -> None:
    """ConfigurationError for series and images with their channels last, for what reads them as (batch, channels, …) and nothing else."""
    for t in input_types:
        form = getattr(t, "format", None)
        if form in (RNNFormat.NWC, CNN2DFormat.NHWC):
            wanted = RNNFormat.NCW if form is RNNFormat.NWC else CNN2DFormat.NCHW
            raise ConfigurationError(f"{owner} reads its input as {wanted.name}; got {t!r}. Let what is in front give {wanted.name}, or "
                                     "put a preprocessor between them that permutes the axes")


def none_needed(owner: str, t: InputType, form: RNNFormat | None = None) -> InputPreProcessor | None:
    """Layers that take every input as it is."""
    return None


def to_feed_forward(owner: str, t: InputType, form: RNNFormat | None = None) -> InputPreProcessor | None:
    """The preprocessor for layers that take rows; None if none is needed."""
    if isinstance(t, InputTypeRecurrent):
        return RnnToFeedForwardPreProcessor(t.format)
    return flattened(owner, t)


def flattened(owner: str, t: InputType, form: RNNFormat | None = None) -> InputPreProcessor | None:
    """Layers that take rows or time series: only images and volumes are flattened."""
    if isinstance(t, InputTypeConvolutional):
        return CnnToFeedForwardPreProcessor(t.height, t.width, t.channels, t.format)
    if isinstance(t, InputTypeConvolutional3D):
        first = t.data_format is CNN3DFormat.NCDHW
        return Cnn3DToFeedForwardPreProcessor(t.depth, t.height, t.width, t.channels, first)
    return None


def to_recurrent(owner: str, t: InputType, form: RNNFormat | None = None) -> InputPreProcessor | None:
    """The preprocessor for layers that take time series; None if none is needed."""
    form = form or RNNFormat.NCW
    if isinstance(t, InputTypeFeedForward):
        return FeedForwardToRnnPreProcessor(t.time_distributed_format or form)
    if isinstance(t, InputTypeConvolutionalFlat):
        return FeedForwardToRnnPreProcessor(form)
    if isinstance(t, InputTypeConvolutional):
        return CnnToRnnPreProcessor(t.height, t.width, t.channels, form)
    if isinstance(t, InputTypeRecurrent):
        return None
    raise refuse(owner, t, "recurrent, feed forward or convolutional")


def to_images(owner: str, t: InputType, form: RNNFormat | None = None) -> InputPreProcessor | None:
    """The preprocessor for layers that take images; None if none is needed."""
    if isinstance(t, InputTypeConvolutional3D):
        raise refuse(owner, t, "two-dimensional convolutional")
    return unflattened(owner, t)


def unflattened(owner: str, t: InputType, form: RNNFormat | None = None) -> InputPreProcessor | None:
    """Layers that take anything but flattened images."""
    if isinstance(t, InputTypeConvolutionalFlat):
        return FeedForwardToCnnPreProcessor(t.height, t.width, t.depth)
    return None


def to_volumes(owner: str, t: InputType, form: RNNFormat | None = None) -> InputPreProcessor | None:
    """The preprocessor for layers that take volumes: None, or an error for images."""
    if isinstance(t, (InputTypeConvolutional, InputTypeConvolutionalFlat)):
        raise refuse(owner, t, "three-dimensional convolutional")
    return None


def to_pool(owner: str, t: InputType, form: RNNFormat | None = None) -> InputPreProcessor | None:
    """Global pooling: rows become time series, flattened images become images."""
    if isinstance(t, InputTypeFeedForward):
        return FeedForwardToRnnPreProcessor(t.time_distributed_format or form or RNNFormat.NCW)
    return unflattened(owner, t)


def only_images(owner: str, t: InputType, form: RNNFormat | None = None) -> InputPreProcessor | None:
    """The preprocessor for layers that take images alone; an error for rows and time series."""
    if isinstance(t, (InputTypeFeedForward, InputTypeRecurrent)):
        raise refuse(owner, t, "convolutional")
    return unflattened(owner, t)
