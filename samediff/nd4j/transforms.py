"""``Transforms``: functions of arrays, in place or on copies, and distances."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import INDArray
from ..arrays.methods.reducing import spread
from ..arrays.numpy_calls import call
from ..arrays.orders import arranged, order_like
from ..arrays.pairs import cast, type_of
from ..arrays.plain_arguments import truth
from ..base.datatype import DataType
from ..base.java_names import TransformsNames
from ..base.spec import normalize_axis
from ..errors import DataTypeError, ShapeError
from ..families.array_code.symbolic_size import may_be_equal
from ..families.elementwise import promoted
from ..ir.translate_errors import refusing
from .arguments import axes_of, is_type
from .running import plain_number, run, written

#: Functions of one array: name to op.
_SAME = ("abs", "acos", "asin", "atan", "atanh", "ceil", "cos", "cosh", "elu", "exp", "expm1", "floor", "hard_sigmoid", "identity", "log",
         "log1p", "neg", "relu", "relu6", "round", "sigmoid", "sign", "sin", "sinh", "softmax", "softsign", "sqrt", "step", "tan", "tanh")
_UNARY = dict(zip(_SAME, _SAME)) | {
    "ceiling": "ceil", "hard_tanh": "hardtanh", "hard_tanh_derivative": "hardtanhderivative", "leaky_relu": "leakyrelu",
    "sigmoid_derivative": "_sigmoidderivative", "soft_plus": "softplus", "softsign_derivative": "softsignderivative",
    "times_one_minus": "timesoneminus"}

#: Functions of one array and a number: name to op and attribute.
_WITH_NUMBER = {"leaky_relu": ("leakyrelu", "alpha"), "leaky_relu_derivative": ("leakyreluderivative", "alpha"), "log": ("log_x", "base")}

#: Functions of two arrays, and of an array and a number.
_PAIRWISE: dict[str, tuple[str, tuple[str, str] | None]] = {
    "max": ("maximum", ("max_scalar", "scalar")), "min": ("minimum", ("scalar_min", "scalar")), "pow": ("Pow", ("pow", "value")),
    "greater_than_or_equal": ("greater_equal", ("greaterthanorequal_scalar", "scalar")),
    "less_than_or_equal": ("less_equal", ("lessthanorequal_scalar", "scalar")), "elu_derivative": ("elu_bp", None),
}

#: Ops of these that want one type.
_OF_ONE_TYPE = ("maximum", "minimum", "greater_equal", "less_equal")

#: Distances of two arrays, as numbers.
_DISTANCES = {"cosine_sim": "cosinesimilarity", "cosine_distance": "cosinedistance", "euclidean_distance": "euclidean",
              "manhattan_distance": "manhattan", "hamming_distance": "hammingdistance", "jaccard_distance": "jaccarddistance"}
#: Distances of each slice of one array to each of another.
_ALL = {"all_cosine_similarities": "cosine_sim", "all_cosine_distances": "cosine_distance",
        "all_euclidean_distances": "euclidean_distance", "all_manhattan_distances": "manhattan_distance"}


def _kept(result: Any, x: Any, dup: bool) -> Any:
    """A copy in the order of x, or x with the result in it where it has the same type."""
    if truth(dup, "dup"):
        return arranged(result, order_like(x, result))
    return result if DataType.of(result.dtype) is not DataType.of(x.dtype) else written(result, x)


def _alike(x: Any, y: Any) -> tuple[Any, Any]:
    """Two arrays in the type that has a point, else in that of the first."""
    kind = promoted(type_of(x), type_of(y))
    return cast(x, kind), cast(y, kind)


def _unary(name: str) -> Any:
    op_id = _UNARY.get(name)

    def function(x: Any, *how: Any, dup: bool = True) -> INDArray:
        number = next((v for v in how if not isinstance(v, (bool, np.bool_))), None)
        dup = next((bool(v) for v in how if isinstance(v, (bool, np.bool_))), dup)
        if number is not None and name in _WITH_NUMBER:
            with_number, attribute = _WITH_NUMBER[name]
            return _kept(run(with_number, x, **{attribute: plain_number(number)}), x, dup)  # type: ignore[no-any-return]
        if number is not None or op_id is None:
            number_too = ", a number" if name in _WITH_NUMBER else ""
            raise DataTypeError(f"Transforms.{name} takes an array{number_too} and whether to make a copy (True)")
        return _kept(run(op_id, x), x, dup)  # type: ignore[no-any-return]
    extra = f", or ``{_WITH_NUMBER[name][0]}`` with a number" if name in _WITH_NUMBER else ""
    function.__doc__ = f"The op ``{op_id}``{extra}; ``dup`` False, also as the last argument, writes into ``x``."
    return staticmethod(function)


def _pairwise(name: str) -> Any:
    op_id, scalar = _PAIRWISE[name]

    def function(x: Any, y: Any, dup: bool = True) -> INDArray:
        if scalar is not None and not hasattr(y, "shape"):
            found = run(scalar[0], x, **{scalar[1]: plain_number(y)})
        else:
            found = run(op_id, *(_alike(x, y) if op_id in _OF_ONE_TYPE else (x, y)))
            if dup and op_id in ("maximum", "minimum"):
                return arranged(found, "C")  # type: ignore[no-any-return]
        return _kept(found, x, dup)  # type: ignore[no-any-return]
    function.__doc__ = f"The op ``{op_id}`` of two arrays{', or of an array and a number' if scalar else ''}; ``dup`` False writes into x."
    return staticmethod(function)


def _distance(name: str) -> Any:
    def function(x: Any, y: Any) -> float:
        return float(run(_DISTANCES[name], x, y))
    function.__doc__ = f"The op ``{_DISTANCES[name]}`` of all elements, as a number."
    return staticmethod(function)


def _distances(name: str) -> Any:
    of = _DISTANCES[_ALL[name]]

    def function(x: Any, y: Any, *axes: Any) -> INDArray:
        inner = axes_of(axes)
        rows = [_slices(a, inner) for a in (x, y)]
        if not may_be_equal(rows[0].shape[1:], rows[1].shape[1:]):
            raise ShapeError(f"Transforms.{name}: slices along {inner} have {rows[0].shape[1]} and {rows[1].shape[1]} elements")
        wide = [run("tile", run("reshape", rows[0], shape=(len(rows[0]), 1, -1)), repeat=(1, len(rows[1]), 1)),
                run("tile", run("reshape", rows[1], shape=(1, len(rows[1]), -1)), repeat=(len(rows[0]), 1, 1))]
        return run(of, *wide, dimensions=(2,))  # type: ignore[no-any-return]
    function.__doc__ = f"The op ``{of}`` of each slice of x along the axes with each of y: a matrix."
    return staticmethod(function)


def _slices(array: Any, axes: tuple[int, ...]) -> Any:
    rank, shape = len(array.shape), tuple(array.shape)
    inner = sorted(normalize_axis(a, rank) for a in axes)
    outer = [a for a in range(rank) if a not in inner]
    moved = call(np.transpose, array, [*outer, *inner])
    return call(np.reshape, moved, (math.prod(shape[a] for a in outer), math.prod(shape[a] for a in inner)))


class TransformFunctions:
    """The functions of the tables."""


def _add(names: Any, make: Callable[[str], Any]) -> None:
    for name in names:
        setattr(TransformFunctions, name, make(name))


_add({**_UNARY, **_WITH_NUMBER}, _unary)
_add(_PAIRWISE, _pairwise)
_add(_DISTANCES, _distance)
_add(_ALL, _distances)
refusing("Transforms")(TransformFunctions)


@refusing("Transforms")
class Transforms(TransformFunctions, TransformsNames):
    """Functions of arrays: ``Transforms.sigmoid(x)`` gives a copy, ``Transforms.sigmoid(x, False)`` writes into x.

    Besides those that are written out here there are the functions of one array (``abs``, ``exp``, ``relu``, ``softmax`` …), of two
    (``max``, ``min``, ``pow``, ``atan2`` …) and distances (``cosineSim``, ``allEuclideanDistances`` …).

    Examples
    --------
    >>> from dl4py import Nd4j, Transforms
    >>> Transforms.relu(Nd4j.create([-1, 2])).tolist()
    [0.0, 2.0]
    """

    @staticmethod
    def _truth(x: Any) -> Any:
        return x if np.dtype(x.dtype) == np.bool_ else run("cast", x, data_type=DataType.BOOL)

    @staticmethod
    def and_(x: Any, y: Any) -> INDArray:
        """True where both are true (not 0); BOOL."""
        return _kept(run("and", Transforms._truth(x), Transforms._truth(y)), x, True)  # type: ignore[no-any-return]

    @staticmethod
    def or_(x: Any, y: Any) -> INDArray:
        """True where at least one is true; BOOL."""
        return _kept(run("or", Transforms._truth(x), Transforms._truth(y)), x, True)  # type: ignore[no-any-return]

    @staticmethod
    def xor(x: Any, y: Any) -> INDArray:
        """True where exactly one is true; BOOL."""
        return _kept(run("xor", Transforms._truth(x), Transforms._truth(y)), x, True)  # type: ignore[no-any-return]

    @staticmethod
    def not_(x: Any) -> INDArray:
        """True where the element is false (0); BOOL."""
        return run("boolean_not", Transforms._truth(x))  # type: ignore[no-any-return]

    @staticmethod
    def atan2(x: Any, y: Any) -> INDArray:
        """Angle of the points (x, y): x comes first, against the usual order."""
        x, y = _alike(x, y)
        return _kept(run("tf_atan2", y, x), x, True)  # type: ignore[no-any-return]

    @staticmethod
    def dot(x: Any, y: Any) -> INDArray:
        """Sum of the products of elements."""
        return run("dot", x, y)  # type: ignore[no-any-return]

    @staticmethod
    def cross(x: Any, y: Any) -> INDArray:
        """Cross products of vectors of three elements on the last axis."""
        return run("cross", x, y)  # type: ignore[no-any-return]

    @staticmethod
    def eps(x: Any, y: Any) -> INDArray:
        """True where two arrays differ by less than 1e-5; BOOL."""
        return run("eps", x, y)  # type: ignore[no-any-return]

    @staticmethod
    def mpow(x: Any, n: int, dup: bool = True) -> INDArray:
        """A square matrix times itself, n factors; its inverse for n below 0, the identity for n = 0."""
        if len(x.shape) != 2 or x.shape[0] != x.shape[1]:
            raise ShapeError(f"Transforms.mpow takes a square matrix; got shape {tuple(x.shape)}")
        factor = run("matrix_inverse", x) if n < 0 else x
        found = factor if n else INDArray.of(np.eye(x.shape[0], dtype=x.dtype))
        for _ in range(abs(n) - 1):
            found = run("matmul", found, factor)
        return _kept(call(np.copy, x) if n == 1 and dup else found, x, truth(dup, "dup"))  # type: ignore[no-any-return]

    @staticmethod
    def is_max(x: Any, result: Any = None) -> INDArray:
        """1 at the first largest element in memory, else 0: in place, in a copy of the data type given, or in the array given."""
        in_columns = order_like(x, x) == "F" and x.flags.f_contiguous
        mask = call(np.transpose, run("ismax", call(np.transpose, x))) if in_columns else run("ismax", x)
        if is_type(result):
            return arranged(run("cast", mask, data_type=DataType.of(result)), order_like(x, x))  # type: ignore[no-any-return]
        return written(run("cast", mask, data_type=DataType.of(x.dtype)), x if result is None else result)  # type: ignore[no-any-return]

    @staticmethod
    def unit_vec(x: Any) -> INDArray:
        """A vector over its norm, in place; a vector of zeros stays."""
        if len(tuple(x.shape)) != 1 and max(tuple(x.shape), default=1) != int(np.prod(tuple(x.shape))):
            raise ShapeError(f"Transforms.unitVec takes a vector; got shape {tuple(x.shape)}")
        norm = run("reduce_norm2", x)
        return written(run("divide", x, call(np.where, norm == 0, norm.dtype.type(1), norm)), x)  # type: ignore[no-any-return]

    @staticmethod
    def normalize_zero_mean_and_unit_variance(x: Any) -> INDArray:
        """Rows of a matrix minus the means of the columns, over their deviations (divisor n - 1, plus 1e-5), in place."""
        if not type_of(x).is_floating or len(x.shape) not in (1, 2):
            raise DataTypeError("Transforms.normalizeZeroMeanAndUnitVariance takes a matrix of floating numbers, and writes into it; got "
                                f"{type_of(x).name} of shape {tuple(x.shape)}")
        mean = run("reduce_mean", x, dimensions=(0,))
        deviation = run("add_scalar", spread("std", x, (0,)), scalar=1e-5)
        return written(run("divide", run("subtract", x, mean), deviation), x)  # type: ignore[no-any-return]

    @staticmethod
    def stabilize(x: Any, k: float, dup: bool = True) -> INDArray:
        """Elements cut where ``exp(k x)`` would leave the range of float32."""
        return _kept(run("stabilize", x, k=float(k)), x, dup)  # type: ignore[no-any-return]

    @staticmethod
    def reverse(x: Any, dup: bool = True) -> INDArray:
        """All elements from the last to the first, in c order."""
        turned = run("reverse", run("reshape", x, shape=(-1,)), dimensions=(0,))
        return _kept(run("reshape", turned, shape=tuple(x.shape)), x, dup)  # type: ignore[no-any-return]
