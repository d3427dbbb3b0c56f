"""Vertices that make one activation of several."""
from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, ClassVar

from ....layers.types.input_type import InputType
from ....layers.vertices.base import GraphVertex, any_of, vertex
from ....samediff.configuration.declaring import Convertible
from ....samediff.errors import ConfigurationError
from .. import shapes
from .normalization import UnitNormalization

if TYPE_CHECKING:
    from ....layers.types.parameters import LayerScope
    from ....samediff.graph.graph import SameDiff
    from ....samediff.ir.variable import SDVariable

METHODS = {"add": "add", "multiply": "mul", "maximum": "max", "minimum": "min", "average": "add", "subtract": "sub", "divide": "div"}


@vertex("dl4py.keras.Elementwise")
class ArithmeticVertex(GraphVertex):
    """Value by value; fewer axes are joined with axes of size 1 behind the batch, as Keras does it.

    Parameters
    ----------
    function : str
        "add", "multiply", "maximum", "minimum", "average", "subtract" or "divide".
    """

    max_inputs: ClassVar[int | None] = None
    function: str = "add"

    def validate(self) -> None:
        if self.function not in METHODS:
            raise ConfigurationError(f"{type(self).__name__} knows {', '.join(METHODS)}; got {self.function!r}")

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        return shapes.type_of(shapes.broadcast([shapes.shape_of(t) for t in input_types]))

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        most = max(len(x.spec.shape or ()) for x in inputs)
        wide = []
        for x in inputs:
            while len(x.spec.shape or ()) < most:
                x = sd.call("base", "expand_dims", x, 1)
            wide.append(x)
        out: SDVariable = reduce(lambda a, b: sd.call("math", METHODS[self.function], a, b), wide)
        return out * (1.0 / len(inputs)) if self.function == "average" else out

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        return any_of(sd, masks)


@vertex("dl4py.keras.DotProduct")
class DotProduct(GraphVertex):
    """Sums of products along one axis of each of two inputs; all other axes stay, as of ``numpy.tensordot`` for each example.

    Parameters
    ----------
    axes : tuple of int
        An axis of each input, the batch being 0.
    normalize : bool
        Whether vectors along these axes get the length 1 first.
    """

    min_inputs: ClassVar[int] = 2
    max_inputs: ClassVar[int | None] = 2
    axes: Convertible[tuple[int, ...]] = (1, 1)
    normalize: bool = False

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        rest = [[n for i, n in enumerate(shapes.shape_of(t), 1) if i != axis] for t, axis in zip(input_types, self.axes)]
        return shapes.type_of((*rest[0], *rest[1]) or (1,))

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        moved = []
        for x, axis in zip(inputs, self.axes):
            if self.normalize:
                x = UnitNormalization(axes=(axis,)).define_layer(sd, x, params, None)
            rank = len(x.spec.shape or ())
            if rank == 2:
                x = sd.call("base", "expand_dims", x, 1)
            elif rank == 3:
                x = x if axis == 2 else sd.call("base", "permute", x, 0, 2, 1)
            else:
                raise ConfigurationError(f"DotProduct takes arrays with two or three axes; got one with {rank}")
            moved.append(x)
        out = sd.call("base", "mmul", moved[0], moved[1], False, True)
        ranks = [len(x.spec.shape or ()) for x in inputs]
        if ranks == [2, 2]:
            return sd.call("base", "squeeze", out, 1)  # type: ignore[no-any-return]
        for axis, rank in ((2, ranks[1]), (1, ranks[0])):
            out = sd.call("base", "squeeze", out, axis) if rank == 2 else out
        return out  # type: ignore[no-any-return]

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        return None


@vertex("dl4py.keras.Affine")
class AffineVertex(GraphVertex):
    """``x * scale + offset``, or of ``1 / x`` with ``inverse``: arithmetic of a model with numbers.

    Parameters
    ----------
    scale, offset : float
        Any numbers.
    inverse : bool
        Whether the input divides.
    """

    scale: float = 1.0
    offset: float = 0.0
    inverse: bool = False

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        x = inputs[0]
        return (self.scale / x if self.inverse else x * self.scale) + self.offset
