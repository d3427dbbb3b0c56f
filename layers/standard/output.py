"""Output and loss layers."""
from __future__ import annotations

from dataclasses import InitVar, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ...samediff.configuration.declaring import Convertible, field
from ...samediff.errors import ConfigurationError
from ...samediff.families.in_float import as_float
from ...samediff.ops.elementwise.masking import keep_unmasked, times_mask
from ...samediff.training.updaters.gradient_normalization import GradientNormalization
from ...samediff.training.updaters.updater import IUpdater
from ...samediff.training.updaters.updaters import NoOp
from ..base import automatic
from ..base.affine import Affine, activated
from ..base.base import PACKAGE, FeedForwardLayer, Layer, NoParamLayer, Rule, layer
from ..base.layer_methods import BoundLayer, at_work
from ..functions.activations import ActivationIdentity, ActivationSoftmax, IActivation
from ..functions.loss_base import ILossFunction
from ..functions.losses import LossL2, LossMCXENT
from ..functions.yolo_ops import YoloActivations, YoloLoss
from ..ops.masks import any_output, masked
from ..ops.series_ops import ExampleSums, PositionMaskRows, PositionRows, RowPositions, reshaped
from ..types.detection import DetectedObject, YoloUtils
from ..types.formats import CNN2DFormat, CNN3DFormat, RNNFormat
from ..types.input_type import InputType, InputTypeConvolutional, InputTypeConvolutional3D, InputTypeConvolutionalFlat, InputTypeRecurrent
from ..types.java_names import (
    BaseOutputLayerNames,
    CenterLossOutputLayerNames,
    Cnn3DLossLayerNames,
    CnnLossLayerNames,
    LossBearingNames,
    LossLayerNames,
    OCNNOutputLayerNames,
    OutputLayerNames,
    RnnLossLayerNames,
    Yolo2OutputLayerNames,
)
from ..types.layer_type import LayerType
from ..types.parameters import LayerScope, Parameter, ParameterTable

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = [
    "BaseOutputLayer", "CenterLossOutputLayer", "Cnn3DLossLayer", "CnnLossLayer", "LossBearing", "LossLayer", "OCNNOutputLayer",
    "OutputLayer", "RnnLossLayer", "Yolo2OutputLayer",
]


@layer()
class LossBearing(FeedForwardLayer, LossBearingNames):
    """A layer that ends a network: it compares its activations with labels.

    Parameters
    ----------
    loss_function : ILossFunction, LossFunction or str
        Compares outputs with labels; MCXENT, cross entropy of classes, by default (``loss`` in builders).
    """

    arguments: ClassVar[tuple[str, ...]] = ("loss_function",)
    loss_function: Convertible[ILossFunction] = field(default=LossMCXENT(), json="lossFn", aliases=("loss",), kw_only=False)
    if TYPE_CHECKING:       # further names, which `aliases` make
        loss: InitVar[Any] = None
        loss_fn: InitVar[Any] = None
    has_loss: ClassVar[bool] = True
    #: Whether the score is divided by the number of examples also where the network asks for sums (mini_batch False).
    always_averages: ClassVar[bool] = True
    #: Whether outputs that a mask leaves out enter a softmax as 0, as DL4J has it where a layer has parameters.
    masks_pre_output: ClassVar[bool] = False

    def pre_output(self, sd: SameDiff, x: SDVariable, params: LayerScope) -> SDVariable:
        """The pre-activations: the input itself."""
        return x

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return masked(activated(self, sd, self.pre_output(sd, x, params)), mask)

    def define_loss(self, sd: SameDiff, x: SDVariable, labels: SDVariable | None, params: LayerScope,
                    mask: SDVariable | None) -> SDVariable:
        assert labels is not None and self.activation is not None
        found = self.pre_output(sd, x, params)
        if mask is not None and self.masks_pre_output and (mask.get_shape() or (1,))[-1] != 1:
            found = keep_unmasked(found, mask)
        return self.loss_function.define_chosen(sd, labels, found, self.activation, mask)


@layer()
class BaseOutputLayer(Affine, LossBearing, BaseOutputLayerNames):
    """An output layer with parameters.

    Parameters
    ----------
    has_bias : bool
        Whether there is ``b`` (n_out,); True by default.
    """

    masks_pre_output: ClassVar[bool] = True
    weight_names: ClassVar[tuple[str, ...]] = ("W",)
    bias_names: ClassVar[tuple[str, ...]] = ("b",)
    always_averages: ClassVar[bool] = False
    has_bias: bool = True


