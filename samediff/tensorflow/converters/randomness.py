"""Random numbers, which are those of this library; seeds in the file are passed over."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...ir.op import OPS
from ...onnx.node import OnnxNode
from .table import added, tensorflow

_UNIFORM = ("RandomUniform", "StatelessRandomUniform", "StatelessRandomUniformV2")
_NORMAL = ("RandomStandardNormal", "StatelessRandomNormal", "StatelessRandomNormalV2")
_TRUNCATED = ("TruncatedNormal", "StatelessTruncatedNormal", "StatelessTruncatedNormalV2")


def _type(node: OnnxNode) -> DataType:
    return DataType.of(node.get("dtype", np.dtype(np.float32)))


@tensorflow(*_UNIFORM)
def uniform(node: OnnxNode, sizes: Any, *seeds: Any) -> Any:
    """Numbers from 0 to 1."""
    return added(node, OPS["randomuniform"](min=0.0, max=1.0, data_type=_type(node)), sizes)


@tensorflow(*_NORMAL)
def normal(node: OnnxNode, sizes: Any, *seeds: Any) -> Any:
    """Numbers of mean 0 and deviation 1."""
    return added(node, OPS["random_normal"](mean=0.0, stddev=1.0, data_type=_type(node)), sizes)


@tensorflow(*_TRUNCATED)
def truncated(node: OnnxNode, sizes: Any, *seeds: Any) -> Any:
    """The same within two deviations."""
    return node.op("random.normal_truncated", 0.0, 1.0, _type(node), sizes)


@tensorflow("RandomUniformInt", "StatelessRandomUniformInt", "StatelessRandomUniformIntV2")
def whole(node: OnnxNode, sizes: Any, *others: Any) -> Any:
    """Whole numbers between two bounds."""
    low, high = others[-2:]
    return added(node, OPS["randomuniform"](data_type=DataType.of(low.dtype)), sizes, low, high)


@tensorflow("Multinomial", "StatelessMultinomial")
def multinomial(node: OnnxNode, logits: Any, count: Any, *seeds: Any) -> Any:
    """Classes drawn by their log-probabilities."""
    kind = node.get("output_dtype", np.dtype(np.int64))
    return added(node, OPS["random_multinomial"](dimension=0, data_type=DataType.of(kind)), logits, count)


@tensorflow("RandomShuffle")
def shuffle(node: OnnxNode, x: Any) -> Any:
    """Slices in another order."""
    return added(node, OPS["random_shuffle"](), x)


@tensorflow("RandomGamma")
def gamma(node: OnnxNode, sizes: Any, alpha: Any) -> Any:
    """Numbers of a gamma distribution."""
    return added(node, OPS["random_gamma"](), sizes, alpha)


@tensorflow("RandomPoisson", "RandomPoissonV2")
def poisson(node: OnnxNode, sizes: Any, rate: Any) -> Any:
    """Counts of a Poisson distribution."""
    kind = node.get("dtype", np.dtype(np.int64))
    wide = rate if rate.dtype.kind == "f" else rate.astype(np.float32)
    return added(node, OPS["random_poisson"](), sizes, wide).astype(kind)


@tensorflow("StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg", "StatelessRandomGetAlg")
def seeds(node: OnnxNode, *seeds: Any) -> Any:
    """What other operators pass over."""
    return np.zeros(1, np.uint64), np.zeros(2, np.uint64), np.asarray(1, np.int32)
