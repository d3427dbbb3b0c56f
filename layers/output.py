"""Output and loss layers."""
from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from ..samediff.configuration import field
from . import automatic
from .activations import ActivationIdentity, ActivationSoftmax, IActivation
from .base import PACKAGE, FeedForwardLayer, Layer, Rule, layer
from .formats import CNN2DFormat, CNN3DFormat, RNNFormat
from .input_type import (
    InputType,
    InputTypeConvolutional,
    InputTypeConvolutional3D,
    InputTypeConvolutionalFlat,
    InputTypeRecurrent,
)
from .losses import ILossFunction, LossL2, LossMCXENT


@layer()
class LossBearing(FeedForwardLayer):
    """A layer that ends a network: it compares its activations with labels."""

    arguments: ClassVar[tuple[str, ...]] = ("loss_function",)
    loss_function: ILossFunction = field(default=LossMCXENT(), json="lossFn", aliases=("loss",))


@layer()
class BaseOutputLayer(LossBearing):
    """An output layer with parameters."""

    weight_names: ClassVar[tuple[str, ...]] = ("W",)
    bias_names: ClassVar[tuple[str, ...]] = ("b",)
    has_bias: bool = True


@layer("OutputLayer")
class OutputLayer(BaseOutputLayer):
    """``activation(x @ W + b)`` under a loss; softmax and cross entropy by default.

    Shapes: x (batch, n_in), labels (batch, n_out) -> (batch, n_out).

    Examples
    --------
    >>> OutputLayer(n_in=4, n_out=3).loss_function
    LossMCXENT()
    """

    activation: IActivation | None = field(default=ActivationSoftmax(), json="activationFn")


@layer("CenterLossOutputLayer")
class CenterLossOutputLayer(BaseOutputLayer):
    """Output layer with an additional pull of each class towards its center (Wen et al., 2016)."""

    bias_names: ClassVar[tuple[str, ...]] = ("b", "cL")
    activation: IActivation | None = field(default=ActivationSoftmax(), json="activationFn")
    alpha: float = 0.05
    lambda_: float = 2e-4
    gradient_check: bool = False

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        return _loss_without_activation(super().builder_arguments(*args))


def _loss_without_activation(found: dict[str, Any]) -> dict[str, Any]:
    """Where DL4J's builder gets the loss as argument, the activation comes from the network."""
    return found | {"activation": None} if found else found


@layer("LossLayer")
class LossLayer(LossBearing):
    """A loss on ``activation(x)``, without parameters. Shapes: x and labels (batch, n) -> (batch, n)."""

    activation: IActivation | None = field(default=ActivationIdentity(), json="activationFn")


@layer("RnnLossLayer")
class RnnLossLayer(LossBearing):
    """A loss on every step of a time series. Shapes: x and labels (batch, n, time) -> the same."""

    preprocessor_rule: ClassVar[Rule] = automatic.to_recurrent
    rnn_data_format: RNNFormat = field(default=RNNFormat.NCW, aliases=("data_format",))

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeRecurrent)
        return input_type

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeRecurrent)
        assert isinstance(input_type, InputTypeRecurrent)
        return self.replace(rnn_data_format=input_type.format)


@layer("CnnLossLayer")
class CnnLossLayer(LossBearing):
    """A loss on every position of an image. Shapes: x and labels (batch, channels, height, width) -> the same."""

    preprocessor_rule: ClassVar[Rule] = automatic.to_images
    activation: IActivation | None = field(default=ActivationIdentity(), json="activationFn")
    format: CNN2DFormat = CNN2DFormat.NCHW

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        return _loss_without_activation(super().builder_arguments(*args))

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeConvolutional, InputTypeConvolutionalFlat)
        return input_type

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        return self.replace(format=input_type.format) if isinstance(input_type, InputTypeConvolutional) else self


@layer("Cnn3DLossLayer")
class Cnn3DLossLayer(LossBearing):
    """A loss on every position of a volume.

    Shapes: x and labels (batch, channels, depth, height, width) -> the same.
    """

    preprocessor_rule: ClassVar[Rule] = automatic.to_volumes
    arguments: ClassVar[tuple[str, ...]] = ("data_format",)
    activation: IActivation | None = field(default=ActivationIdentity(), json="activationFn")
    data_format: CNN3DFormat = CNN3DFormat.NCDHW

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeConvolutional3D, InputTypeConvolutionalFlat)
        return input_type

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        return self


@layer(PACKAGE.replace("layers", "ocnn") + "OCNNOutputLayer")
class OCNNOutputLayer(FeedForwardLayer):
    """One-class neural network for anomaly detection (Chalapathy et al., 2018).

    Shapes: x (batch, n_in) -> (batch, 1).
    """

    weight_names: ClassVar[tuple[str, ...]] = ("w", "v")
    bias_names: ClassVar[tuple[str, ...]] = ("r",)
    has_bias: bool = True
    activation: IActivation | None = field(default=ActivationIdentity(), json="activationFn")
    hidden_size: int = field(default=0, aliases=("hidden_layer_size",))
    nu: float = 0.04
    window_size: int = 10000
    initial_r_value: float = 0.1
    configure_r: bool = True
    last_epoch_since_r_updated: int = 0


@layer(PACKAGE + "objdetect.Yolo2OutputLayer")
class Yolo2OutputLayer(Layer):
    """Loss of YOLO object detection (Redmon and Farhadi, 2016).

    Shapes: x (batch, boxes * (5 + classes), height, width).
    """

    preprocessor_rule: ClassVar[Rule] = automatic.only_images
    lambda_coord: float = 5.0
    lambda_no_obj: float = 0.5
    loss_position_scale: ILossFunction = LossL2()
    loss_class_predictions: ILossFunction = LossL2()
    bounding_boxes: np.ndarray[Any, Any] | None = field(default=None, aliases=("bounding_box_priors",))
    format: CNN2DFormat = CNN2DFormat.NCHW