@layer("OutputLayer")
class OutputLayer(BaseOutputLayer, OutputLayerNames):
    """``activation(x @ W + b)`` under a loss; softmax and cross entropy by default.

    Shapes: x (batch, n_in), labels (batch, n_out) -> (batch, n_out).

    Parameters
    ----------
    activation : str, Activation or IActivation
        Softmax by default; that of the network is not taken.
    n_in, n_out, loss_function, has_bias, weight_init, bias_init, updater, l1, l2, dropout, ...
        See `LossBearing`, `BaseOutputLayer`, `FeedForwardLayer` and `BaseLayer`.

    Examples
    --------
    >>> OutputLayer(n_in=4, n_out=3).loss_function
    LossMCXENT()
    """

    activation: Convertible[IActivation | None] = field(default=ActivationSoftmax(), json="activationFn")


@layer("CenterLossOutputLayer")
class CenterLossOutputLayer(BaseOutputLayer, CenterLossOutputLayerNames):
    """Output layer with an additional pull of each class towards its center (Wen et al., 2016).

    The loss is that of `OutputLayer` plus ``lambda_ / 2 * |x - center|²``. Shapes: x (batch, n_in), labels (batch, n_out), one-hot ->
    (batch, n_out); centers cL (n_out, n_in) start at 0. The bias has the ``updater`` of the weights, as in DL4J, whatever
    ``bias_updater`` says.

    Parameters
    ----------
    alpha : float
        How far centers move towards the mean of the examples of their class in a step; 0.05 by default.
    lambda_ : float
        Weight of the pull, 0 for none; 2e-4 by default (DL4J's ``lambda``).
    gradient_check : bool
        Whether centers move by the gradient of the loss times ``alpha``, as DL4J's gradient checks need it; False by default.
    activation : str, Activation or IActivation
        Softmax by default.
    """

    always_averages: ClassVar[bool] = True
    activation: Convertible[IActivation | None] = field(default=ActivationSoftmax(), json="activationFn")
    alpha: float = 0.05
    lambda_: float = 2e-4
    gradient_check: bool = False

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        return _loss_without_activation(super().builder_arguments(*args))

    def define_parameters(self, params: ParameterTable) -> None:
        params.weight("W", (self.n_in, self.n_out), fan_in=self.n_in, fan_out=self.n_out, order="f")
        params.bias("b", (self.n_out,), init=self.bias_init)        # as in DL4J also without has_bias, unused then
        params.add(Parameter("cL", (self.n_out, self.n_in), "unregularized", init=0.0))

    def pre_output(self, sd: SameDiff, x: SDVariable, params: LayerScope) -> SDVariable:
        return sd.call("nn", "linear", x, params["W"], *([params["b"]] if self.has_bias else []))  # type: ignore[no-any-return]

    def updater_for(self, parameter: Parameter) -> IUpdater:
        """One for weights and bias, as DL4J's files hold its state; centers move by ``alpha``."""
        return NoOp() if parameter.name == "cL" else super().updater_for(replace(parameter, role="weight"))

    def define_loss(self, sd: SameDiff, x: SDVariable, labels: SDVariable | None, params: LayerScope,
                    mask: SDVariable | None) -> SDVariable:
        """The loss plus ``lambda / 2 * |x - center|²`` for the center of the label; centers move towards the examples."""
        scores = super().define_loss(sd, x, labels, params, mask)
        assert labels is not None
        away = labels.mmul(params["cL"]) - x
        if mask is not None:                    # masked examples pull nothing, as they have no score
            away, labels = (times_mask(v, mask.max(True, 1)) for v in (away, labels))
        pull = sd.call("base", "transpose", labels).mmul(away)
        step = pull * self.alpha
        params.move("cL", step * self.lambda_ if self.gradient_check else step / sd.call("base", "expand_dims", labels.sum(0) + 1.0, 1))
        return scores + as_float(away * away).sum(1) * (self.lambda_ / 2)  # type: ignore[no-any-return]


def _loss_without_activation(found: dict[str, Any]) -> dict[str, Any]:
    """Where DL4J's builder gets the loss as argument, the activation comes from the network."""
    return found | {"activation": None} if found else found


