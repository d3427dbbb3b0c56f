"""The modules of PyTorch that are layers here: what each becomes."""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...layers.base.base import Layer
from ...layers.functions import activations as functions
from ...layers.functions.dropout import AlphaDropout, Dropout, SpatialDropout
from ...layers.preprocessors import CnnToFeedForwardPreProcessor, InputPreProcessor
from ...layers.preprocessors.flatten import Cnn3DToFeedForwardPreProcessor
from ...layers.standard.convolution import (
    Convolution1DLayer,
    Convolution3D,
    ConvolutionLayer,
    Deconvolution2D,
    Deconvolution3D,
    DepthwiseConvolution2D,
)
from ...layers.standard.feed_forward import ActivationLayer, DenseLayer, DropoutLayer, PReLULayer
from ...layers.standard.normalization import BatchNormalization
from ...layers.standard.pooling import GlobalPoolingLayer, Subsampling1DLayer, Subsampling3DLayer, SubsamplingLayer
from ...layers.standard.spatial import Upsampling1D, Upsampling2D, Upsampling3D, ZeroPadding1DLayer, ZeroPaddingLayer
from ...layers.types.formats import ConvolutionMode, PoolingType
from ..keras.own.normalization import GroupNormalization, LayerNormalization
from ..keras.own.shaping import ReshapeLayer

Part = Layer | InputPreProcessor


class NotALayerError(Exception):
    """A module, or an option of one, that no layer here has; the whole becomes a graph then."""


