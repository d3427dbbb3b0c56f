"""Vertices that make one activation of several."""
from __future__ import annotations

from enum import Enum
from typing import ClassVar

from ...samediff.configuration import field
from ...samediff.errors import ConfigurationError
from ..formats import CNN2DFormat, RNNFormat
from ..input_type import (
    InputType,
    InputTypeConvolutional,
    InputTypeConvolutional3D,
    InputTypeConvolutionalFlat,
    InputTypeFeedForward,
    InputTypeRecurrent,
)
from .base import GraphVertex, same_kind, vertex


@vertex("MergeVertex")
class MergeVertex(GraphVertex):
    """Joins its inputs along the feature or channel axis.

    Examples
    --------
    >>> MergeVertex().output_type(InputType.feed_forward(3), InputType.feed_forward(4))
    InputTypeFeedForward(size=7)
    """

    max_inputs: ClassVar[int | None] = None
    merge_axis: int = 1
    modified: bool = False

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        first = same_kind(self, input_types)
        if len(input_types) == 1:
            return first
        if isinstance(first, InputTypeFeedForward):
            return InputType.feed_forward(sum(_size(t) for t in input_types), first.time_distributed_format)
        if isinstance(first, InputTypeConvolutionalFlat):
            return InputType.feed_forward(sum(t.array_elements_per_example() for t in input_types))
        if isinstance(first, InputTypeRecurrent):
            return InputType.recurrent(sum(_size(t) for t in input_types), first.time_series_length, first.format)
        if isinstance(first, InputTypeConvolutional):
            images = [t for t in input_types if isinstance(t, InputTypeConvolutional)]
            if len({(t.height, t.width) for t in images}) > 1:
                raise ConfigurationError(f"MergeVertex needs images of one size; got {', '.join(map(repr, images))}")
            return InputType.convolutional(first.height, first.width, sum(t.channels for t in images), first.format)
        volumes = [t for t in input_types if isinstance(t, InputTypeConvolutional3D)]
        if len({(t.depth, t.height, t.width) for t in volumes}) > 1:
            raise ConfigurationError(f"MergeVertex needs volumes of one size; got {', '.join(map(repr, volumes))}")
        one = volumes[0]
        return InputType.convolutional3d(one.depth, one.height, one.width, sum(t.channels for t in volumes))

    def with_input_types(self, *input_types: InputType) -> GraphVertex:
        first = input_types[0]
        last = isinstance(first, InputTypeConvolutional) and first.format is CNN2DFormat.NHWC
        axis = 3 if last else 2 if isinstance(first, InputTypeRecurrent) and first.format is RNNFormat.NWC else 1
        return self.replace(merge_axis=axis) if not self.modified else self


def _size(t: InputType) -> int:
    return int(getattr(t, "size", 0))


class ElementWiseOp(Enum):
    """What an :class:`ElementWiseVertex` computes."""

    Add = "Add"
    Subtract = "Subtract"
    Product = "Product"
    Average = "Average"
    Max = "Max"


@vertex("ElementWiseVertex")
class ElementWiseVertex(GraphVertex):
    """Sum, difference, product, mean or maximum of its inputs, value by value; ``ElementWiseVertex("Add")``."""

    Op: ClassVar[type[ElementWiseOp]] = ElementWiseOp
    max_inputs: ClassVar[int | None] = None
    op: ElementWiseOp

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        if self.op is ElementWiseOp.Subtract and len(input_types) != 2:
            raise ConfigurationError(f"ElementWiseVertex Subtract takes 2 inputs; got {len(input_types)}")
        first = same_kind(self, input_types)
        if isinstance(first, InputTypeFeedForward):
            return max(input_types, key=_size)
        if isinstance(first, InputTypeRecurrent):
            series = [t for t in input_types if isinstance(t, InputTypeRecurrent)]
            return max(series, key=lambda t: (t.time_series_length, t.size))
        return first


@vertex("L2Vertex")
class L2Vertex(GraphVertex):
    """Euclidean distance of two inputs, (batch, 1); ``eps`` guards the gradient."""

    min_inputs: ClassVar[int] = 2
    max_inputs: ClassVar[int | None] = 2
    eps: float = field(default=1e-8, saved=False)  # DL4J's JSON leaves it out

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        return InputType.feed_forward(1)


@vertex("StackVertex")
class StackVertex(GraphVertex):
    """Joins its inputs along the batch; shorter time series are padded and masked."""

    max_inputs: ClassVar[int | None] = None

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        return same_kind(self, input_types)


@vertex("UnstackVertex")
class UnstackVertex(GraphVertex):
    """Part number ``from_`` of ``stack_size`` equal parts of the batch."""

    from_: int
    stack_size: int
