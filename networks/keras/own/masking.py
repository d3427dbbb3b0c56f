"""Layers whose mask follows from the data, as Keras passes it on."""
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from ....layers.base.base import NoParamLayer, layer
from ....layers.standard.embedding import EmbeddingSequenceLayer
from ....layers.types.input_type import InputType
from ....samediff.ops.elementwise.masking import times_mask
from ..shapes import Shape
from .result_shapes import ShapedResult

if TYPE_CHECKING:
    from ....layers.types.parameters import LayerScope
    from ....samediff.graph.graph import SameDiff
    from ....samediff.ir.variable import SDVariable


@layer("dl4py.keras.Masking")
class Masking(NoParamLayer):
    """Masks the steps of a series (batch, time, size) whose values all equal ``mask_value``, and sets them to 0.

    Parameters
    ----------
    mask_value : float
        0 by default.
    """

    mask_value: float = 0.0

    def mask_of(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        """1 at steps with any other value, (batch, time)."""
        return sd.call("base", "neq", x, self.mask_value).cast_to(x.dtype).max(2)  # type: ignore[no-any-return]

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return times_mask(x, self.mask_of(sd, x), channels_last=True)

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return self.mask_of(sd, x)


@layer("dl4py.keras.MaskedEmbedding")
class MaskedEmbedding(ShapedResult, EmbeddingSequenceLayer):
    """An embedding whose index 0 masks its step. Shapes: x (batch, time) -> (batch, time, n_out)."""

    reports_other_type: ClassVar[bool] = False

    def result_shape(self, shape: Shape) -> Shape:
        return (shape[0], self.n_out)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        return self                     # the length of a series is not the number of indices

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return sd.call("base", "neq", x, 0.0).cast_to(x.dtype)  # type: ignore[no-any-return]


@layer("dl4py.keras.Unmasked")
class Unmasked(NoParamLayer):
    """The same activations without their mask."""

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return x

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return None
