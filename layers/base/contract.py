"""Contract of a layer in a network: parameters, its part of the graph, masks, losses."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ...samediff.errors import ConfigurationError
from ...samediff.ir.variable import SDVariable
from ...samediff.training.updaters.updaters import NoOp, Sgd
from ..types.parameters import LayerScope, Parameter, ParameterTable
from .user_methods import Guarded

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.training.updaters.regularization import Regularization
    from ...samediff.training.updaters.updater import IUpdater


class LayerContract(Guarded):
    """The behaviour of a layer, beside its configuration; custom layers implement the same methods.

    Arrays keep DL4J's axes: rows (batch, size), series (batch, size, time), images (batch, channels, height, width).
    """

    guarded_methods: ClassVar[tuple[str, ...]] = ("define_layer", "define_loss", "define_vertex")
    #: Whether the layer's dropout acts on its input.
    takes_dropout: ClassVar[bool] = True
    #: Whether output types are those that DL4J reports, although the arrays have another shape.
    reports_other_type: ClassVar[bool] = False

    def define_parameters(self, params: ParameterTable) -> None:
        """Declare the parameters, in their order in the flat vector; sizes are known by now."""

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """Build the graph of the layer and return its activations.

        Parameters
        ----------
        sd : SameDiff
            The network's graph, inside the name scope of the layer.
        x : SDVariable
            The input, after preprocessor and dropout.
        params : LayerScope
            The declared parameters as variables; also recurrent state and running statistics.
        mask : SDVariable or None
            (batch, 1) or (batch, time) of 1 and 0.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement define_layer(self, sd, x, params, mask)")

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        """The mask for the next layer; ``x`` is this layer's input."""
        return mask

    def parameter_table(self) -> list[Parameter]:
        """The declared parameters."""
        table = ParameterTable(getattr(self, "label", type(self).__name__))
        self.define_parameters(table)
        return list(table)

    def num_params(self) -> int:
        """Number of parameters."""
        return sum(p.size for p in self.parameter_table())

    def updater_for(self, parameter: Parameter) -> IUpdater:
        """The updater of a parameter, by its role."""
        if parameter.role == "statistic":
            return NoOp()
        bias = getattr(self, "bias_updater", None) if parameter.role == "bias" else None
        return bias or getattr(self, "updater", None) or Sgd()

    def regularization_for(self, parameter: Parameter) -> tuple[Regularization, ...]:
        """The regularization of a parameter, by its role."""
        name = {"weight": "regularization", "gain": "regularization", "bias": "regularization_bias"}.get(parameter.role, "")
        return tuple(getattr(self, name, None) or ())

    def initial_values(self, rng: Any, dtype: Any) -> dict[str, Any]:
        """The initial values of all parameters by name, drawn one after the other."""
        return {p.name: self.initial_value(p, rng, dtype) for p in self.parameter_table()}

    def initial_value(self, parameter: Parameter, rng: Any, dtype: Any) -> Any:
        """The initial values of a parameter, drawn from ``rng`` where they are random."""
        import numpy as np
        init = parameter.init
        if init is None:
            init = getattr(self, "weight_init", None)
            if init is None:
                raise ConfigurationError(f"{type(self).__name__}: no weight initialiser for parameter {parameter.name!r}")
        if hasattr(init, "get_weight_init_function"):       # a WeightInit
            init = init.get_weight_init_function()
        if hasattr(init, "init"):
            return init.init(rng, parameter.fan_in, parameter.fan_out, parameter.shape, parameter.order, dtype)
        if callable(init):
            return init(rng, parameter.shape, parameter.order, dtype)
        return np.broadcast_to(np.asarray(init, dtype), parameter.shape)

    # Output layers

    #: Whether the layer compares its activations with labels.
    has_loss: ClassVar[bool] = False
    #: Whether it needs labels for that.
    labels_required: ClassVar[bool] = True

    def define_loss(self, sd: SameDiff, x: SDVariable, labels: SDVariable | None, params: LayerScope,
                    mask: SDVariable | None) -> SDVariable:
        """The loss of each example, (batch,), for output layers; ``x`` is the layer's input, ``mask`` that of the labels."""
        raise NotImplementedError(f"{type(self).__name__} is no output layer: it has no loss")
