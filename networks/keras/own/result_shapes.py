"""Layers that know the shape of their result by that of their input, for arrays with channels last."""
from __future__ import annotations

from typing import Any, ClassVar, Self

from ....layers.base import automatic
from ....layers.base.base import Rule
from ....layers.types.input_type import InputType
from .. import shapes
from ..shapes import Shape


class ShapedResult:
    """Mix-in: input types of layers, and what they tell ``n_in``, by the shapes that they stand for."""

    preprocessor_rule: ClassVar[Rule] = automatic.none_needed

    def result_shape(self, shape: Shape) -> Shape:
        """The shape of the result without the batch."""
        raise NotImplementedError

    def output_type(self, input_type: InputType) -> InputType:
        """The type with the shape of the result."""
        return shapes.type_of(self.result_shape(shapes.shape_of(input_type)))

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        """The size of the last axis, for layers with weights."""
        size: Any = shapes.shape_of(input_type)[-1]
        return self if size is None else self.with_n_in(size, override)  # type: ignore[attr-defined, no-any-return]  # of a layer
