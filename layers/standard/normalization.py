"""Normalization layers."""
from __future__ import annotations

import math
from dataclasses import InitVar
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ...samediff.configuration.declaring import Convertible, field
from ...samediff.errors import ConfigurationError, ShapeError
from ...samediff.ops.nn.batch_norm import BatchNormTraining
from ...samediff.ops.nn.local_response import NeighbourSum
from ..base import automatic
from ..base.base import FeedForwardLayer, NoParamLayer, Rule, layer
from ..base.defaults import constrainer
from ..types.formats import CNN2DFormat
from ..types.input_type import (
    InputType,
    InputTypeConvolutional,
    InputTypeConvolutional3D,
    InputTypeConvolutionalFlat,
    InputTypeFeedForward,
    InputTypeRecurrent,
)
from ..types.java_names import BatchNormalizationNames, LocalResponseNormalizationNames
from ..types.layer_type import LayerType
from ..types.parameters import LayerScope, Parameter, ParameterTable
from ..types.positional import positional

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["BatchNormalization", "LocalResponseNormalization"]


@layer("BatchNormalization")
class BatchNormalization(FeedForwardLayer, BatchNormalizationNames):
    """``gamma * (x - mean) / sqrt(var + eps) + beta`` per feature or channel (Ioffe and Szegedy, 2015).

    Mean and variance are those of the batch while training, else the running ones, which each training step moves towards those of its
    batch: ``decay * old + (1 - decay) * new``. Shapes: x (batch, n), (batch, n, height, width), or NHWC -> the same.

    Parameters
    ----------
    n_in : int
        Number of features or channels; 0 where the input type says it. ``n_out`` is the same.
    decay : float
        Weight of the old running mean and variance, from 0 to 1; 0.9 by default.
    eps : float
        Added to the variance; 1e-5 by default.
    gamma, beta : float
        First values of the learned scale and shift, 1 and 0 by default. Locked ones act only where gamma is not 1 and beta is not 0,
        as in DL4J.
    lock_gamma_beta : bool
        Whether gamma and beta are no parameters but keep their values; False by default.
    use_log_std : bool
        Whether files and parameters hold the running deviation, by its logarithm (base 10), instead of the running variance; True by
        default.
    data_format : CNN2DFormat or str
        ``NCHW`` (default) or ``NHWC`` of images; that of the input type where the network has one.
    minibatch, cudnn_allow_fallback : bool
        Stand in DL4J's files; without effect, there on the CPU and here.
    activation : str, Activation or IActivation
        Stands in DL4J's files; not applied, there and here: put an `ActivationLayer` behind.

    Raises
    ------
    ShapeError
        Arrays with other than two or four axes: series and volumes.

    Examples
    --------
    >>> BatchNormalization().set_n_in(InputType.convolutional(5, 5, 3)).n_out
    3
    """

    takes_dropout: ClassVar[bool] = False
    dl4j_type: ClassVar[LayerType | None] = LayerType.NORMALIZATION
    preprocessor_rule: ClassVar[Rule] = automatic.unflattened
    weight_names: ClassVar[tuple[str, ...]] = ()
    arguments: ClassVar[tuple[str, ...]] = ("decay", "minibatch")
    data_format: Convertible[CNN2DFormat] = field(default=CNN2DFormat.NCHW, json="cnn2DFormat", aliases=("cnn2d_format",))
    decay: float = field(default=0.9, kw_only=False)
    eps: float = 1e-5
    minibatch: bool = field(default=True, json="minibatch", aliases=("is_minibatch",), kw_only=False)
    gamma: float = 1.0
    beta: float = 0.0
    lock_gamma_beta: bool = False
    cudnn_allow_fallback: bool = field(default=True, aliases=("helper_allow_fallback",))
    use_log_std: bool = True
    constrain_gamma: InitVar[Any] = constrainer("gamma")
    constrain_beta: InitVar[Any] = constrainer("beta")

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        if args and isinstance(args[-1], bool) and len(args) != 2:
            return {"lock_gamma_beta": args[-1], **positional(cls.__name__, ("gamma", "beta"), *args[:-1])}
        if len(args) == 2 and not isinstance(args[1], bool):
            return dict(zip(("gamma", "beta"), args))
        return positional(cls.__name__, cls.arguments, *args)

    def define_parameters(self, params: ParameterTable) -> None:
        if not self.lock_gamma_beta:
            params.add(Parameter("gamma", (self.n_out,), "unregularized", init=self.gamma))
            params.add(Parameter("beta", (self.n_out,), "unregularized", init=self.beta))
        params.statistic("mean", (self.n_out,))
        params.statistic("log10stdev" if self.use_log_std else "var", (self.n_out,), 0.0 if self.use_log_std else 1.0)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        rank = len(x.spec.shape or ())
        if rank not in (2, 4):
            raise ShapeError(f"{self.label} takes rows (batch, n) or images with four axes; got an array with {rank} axes")
        axis = 3 if rank == 4 and self.data_format is CNN2DFormat.NHWC else 1
        mean = params["mean"]
        variance = self.variance(sd, params)
        free = [] if self.lock_gamma_beta else [params["gamma"], params["beta"]]
        y, m, v = sd.add_op(BatchNormTraining(axis, self.eps), [x, mean, variance, *free])
        params.move("mean", (mean - m) * (1 - self.decay))
        if self.use_log_std:
            moved = variance * self.decay + v * (1 - self.decay)
            params.move("log10stdev", params["log10stdev"] - sd.call("math", "log", moved) * (0.5 / math.log(10)))
        else:
            params.move("var", (variance - v) * (1 - self.decay))
        if self.lock_gamma_beta and self.gamma != 1 and self.beta != 0:
            y = y * self.gamma + self.beta
        return y  # type: ignore[no-any-return]

    def variance(self, sd: SameDiff, params: LayerScope) -> SDVariable:
        """The running variance; it may be kept as the logarithm of the standard deviation."""
        if not self.use_log_std:
            return params["var"]
        return sd.call("math", "exp", params["log10stdev"] * (2 * math.log(10)))  # type: ignore[no-any-return]

    def output_type(self, input_type: InputType) -> InputType:
        if not (isinstance(input_type, InputTypeRecurrent) and input_type.pooled):
            self.expects(input_type, InputTypeFeedForward, InputTypeConvolutional, InputTypeConvolutional3D, InputTypeConvolutionalFlat)
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
class LocalResponseNormalization(NoParamLayer, LocalResponseNormalizationNames):
    """``x / (k + alpha * sum of squares over neighbouring channels)^beta`` (Krizhevsky et al., 2012).

    Shapes: x (batch, channels, height, width), or NHWC -> the same. The sum takes channels c - n // 2 to c + n // 2, as far as they
    exist.

    Parameters
    ----------
    k, n, alpha, beta : float
        The constants: 2, 5, 1e-4 and 0.75 by default. ``n`` is at least 1 and rounded down. As in DL4J three by position are k, alpha and
        beta.
    data_format : CNN2DFormat or str
        ``NCHW`` (default) or ``NHWC``; that of the input type where the network has one.
    cudnn_allow_fallback : bool
        For cuDNN in DL4J; kept in files, without effect here.
    """

    takes_dropout: ClassVar[bool] = False
    dl4j_type: ClassVar[LayerType | None] = LayerType.NORMALIZATION
    preprocessor_rule: ClassVar[Rule] = automatic.to_images
    arguments: ClassVar[tuple[str, ...]] = ("k", "n", "alpha", "beta")
    k: float = field(default=2.0, kw_only=False)
    n: float = field(default=5.0, kw_only=False)
    alpha: float = field(default=1e-4, kw_only=False)
    beta: float = field(default=0.75, kw_only=False)
    cudnn_allow_fallback: bool = field(default=True, aliases=("helper_allow_fallback",))
    data_format: Convertible[CNN2DFormat] = CNN2DFormat.NCHW

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        return positional(cls.__name__, ("k", "alpha", "beta") if len(args) == 3 else cls.arguments, *args)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        axis = 1 if self.data_format is CNN2DFormat.NCHW else 3
        if self.n < 1:
            raise ConfigurationError(f"{self.label}: n must be at least 1; got {self.n}")
        total = sd.add_op(NeighbourSum(int(self.n) // 2, axis), [x * x])
        return x * (total * self.alpha + self.k) ** (-self.beta)  # type: ignore[no-any-return]

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        self.expects(input_type, InputTypeConvolutional)
        assert isinstance(input_type, InputTypeConvolutional)
        return self.replace(data_format=input_type.format)
