"""Fully connected layers and layers that act on each value."""
from __future__ import annotations

from dataclasses import InitVar
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ...samediff.configuration.declaring import Convertible, field
from ...samediff.errors import ConfigurationError
from ..base import automatic
from ..base.affine import Affine, activated
from ..base.base import PACKAGE, BaseLayer, FeedForwardLayer, NoParamLayer, Rule, layer
from ..base.layer_methods import BoundLayer, at_work
from ..functions.activations import ActivationPReLU, IActivation
from ..functions.dropout import IDropout
from ..functions.loss_base import LossFunction
from ..functions.weight_init import IWeightInit, WeightInitConstant
from ..functions.weight_noise import DropConnect
from ..ops.masks import masked
from ..ops.noise_ops import AddNoise
from ..types.formats import RNNFormat
from ..types.input_type import InputType, InputTypeFeedForward
from ..types.java_names import (
    ActivationLayerNames,
    AutoEncoderNames,
    BasePretrainNetworkNames,
    DenseLayerNames,
    DropoutLayerNames,
    ElementWiseMultiplicationLayerNames,
    PReLULayerNames,
    RepeatVectorNames,
)
from ..types.layer_type import LayerType
from ..types.parameters import LayerScope, Parameter, ParameterTable
from ..types.positional import positional

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = [
    "ActivationLayer", "AutoEncoder", "BasePretrainNetwork", "DenseLayer", "DropoutLayer", "ElementWiseMultiplicationLayer", "PReLULayer",
    "RepeatVector",
]


@layer("DenseLayer")
class DenseLayer(Affine, DenseLayerNames):
    """``activation(x @ W + b)``, with layer normalization before the activation if asked for.

    Shapes: x (batch, n_in) -> (batch, n_out).

    Parameters
    ----------
    has_bias : bool
        Whether there is ``b`` (n_out,); True by default.
    has_layer_norm : bool
        Whether ``x @ W`` is normalized over the outputs of each example and multiplied by a gain ``g`` (n_out,), which starts at
        ``gain_init``; False by default.
    n_in, n_out, activation, weight_init, bias_init, updater, l1, l2, dropout, ...
        See `FeedForwardLayer` and `BaseLayer`.

    Examples
    --------
    >>> DenseLayer(n_in=4, n_out=3, activation="tanh").output_type(InputType.feed_forward(4))
    InputTypeFeedForward(size=3)
    """

    weight_names: ClassVar[tuple[str, ...]] = ("W",)
    bias_names: ClassVar[tuple[str, ...]] = ("b",)
    has_bias: bool = True
    has_layer_norm: bool = False

    def define_parameters(self, params: ParameterTable) -> None:
        super().define_parameters(params)
        if self.has_layer_norm:
            params.weight("g", (self.n_out,), role="gain", init=self.gain_init)

    def pre_output(self, sd: SameDiff, x: SDVariable, params: LayerScope) -> SDVariable:
        if not self.has_layer_norm:
            return super().pre_output(sd, x, params)
        bias = (params["b"],) if self.has_bias else ()
        return sd.call("nn", "layer_norm", x.mmul(params["W"]), params["g"], *bias, False, 1)  # type: ignore[no-any-return]


@layer("ActivationLayer")
class ActivationLayer(NoParamLayer, ActivationLayerNames):
    """``activation(x)``. Shapes: x (any) -> the same.

    Parameters
    ----------
    activation : str, Activation or IActivation, optional
        That of the network where left out.
    """

    takes_dropout: ClassVar[bool] = False
    arguments: ClassVar[tuple[str, ...]] = ("activation",)
    activation: Convertible[IActivation | None] = field(default=None, json="activationFn", kw_only=False)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return activated(self, sd, x)


@layer("DropoutLayer")
class DropoutLayer(FeedForwardLayer, DropoutLayerNames):
    """Applies its dropout while training. Shapes: x (any) -> the same.

    Examples
    --------
    >>> DropoutLayer(0.8).dropout           # keeps four values of five, divided by 0.8
    Dropout(p=0.8)
    """

    preprocessor_rule: ClassVar[Rule] = automatic.none_needed
    arguments: ClassVar[tuple[str, ...]] = ("dropout",)
    dropout: Convertible[IDropout | None] = field(default=None, json="idropout", aliases=("drop_out", "i_dropout"), kw_only=False)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return x

    def output_type(self, input_type: InputType) -> InputType:
        return input_type

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        return self