@layer("LossLayer")
class LossLayer(LossBearing, LossLayerNames):
    """A loss on ``activation(x)``, without parameters. Shapes: x and labels (batch, n) -> (batch, n).

    Parameters
    ----------
    activation : str, Activation or IActivation
        Identity by default.

    Examples
    --------
    >>> LossLayer(loss_function="mse").output_type(InputType.feed_forward(3))
    InputTypeFeedForward(size=3)
    """

    takes_dropout: ClassVar[bool] = False
    activation: Convertible[IActivation | None] = field(default=ActivationIdentity(), json="activationFn")

    def output_type(self, input_type: InputType) -> InputType:
        given = super().output_type(input_type)
        return given.replace(size=input_type.array_elements_per_example())


class PerPositionLoss(LossBearing):
    """An output layer that works on every step of a series, or every position of an image or volume, by itself.

    The score of an example is the sum over its positions.
    """

    takes_dropout: ClassVar[bool] = False
    #: Whether masked positions have activations of 0.
    masks_activations: ClassVar[bool] = False

    @property
    def channels_last(self) -> bool:
        """Whether the channels are the last axis, not the second."""
        raise NotImplementedError

    def rows(self, x: SDVariable) -> SDVariable:
        """Each position as a row."""
        return x.sd.add_op(PositionRows(self.channels_last), [x])  # type: ignore[no-any-return]

    def with_channels(self, mask: SDVariable) -> SDVariable:
        """The mask of a series with a channel axis."""
        axis = 2 if self.channels_last else 1
        return mask.sd.call("base", "expand_dims", mask, axis) if mask.spec.rank == 2 else mask  # type: ignore[no-any-return]

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        """Activations in the layout of the input."""
        rows = activated(self, sd, self.pre_output(sd, self.rows(x), params))
        found = sd.add_op(RowPositions(self.channels_last), [rows, x])
        return times_mask(found, self.with_channels(mask)) if mask is not None and self.masks_activations else found

    def define_loss(self, sd: SameDiff, x: SDVariable, labels: SDVariable | None, params: LayerScope,
                    mask: SDVariable | None) -> SDVariable:
        """Scores of the rows, summed for each example."""
        assert labels is not None
        if mask is not None:
            mask = sd.add_op(PositionMaskRows(self.channels_last), [self.with_channels(mask), labels])
        scores = super().define_loss(sd, self.rows(x), self.rows(labels), params, mask)
        return sd.add_op(ExampleSums(), [scores, x])  # type: ignore[no-any-return]


@layer("RnnLossLayer")
class RnnLossLayer(PerPositionLoss, RnnLossLayerNames):
    """A loss on every step of a time series. Shapes: x and labels (batch, n, time) -> the same.

    Parameters
    ----------
    rnn_data_format : RNNFormat or str
        ``NCW`` (default, time last) or ``NWC``, of x and labels; not taken from the input type.
    """

    dl4j_type: ClassVar[LayerType | None] = LayerType.RECURRENT
    preprocessor_rule: ClassVar[Rule] = automatic.to_recurrent
    rnn_data_format: Convertible[RNNFormat] = field(default=RNNFormat.NCW, aliases=("data_format",))
    if TYPE_CHECKING:       # further names, which `aliases` make
        data_format: InitVar[Any] = None

    @property
    def channels_last(self) -> bool:
        return self.rnn_data_format is RNNFormat.NWC

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeRecurrent)
        return input_type

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeRecurrent)
        return self


@layer("CnnLossLayer")
class CnnLossLayer(PerPositionLoss, CnnLossLayerNames):
    """A loss on every position of an image. Shapes: x and labels (batch, channels, height, width) -> the same.

    Parameters
    ----------
    format : CNN2DFormat or str
        ``NCHW`` (default) or ``NHWC``, of x and labels; that of the input type where the network has one.
    activation : str, Activation or IActivation
        Identity by default; softmax and the like act along the channels.
    """

    dl4j_type: ClassVar[LayerType | None] = LayerType.CONVOLUTIONAL
    preprocessor_rule: ClassVar[Rule] = automatic.to_images
    activation: Convertible[IActivation | None] = field(default=ActivationIdentity(), json="activationFn")
    format: Convertible[CNN2DFormat] = CNN2DFormat.NCHW

    @property
    def channels_last(self) -> bool:
        return self.format is CNN2DFormat.NHWC

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        return _loss_without_activation(super().builder_arguments(*args))

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeConvolutional, InputTypeConvolutionalFlat)
        return input_type

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        return self.replace(format=input_type.format) if isinstance(input_type, InputTypeConvolutional) else self


