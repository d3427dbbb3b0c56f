"""Elements by their place in sorted order: percentiles, n-th elements, membership in the largest k."""
from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec, normalize_axes, reduced
from ...codecs.file_args import FileArgs
from ...errors import DataTypeError, GraphError, ShapeError
from ...families.composite import Composite
from ...families.indices import require_integer
from ...ir.op import Op, Specs, attributes, op, require_floating


def rows_of(x: Any, axes: tuple[int, ...]) -> Any:
    """The elements of ``axes`` along one last axis, the others before it."""
    kept = [i for i in range(x.ndim) if i not in axes]
    return x.transpose([*kept, *axes]).reshape([*(x.shape[i] for i in kept), math.prod(x.shape[i] for i in axes)])


def chosen_place(x: Any, axes: tuple[int, ...], rank: int) -> Any:
    """1 at the element of a rank in ascending order within each slice over ``axes``, 0 elsewhere."""
    rows = rows_of(x, axes)
    place = np.argsort(rows, axis=-1, kind="stable")[..., rank:rank + 1]
    mask = (np.arange(rows.shape[-1]) == place).astype(x.dtype)
    order = [*(i for i in range(x.ndim) if i not in axes), *axes]
    return mask.reshape([x.shape[i] for i in order]).transpose([order.index(i) for i in range(x.ndim)])


@attributes
class OfPercentile(Op):
    """A percentile over axes (none: of everything)."""

    q: float
    interpolation: Literal["lower", "higher", "nearest"] = "nearest"
    keep_dims: bool = False
    axes: tuple[int, ...] = ()

    def rank(self, count: int) -> int:
        """Place in ascending order, counted from the end as DL4J does: halves go to the lower element."""
        if not count:
            raise ShapeError("a percentile of no elements does not exist")
        exact = (count - 1) * (1 - self.q / 100)
        if self.interpolation == "nearest":
            return count - 1 - math.floor(exact + 0.5)
        return count - 1 - (math.ceil(exact) if self.interpolation == "lower" else math.floor(exact))

    def check(self, x: TensorSpec) -> None:
        """GraphError for a percentage that is none; the axes must exist."""
        if not 0 <= self.q <= 100:
            raise GraphError(f"a percentile lies between 0 and 100, got {self.q}")
        if not x.dtype.is_numeric or x.dtype is DataType.BOOL:
            raise DataTypeError(f"percentile needs numbers, got {x.dtype.name}")


_INTERPOLATION = "interpolation:lower|higher|nearest"


@op("percentile", signatures=("x, q, interpolation, keep_dims, *axes",),
    file=FileArgs(ints=("*axes",), floats=("q", _INTERPOLATION, "keep_dims:bool")))
class Percentile(Composite, OfPercentile):
    """The element below which ``q`` percent of the others lie, in each slice over ``axes``.

    Between two elements ``interpolation`` takes the ``lower``, the ``higher`` or the ``nearest`` (the lower one in the middle).
    """

    q: float
    interpolation: Literal["lower", "higher", "nearest"] = "nearest"
    keep_dims: bool = False
    axes: tuple[int, ...] = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        self.check(specs[0])
        return specs[0].with_shape(reduced(specs[0].shape, self.axes, self.keep_dims))

    def compute(self, xp: Any, x: Any) -> Any:
        axes = normalize_axes(self.axes, x.ndim)
        rows = rows_of(x, axes)
        found = xp.sort(rows, axis=-1)[..., self.rank(rows.shape[-1])]
        return xp.expand_dims(found, axes) if self.keep_dims else found

    def expand(self, *inputs: Any) -> Any:
        """A sum in which one element counts."""
        (x,) = inputs
        place = x.sd.add_op(PercentilePlace(self.q, self.interpolation, self.keep_dims, self.axes), [x])
        return (x * place).sum(self.keep_dims, *self.axes)


@op("percentile_place", gradient="zero")
class PercentilePlace(OfPercentile):
    """1 at the element that is the percentile, 0 elsewhere (made by gradients)."""

    q: float
    interpolation: Literal["lower", "higher", "nearest"] = "nearest"
    keep_dims: bool = False
    axes: tuple[int, ...] = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        self.check(specs[0])
        reduced(specs[0].shape, self.axes, self.keep_dims)
        return specs[0].with_shape(specs[0].shape)

    def compute(self, xp: Any, x: Any) -> Any:
        axes = normalize_axes(self.axes, x.ndim)
        return chosen_place(x, axes, self.rank(math.prod(x.shape[i] for i in axes)))


