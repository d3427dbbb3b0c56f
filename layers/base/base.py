"""The base classes of all layers: names, options that every layer shares, types, and what they take from the
network.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import InitVar
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, dataclass_transform

from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.declaring import Convertible, configuration, field, option
from ...samediff.errors import ConfigurationError
from ...samediff.training.updaters.gradient_normalization import GradientNormalization
from ...samediff.training.updaters.regularization import L1Regularization, L2Regularization, Regularization, WeightDecay
from ...samediff.training.updaters.updater import IUpdater
from ..functions.activations import IActivation
from ..functions.constraints import ALL, BIASES, GROUPS, INPUTS, RECURRENT, WEIGHTS, LayerConstraint, java_set
from ..functions.dropout import IDropout
from ..functions.weight_init import IWeightInit
from ..functions.weight_noise import IWeightNoise
from ..preprocessors import InputPreProcessor
from ..types.formats import RNNFormat
from ..types.input_type import InputType, InputTypeConvolutionalFlat, InputTypeFeedForward, InputTypeRecurrent
from ..types.java_names import BaseLayerNames, FeedForwardLayerNames, LayerNames, NoParamLayerNames
from ..types.layer_type import LayerMode, LayerType
from ..types.old_options import OLD_OPTIONS
from ..types.positional import positional
from . import automatic
from .contract import LayerContract
from .defaults import LayerDefaults, constrainer, distribution_option, merged, regularizer

__all__ = ["BaseLayer", "FeedForwardLayer", "Layer", "NoParamLayer", "layer"]

T = TypeVar("T")
Rule = Callable[[str, InputType, RNNFormat | None], InputPreProcessor | None]
PACKAGE = "org.deeplearning4j.nn.conf.layers."


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def layer(java_name: str | None = None, *, aliases: tuple[str, ...] = ()) -> Callable[[type[T]], type[T]]:
    """Register a layer class under its full Java name, or under a simple name in DL4J's package of layers.

    Parameters
    ----------
    java_name : str, optional
        What files call the class: a full Java name, or a simple one in DL4J's package of layers. None for base classes, which have
        no form in files.
    aliases : tuple of str
        Further names under which files may have it.

    Raises
    ------
    RegistrationError
        The name is taken; the text names both owners.
    """
    full = java_name if java_name is None or "." in java_name else PACKAGE + java_name
    return configuration(full, kw_only=True, aliases=aliases)


@configuration(kw_only=True)
class Layer(LayerContract, Configuration, LayerNames):
    """Base of all layers. Constructors take keywords only; builders take DL4J's options in both spellings.

    ``dropout`` acts on the input of the layer (a number is the probability to KEEP a value).
    ``constraints`` act on parameters
    after each update; ``constrain_weights``, ``constrain_bias`` and ``constrain_all_parameters`` add them. Values left
    unset (None or NaN) are taken from the network. ``dl4j_type`` is what ``net.get_layer(0).type()`` answers; None: the type of the
    layer inside, else FEED_FORWARD.

    Parameters
    ----------
    layer_name : str, optional
        By default "layer" and the number of the layer, in graphs the name of the vertex.
    dropout : float or IDropout, optional
        Acts on the input of the layer while training; a number is the probability to KEEP a value. As in DL4J, that of a network is kept by
        embeddings, batch and response normalization, pooling of series and images, padding, cropping, masks, and losses and activations
        of their own, and does nothing there.
    constraints : LayerConstraint or sequence of them, optional
        Act on parameters after each update.
    constrain_all_parameters, constrain_weights, constrain_bias : LayerConstraint or sequence of them, optional
        Constraints on parameters of one kind, added to ``constraints``.
    gradient_normalization : GradientNormalization or str, optional
        What is done to gradients before the updater has them.
    gradient_normalization_threshold : float
        The largest size that it leaves as it is, 1 in a network that names none.
    """

    TrainingMode: ClassVar[type[LayerMode]] = LayerMode
    Type: ClassVar[type[LayerType]] = LayerType
    removed: ClassVar[Mapping[str, str]] = OLD_OPTIONS
    preprocessor_rule: ClassVar[Rule] = automatic.none_needed
    reads_channels_first: ClassVar[bool] = False        # True for layers without an option for the order of axes
    pools_series: ClassVar[bool] = False                # True for layers that make one row of a series, though they may report a series
    dl4j_type: ClassVar[LayerType | None] = None
    own_options: ClassVar[frozenset[str]] = frozenset()     # never taken from the network, nor from fine-tune settings
    untuned_options: ClassVar[frozenset[str]] = frozenset()     # taken from the network, never from fine-tune settings
    weight_names: ClassVar[tuple[str, ...]] = ()
    bias_names: ClassVar[tuple[str, ...]] = ()
    arguments: ClassVar[tuple[str, ...]] = ()  # names of the positional arguments of DL4J's constructors and builders
    layer_name: str | None = field(default=None, aliases=("name",))
    dropout: Convertible[IDropout | None] = field(default=None, json="idropout", aliases=("drop_out", "i_dropout"))
    constraints: Convertible[tuple[LayerConstraint, ...] | None] = None
    gradient_normalization: Convertible[GradientNormalization | None] = None
    gradient_normalization_threshold: float = math.nan
    if TYPE_CHECKING:       # further names, which `aliases` make
        name: InitVar[str | None] = None
        drop_out: InitVar[IDropout | float | None] = None
    constrain_all_parameters: InitVar[Any] = constrainer(ALL)
    constrain_weights: InitVar[Any] = constrainer(WEIGHTS)
    constrain_bias: InitVar[Any] = constrainer(BIASES)

    def _fill(self, values: dict[str, Any], extra: dict[str, Any]) -> None:
        super()._fill(values, extra)
        if self.constraints and any(c.params and c.params[0] in GROUPS for c in self.constraints):
            self._put(constraints=tuple(self._resolved(c) for c in self.constraints))

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Any) -> dict[str, Any]:
        return super()._bind((), {**cls.builder_arguments(*args), **kwargs} if args else kwargs)

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        return positional(cls.__name__, cls.arguments, *args)

    def _resolved(self, constraint: LayerConstraint) -> LayerConstraint:
        bias = self.bias_names if getattr(self, "has_bias", True) else ()
        recurrent = tuple(name for name in self.weight_names if name.startswith("RW"))
        groups = {ALL: self.weight_names + bias, WEIGHTS: self.weight_names, BIASES: bias, RECURRENT: recurrent,
                  INPUTS: tuple(name for name in self.weight_names if name not in recurrent)}
        first = constraint.params[0] if constraint.params else ""
        return constraint.replace(params=java_set(groups[first])) if first in groups else constraint

    @property
    def constraints_in_force(self) -> tuple[LayerConstraint, ...]:
        """The constraints that act on the parameters of this layer, by the names that they have here."""
        return self.constraints or ()

    @property
    def label(self) -> str:
        """Class and name of the layer, for messages."""
        return type(self).__name__ + (f" {self.layer_name!r}" if self.layer_name else "")

    def renamed(self, name: str) -> Self:
        """Return a copy of that name."""
        return self.replace(layer_name=name)

    def output_type(self, input_type: InputType) -> InputType:
        """Return the type of the activations for inputs of that type."""
        return input_type

    def get_output_type(self, layer_index: int, input_type: InputType) -> InputType:
        """DL4J's spelling of :meth:`output_type`."""
        return self.output_type(input_type)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        """Return a copy that knows the size of its input; a size set by hand is kept unless ``override``."""
        return self

    def with_n_in(self, size: int, override: bool) -> Self:
        """Return a copy with that value of the option ``n_in``, where there is one; a value set by hand is kept unless ``override``."""
        kept = "n_in" not in type(self)._fields or (not override and (getattr(self, "n_in", 0) or 0) > 0)
        return self if kept else self.replace(n_in=size)

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        """Return the preprocessor that has to stand in front of this layer for inputs of that type, if any."""
        rule: Rule = type(self).preprocessor_rule
        return rule(self.label, input_type, getattr(self, "rnn_data_format", None))

    def get_pre_processor_for_input_type(self, input_type: InputType) -> InputPreProcessor | None:
        """DL4J's spelling of :meth:`preprocessor_for`."""
        return self.preprocessor_for(input_type)

    def apply_global_config(self, given: LayerDefaults) -> Self:
        """Return a copy with the network's values where this layer has none of its own."""
        return self.replace(**self.missing_values(given))

    def missing_values(self, given: LayerDefaults) -> dict[str, Any]:
        """Return the fields that :meth:`apply_global_config` sets."""
        values: dict[str, Any] = {}
        for name in type(self)._fields:
            own = getattr(self, name)
            unset = own is None or (isinstance(own, float) and math.isnan(own))
            if unset and name in INHERITED - self.own_options:
                values[name] = getattr(given, name)
        if self.constraints is None and given.constraints and "constraints" not in self.own_options:
            found = tuple(c for c in map(self._resolved, given.constraints) if c.params)
            values["constraints"] = found or None
        return values

    def expects(self, input_type: InputType, *kinds: type[InputType]) -> None:
        """Raise an error for input types other than ``kinds``."""
        if not isinstance(input_type, kinds):
            names = " or ".join(k.__name__.removeprefix("InputType") for k in kinds)
            raise automatic.refuse(self.label, input_type, names)
        if isinstance(input_type, InputTypeRecurrent) and input_type.pooled and InputTypeFeedForward not in kinds:
            raise ConfigurationError(f"{self.label} takes time series; what is in front gives one row for each, as {input_type!r} says. "
                                     "A layer for rows (DenseLayer, OutputLayer) fits there")
        if self.reads_channels_first:
            automatic.refuse_channels_last(self.label, input_type)


