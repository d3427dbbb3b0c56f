"""Values that a whole network gives its layers, and the options that layers and networks share."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar
from typing import Any, ClassVar

from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.declaring import Convertible, configuration, field, option
from ...samediff.training.updaters.gradient_normalization import GradientNormalization
from ...samediff.training.updaters.regularization import (
    L1Regularization,
    L2Regularization,
    Regularization,
    WeightDecay,
    with_regularization,
)
from ...samediff.training.updaters.updater import IUpdater
from ...samediff.training.updaters.updaters import Sgd
from ..functions.activations import ActivationSigmoid, IActivation
from ..functions.constraints import ALL, BIASES, WEIGHTS, LayerConstraint
from ..functions.dropout import IDropout
from ..functions.weight_init import IWeightInit, WeightInitXavier
from ..functions.weight_noise import IWeightNoise
from ..types.formats import AlgoMode, ConvolutionMode
from ..types.java_names import LayerDefaultsNames
from ..types.old_options import OLD_OPTIONS


def regularizer(kind: type[Regularization], target: str) -> Any:
    """An option such as ``l2``: it adds the regularization, in place of its own kind."""

    def add(values: dict[str, Any], strength: Any, *rest: Any, **options: Any) -> None:
        if kind is WeightDecay and not rest:
            rest = (True,)
        values[target] = tuple(with_regularization(list(values.get(target) or ()), kind(strength, *rest)))

    return option(add)


def constrainer(group: str) -> Any:
    """An option such as ``constrain_weights``: it adds constraints for a group of parameters, or for one by its name."""

    def add(values: dict[str, Any], *constraints: Any) -> None:
        if len(constraints) == 1 and isinstance(constraints[0], (list, tuple)):
            constraints = tuple(constraints[0])
        new = tuple(LayerConstraint.of(c).replace(params=(group,)) for c in constraints)
        values["constraints"] = (*(values.get("constraints") or ()), *new)

    return option(add)


def distribution_option(values: dict[str, Any], distribution: Any) -> None:
    """The option ``dist``: initial weights drawn from a distribution."""
    values["weight_init"] = distribution


@configuration(kw_only=True)
class LayerDefaults(Configuration, LayerDefaultsNames):
    """The values that layers take from their network where they set none themselves.

    Parameters
    ----------
    activation : str, Activation or IActivation
        Sigmoid by default.
    weight_init : WeightInit, str, IWeightInit or Distribution
        First values of weights; Xavier's by default. ``dist`` takes a distribution alone.
    bias_init, gain_init : float
        First values of biases, 0 by default, and of gains of layer normalization, 1 by default.
    updater : IUpdater
        Of all parameters; ``Sgd(1e-3)`` by default.
    bias_updater : IUpdater, optional
        Of biases, in place of ``updater``.
    dropout : float or IDropout, optional
        Acts on the input of each layer while training; a number is the probability to KEEP a value.
    weight_noise : IWeightNoise, optional
        Acts on weights in each forward pass while training.
    convolution_mode : ConvolutionMode or str
        Where windows of convolutions and poolings lie; Truncate by default.
    gradient_normalization : GradientNormalization or str
        What is done to gradients before the updaters have them; None_ by default.
    gradient_normalization_threshold : float
        The largest size that it leaves as it is; 1 by default.
    cudnn_algo_mode : AlgoMode or str
        For cuDNN in DL4J; kept in files, without effect here.
    regularization, regularization_bias, l1, l2, weight_decay, l1_bias, l2_bias, weight_decay_bias
        Terms and their strengths, as of `BaseLayer`.
    constraints, constrain_all_parameters, constrain_weights, constrain_bias
        Act on parameters after each update, as of `Layer`.
    """

    removed: ClassVar[Mapping[str, str]] = OLD_OPTIONS
    activation: Convertible[IActivation] = field(default=ActivationSigmoid(), aliases=("activation_fn",))
    weight_init: Convertible[IWeightInit] = field(default=WeightInitXavier(), aliases=("weight_init_fn",))
    bias_init: float = 0.0
    gain_init: float = 1.0
    regularization: Convertible[tuple[Regularization, ...]] = ()
    regularization_bias: Convertible[tuple[Regularization, ...]] = ()
    dropout: Convertible[IDropout | None] = field(default=None, aliases=("drop_out", "i_dropout"))
    weight_noise: IWeightNoise | None = None
    updater: Convertible[IUpdater] = field(default=Sgd(1e-3), aliases=("i_updater",))
    bias_updater: Convertible[IUpdater | None] = None
    gradient_normalization: Convertible[GradientNormalization] = GradientNormalization.None_
    gradient_normalization_threshold: float = 1.0
    convolution_mode: Convertible[ConvolutionMode] = ConvolutionMode.Truncate
    cudnn_algo_mode: Convertible[AlgoMode] = AlgoMode.PREFER_FASTEST
    constraints: Convertible[tuple[LayerConstraint, ...]] = ()
    l1: InitVar[float | None] = regularizer(L1Regularization, "regularization")
    l2: InitVar[float | None] = regularizer(L2Regularization, "regularization")
    weight_decay: InitVar[float | None] = regularizer(WeightDecay, "regularization")
    l1_bias: InitVar[float | None] = regularizer(L1Regularization, "regularization_bias")
    l2_bias: InitVar[float | None] = regularizer(L2Regularization, "regularization_bias")
    weight_decay_bias: InitVar[float | None] = regularizer(WeightDecay, "regularization_bias")
    dist: InitVar[Any] = option(distribution_option)
    constrain_all_parameters: InitVar[Any] = constrainer(ALL)
    constrain_weights: InitVar[Any] = constrainer(WEIGHTS)
    constrain_bias: InitVar[Any] = constrainer(BIASES)


def merged(own: tuple[Regularization, ...], given: tuple[Regularization, ...]) -> tuple[Regularization, ...]:
    """Own regularization, then that of the network whose kind is missing.

    DL4J adds the network's weight decay in any case, twice where a layer has nothing of its own.
    """
    if not own:
        return given + tuple(r for r in given if isinstance(r, WeightDecay))
    kinds = {type(r) for r in own}
    return own + tuple(r for r in given if isinstance(r, WeightDecay) or type(r) not in kinds)