@layer(PACKAGE + "misc.ElementWiseMultiplicationLayer")
class ElementWiseMultiplicationLayer(FeedForwardLayer, ElementWiseMultiplicationLayerNames):
    """``activation(x * w + b)``. Shapes: x (batch, n) -> (batch, n); n_in and n_out are equal."""

    weight_names: ClassVar[tuple[str, ...]] = ("W",)
    bias_names: ClassVar[tuple[str, ...]] = ("b",)

    def define_parameters(self, params: ParameterTable) -> None:
        if self.n_in != self.n_out:
            raise ConfigurationError(f"{self.label}: n_in and n_out must be equal; got {self.n_in} and {self.n_out}")
        params.weight("W", (1, self.n_in), fan_in=self.n_in, fan_out=self.n_out, order="f")
        params.bias("b", (self.n_out,), init=self.bias_init)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        z = masked(x * params["W"] + params["b"], mask)
        return masked(activated(self, sd, z), mask)


@layer("PReLULayer")
class PReLULayer(BaseLayer, PReLULayerNames):
    """``x`` where positive, else ``alpha * x`` with a learned array of slopes (He et al., 2015).

    Shapes: x ``(batch, *input_shape)`` -> the same. ``shared_axes`` (1-based) have one slope for the whole axis.

    Parameters
    ----------
    input_shape : tuple of int, optional
        Shape of one example; that of the input type where left out. Where it is given, the input type is not looked at.
    shared_axes : tuple of int, optional
        Axes of an example, counted from 1, along which all values share one slope; none by default.
    n_in, n_out : int
        Stand in DL4J's files; without effect here.

    Raises
    ------
    ConfigurationError
        For shared axes that an example does not have.
    """

    summary_name: ClassVar[str] = "PReLU"
    summary_sizes: ClassVar[bool] = False
    weight_names: ClassVar[tuple[str, ...]] = ("W",)
    weight_init: Convertible[IWeightInit | None] = field(default=WeightInitConstant(0.0), json="weightInitFn")
    input_shape: Convertible[tuple[int, ...] | None] = None
    shared_axes: Convertible[tuple[int, ...] | None] = None
    n_in: int = 0
    n_out: int = 0

    def validate(self) -> None:
        rank = len(self.input_shape or ())
        if rank and any(not 1 <= axis <= rank for axis in self.shared_axes or ()):
            raise ConfigurationError(f"{self.label}: shared_axes are axes of an example of shape {list(self.input_shape or ())}, counted "
                                     f"from 1 to {rank}; got {self.shared_axes}")

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        if self.input_shape:            # DL4J never looks at the input type
            return self
        return self.replace(input_shape=input_type.array_shape()[1:])

    def define_parameters(self, params: ParameterTable) -> None:
        shared = self.shared_axes or ()
        shape = tuple(1 if i in shared else n for i, n in enumerate(self.input_shape or (), 1))
        if not shape:
            raise ConfigurationError(f"{self.label}: set input_shape, the shape of one example, or the input type of the network")
        params.weight("W", shape, fan_in=shape[0], fan_out=shape[1] if len(shape) > 1 else 0, order="f")

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return ActivationPReLU().define_with(sd, x, params["W"])


@layer(PACKAGE + "misc.RepeatVector")
class RepeatVector(FeedForwardLayer, RepeatVectorNames):
    """Repeats each row ``n`` times. Shapes: x (batch, size) -> (batch, size, n), or (batch, n, size) for NWC.

    Parameters
    ----------
    n : int
        How often a row is repeated, at least 1 (``repetition_factor`` in builders); 1 by default.
    data_format : RNNFormat or str
        ``NCW`` (default, time last) or ``NWC``: order of the axes of the result.
    """

    dl4j_type: ClassVar[LayerType | None] = LayerType.UPSAMPLING
    arguments: ClassVar[tuple[str, ...]] = ("n",)
    n: int = field(default=1, aliases=("repetition_factor",), kw_only=False)
    if TYPE_CHECKING:       # further names, which `aliases` make
        repetition_factor: InitVar[int] = 1
    data_format: Convertible[RNNFormat] = RNNFormat.NCW

    def validate(self) -> None:
        super().validate()
        if self.n < 1:
            raise ConfigurationError(f"{self.label}: n must be at least 1; got {self.n}")

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeFeedForward)
        assert isinstance(input_type, InputTypeFeedForward)
        return InputType.recurrent(input_type.size, self.n, self.data_format)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        axis = 2 if self.data_format is RNNFormat.NCW else 1
        times = [self.n if i == axis else 1 for i in range(3)]
        return sd.call("base", "tile", sd.call("base", "expand_dims", x, axis), *times)  # type: ignore[no-any-return]