@layer("Cnn3DLossLayer")
class Cnn3DLossLayer(PerPositionLoss, Cnn3DLossLayerNames):
    """A loss on every position of a volume.

    Shapes: x and labels (batch, channels, depth, height, width) -> the same.

    Parameters
    ----------
    data_format : CNN3DFormat or str
        ``NCDHW`` (default) or ``NDHWC``, of x and labels; not taken from the input type.
    activation : str, Activation or IActivation
        Identity by default; softmax and the like act along the channels.
    """

    dl4j_type: ClassVar[LayerType | None] = LayerType.CONVOLUTIONAL3D
    preprocessor_rule: ClassVar[Rule] = automatic.to_volumes
    arguments: ClassVar[tuple[str, ...]] = ("data_format",)
    activation: Convertible[IActivation | None] = field(default=ActivationIdentity(), json="activationFn")
    data_format: Convertible[CNN3DFormat] = CNN3DFormat.NCDHW

    @property
    def channels_last(self) -> bool:
        return self.data_format is CNN3DFormat.NDHWC

    def output_type(self, input_type: InputType) -> InputType:
        self.expects(input_type, InputTypeConvolutional3D, InputTypeConvolutionalFlat)
        return input_type

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        return self


@layer(PACKAGE.replace("layers", "ocnn") + "OCNNOutputLayer")
class OCNNOutputLayer(FeedForwardLayer, OCNNOutputLayerNames):
    """One-class neural network for anomaly detection (Chalapathy et al., 2018).

    Shapes: x (batch, n_in) -> (batch,), as DL4J's activations; the type has one column.

    Its output is ``s = sum over hidden units of activation(x @ v) * w``, and ``|w|² / 2 + |v|² / 2 + mean(max(0, r - s)) / nu - r`` is
    minimized: normal examples come to lie above ``r``, which trains too. Labels are not needed.

    Parameters
    ----------
    hidden_size : int
        Number of hidden units, at least 1 (DL4J's ``hiddenLayerSize``): w (1, hidden_size), v (n_in, hidden_size).
    nu : float
        Above 0, up to 1: about the share of examples that may lie below ``r``; 0.04 by default.
    initial_r_value : float
        First value of ``r``; 0.1 by default.
    configure_r : bool
        Whether ``r`` starts at ``initial_r_value`` (default) rather than at what ``weight_init`` draws.
    activation : str, Activation or IActivation
        Of the hidden units; identity by default.
    window_size, last_epoch_since_r_updated, has_bias
        Stand in DL4J's files; nothing is computed of them here.
    """

    json_first: ClassVar[tuple[str, ...]] = ("configureR", "hiddenSize", "initialRValue", "nu", "windowSize")
    weight_names: ClassVar[tuple[str, ...]] = ("w", "v")
    bias_names: ClassVar[tuple[str, ...]] = ("r",)
    has_bias: bool = True
    activation: Convertible[IActivation | None] = field(default=ActivationIdentity(), json="activationFn")
    hidden_size: int = field(default=0, aliases=("hidden_layer_size",))
    nu: float = 0.04
    window_size: int = 10000
    initial_r_value: float = 0.1
    configure_r: bool = True
    last_epoch_since_r_updated: int = 0
    has_loss: ClassVar[bool] = True
    labels_required: ClassVar[bool] = False  # type: ignore[misc]

    def define_parameters(self, params: ParameterTable) -> None:
        params.weight("w", (1, self.hidden_size), fan_in=1, fan_out=self.hidden_size, order="f")
        params.weight("v", (self.n_in, self.hidden_size), fan_in=self.n_in, fan_out=self.hidden_size, order="f")
        params.add(Parameter("r", (), "bias", fan_in=1, fan_out=1, init=self.initial_r_value if self.configure_r else None))

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return (activated(self, sd, x.mmul(params["v"])) * params["w"]).sum(1)  # type: ignore[no-any-return]

    def output_type(self, input_type: InputType) -> InputType:
        return super().output_type(input_type).replace(size=1)

    def define_loss(self, sd: SameDiff, x: SDVariable, labels: SDVariable | None, params: LayerScope,
                    mask: SDVariable | None) -> SDVariable:
        """``|w|² / 2 + |v|² / 2 + mean(max(0, r - s)) / nu - r`` for the outputs s, an equal part of the rest for each example.

        Of masked examples the rest alone counts.
        """
        w, v, r = params["w"], params["v"], params["r"]
        if mask is not None:
            x = keep_unmasked(x, mask)
        missing = sd.call("nn", "relu", r - self.define_layer(sd, x, params, None), 0.0) / self.nu
        if mask is not None:
            missing = times_mask(missing, sd.call("base", "squeeze", any_output(mask), 1))
        rest = (w * w).sum() * 0.5 + (v * v).sum() * 0.5 - r
        return (missing + rest) / sd.call("base", "size_at", x, 0).cast_to(x.dtype)  # type: ignore[no-any-return]


