"""Vertices that make one activation of several."""
from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, ClassVar

from ...samediff.base.java.java_enum import JavaEnum
from ...samediff.configuration.declaring import Convertible, field
from ...samediff.errors import ConfigurationError
from ..ops.step_ops import L2Distance, StackPadded, ones_mask
from ..types.formats import CNN2DFormat, RNNFormat
from ..types.input_type import (
    InputType,
    InputTypeConvolutional,
    InputTypeConvolutional3D,
    InputTypeConvolutionalFlat,
    InputTypeFeedForward,
    InputTypeRecurrent,
)
from ..types.java_names import ElementWiseVertexNames, L2VertexNames, MergeVertexNames, StackVertexNames, UnstackVertexNames
from ..types.parameters import LayerScope
from .base import GraphVertex, any_of, rank, same_kind, vertex

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["ElementWiseOp", "ElementWiseVertex", "L2Vertex", "MergeVertex", "StackVertex", "UnstackVertex"]


@vertex("MergeVertex")
class MergeVertex(GraphVertex, MergeVertexNames):
    """Joins its inputs along the feature or channel axis. Shapes: (batch, n, …), (batch, m, …) … -> (batch, n + m + …, …).

    Parameters
    ----------
    merge_axis : int
        The axis; follows from the input types, else 1.
    modified : bool
        Whether ``merge_axis`` was set by hand and is kept; False by default.

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
        if _are_rows(input_types):
            return InputType.feed_forward(sum(_size(t) for t in input_types))
        first = same_kind(self, input_types)
        if len(input_types) == 1:
            return first
        if isinstance(first, InputTypeFeedForward):
            return InputType.feed_forward(sum(_size(t) for t in input_types))
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
        steps = isinstance(first, InputTypeRecurrent) and first.format is RNNFormat.NWC and not _are_rows(input_types)
        axis = 3 if last else 2 if steps else 1
        return self.replace(merge_axis=axis) if not self.modified else self

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        return inputs[0] if len(inputs) == 1 else sd.call("base", "concat", self.merge_axis, *inputs)  # type: ignore[no-any-return]

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        return any_of(sd, masks)


def _size(t: InputType) -> int:
    return int(getattr(t, "size", 0))


def _are_rows(types: tuple[InputType, ...]) -> bool:
    """Whether rows meet what has the type of a series: GlobalPoolingLayer keeps that, though its activations are rows."""
    return {type(t) for t in types} == {InputTypeFeedForward, InputTypeRecurrent}


class ElementWiseOp(JavaEnum):
    """Operations of an :class:`ElementWiseVertex`."""

    Add = "Add"
    Subtract = "Subtract"
    Product = "Product"
    Average = "Average"
    Max = "Max"


@vertex("ElementWiseVertex")
class ElementWiseVertex(GraphVertex, ElementWiseVertexNames):
    """Sum, difference, product, mean or maximum of its inputs, value by value; ``ElementWiseVertex("Add")``.

    Axes of size 1 are repeated, so that rows (batch, 1) may meet (batch, n).

    Parameters
    ----------
    op : ElementWiseOp or str
        ``Add``, ``Subtract`` (two inputs), ``Product``, ``Average`` or ``Max``.
    """

    Op: ClassVar[type[ElementWiseOp]] = ElementWiseOp
    max_inputs: ClassVar[int | None] = None
    op: Convertible[ElementWiseOp]

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

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        if self.op is ElementWiseOp.Subtract and len(inputs) != 2:
            raise ConfigurationError(f"ElementWiseVertex Subtract takes 2 inputs; got {len(inputs)}")
        method = {ElementWiseOp.Subtract: "sub", ElementWiseOp.Product: "mul", ElementWiseOp.Max: "max"}.get(self.op, "add")
        out: SDVariable = reduce(lambda a, b: sd.call("math", method, a, b), inputs)
        return out * (1.0 / len(inputs)) if self.op is ElementWiseOp.Average else out

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        return any_of(sd, masks)


@vertex("L2Vertex")
class L2Vertex(GraphVertex, L2VertexNames):
    """Euclidean distance of two inputs, ``sqrt(sum (a - b)²)`` over all axes but the batch. Shapes: twice (batch, …) -> (batch, 1).

    Parameters
    ----------
    eps : float
        The least distance by which the gradient is divided; 1e-8 by default. Files do not keep it, as in DL4J.
    """

    min_inputs: ClassVar[int] = 2
    max_inputs: ClassVar[int | None] = 2
    eps: float = field(default=1e-8, saved=False)  # DL4J's JSON leaves it out

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        return InputType.feed_forward(1)

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        return sd.add_op(L2Distance(self.eps), inputs)  # type: ignore[no-any-return]

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        """That of rows; rows made of series have no steps to mask."""
        return any_of(sd, masks) if rank(inputs[0]) == 2 else None


@vertex("StackVertex")
class StackVertex(GraphVertex, StackVertexNames):
    """Joins its inputs along the batch; shorter time series are filled up with zeros.

    What is filled up is masked when one of the inputs has a mask.
    """

    max_inputs: ClassVar[int | None] = None

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        return same_kind(self, input_types)

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        if rank(inputs[0]) == 3:
            return sd.add_op(StackPadded(), inputs)  # type: ignore[no-any-return]
        return sd.call("base", "concat", 0, *inputs)  # type: ignore[no-any-return]

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        if all(m is None for m in masks):
            return None
        full = [ones_mask(x) if m is None else m for x, m in zip(inputs, masks)]
        return sd.add_op(StackPadded(), full) if rank(inputs[0]) == 3 else sd.call("base", "concat", 0, *full)  # type: ignore[no-any-return]


@vertex("UnstackVertex")
class UnstackVertex(GraphVertex, UnstackVertexNames):
    """Part number ``from_`` of ``stack_size`` equal parts of the batch.

    Parameters
    ----------
    from_ : int
        Number of the part, counted from 0 (DL4J's ``from``).
    stack_size : int
        Number of parts; the batch must be a multiple of it.
    """

    from_: int
    stack_size: int

    def validate(self) -> None:
        if not 0 <= self.from_ < self.stack_size:
            raise ConfigurationError(f"UnstackVertex needs 0 <= from < stack_size; got {self.from_} and {self.stack_size}")

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        return sd.call("base", "split", inputs[0], self.stack_size, 0)[self.from_]  # type: ignore[no-any-return]

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        return None if masks[0] is None else sd.call("base", "split", masks[0], self.stack_size, 0)[self.from_]
