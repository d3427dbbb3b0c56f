"""Recurrent layers whose states come from other layers, or go to them."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from ....layers.base.base import Layer, NoParamLayer, layer
from ....layers.functions.constraints import LayerConstraint
from ....layers.types.input_type import InputType
from ....layers.types.parameters import Parameter
from ....layers.vertices.base import GraphVertex, vertex
from ....samediff.training.updaters.gradient_normalization import GradientNormalization
from .. import shapes
from .result_shapes import ShapedResult

if TYPE_CHECKING:
    from ....layers.types.parameters import LayerScope
    from ....samediff.graph.graph import SameDiff
    from ....samediff.ir.variable import SDVariable
    from ....samediff.training.updaters.regularization import Regularization
    from ....samediff.training.updaters.updater import IUpdater


@vertex("dl4py.keras.RecurrentVertex")
class RecurrentVertex(GraphVertex):
    """A recurrent layer with the states in front of its series as further inputs, none of them or all.

    With ``return_state``, the states behind the series follow the steps of the result, (batch, time + states, ...), or are alone where
    the layer gives no series: :class:`StepsOf` takes them apart.

    Parameters
    ----------
    underlying : Layer
        A :class:`.Recurrent` or :class:`.ConvolutionalLSTM`.
    return_state : bool
        Whether the states behind the series are part of the result.
    masked : bool
        Whether the layer sees the mask of the series, which goes on to what follows all the same; True by default.
    """

    max_inputs: ClassVar[int | None] = None
    underlying: Layer
    return_state: bool = False
    masked: bool = True

    @property
    def _inner(self) -> Any:
        return self.underlying

    def apply_global_config(self, given: Any) -> Self:
        """Return a copy with the network's values where the layer has none of its own."""
        return self.replace(underlying=self.underlying.apply_global_config(given))

    def output_type(self, *input_types: InputType) -> InputType:
        shape = shapes.shape_of(self.underlying.get_output_type(0, input_types[0]))
        if not self.return_state:
            return shapes.type_of(shape)
        count = len(self._inner.states)
        if not self._inner.return_sequences:
            return shapes.type_of((count, *shape))
        return shapes.type_of((None if shape[0] is None else shape[0] + count, *shape[1:]))

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        x, inner = inputs[0], self._inner
        if inner.dropout is not None:
            x = inner.dropout.define(sd, x)
        series, last = inner.run(sd, x, params, masks[0] if self.masked else None, inputs[1:])
        if not self.return_state:
            return series if inner.return_sequences else last[0]  # type: ignore[no-any-return]
        steps = [sd.call("base", "expand_dims", state, 1) for state in last]
        return sd.call("base", "concat", 1, *([series] if inner.return_sequences else []), *steps)  # type: ignore[no-any-return]

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        mask = self.underlying.feed_forward_mask(sd, masks[0], inputs[0])
        if mask is None or not self.return_state:
            return mask
        seen = sd.call("base", "ones_like", mask[:, :1])
        return sd.call("base", "concat", 1, mask, *[seen] * len(self._inner.states))  # type: ignore[no-any-return]

    def parameter_table(self) -> list[Parameter]:
        """Those of the layer."""
        return self.underlying.parameter_table()

    def updater_for(self, parameter: Parameter) -> IUpdater:
        """That of the layer."""
        return self.underlying.updater_for(parameter)

    def regularization_for(self, parameter: Parameter) -> tuple[Regularization, ...]:
        """That of the layer."""
        return self.underlying.regularization_for(parameter)

    def initial_values(self, rng: Any, dtype: Any) -> dict[str, Any]:
        """Those of the layer."""
        return self.underlying.initial_values(rng, dtype)

    @property
    def constraints_in_force(self) -> tuple[LayerConstraint, ...]:
        """Those of the layer."""
        return self.underlying.constraints_in_force

    @property
    def gradient_normalization(self) -> GradientNormalization | None:
        """That of the layer."""
        return self.underlying.gradient_normalization  # type: ignore[no-any-return]

    @property
    def gradient_normalization_threshold(self) -> float:
        """That of the layer."""
        return self.underlying.gradient_normalization_threshold


@layer("dl4py.keras.StepsOf")
class StepsOf(ShapedResult, NoParamLayer):
    """One step of a series, or all but the last ones. Shapes: (batch, time, ...) -> (batch, ...), or (batch, time - without, ...).

    Parameters
    ----------
    step : int, optional
        The step, from the end where it is negative.
    without : int
        How many steps at the end are left out, where no step is named.
    """

    step: int | None = None
    without: int = 0

    def result_shape(self, shape: shapes.Shape) -> shapes.Shape:
        return shape[1:] if self.step is not None else (None if shape[0] is None else shape[0] - self.without, *shape[1:])

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return x[:, self.step] if self.step is not None else x[:, :-self.without]

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return None if mask is None or self.step is not None else mask[:, :-self.without]


@layer("dl4py.keras.ReversedSteps")
class ReversedSteps(ShapedResult, NoParamLayer):
    """The results of a layer that goes backwards, in the order of its input, of which they have the mask."""

    def result_shape(self, shape: shapes.Shape) -> shapes.Shape:
        return shape

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return sd.call("base", "reverse", x, 1)  # type: ignore[no-any-return]
