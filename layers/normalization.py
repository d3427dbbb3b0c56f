"""Normalization layers."""
from __future__ import annotations

from typing import Any, ClassVar, Self

from ..samediff.configuration import field
from . import automatic
from .base import FeedForwardLayer, NoParamLayer, Rule, layer
from .formats import CNN2DFormat
from .input_type import (
    InputType,
    InputTypeConvolutional,
    InputTypeConvolutional3D,
    InputTypeConvolutionalFlat,
    InputTypeRecurrent,
)


@layer("BatchNormalization")
class BatchNormalization(FeedForwardLayer):
    """``gamma * (x - mean) / sqrt(var + eps) + beta`` per feature or channel (Ioffe and Szegedy, 2015).

    Shapes: x (batch, n), (batch, n, height, width), NHWC or volumes -> the same.
    ``decay`` is the weight of the old running
    mean and variance. ``lock_gamma_beta`` keeps gamma and beta at their given values.

    Examples
    --------
    >>> BatchNormalization().set_n_in(InputType.convolutional(5, 5, 3)).n_out
    3
    """

    preprocessor_rule: ClassVar[Rule] = automatic.unflattened
    weight_names: ClassVar[tuple[str, ...]] = ()
    arguments: ClassVar[tuple[str, ...]] = ("decay", "minibatch")
    data_format: CNN2DFormat = field(default=CNN2DFormat.NCHW, json="cnn2DFormat", aliases=("cnn2d_format",))
    decay: float = 0.9
    eps: float = 1e-5
    minibatch: bool = field(default=True, json="minibatch", aliases=("is_minibatch",))
    gamma: float = 1.0
    beta: float = 0.0
    lock_gamma_beta: bool = False
    cudnn_allow_fallback: bool = field(default=True, aliases=("helper_allow_fallback",))
    use_log_std: bool = True

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        if len(args) == 1 and isinstance(args[0], bool):
            return {"lock_gamma_beta": args[0]}
        return dict(zip(cls.arguments, args))

    def output_type(self, input_type: InputType) -> InputType:
        return input_type

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        if self.n_in > 0 and not override:
            return self
        changes: dict[str, Any] = {}
        if isinstance(input_type, (InputTypeConvolutional, InputTypeConvolutional3D)):
            size = input_type.channels
            if isinstance(input_type, InputTypeConvolutional):
                changes["data_format"] = input_type.format
        elif isinstance(input_type, InputTypeRecurrent):
            size = input_type.size
        elif isinstance(input_type, InputTypeConvolutionalFlat):
            size = input_type.depth
        else:
            size = input_type.array_elements_per_example()
        return self.replace(n_in=size, n_out=size, **changes)


@layer("LocalResponseNormalization")
class LocalResponseNormalization(NoParamLayer):
    """``x / (k + alpha * sum of squares over n neighbouring channels)^beta`` (Krizhevsky et al., 2012). Images only."""

    preprocessor_rule: ClassVar[Rule] = automatic.to_images
    arguments: ClassVar[tuple[str, ...]] = ("k", "n", "alpha", "beta")
    k: float = 2.0
    n: float = 5.0
    alpha: float = 1e-4
    beta: float = 0.75
    cudnn_allow_fallback: bool = field(default=True, aliases=("helper_allow_fallback",))
    data_format: CNN2DFormat = CNN2DFormat.NCHW

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeConvolutional)
        assert isinstance(input_type, InputTypeConvolutional)
        return self.replace(data_format=input_type.format)