@attributes
class OfNth(Op):
    """Needs rows of more than n elements."""

    inputs = "x n"
    reverse: bool = False

    def check(self, x: TensorSpec, n: TensorSpec) -> None:
        """DataTypeError or ShapeError for inputs that do not fit."""
        require_integer("n", n)
        if x.shape == ():
            raise ShapeError(f"{self.id} needs at least one axis, got a scalar")
        if n.is_static and math.prod(n.shape or ()) != 1:
            raise ShapeError(f"n must be one number, got shape {n.shape}")
        if n.value is not None and x.shape is not None and x.shape[-1] != -1:
            self.rank(n.value, x.shape[-1])

    def rank(self, n: Any, count: int) -> int:
        """The position in ascending order; ShapeError outside the row."""
        if n.size != 1:
            raise ShapeError(f"n must be one number, got shape {n.shape}")
        place = int(n.reshape(-1)[0])
        if not 0 <= place < count:
            raise ShapeError(f"n must be between 0 and {count - 1} for rows of {count} elements, got {place}")
        return count - 1 - place if self.reverse else place


@op("nth_element", inputs="x n", file=FileArgs(ints=("reverse:bool",), properties={"reverse": "b:reverse"}))
class NthElement(Composite, OfNth):
    """The n-th smallest element of each row, counted from 0; with ``reverse`` the n-th largest.  Shapes: (…, m), n () -> (…)."""

    reverse: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape without the last axis."""
        self.check(*specs)
        return specs[0].with_shape(None if specs[0].shape is None else specs[0].shape[:-1])

    def compute(self, xp: Any, x: Any, n: Any) -> Any:
        return xp.sort(x, axis=-1)[..., self.rank(n, x.shape[-1])]

    def expand(self, *inputs: Any) -> Any:
        """A sum in which one element counts."""
        x, n = inputs
        return (x * x.sd.add_op(NthPlace(self.reverse), [x, n])).sum(-1)


@op("nth_place", inputs="x n", gradient="zero")
class NthPlace(OfNth):
    """1 at the n-th element of each row, 0 elsewhere (made by gradients)."""

    reverse: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        self.check(*specs)
        return specs[0].with_shape(specs[0].shape)

    def compute(self, xp: Any, x: Any, n: Any) -> Any:
        return chosen_place(x, (x.ndim - 1,), self.rank(n, x.shape[-1]))


@op("in_top_k", inputs="predictions targets", gradient="zero",
    file=FileArgs(ints=("k",), properties={"sorted": "b:sorted", "k": "i:k"}))
class InTopK(Op):
    """Whether fewer than ``k`` elements of a row are larger than the one at the target; ties at the border count as in.

    Shapes: predictions (N, classes) floating, targets (N) integer -> (N) BOOL. ``sorted`` has no effect.
    """

    k: int
    sorted: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        """One truth value for each row."""
        predictions, targets = specs
        require_floating(self.id, predictions)
        require_integer("targets", targets)
        if self.k < 1:
            raise GraphError(f"k must be at least 1, got {self.k}")
        a, b = predictions.shape, targets.shape
        if (a is not None and len(a) != 2) or (b is not None and len(b) != 1) or (a and b and a[0] != b[0] and -1 not in (a[0], b[0])):
            raise ShapeError(f"predictions (N, classes) and targets (N) are needed; got {a} and {b}")
        return TensorSpec((-1,) if b is None else b, DataType.BOOL)

    def compute(self, xp: Any, predictions: Any, targets: Any) -> Any:
        """By counting; a target that is no class, or whose prediction is not finite, is not among them."""
        if len(predictions) != len(targets):
            raise ShapeError(f"{len(predictions)} rows of predictions, {len(targets)} targets")
        classes = predictions.shape[1]
        valid = (targets >= 0) & (targets < classes)
        if not classes:
            return valid
        own = xp.take_along_axis(predictions, xp.where(valid, targets, 0).astype(xp.int64)[:, None], axis=1)
        return valid & xp.isfinite(own[:, 0]) & ((predictions > own).sum(axis=1) < self.k)
