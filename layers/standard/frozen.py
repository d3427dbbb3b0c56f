"""Layers around another layer whose parameters do not train."""
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ...samediff.configuration.declaring import field
from ...samediff.training.updaters.updaters import NoOp
from ..base.base import PACKAGE, BaseLayer, Layer, layer
from ..functions.constraints import LayerConstraint
from ..types.java_names import FrozenLayerNames, FrozenLayerWithBackpropNames
from ..types.parameters import LayerScope, Parameter
from .inside import defining, inside
from .wrappers import BaseWrapperLayer

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable
    from ...samediff.training.updaters.regularization import Regularization
    from ...samediff.training.updaters.updater import IUpdater

__all__ = ["FrozenLayer", "FrozenLayerWithBackprop"]


class _Still(BaseWrapperLayer):
    """A wrapper in which nothing trains."""

    frozen: ClassVar[bool] = True

    @property
    def constraints_in_force(self) -> tuple[LayerConstraint, ...]:
        return ()

    @property
    def loss_uses_feature_mask(self) -> bool:
        """Whether the mask of the features reaches the wrapped layer: an RnnOutputLayer sees that of labels alone."""
        return getattr(self.underlying, "loss_uses_feature_mask", True)


@layer(PACKAGE + "misc.FrozenLayer")
class FrozenLayer(_Still, FrozenLayerNames):
    """A layer whose parameters do not train; nothing is propagated below it."""

    json_first: ClassVar[tuple[str, ...]] = ("layer",)
    stops_gradients: ClassVar[bool] = True
    underlying: Layer = field(json="layer")

    @property
    def summary_name(self) -> str:
        """The wrapped layer's name in summaries after "Frozen"."""
        return f"Frozen {getattr(self.underlying, 'summary_name', type(self.underlying).__name__)}"

    @property
    def configured_twice(self) -> bool:
        return isinstance(self.underlying, BaseLayer)

    def updater_for(self, parameter: Parameter) -> IUpdater:
        return NoOp()

    def updater_key(self, parameter: Parameter) -> str | None:
        return None

    def regularization_for(self, parameter: Parameter) -> tuple[Regularization, ...]:
        return ()

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """The test-time form; gradients end here."""
        return self._still(sd, x, params, mask, masked=False)

    def masked_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """The same inside a wrapper that gives an LSTM its mask."""
        return self._still(sd, x, params, mask, masked=True)

    def _still(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None, masked: bool) -> SDVariable:
        with sd.at_inference():
            done = defining(self.underlying, masked)(sd, x, params.unmoved(), mask)
            return sd.call("base", "stop_gradient", done)  # type: ignore[no-any-return]


@layer(PACKAGE + "misc.FrozenLayerWithBackprop")
class FrozenLayerWithBackprop(_Still, FrozenLayerWithBackpropNames):
    """A layer whose parameters do not train, while gradients pass through it."""

    counts_as_trainable: ClassVar[bool] = True          # in DL4J's summary
    scores_regularization: ClassVar[bool] = False

    @property
    def configured_twice(self) -> bool:
        return True

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """The test-time form with constant parameters: only its regularization moves them, as in DL4J."""
        return self._still(sd, x, params, mask, masked=False)

    def masked_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """The same inside a wrapper that gives an LSTM its mask."""
        return self._still(sd, x, params, mask, masked=True)

    def _still(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None, masked: bool) -> SDVariable:
        with sd.at_inference():
            return inside(self.underlying, sd, x, params.stopped().unmoved(), mask, masked)
