"""Functions of ``keras.ops`` in functional models: NumPy's on arrays with their batch."""
from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ....layers.types.input_type import InputType
from ....layers.vertices.base import GraphVertex, vertex
from ....samediff.base.datatype import DataType
from ....samediff.errors import ConfigurationError, did_you_mean
from .. import shapes

if TYPE_CHECKING:
    from ....layers.types.parameters import LayerScope
    from ....samediff.graph.graph import SameDiff
    from ....samediff.ir.variable import SDVariable

#: Classes of Keras that are NumPy's functions of the same arguments.
NUMPY = {
    **dict.fromkeys(("Absolute", "Abs"), "abs"), **dict.fromkeys(("Negative",), "negative"),
    **{name: name.lower() for name in (
        "Mean", "Sum", "Prod", "Max", "Min", "Std", "Var", "All", "Any", "Argmax", "Argmin", "Exp", "Expm1", "Log", "Log1p", "Log2",
        "Log10", "Sqrt", "Square", "Sin", "Cos", "Tan", "Sinh", "Cosh", "Tanh", "Arcsin", "Arccos", "Arctan", "Arcsinh", "Arccosh",
        "Arctanh", "Arctan2", "Floor", "Ceil", "Sign", "Reciprocal", "Power", "Mod", "Maximum", "Minimum", "Equal", "Less", "Greater",
        "Isnan", "Isinf", "Isfinite", "Matmul", "Transpose", "Swapaxes", "Moveaxis", "Squeeze", "Roll", "Cumsum", "Cumprod",
        "Outer", "Trace", "Tril", "Triu", "Sort", "Logaddexp")},
    "NotEqual": "not_equal", "LessEqual": "less_equal", "GreaterEqual": "greater_equal", "LogicalAnd": "logical_and",
    "LogicalOr": "logical_or", "LogicalNot": "logical_not", "LogicalXor": "logical_xor", "ExpandDims": "expand_dims",
    "FloorDivide": "floor_divide", "Amax": "max", "Amin": "min", "Fix": "trunc", "ZerosLike": "zeros_like", "OnesLike": "ones_like"}

def _along(sd: SameDiff, x: Any, axis: int, kind: str) -> Any:
    return sd.call("nn", kind, x, axis if axis >= 0 else axis + _rank(x))


def _rank(x: Any) -> int:
    return len(x.spec.shape or ())