INHERITED = frozenset({
    "activation", "weight_init", "bias_init", "gain_init", "dropout", "weight_noise", "updater", "bias_updater",
    "gradient_normalization", "gradient_normalization_threshold", "convolution_mode", "cudnn_algo_mode"})


@layer()
class NoParamLayer(Layer, NoParamLayerNames):
    """Base of layers without parameters."""

    untuned_options: ClassVar[frozenset[str]] = frozenset({"activation", "dropout", "gradient_normalization",
                                                        "gradient_normalization_threshold"})
    gradient_normalization: Convertible[GradientNormalization | None] = GradientNormalization.None_
    gradient_normalization_threshold: float = 0.0


@layer()
class BaseLayer(Layer, BaseLayerNames):
    """A layer with parameters.

    ``l1``, ``l2`` and ``weight_decay`` act on weights, ``l1_bias`` … on biases;
    each adds to the list ``regularization``
    (``regularization_bias``). ``dist`` is ``weight_init`` from a distribution.

    Parameters
    ----------
    activation : str, Activation or IActivation, optional
        Sigmoid where neither layer nor network name one.
    weight_init : str, WeightInit, IWeightInit or Distribution, optional
        First values of weights; Xavier's where neither layer nor network name them.
    dist : Distribution, optional
        ``weight_init`` from a distribution.
    bias_init : float
        First value of biases; 0 where neither layer nor network name it.
    gain_init : float
        First value of the gain of layer normalization; 1 where neither layer nor network name it.
    regularization, regularization_bias : sequence of Regularization
        Terms that act on weights, and on biases.
    l1, l2, weight_decay : float, optional
        Strengths of terms that are added to ``regularization``; 0 removes one.
    l1_bias, l2_bias, weight_decay_bias : float, optional
        The same in ``regularization_bias``.
    updater, bias_updater : IUpdater, optional
        Of all parameters of the layer, and of its biases alone.
    weight_noise : IWeightNoise, optional
        Acts on weights in each forward pass while training.
    """

    activation: Convertible[IActivation | None] = field(default=None, json="activationFn")
    weight_init: Convertible[IWeightInit | None] = field(default=None, json="weightInitFn")
    bias_init: float = math.nan
    gain_init: float = math.nan
    regularization: Convertible[tuple[Regularization, ...]] = ()
    regularization_bias: Convertible[tuple[Regularization, ...]] = ()
    updater: Convertible[IUpdater | None] = field(default=None, json="iupdater")
    bias_updater: Convertible[IUpdater | None] = None
    weight_noise: IWeightNoise | None = None
    l1: InitVar[float | None] = regularizer(L1Regularization, "regularization")
    l2: InitVar[float | None] = regularizer(L2Regularization, "regularization")
    weight_decay: InitVar[float | None] = regularizer(WeightDecay, "regularization")
    l1_bias: InitVar[float | None] = regularizer(L1Regularization, "regularization_bias")
    l2_bias: InitVar[float | None] = regularizer(L2Regularization, "regularization_bias")
    weight_decay_bias: InitVar[float | None] = regularizer(WeightDecay, "regularization_bias")
    dist: InitVar[Any] = option(distribution_option)

    def missing_values(self, given: LayerDefaults) -> dict[str, Any]:
        return super().missing_values(given) | {
            "regularization": merged(self.regularization, given.regularization),
            "regularization_bias": merged(self.regularization_bias, given.regularization_bias)}


