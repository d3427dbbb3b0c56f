"""Sums, means, norms and positions of arrays."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arrays import INDArray
from ..arrays.computing import built_in
from ..arrays.methods.reducing import reduced, running_axis, spread
from ..arrays.orders import arranged
from ..arrays.pairs import is_array, operand
from ..expressions.arrays import as_array
from ..ir.translate_errors import refusing
from .arguments import axes_of
from .running import run


def _reduction(op_id: str, what: str) -> Any:
    def reduce(array: Any, *axes: Any, keep_dims: bool = False) -> INDArray:
        return reduced(built_in(op_id, dimensions=axes_of(axes), keep_dims=keep_dims), operand(array))  # type: ignore[no-any-return]
    return _described(reduce, what)


def _spread(op_id: str, what: str) -> Any:
    def reduce(array: Any, *axes: Any, keep_dims: bool = False) -> INDArray:
        return spread(op_id, array if is_array(array) else as_array(array), axes_of(axes), keep_dims)  # type: ignore[no-any-return]
    return _described(reduce, f"{what}, with divisor n - 1 (of a single element 0),")


def _described(reduce: Callable[..., INDArray], what: str) -> Any:
    reduce.__doc__ = f"{what} over the given axes, or over all; with ``keep_dims`` these stay, of size 1."
    return staticmethod(reduce)


@refusing("Nd4j")
class Reductions:
    """Sums, means, norms and positions."""

    sum: Callable[..., INDArray] = _reduction("reduce_sum", "Sum")
    mean: Callable[..., INDArray] = _reduction("reduce_mean", "Mean, in the default type for whole numbers,")
    max: Callable[..., INDArray] = _reduction("reduce_max", "Largest element")
    min: Callable[..., INDArray] = _reduction("reduce_min", "Smallest element")
    prod: Callable[..., INDArray] = _reduction("reduce_prod", "Product")
    std: Callable[..., INDArray] = _spread("std", "Standard deviation")
    var: Callable[..., INDArray] = _spread("var", "Variance")
    norm1: Callable[..., INDArray] = _reduction("reduce_norm1", "Sum of magnitudes")
    norm2: Callable[..., INDArray] = _reduction("reduce_norm2", "Root of the sum of squares")
    normmax: Callable[..., INDArray] = _reduction("reduce_normmax", "Largest magnitude")
    arg_max: Callable[..., INDArray] = _reduction("argmax", "Position of the largest element")
    arg_min: Callable[..., INDArray] = _reduction("argmin", "Position of the smallest element")

    @staticmethod
    def cumsum(array: Any, axis: int | None = None) -> INDArray:
        """Running sum along an axis, of rows and columns along their elements; without one of all in c order, as a vector where it is a
        matrix or has more axes."""
        shape = tuple(array.shape)
        if axis is None:
            made = run("cumsum", run("reshape", array, shape=(-1,)), axis=(0,))
            return run("reshape", made, shape=shape) if len(shape) == 2 and 1 in shape else made  # type: ignore[no-any-return]
        return arranged(run("cumsum", array, axis=(running_axis(shape, axis),)), "C")  # type: ignore[no-any-return]
