"""Constructors of DL4J's ops for arrays that stand for several ops here: products with factors, numbers drawn by arrays of parameters."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...arrays.computing import apply, built_in
from ...arrays.pairs import is_array
from ...base.datatype import DataType
from ...errors import GraphError
from ...expressions.arrays import as_array
from ...expressions.conditions import Condition
from ...ir.op import Op
from ...ir.variable import SDVariable
from ...ops.linalg.mmul_transpose import MMulTranspose
from ..running import run


class Composed(NamedTuple):
    """An op that has the same attributes, inputs, the arrays that results are written into, and what computes the result of the inputs."""

    op: Op | None
    inputs: list[Any]
    outputs: list[Any]
    compute: Callable[..., Any]


def composed(name: str, args: Sequence[Any]) -> Composed | None:
    """What a constructor's arguments ask for; None where one op does it, or where they are variables of a graph."""
    if any(isinstance(a, SDVariable) for a in args):
        return None
    arrays = [a for a in args if is_array(a)]
    numbers = [a for a in args if isinstance(a, (int, float)) and not isinstance(a, bool)]
    if name == "Mmul" and len(arrays) in (2, 3) and len(numbers) == 2:
        return _product(arrays, numbers, [a for a in args if isinstance(a, (bool, MMulTranspose))])
    if name == "Histogram" and len(args) == len(arrays) == 2:
        op = built_in("histogram", num_bins=int(arrays[1].size))
        return Composed(op, arrays[:1], arrays[1:], functools.partial(apply, op))
    if name == "CompareAndSet" and len(arrays) in (2, 3) and len(args) == len(arrays) + 1 and isinstance(args[-1], Condition):
        x, y, *target = arrays
        return Composed(None, [x, y], target or [x], functools.partial(_where_second, args[-1]))
    if name in _LOGICAL and len(arrays) in (2, 3) and len(args) == len(arrays) + 1 and len(numbers) == 1:
        x, y, *target = arrays
        return Composed(None, [x, y], target or [x], functools.partial(_unlike, _LOGICAL[name], numbers[0]))
    if name in _BY_ARRAYS and len(arrays) == 2 and len(args) == 2 + len(numbers):
        target, parameters = arrays
        return Composed(None, [parameters], [target], functools.partial(_BY_ARRAYS[name], target, numbers))
    return None


def _product(arrays: Sequence[Any], factors: Sequence[float], flags: Sequence[Any]) -> Composed:
    """alpha x y + beta z."""
    x, y, *target = arrays
    alpha, beta = map(float, factors)
    turned = flags[0] if flags and isinstance(flags[0], MMulTranspose) else MMulTranspose(*flags)
    if beta and not target:
        raise GraphError(f"Mmul: beta={beta:g} is the factor of an array that the product is added to, and there is none: Mmul(x, y, z, "
                         "alpha, beta)")

    op = built_in("matmul", transpose_x=turned.transpose_x, transpose_y=turned.transpose_y, transpose_z=turned.transpose_z)
    return Composed(op, [x, y], target, functools.partial(_scaled, op, (alpha, beta), target))


#: Classes of pairs of truth values, which are those of numbers unlike another one, by default 0.
_LOGICAL = {"And": "and", "Or": "or", "Xor": "xor"}


def _unlike(op_id: str, number: float, x: Any, y: Any) -> Any:
    """The op on whether the elements of both arrays are another number."""
    return run(op_id, *(run("not_equals", v, as_array(number, v.dtype)) for v in (x, y)))


def _where_second(condition: Condition, x: Any, y: Any) -> Any:
    """y where it fulfils a condition, else x."""
    return run("Where", y, x, run("match_condition_transform", y, condition=condition))


def _scaled(op: Op, factors: Sequence[float], target: Sequence[Any], x: Any, y: Any) -> Any:
    alpha, beta = factors
    product = run("mul_scalar", apply(op, x, y), scalar=alpha)
    return run("add", product, run("mul_scalar", target[0], scalar=beta)) if beta else product


def _type(target: Any) -> DataType:
    """The type to compute in, for an array that takes the numbers."""
    own = DataType.of(target.dtype)
    return own if own.is_floating else DataType.FLOAT


def _drawn(op_id: str, like: Any, *more: int, **attributes: float) -> Any:
    """Numbers in the shape of an array, with axes of these sizes in front."""
    return run(op_id, shape=(*more, *like.shape), data_type=_type(like), **attributes)


def _gaussian(target: Any, numbers: Sequence[float], means: Any, op_id: str = "distribution_gaussian") -> Any:
    return run("add", _drawn(op_id, target, mean=0.0, stddev=float(*numbers or [1.0])), run("cast", means, data_type=_type(target)))


def _log_normal(target: Any, numbers: Sequence[float], means: Any) -> Any:
    return run("exp", _gaussian(target, numbers, means))


def _bernoulli(target: Any, numbers: Sequence[float], probabilities: Any) -> Any:
    hit = run("less", _drawn("distribution_uniform", target, min=0.0, max=1.0), _probabilities(target, probabilities))
    return run("cast", hit, data_type=DataType.of(target.dtype))


def _binomial(target: Any, numbers: Sequence[float], probabilities: Any) -> Any:
    """How many of the trials succeed, each of which has its own probability."""
    trials = int(np.prod(probabilities.shape))
    if numbers and int(numbers[0]) != trials:
        raise GraphError(f"a probability is needed for each of the {numbers[0]} trials; got {trials}")
    each = run("reshape", _probabilities(target, probabilities), shape=(trials, *[1] * len(target.shape)))
    hits = run("less", _drawn("distribution_uniform", target, trials, min=0.0, max=1.0), each)
    return run("reduce_sum", run("cast", hits, data_type=DataType.of(target.dtype)), dimensions=(0,))


def _probabilities(target: Any, values: Any) -> Any:
    if isinstance(values, np.ndarray) and not np.all((values >= 0) & (values <= 1)):
        raise GraphError(f"probabilities lie between 0 and 1; got {np.min(values):g} to {np.max(values):g}")
    return run("cast", values, data_type=_type(target))


#: By the names of the classes, for the array that takes the numbers, the numbers of the constructor and the array of parameters.
_BY_ARRAYS: dict[str, Callable[..., Any]] = {
    "BernoulliDistribution": _bernoulli, "BinomialDistribution": _binomial, "BinomialDistributionEx": _binomial,
    "GaussianDistribution": _gaussian, "LogNormalDistribution": _log_normal,
    "TruncatedNormalDistribution": functools.partial(_gaussian, op_id="distribution_truncated")}
