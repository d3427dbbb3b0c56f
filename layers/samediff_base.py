"""What layers and vertices defined as SameDiff graphs are configured with."""
from __future__ import annotations

from dataclasses import InitVar, replace
from typing import Any, ClassVar

from ..samediff.training.regularization import L1Regularization, L2Regularization, Regularization, WeightDecay
from ..samediff.training.updater import IUpdater
from .base import Layer, layer
from .defaults import LayerDefaults, regularizer
from .parameters import Parameter
from .weight_init import IWeightInit, WeightInit


@layer()
class GraphDefinedLayer(Layer):
    """A layer defined by a graph: regularization and updaters as for other layers, weights initialised by itself."""

    summary_sizes: ClassVar[bool] = False       # summaries show no n_in and n_out
    summary_name: ClassVar[str] = "SameDiffLayer"
    takes_dropout: ClassVar[bool] = False
    regularization: tuple[Regularization, ...] = ()
    regularization_bias: tuple[Regularization, ...] = ()
    updater: IUpdater | None = None
    bias_updater: IUpdater | None = None
    l1: InitVar[float | None] = regularizer(L1Regularization, "regularization")
    l2: InitVar[float | None] = regularizer(L2Regularization, "regularization")
    weight_decay: InitVar[float | None] = regularizer(WeightDecay, "regularization")
    l1_bias: InitVar[float | None] = regularizer(L1Regularization, "regularization_bias")
    l2_bias: InitVar[float | None] = regularizer(L2Regularization, "regularization_bias")
    weight_decay_bias: InitVar[float | None] = regularizer(WeightDecay, "regularization_bias")

    def missing_values(self, given: LayerDefaults) -> dict[str, Any]:
        values = super().missing_values(given)
        for name in ("activation", "weight_init", "convolution_mode"):  # never taken from the network
            values.pop(name, None)
        for name in ("regularization", "regularization_bias"):
            values[name] = getattr(self, name) or getattr(given, name)
        return values


@layer()
class GraphDefinedHiddenLayer(GraphDefinedLayer):
    """A hidden layer defined by a graph; ``weight_init`` is a :class:`WeightInit`, ``param_weight_init`` one per
    parameter.
    """

    weight_init: WeightInit | None = WeightInit.XAVIER
    param_weight_init: dict[str, IWeightInit] | None = None

    def initial_value(self, parameter: Parameter, rng: Any, dtype: Any) -> Any:
        if parameter.init is None:
            parameter = replace(parameter, init=(self.param_weight_init or {}).get(parameter.name))
        return super().initial_value(parameter, rng, dtype)


