"""Vertices that scale, cut and reshape one activation."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ...samediff.configuration.declaring import Convertible
from ...samediff.errors import ConfigurationError
from ...samediff.families.in_float import as_float, in_type_of, least
from ..types.formats import CNN2DFormat
from ..types.input_type import InputType, InputTypeConvolutional, InputTypeFeedForward, InputTypeRecurrent
from ..types.java_names import (
    L2NormalizeVertexNames,
    PoolHelperVertexNames,
    ReshapeVertexNames,
    ScaleVertexNames,
    ShiftVertexNames,
    SubsetVertexNames,
)
from ..types.parameters import LayerScope
from .base import GraphVertex, rank, vertex

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["L2NormalizeVertex", "PoolHelperVertex", "ReshapeVertex", "ScaleVertex", "ShiftVertex", "SubsetVertex"]


@vertex("ScaleVertex")
class ScaleVertex(GraphVertex, ScaleVertexNames):
    """``x * scale_factor``.

    Parameters
    ----------
    scale_factor : float
        Any number.
    """

    scale_factor: float

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        return inputs[0] * self.scale_factor


@vertex("ShiftVertex")
class ShiftVertex(GraphVertex, ShiftVertexNames):
    """``x + shift_factor``.

    Parameters
    ----------
    shift_factor : float
        Any number; 0 by default.
    """

    shift_factor: float = 0.0

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        return inputs[0] + self.shift_factor


@vertex("L2NormalizeVertex")
class L2NormalizeVertex(GraphVertex, L2NormalizeVertexNames):
    """``x / max(|x|, eps)``: each example, or each vector along ``dimension``, gets length 1. Shapes: x (batch, …) -> the same.

    Parameters
    ----------
    dimension : tuple of int, optional
        Axes over which the length is taken; by default all but the batch.
    eps : float
        The least length by which is divided; 1e-8 by default.
    """

    dimension: Convertible[tuple[int, ...] | None] = None
    eps: float = 1e-8

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        (x,) = inputs
        axes = self.dimension or tuple(range(1, rank(x)))
        wide = as_float(x)
        norm = sd.call("base", "norm2", wide, True, *axes)
        return in_type_of(wide / sd.call("base", "scalar_max", norm, least(self.eps, x.dtype)), x)


@vertex("PoolHelperVertex")
class PoolHelperVertex(GraphVertex, PoolHelperVertexNames):
    """Drops the first row and column of images (batch, channels, height, width)."""

    def output_type(self, *input_types: InputType) -> InputType:
        given = super().output_type(*input_types)
        if not isinstance(given, InputTypeConvolutional):
            raise ConfigurationError(f"PoolHelperVertex takes images; got {given!r}")
        return InputType.convolutional(given.height - 1, given.width - 1, given.channels, given.format)

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        return inputs[0][:, :, 1:, 1:]


@vertex("SubsetVertex")
class SubsetVertex(GraphVertex, SubsetVertexNames):
    """Features or channels ``from_`` to ``to`` along axis 1.

    Shapes: x (batch, n, …) -> ``(batch, to - from_ + 1, …)``.

    Parameters
    ----------
    from_, to : int
        First and last, both included, counted from 0 (DL4J's ``from`` and ``to``).

    Examples
    --------
    >>> SubsetVertex(0, 4).output_type(InputType.feed_forward(10))
    InputTypeFeedForward(size=5)
    """

    from_: int
    to: int

    def validate(self) -> None:
        if not 0 <= self.from_ <= self.to:
            raise ConfigurationError(f"SubsetVertex needs 0 <= from <= to; got {self.from_} and {self.to}")

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        (given,) = input_types
        known = given.channels if isinstance(given, InputTypeConvolutional) else getattr(given, "size", 0)
        if 0 < known <= self.to:
            raise ConfigurationError(f"SubsetVertex takes features {self.from_} to {self.to}, counted from 0; its input has {known}: "
                                     f"{given!r}")
        size = self.to - self.from_ + 1             # nothing else is known of series and formats, as in DL4J
        if isinstance(given, InputTypeFeedForward):
            return InputType.feed_forward(size)
        if isinstance(given, InputTypeRecurrent):
            return InputType.recurrent(size)
        if isinstance(given, InputTypeConvolutional):
            return InputType.convolutional(given.height, given.width, size)
        raise ConfigurationError(f"SubsetVertex takes rows, time series and images; got {given!r}")

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        return inputs[0][:, self.from_:self.to + 1]


@vertex("ReshapeVertex")
class ReshapeVertex(GraphVertex, ReshapeVertexNames):
    """``reshape(new_shape)``, batch included; one size may be -1.

    ``ReshapeVertex(-1, 2, 3)``, ``ReshapeVertex(order, shape, mask)``.

    Parameters
    ----------
    new_shape : tuple of int
        Shape of the result with the batch, such as (-1, 2, 3); one size may be -1.
    reshape_order : str
        "c" (default) or "f": whether the last or the first axis runs fastest.
    mask_shape : tuple of int, optional
        Shape of a mask, with the batch; by default it stays as it is, and ends where series become rows.
    """

    max_inputs: ClassVar[int | None] = 1
    new_shape: Convertible[tuple[int, ...]]
    reshape_order: str = "c"
    mask_shape: Convertible[tuple[int, ...] | None] = None

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Any) -> dict[str, Any]:
        if args and isinstance(args[0], str):
            args = (args[1], args[0], *args[2:])
        elif args and all(isinstance(a, int) for a in args):
            args = (args,)
        return super()._bind(args, kwargs)

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        shape = self.new_shape
        if len(shape) == 2:
            return InputType.feed_forward(shape[1])
        if len(shape) == 3:
            return InputType.recurrent(shape[1])
        if len(shape) == 4:
            form = getattr(input_types[0], "format", None)
            image = form if isinstance(form, CNN2DFormat) else None
            return InputType.convolutional(shape[2], shape[3], shape[1], image)
        raise ConfigurationError(f"ReshapeVertex: no input type has the shape {shape}")

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        return self._reshaped(sd, inputs[0], self.new_shape)

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        if masks[0] is None or self.mask_shape is None:
            return None if rank(inputs[0]) == 3 and len(self.new_shape) == 2 else masks[0]     # rows have no steps to mask
        return self._reshaped(sd, masks[0], self.mask_shape)

    def _reshaped(self, sd: SameDiff, x: SDVariable, shape: tuple[int, ...]) -> SDVariable:
        if self.reshape_order == "c":
            return sd.call("base", "reshape", x, *shape)  # type: ignore[no-any-return]
        turned = sd.call("base", "reshape", sd.call("base", "permute", x, *reversed(range(rank(x)))), *reversed(shape))
        return sd.call("base", "permute", turned, *reversed(range(len(shape))))  # type: ignore[no-any-return]