@layer(PACKAGE + "objdetect.Yolo2OutputLayer")
class Yolo2OutputLayer(Layer, Yolo2OutputLayerNames):
    """Loss of YOLO object detection (Redmon and Farhadi, 2016).

    Shapes: x (batch, boxes * (5 + classes), height, width), labels (batch, 4 + classes, height, width) with x1, y1, x2, y2 and the
    one-hot class in the cell that holds the center of an object, zeros elsewhere -> as x, with centers, sizes, confidences and class
    probabilities of the boxes. Coordinates are in cells: (0, 0) is the top left corner, (width, height) the bottom right one.

    Parameters
    ----------
    bounding_boxes : array (boxes, 2)
        Width and height of the prior of each box, in cells (``bounding_box_priors`` in builders).
    lambda_coord : float
        Weight of errors of position and size; 5 by default.
    lambda_no_obj : float
        Weight of confidence where there is no object; 0.5 by default.
    loss_position_scale, loss_class_predictions : ILossFunction, LossFunction or str
        Losses of positions and sizes, and of classes; L2 by default.
    format : CNN2DFormat or str
        ``NCHW`` (default) or ``NHWC``, of x and labels.

    Raises
    ------
    ConfigurationError
        When the layer runs without ``bounding_boxes``.
    ShapeError
        Channels that are not ``boxes * (5 + classes)``.
    """

    takes_dropout: ClassVar[bool] = False
    untuned_options: ClassVar[frozenset[str]] = NoParamLayer.untuned_options
    preprocessor_rule: ClassVar[Rule] = automatic.only_images
    lambda_coord: float = 5.0
    lambda_no_obj: float = 0.5
    loss_position_scale: Convertible[ILossFunction] = LossL2()
    loss_class_predictions: Convertible[ILossFunction] = LossL2()
    bounding_boxes: Convertible[np.ndarray[Any, Any] | None] = field(default=None, aliases=("bounding_box_priors",))
    format: Convertible[CNN2DFormat] = CNN2DFormat.NCHW
    gradient_normalization: Convertible[GradientNormalization | None] = GradientNormalization.None_     # whatever the network has
    gradient_normalization_threshold: float = 1.0
    has_loss: ClassVar[bool] = True

    @at_work
    def get_predicted_objects(self, layer: BoundLayer, network_output: Any, threshold: float) -> list[DetectedObject]:
        """The objects in the output of the network whose confidence reaches a threshold: :meth:`YoloUtils.get_predicted_objects`;
        ``layer``, which :func:`at_work` fills in, has no effect."""
        return YoloUtils.get_predicted_objects(self.bounding_boxes, network_output, threshold)

    def priors(self) -> tuple[tuple[float, float], ...]:
        """Width and height of each bounding box."""
        if self.bounding_boxes is None:
            raise ConfigurationError(f"{self.label}: set bounding_boxes, the prior sizes of the boxes as an array (boxes, 2)")
        return tuple((float(w), float(h)) for w, h in self.bounding_boxes)

    def channels_first(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        """Images as (batch, channels, height, width)."""
        return x if self.format is CNN2DFormat.NCHW else sd.call("base", "permute", x, 0, 3, 1, 2)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        found = sd.add_op(YoloActivations(self.priors()), [self.channels_first(sd, x)])
        return found if self.format is CNN2DFormat.NCHW else sd.call("base", "permute", found, 0, 2, 3, 1)  # type: ignore[no-any-return]

    def define_loss(self, sd: SameDiff, x: SDVariable, labels: SDVariable | None, params: LayerScope,
                    mask: SDVariable | None) -> SDVariable:
        """Errors of positions, sizes, confidences and classes, (batch,): those of the cells, or examples, that the mask leaves."""
        assert labels is not None
        seen = [] if mask is None else [reshaped(mask, (1, 1, 1)) if mask.spec.rank == 2 else self.channels_first(sd, mask)]
        op = YoloLoss(self.priors(), self.lambda_coord, self.lambda_no_obj, self.loss_position_scale, self.loss_class_predictions)
        return sd.add_op(op, [self.channels_first(sd, x), self.channels_first(sd, labels), *seen])  # type: ignore[no-any-return]