@layer()
class FeedForwardLayer(BaseLayer, FeedForwardLayerNames):
    """A layer with ``n_in`` inputs and ``n_out`` outputs per example; ``n_in`` may be left to the input type.

    Parameters
    ----------
    n_in : int
        Size of the input; 0 where the input type of the network is to say it.
    n_out : int
        Size of the output (``units`` in builders).
    time_distributed_format : RNNFormat, optional
        Order of the axes of a series whose steps the layer sees one by one.
    """

    preprocessor_rule: ClassVar[Rule] = automatic.to_feed_forward
    n_in: int = 0
    n_out: int = field(default=0, aliases=("units",))
    if TYPE_CHECKING:       # further names, which `aliases` make
        units: InitVar[int] = 0
    time_distributed_format: Convertible[RNNFormat | None] = None

    def validate(self) -> None:
        if self.n_in < 0 or self.n_out < 0:
            sizes = f"{self.n_in} and {self.n_out}"
            raise ConfigurationError(f"{self.label}: n_in and n_out must not be negative; got {sizes}")

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeFeedForward, InputTypeConvolutionalFlat)
        form = getattr(input_type, "time_distributed_format", None)
        return InputType.feed_forward(self.n_out, form)

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeFeedForward, InputTypeConvolutionalFlat)
        flat = isinstance(input_type, InputTypeConvolutionalFlat)
        changed = self if flat else self.replace(time_distributed_format=getattr(input_type, "time_distributed_format", None))
        return changed.with_n_in(input_type.array_elements_per_example(), override)
