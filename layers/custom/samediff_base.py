"""Configuration of layers and vertices that are defined as SameDiff graphs."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import InitVar, replace
from typing import Any, ClassVar

from ...samediff.configuration.declaring import Convertible
from ...samediff.errors import ConfigurationError
from ...samediff.text.json_order import key_order
from ...samediff.training.updaters.regularization import L1Regularization, L2Regularization, Regularization, WeightDecay
from ...samediff.training.updaters.updater import IUpdater
from ..base.base import Layer, layer
from ..base.defaults import LayerDefaults, regularizer
from ..functions.weight_init import IWeightInit, WeightInit
from ..types.java_names import GraphDefinedHiddenLayerNames, GraphDefinedLayerNames
from ..types.parameters import Parameter


def with_parameters(document: dict[str, Any], key: str, found: dict[str, Any] | None) -> dict[str, Any]:
    """The JSON document of a layer or vertex with the shapes of its parameters, where they are known.

    Readers of DL4J take these shapes as they stand: they are written as they are or not at all.
    """
    if found is None:
        return document
    document[key] = found
    tag = {k: v for k, v in document.items() if k.startswith("@")}
    return tag | {k: document[k] for k in key_order((), document.keys() - tag.keys())}


def shapes_document(defined: Callable[[], list[Parameter]]) -> dict[str, Any] | None:
    """The shapes by role as DL4J's JSON has them; None as long as a size is open."""
    try:
        table = defined()
    except ConfigurationError:
        return None
    if any(n < 1 for p in table for n in p.shape):
        return None
    return {key: {p.name: list(p.shape) for p in table if p.role == role}
            for key, role in (("biasParams", "bias"), ("weightParams", "weight"))}


@layer()
class GraphDefinedLayer(Layer, GraphDefinedLayerNames):
    """A layer defined by a graph: regularization and updaters as for other layers, weights initialised by itself.

    Parameters
    ----------
    regularization, regularization_bias, updater, bias_updater, l1, l2, weight_decay, l1_bias, l2_bias, weight_decay_bias
        As of `BaseLayer`; those of the network where the layer has none.
    """

    summary_sizes: ClassVar[bool] = False       # summaries show no n_in and n_out
    summary_name: ClassVar[str] = "SameDiffLayer"
    own_options: ClassVar[frozenset[str]] = frozenset({"activation", "weight_init", "convolution_mode"})
    takes_dropout: ClassVar[bool] = False
    regularization: Convertible[tuple[Regularization, ...]] = ()
    regularization_bias: Convertible[tuple[Regularization, ...]] = ()
    updater: Convertible[IUpdater | None] = None
    bias_updater: Convertible[IUpdater | None] = None
    l1: InitVar[float | None] = regularizer(L1Regularization, "regularization")
    l2: InitVar[float | None] = regularizer(L2Regularization, "regularization")
    weight_decay: InitVar[float | None] = regularizer(WeightDecay, "regularization")
    l1_bias: InitVar[float | None] = regularizer(L1Regularization, "regularization_bias")
    l2_bias: InitVar[float | None] = regularizer(L2Regularization, "regularization_bias")
    weight_decay_bias: InitVar[float | None] = regularizer(WeightDecay, "regularization_bias")

    def missing_values(self, given: LayerDefaults) -> dict[str, Any]:
        return super().missing_values(given) | {
            name: getattr(self, name) or getattr(given, name) for name in ("regularization", "regularization_bias")}

    def parameters_document(self) -> dict[str, Any] | None:
        """The shapes of the parameters as DL4J's JSON has them, None where sizes are open."""
        return shapes_document(self.parameter_table)

    def to_document(self) -> dict[str, Any]:
        return with_parameters(super().to_document(), "layerParams", self.parameters_document())


@layer()
class GraphDefinedHiddenLayer(GraphDefinedLayer, GraphDefinedHiddenLayerNames):
    """A hidden layer defined by a graph, with an initialiser of its own: that of the network is not taken.

    Parameters
    ----------
    weight_init : WeightInit or str, optional
        First values of weights; Xavier's by default. Biases start at 0.
    param_weight_init : dict of IWeightInit by str, optional
        Initialisers of single parameters, by their names, in place of ``weight_init``.
    """

    weight_init: Convertible[WeightInit | None] = WeightInit.XAVIER
    param_weight_init: dict[str, IWeightInit] | None = None

    def initial_value(self, parameter: Parameter, rng: Any, dtype: Any) -> Any:
        if parameter.init is None:
            parameter = replace(parameter, init=(self.param_weight_init or {}).get(parameter.name))
        return super().initial_value(parameter, rng, dtype)


