"""Dropout of whole channels where these are the last axis."""
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ....layers.base.base import NoParamLayer, layer

if TYPE_CHECKING:
    from ....layers.types.parameters import LayerScope
    from ....samediff.graph.graph import SameDiff
    from ....samediff.ir.variable import SDVariable


@layer("dl4py.keras.ChannelDropout")
class ChannelDropout(NoParamLayer):
    """Its dropout, a `SpatialDropout`, on the channels of series, images and volumes with channels last."""

    takes_dropout: ClassVar[bool] = False

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        if self.dropout is None:
            return x
        rank = len(x.spec.shape or ())
        first = self.dropout.define(sd, sd.call("base", "permute", x, 0, rank - 1, *range(1, rank - 1)))
        return sd.call("base", "permute", first, 0, *range(2, rank), 1)  # type: ignore[no-any-return]