@layer()
class BasePretrainNetwork(FeedForwardLayer, BasePretrainNetworkNames):
    """A layer that can be trained without labels.

    Parameters
    ----------
    loss_function : LossFunction or str
        Compares an input with its reconstruction in pretraining; RECONSTRUCTION_CROSSENTROPY by default.
    visible_bias_init : float
        First value of the bias of the reconstruction, ``vb`` (n_in,); 0 by default.
    """

    weight_names: ClassVar[tuple[str, ...]] = ("W",)
    bias_names: ClassVar[tuple[str, ...]] = ("b",)
    loss_function: Convertible[LossFunction] = field(default=LossFunction.RECONSTRUCTION_CROSSENTROPY, aliases=("loss",))
    if TYPE_CHECKING:       # further names, which `aliases` make
        loss: InitVar[Any] = None
    visible_bias_init: float = 0.0

    def updater_key(self, parameter: Parameter) -> str | None:
        """Parameters that only pretraining moves have an updater block of their own."""
        return "pretrain" if parameter.name == "vb" else None


@layer("AutoEncoder")
class AutoEncoder(Affine, BasePretrainNetwork, AutoEncoderNames):
    """Denoising autoencoder (Vincent et al., 2008); in a network ``activation(x @ W + b)``.

    Pretraining compares x with ``activation(y @ W.T + vb)`` for the code ``y`` of a corrupted x. Shapes: x (batch, n_in) -> (batch,
    n_out).

    Parameters
    ----------
    corruption_level : float
        Probability to set a value of x to 0 while pretraining, 0 (none) to below 1; 0.3 by default.
    sparsity : float
        0 (default) lets pretraining use the slope of a sigmoid, ``y * (1 - y)``; another number ``y * (y - sparsity)`` in its place,
        as in DL4J.
    """

    corruption_level: float = field(default=0.3, kw_only=False)
    sparsity: float = field(default=0.0, kw_only=False)

    def define_parameters(self, params: ParameterTable) -> None:
        super().define_parameters(params)
        params.bias("vb", (self.n_in,), init=self.visible_bias_init, role="unregularized")

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """The code, also of masked rows, as in DL4J."""
        return self.define_code(sd, x, params)

    def define_pretraining(self, sd: SameDiff, x: SDVariable, params: LayerScope) -> tuple[SDVariable, dict[str, SDVariable]]:
        """Scores (batch,) of the reconstruction of ``x``, and the steps that pretraining takes as gradients, by parameter.

        x is corrupted, encoded and decoded with the transposed weights. As in DL4J the steps point from the
        reconstruction to x whatever the loss, with the slope of a sigmoid, so that the score need not fall.
        """
        noisy = sd.add_op(AddNoise(DropConnect(1 - self.corruption_level)), [x]) if self.corruption_level > 0 else x
        y = self.define_code(sd, noisy, params)
        z = self.define_reconstruction(sd, y, params)
        error = x - z
        slope = y * (1.0 - y) if not self.sparsity else y * (y - self.sparsity)
        hidden = error.mmul(params["W"]) * slope
        weights = sd.call("base", "transpose", noisy).mmul(hidden) + sd.call("base", "transpose", error).mmul(y)
        assert self.activation is not None
        scores = self.loss_function.get_i_loss_function().define(sd, noisy, z, self.activation)
        return scores, {"W": weights, "b": hidden.sum(0), "vb": error.sum(0)}

    def define_code(self, sd: SameDiff, x: SDVariable, params: LayerScope) -> SDVariable:
        """``activation(x @ W + b)``, (batch, n_out)."""
        return activated(self, sd, self.pre_output(sd, x, params))

    def define_reconstruction(self, sd: SameDiff, y: SDVariable, params: LayerScope) -> SDVariable:
        """``activation(y @ W.T + vb)``, (batch, n_in)."""
        return activated(self, sd, sd.call("nn", "linear", y, sd.call("base", "transpose", params["W"]), params["vb"]))

    @at_work
    def encode(self, net: BoundLayer, x: Any) -> Any:
        """The code of x, without corruption. Shapes: x (batch, n_in) -> (batch, n_out)."""
        return net.run(self.define_code, x)

    @at_work
    def decode(self, net: BoundLayer, y: Any) -> Any:
        """The input that a code is decoded to. Shapes: y (batch, n_out) -> (batch, n_in)."""
        return net.run(self.define_reconstruction, y)

    @at_work
    def reconstruct(self, net: BoundLayer, x: Any) -> Any:
        """x encoded and decoded again, (batch, n_in)."""
        return self.decode(net, self.encode(net, x))

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        return positional(cls.__name__, ("corruption_level", "sparsity"), *args)