@dataclass(frozen=True)
class TorchModule:
    """A module among others, and the shape of what it is given.

    Parameters
    ----------
    path : str
        Its name in the whole.
    kind : str
        The name of its class.
    options : object
        Its attributes.
    shape : tuple of int
        Of an example, without the batch.
    """

    path: str
    kind: str
    options: Any
    shape: tuple[int, ...]

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute."""
        return getattr(self.options, name, default)

    def each(self, name: str, count: int, default: Any = 0) -> tuple[int, ...]:
        """An attribute, one number for each axis."""
        value = self.get(name, default)
        return tuple(value) if isinstance(value, (list, tuple)) else (value,) * count

    def needs(self, good: bool) -> None:
        """NotALayerError unless good."""
        if not good:
            raise NotALayerError(f"{self.path} ({self.kind})")

    @property
    def has_bias(self) -> bool:
        """Whether there is a bias."""
        return self.get("bias") is not None and self.get("bias") is not False


Make = Callable[[TorchModule], Part | None]
MODULES: dict[str, Make] = {}


def torch_module(*kinds: str) -> Callable[[Make], Make]:
    """Register what modules become; None for those that change nothing."""
    def register(make: Make) -> Make:
        MODULES.update(dict.fromkeys(kinds, make))
        return make
    return register


def part_of(module: TorchModule) -> Part | None:
    """The layer or preprocessor of a module.

    Raises
    ------
    NotALayerError
        There is none that does the same.
    """
    make = MODULES.get(module.kind)
    if make is None:
        raise NotALayerError(f"{module.path} ({module.kind})")
    return make(module)


@torch_module("Identity")
def identity(m: TorchModule) -> Part | None:
    return None


@torch_module("Linear")
def linear(m: TorchModule) -> Part:
    m.needs(len(m.shape) == 1)
    return DenseLayer(n_in=m.get("in_features"), n_out=m.get("out_features"), has_bias=m.has_bias, activation="identity")


def _rank(m: TorchModule) -> int:
    rank = int(next(c for c in m.kind if c.isdigit()))
    m.needs(len(m.shape) == rank + 1)
    return rank


@torch_module("Conv1d", "Conv2d", "Conv3d")
def convolution(m: TorchModule) -> Part:
    rank = _rank(m)
    n_in, n_out, groups, padding = (m.get(n) for n in ("in_channels", "out_channels", "groups", "padding"))
    m.needs(m.get("padding_mode", "zeros") == "zeros" and (groups == 1 or (rank == 2 and groups == n_in)))
    same = padding == "same"
    pads = (0,) * rank if isinstance(padding, str) else m.each("padding", rank)
    more = (1,) if rank == 1 else ()
    fields: dict[str, Any] = {
        "n_in": n_in, "n_out": n_out, "has_bias": m.has_bias, "activation": "identity", "kernel_size": m.each("kernel_size", rank) + more,
        "stride": m.each("stride", rank) + more, "padding": pads + (0,) * len(more), "dilation": m.each("dilation", rank, 1) + more,
        "convolution_mode": ConvolutionMode.Same if same else ConvolutionMode.Truncate}
    if groups != 1:
        return DepthwiseConvolution2D(depth_multiplier=n_out // n_in, **fields)
    kinds: tuple[Any, ...] = (Convolution1DLayer, ConvolutionLayer, Convolution3D)
    return kinds[rank - 1](**fields)  # type: ignore[no-any-return]


@torch_module("ConvTranspose2d", "ConvTranspose3d")
def transposed(m: TorchModule) -> Part:
    rank = _rank(m)
    m.needs(m.get("groups") == 1 and not any(m.each("output_padding", rank)) and m.get("padding_mode", "zeros") == "zeros")
    m.needs(set(m.each("dilation", rank, 1)) == {1})
    kind: Any = Deconvolution2D if rank == 2 else Deconvolution3D
    return kind(n_in=m.get("in_channels"), n_out=m.get("out_channels"), has_bias=m.has_bias,  # type: ignore[no-any-return]
                activation="identity", kernel_size=m.each("kernel_size", rank), stride=m.each("stride", rank),
                padding=m.each("padding", rank), convolution_mode=ConvolutionMode.Truncate)


@torch_module("BatchNorm1d", "BatchNorm2d")
def batch_norm(m: TorchModule) -> Part:
    m.needs(len(m.shape) in (1, 3) and m.get("track_running_stats", True) and m.get("momentum", 0.1) is not None)
    size = m.get("num_features")
    return BatchNormalization(n_in=size, n_out=size, decay=1 - m.get("momentum", 0.1), eps=m.get("eps", 1e-5), use_log_std=False,
                              lock_gamma_beta=not m.get("affine", True))


@torch_module("LayerNorm")
def layer_norm(m: TorchModule) -> Part:
    shape = tuple(m.get("normalized_shape"))
    m.needs(m.get("elementwise_affine", True) and m.shape[-len(shape):] == shape)
    first = len(m.shape) - len(shape) + 1
    return LayerNormalization(axes=tuple(range(first, len(m.shape) + 1)), shape=shape, eps=m.get("eps", 1e-5), center=m.has_bias)


@torch_module("GroupNorm")
def group_norm(m: TorchModule) -> Part:
    m.needs(m.get("affine", True) and len(m.shape) > 1)
    return GroupNormalization(groups=m.get("num_groups"), axis=1, sizes=m.shape, eps=m.get("eps", 1e-5),
                              shape=(m.shape[0], *[1] * (len(m.shape) - 1)))


#: Activations by the names of modules, as functions of these.
_ACTIVATIONS: dict[str, Callable[[TorchModule], Any]] = {
    "ReLU": lambda m: functions.ActivationReLU(), "ReLU6": lambda m: functions.ActivationReLU6(),
    "Sigmoid": lambda m: functions.ActivationSigmoid(), "Tanh": lambda m: functions.ActivationTanH(),
    "Softsign": lambda m: functions.ActivationSoftSign(), "SELU": lambda m: functions.ActivationSELU(),
    "SiLU": lambda m: functions.ActivationSwish(), "Mish": lambda m: functions.ActivationMish(),
    "ELU": lambda m: functions.ActivationELU(alpha=m.get("alpha", 1.0)),
    "LeakyReLU": lambda m: functions.ActivationLReLU(alpha=m.get("negative_slope", 0.01))}


@torch_module(*_ACTIVATIONS)
def activation(m: TorchModule) -> Part:
    return ActivationLayer(activation=_ACTIVATIONS[m.kind](m))


@torch_module("Softplus")
def softplus(m: TorchModule) -> Part:
    m.needs(m.get("beta", 1) == 1)
    return ActivationLayer(activation=functions.ActivationSoftPlus())


@torch_module("Hardtanh")
def hardtanh(m: TorchModule) -> Part:
    m.needs((m.get("min_val", -1.0), m.get("max_val", 1.0)) == (-1, 1))
    return ActivationLayer(activation=functions.ActivationHardTanH())


@torch_module("Softmax")
def softmax(m: TorchModule) -> Part:
    m.needs(len(m.shape) == 1 and m.get("dim") in (1, -1))
    return ActivationLayer(activation=functions.ActivationSoftmax())


@torch_module("PReLU")
def prelu(m: TorchModule) -> Part:
    count = m.get("num_parameters", 1)
    m.needs(count == 1 or count == m.shape[0])
    shared = tuple(range(1 if count == 1 else 2, len(m.shape) + 1))
    return PReLULayer(input_shape=m.shape, shared_axes=shared or None)


@torch_module("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout")
def dropout(m: TorchModule) -> Part | None:
    p = m.get("p", 0.5)
    if p == 0:
        return None
    m.needs(p < 1)
    kind: Any = AlphaDropout if m.kind == "AlphaDropout" else SpatialDropout if m.kind[-1] == "d" else Dropout
    return DropoutLayer(dropout=kind(1 - p))


@torch_module("MaxPool1d", "MaxPool2d", "MaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d")
def pooling(m: TorchModule) -> Part:
    rank, largest = _rank(m), m.kind.startswith("Max")
    padding, dilation = m.each("padding", rank), m.each("dilation", rank, 1)
    m.needs(not m.get("ceil_mode", False) and not m.get("return_indices", False) and m.get("divisor_override") is None)
    m.needs(largest or rank == 2 or not any(padding))
    more = (1,) if rank == 1 else ()
    kernel = m.each("kernel_size", rank)
    stride = kernel if m.get("stride") is None else m.each("stride", rank)
    kind: Any = (Subsampling1DLayer, SubsamplingLayer, Subsampling3DLayer)[rank - 1]
    counted = {} if rank == 3 else {"avg_pool_include_pad_in_divisor": bool(m.get("count_include_pad", True))}
    return kind(pooling_type=PoolingType.MAX if largest else PoolingType.AVG,  # type: ignore[no-any-return]
                kernel_size=kernel + more, stride=stride + more, padding=padding + (0,) * len(more), dilation=dilation + more,
                convolution_mode=ConvolutionMode.Truncate, **counted)


@torch_module("AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d")
def global_pooling(m: TorchModule) -> Part:
    rank = _rank(m)
    m.needs(set(m.each("output_size", rank)) == {1} and not m.get("return_indices", False))
    return GlobalPoolingLayer(pooling_type=PoolingType.MAX if "Max" in m.kind else PoolingType.AVG, collapse_dimensions=False,
                              pooling_dimensions=tuple(range(2, rank + 2)))


@torch_module("Flatten")
def flatten(m: TorchModule) -> Part | None:
    m.needs(m.get("start_dim", 1) == 1 and m.get("end_dim", -1) in (-1, len(m.shape)))
    if len(m.shape) == 1:
        return None
    if len(m.shape) == 3:
        return CnnToFeedForwardPreProcessor(m.shape[1], m.shape[2], m.shape[0])
    if len(m.shape) == 4:
        return Cnn3DToFeedForwardPreProcessor(*m.shape[1:], m.shape[0], True)
    return ReshapeLayer(sizes=(math.prod(m.shape),))


@torch_module("Unflatten")
def unflatten(m: TorchModule) -> Part:
    m.needs(m.get("dim") in (1, -1) and len(m.shape) == 1)
    return ReshapeLayer(sizes=tuple(m.get("unflattened_size")))


@torch_module("Upsample", "UpsamplingNearest2d")
def upsample(m: TorchModule) -> Part:
    rank, factor = len(m.shape) - 1, m.get("scale_factor")
    factors = tuple(factor) if isinstance(factor, (list, tuple)) else (factor,) * rank
    m.needs(m.get("mode", "nearest") == "nearest" and rank in (1, 2, 3) and all(f is not None and f == int(f) for f in factors))
    kind: Any = (Upsampling1D, Upsampling2D, Upsampling3D)[rank - 1]
    return kind(size=tuple(map(int, factors)))  # type: ignore[no-any-return]


@torch_module("ZeroPad1d", "ZeroPad2d")
def zero_pad(m: TorchModule) -> Part:
    rank = _rank(m)
    pads = m.each("padding", 2 * rank)
    m.needs(min(pads) >= 0)
    return ZeroPadding1DLayer(padding=pads) if rank == 1 else ZeroPaddingLayer(padding=(*pads[2:], *pads[:2]))
