"""Layers at each step of a series: steps become examples, and series again."""
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ....layers.base.base import NoParamLayer, layer
from ....layers.types.input_type import InputType
from ....layers.vertices.base import GraphVertex, vertex
from .. import shapes
from .result_shapes import ShapedResult

if TYPE_CHECKING:
    from ....layers.types.parameters import LayerScope
    from ....samediff.graph.graph import SameDiff
    from ....samediff.ir.variable import SDVariable


def _sizes(sd: SameDiff, x: SDVariable, first: int, count: int) -> list[SDVariable]:
    return [sd.call("base", "expand_dims", sd.call("base", "size_at", x, i), 0) for i in range(first, first + count)]


@layer("dl4py.keras.FoldSteps")
class FoldSteps(ShapedResult, NoParamLayer):
    """All steps of all series as examples. Shapes: (batch, time, ...) -> (batch * time, ...)."""

    def result_shape(self, shape: shapes.Shape) -> shapes.Shape:
        return shape[1:]

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        inner = _sizes(sd, x, 2, len(x.spec.shape or ()) - 2)
        shape = sd.call("base", "concat", 0, sd.constant(np.array([-1], np.int64)), *inner)
        return sd.call("base", "reshape", x, shape)  # type: ignore[no-any-return]

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return None


@vertex("dl4py.keras.UnfoldSteps")
class UnfoldSteps(GraphVertex):
    """Results for steps as series; inputs are these results, and the series, whose mask goes on.

    Shapes: (batch * time, ...) and (batch, time, ...) -> (batch, time, ...).
    """

    min_inputs: ClassVar[int] = 2
    max_inputs: ClassVar[int | None] = 2

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        rows, series = (shapes.shape_of(t) for t in input_types)
        return shapes.type_of((series[0], *rows))

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        rows, series = inputs
        sizes = [*_sizes(sd, series, 0, 2), *_sizes(sd, rows, 1, len(rows.spec.shape or ()) - 1)]
        return sd.call("base", "reshape", rows, sd.call("base", "concat", 0, *sizes))  # type: ignore[no-any-return]

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        return masks[1]