def _split(sd: SameDiff, x: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Parts along an axis, between given places."""
    before = (slice(None),) * (axis + _rank(x) if axis < 0 else axis)
    return [x[(*before, slice(a, b))] for a, b in zip([0, *indices_or_sections], [*indices_or_sections, None])]


def _padded(sd: SameDiff, x: Any, pad_width: Any, mode: str = "constant", constant_values: float = 0.0) -> Any:
    if mode != "constant":
        raise ConfigurationError(f"padding by mode={mode!r}; constant can be imported")
    edges = np.broadcast_to(np.array(pad_width), (_rank(x), 2))
    return sd.call("nn", "pad", x, sd.constant(np.ascontiguousarray(edges)), float(constant_values or 0.0))


def _flipped(sd: SameDiff, x: Any, axis: Any = None) -> Any:
    axes = range(_rank(x)) if axis is None else axis if isinstance(axis, (list, tuple)) else [axis]
    for one in axes:
        x = sd.call("base", "reverse", x, one + _rank(x) if one < 0 else one)
    return x


def _norm(sd: SameDiff, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    return np.linalg.norm(x, ord=ord, axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdims)


def _clipped(sd: SameDiff, x: Any, x_min: Any, x_max: Any) -> Any:
    return np.minimum(np.maximum(x, x_min), x_max)


def _log_sum(sd: SameDiff, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    axis = tuple(axis) if isinstance(axis, list) else axis
    top = np.max(x, axis=axis, keepdims=True)
    found = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return found if keepdims else np.squeeze(found, axis=axis)


def _one_hot(sd: SameDiff, x: Any, num_classes: int, axis: int = -1, dtype: Any = None, sparse: bool = False) -> Any:
    if axis != -1:
        raise ConfigurationError(f"one_hot along axis={axis}; the last one can be imported")
    classes = sd.constant(np.arange(num_classes, dtype=np.float32))
    return sd.call("base", "eq", sd.call("base", "expand_dims", x, _rank(x)), classes).cast_to(DataType.FLOAT)


def _chosen(sd: SameDiff, condition: Any, x1: Any, x2: Any) -> Any:
    return np.where(condition != 0, x1, x2)


def _normalized(sd: SameDiff, x: Any, axis: int = -1, order: int = 2, epsilon: float | None = None) -> Any:
    return x / np.maximum(_norm(sd, x, order, axis, True), epsilon or 1e-7)


def _repeated(sd: SameDiff, x: Any, repeats: int, axis: int | None = None) -> Any:
    return np.repeat(x, repeats, axis=axis)


#: The others: what they are here.
OTHERS: dict[str, Callable[..., Any]] = {
    "Concatenate": lambda sd, xs, axis=-1: np.concatenate(xs, axis=axis), "Stack": lambda sd, xs, axis=0: np.stack(xs, axis=axis),
    "GetItem": lambda sd, x, key: x[tuple(key) if isinstance(key, list) else key], "Where": _chosen, "Clip": _clipped, "Split": _split,
    "Pad": _padded, "Flip": _flipped, "Norm": _norm, "Logsumexp": _log_sum, "OneHot": _one_hot, "Normalize": _normalized,
    "Repeat": _repeated, "Einsum": lambda sd, *xs, subscripts: np.einsum(subscripts, *xs),
    "Take": lambda sd, x, indices, axis=None: np.take(x, np.asarray(indices), axis=axis),
    "Reshape": lambda sd, x, newshape: np.reshape(x, tuple(newshape)), "Dot": lambda sd, x, y: np.dot(x, y),
    "Tile": lambda sd, x, repeats: np.tile(x, repeats), "Rsqrt": lambda sd, x: 1.0 / np.sqrt(x),
    "Erf": lambda sd, x: sd.call("math", "erf", x),
    "Softmax": lambda sd, x, axis=-1: _along(sd, x, axis, "softmax"),
    "LogSoftmax": lambda sd, x, axis=-1: _along(sd, x, axis, "log_softmax"),
    "Elu": lambda sd, x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0.0))),
    "StopGradient": lambda sd, x: sd.call("base", "stop_gradient", x), "Cast": lambda sd, x, dtype: x, "Identity": lambda sd, x: x,
    "Round": lambda sd, x, decimals=0: np.round(x, decimals), "BroadcastTo": lambda sd, x, shape: np.broadcast_to(x, shape),
    "Average": lambda sd, x, axis=None, weights=None: np.mean(x, axis=axis)}
KNOWN = tuple(sorted({*NUMPY, *OTHERS}))


def computed(sd: SameDiff, function: str, inputs: list[SDVariable], arguments: str) -> list[SDVariable]:
    """The results of a function; ``arguments`` are its arguments as JSON, in which inputs and slices stand as objects."""
    def value(part: Any) -> Any:
        if isinstance(part, list):
            return [value(one) for one in part]
        if isinstance(part, dict):
            return inputs[part["input"]] if "input" in part else Ellipsis if "ellipsis" in part else slice(*part["slice"])
        return part

    given = json.loads(arguments)
    args, kwargs = [value(one) for one in given["args"]], {name: value(one) for name, one in given["kwargs"].items()}
    if function in NUMPY:
        axes = {name: tuple(v) if isinstance(v, list) and name in ("axis", "axes") else v for name, v in kwargs.items()}
        found = getattr(np, NUMPY[function])(*args, **axes)
    elif function in OTHERS:
        found = OTHERS[function](sd, *args, **kwargs)
    else:
        raise ConfigurationError(f"keras.ops has no function {function!r} here{did_you_mean(function, list(KNOWN))}")
    results = list(found) if isinstance(found, (list, tuple)) else [found]
    return [x if x.dtype.is_floating else x.cast_to(inputs[0].dtype if inputs[0].dtype.is_floating else DataType.FLOAT) for x in results]


@vertex("dl4py.keras.Operation")
class OperationVertex(GraphVertex):
    """A function of ``keras.ops`` of arrays with their batch; truth values are 1 and 0.

    Parameters
    ----------
    function : str
        The class of Keras: "Mean", "Transpose", "GetItem" ...
    arguments : str
        Its arguments as JSON: ``{"args": [{"input": 0}, 1], "kwargs": {"axis": 1}}``; slices are ``{"slice": [start, stop, step]}``.
    result : int
        Which of its results, where it has several.
    """

    max_inputs: ClassVar[int | None] = None
    function: str = "Identity"
    arguments: str = '{"args": [{"input": 0}], "kwargs": {}}'
    result: int = 0

    def output_type(self, *input_types: InputType) -> InputType:
        return shapes.type_of(result_shapes(self.function, [shapes.shape_of(t) for t in input_types], self.arguments)[self.result])

    def define_vertex(self, sd: SameDiff, inputs: list[SDVariable], params: LayerScope, masks: list[SDVariable | None]) -> SDVariable:
        return computed(sd, self.function, inputs, self.arguments)[self.result]

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        return None


def result_shapes(function: str, given: list[shapes.Shape], arguments: str) -> list[shapes.Shape]:
    """The shapes of the results without the batch."""
    from ....samediff.graph.graph import SameDiff
    sd = SameDiff.create()
    inputs = [sd.placeholder(f"x{i}", DataType.FLOAT, -1, *(-1 if n is None else n for n in shape)) for i, shape in enumerate(given)]
    found = [x.spec.shape for x in computed(sd, function, inputs, arguments)]
    return [tuple(None if n < 0 else n for n in (shape or ())[1:]) for shape in found]
