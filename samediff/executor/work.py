"""How much work a node is: floating point operations, by family of ops, and bytes that have to be moved."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ..base.spec import TensorSpec
from ..expressions.scalar_node import nodes
from ..families.families import Elementwise
from ..families.reduction import Reduction
from ..ir.node import Node

Specs = Mapping[str, TensorSpec]

#: Operations for an element of the first input, about.
PER_ELEMENT = {"softmax": 4, "softmax_grad": 4, "softmax_bp": 8, "log_softmax": 4, "log_softmax_grad": 4, "sum_to": 1, "spread_sum": 1,
               "moments": 4, "standardize": 6, "batch_norm_training": 8, "batch_norm_training_grad": 10, "batch_norm_inference": 2,
               "cumsum": 1, "cumprod": 1, "argmax": 1, "argmin": 1, "argamax": 1, "argamin": 1, "iamax": 1, "iamin": 1, "gather_bp": 1,
               "dropout": 2, "dropout_inverted": 2, "dropout_grad": 1, "layer_noise": 2, "layer_noise_gradient": 1, "scatter_add": 1}

#: What only moves numbers, or makes them from nothing.
MOVES = frozenset((
    "spread", "broadcast_like", "broadcast_to", "gather", "gather_nd", "embedding_lookup", "onehot", "concat", "concat_part", "stack",
    "unstack", "split", "split_v", "tile", "repeat", "index", "slice", "strided_slice", "create_view", "permute", "transpose",
    "reverse", "align_axes", "reshape", "reshape_like", "expand_dims", "squeeze", "flatten_2d", "flatten", "reshape_examples",
    "identity", "cast", "copy", "assign", "pad", "stop_gradient", "fill", "create", "range", "eye", "zeros_as", "ones_as", "shape_of",
    "size", "rank", "series_rows", "rows_series", "scatter_update", "last_row", "put_rows", "set_shape", "noop", "kept",
))

#: Products of matrices where no axis is shared by both factors and the result.
_PRODUCTS = frozenset(("project_heads", "project_heads_input", "project_heads_weights"))

#: Where the two weight matrices of a sequence stand among the inputs, and its number of gates.
_SEQUENCES = {"lstm_sequence": (1, 2, 4), "rnn_sequence": (1, 2, 1), "gru_sequence": (2, 3, 3)}


def flops_of(node: Node, specs: Specs) -> int | None:
    """Additions, multiplications, comparisons and function values that a node takes, about; None where that is not known.

    A product of (n, k) and (k, m) counts 2 n k m, an elementwise op one for each scalar function in it.
    """
    given = [None if n is None else specs.get(n.removeprefix("~")) for n in node.inputs]
    every = [s for s in given if s is not None]
    made = [specs[n] for n in node.outputs]
    if node.op.id in MOVES:
        return 0
    if not every or not all(s.is_static for s in (*every, *made)):
        return None
    if isinstance(node.op, Elementwise):
        found = node.op.expressions([s.dtype.numpy for s in every]) if all(s.dtype.is_numeric for s in every) else ()
        return max(map(_size, made)) * operations(found)
    rule = _RULES.get(node.op.id) or _RULES.get(node.op.id.removesuffix("_grad"))
    if rule is not None:
        return rule(node, given, made)
    if node.op.id in PER_ELEMENT:
        return PER_ELEMENT[node.op.id] * _size(every[0])
    return _size(every[0]) if isinstance(node.op, Reduction) else None


def operations(exprs: Any) -> int:
    """Scalar functions in expressions; common parts count once."""
    return sum(e.op not in ("input", "constant", "cast") for e in nodes(exprs)) if exprs else 0


def sizes_of(array: Any) -> int:
    """Bytes of an array in memory: what is repeated along an axis is there once."""
    return int(math.prod([n for n, s in zip(array.shape, array.strides) if s] or [min(array.size, 1)])) * int(array.itemsize)


def _size(spec: Any) -> int:
    return int(math.prod(spec.shape))


def _matmul(node: Node, given: Any, made: Any) -> int:
    x, op = given[0].shape, node.op
    depth = x[-2 if getattr(op, "transpose_x", False) and len(x) > 1 else -1]
    return 2 * _size(made[0]) * int(depth)


def _batched(node: Node, given: Any, made: Any) -> int:
    op: Any = node.op
    left = given[2 if op.scaled else 0]
    return sum(2 * _size(m) * int(left.shape[-2 if op.transpose_a else -1]) for m in made)


def _tensordot(node: Node, given: Any, made: Any) -> int:
    op: Any = node.op
    return 2 * _size(made[0]) * int(math.prod(given[0].shape[d] for d in op.dimensions_x))


def _distinct(node: Node, given: Any, made: Any) -> int:
    return 2 * math.isqrt(_size(given[0]) * _size(given[1]) * _size(made[0]))


def _convolution(image: Callable[[Any, Any], Any], weights: Callable[[Any, Any], Any]) -> Callable[[Node, Any, Any], int]:
    """The rule of a convolution or one of its transposes, by where the result of the convolution and the weights stand."""
    def rule(node: Node, given: Any, made: Any) -> int:
        op: Any = node.op
        shape = weights(given, made).shape
        geometry = op.geometry(shape) if callable(op.geometry) else op.geometry
        kernel, channels, _ = geometry.weight_sizes(shape)
        return 2 * _size(image(given, made)) * int(math.prod(kernel) * (1 if geometry.depthwise else channels))
    return rule


def _pooling(node: Node, given: Any, made: Any) -> int:
    op: Any = node.op
    pool = op.pool() if callable(op.pool) else op.pool
    return min(map(_size, (*(s for s in given if s is not None), *made))) * int(math.prod(pool.window.kernel))


def _sequence(node: Node, given: Any, made: Any) -> int:
    back = node.op.id.endswith("_grad")
    first, second, gates = _SEQUENCES[node.op.id.removesuffix("_grad")]
    steps, examples = given[0].shape[:2]
    products = 2 * (_size(given[first]) + _size(given[second]))
    return int(steps * examples * (products + 4 * gates * given[second].shape[0]) * (2 if back else 1))


_forward = _convolution(lambda given, made: made[0], lambda given, made: given[1])
_transposed = _convolution(lambda given, made: given[0], lambda given, made: given[1])
_RULES: dict[str, Callable[[Node, Any, Any], int]] = {
    "matmul": _matmul, "batched_gemm": _batched, "tensordot": _tensordot, **dict.fromkeys(_PRODUCTS, _distinct),
    **dict.fromkeys(("convolution", "conv1d", "conv2d", "conv3dnew", "depthwise_conv2d"), _forward),
    **dict.fromkeys(("deconv2d", "deconv3d"), _transposed),
    "convolution_data_grad": _convolution(lambda given, made: given[1], lambda given, made: given[0]),
    "convolution_weight_grad": _convolution(lambda given, made: given[1], lambda given, made: made[0]),
    **dict.fromkeys(("maxpool2d", "avgpool2d", "pnormpool2d", "max_pool_with_argmax", "maxpool3dnew", "avgpool3dnew",
                     "window_sum", "window_spread", "window_scatter", "window_gather"), _pooling),
    **dict.fromkeys(_SEQUENCES, _sequence),
}
