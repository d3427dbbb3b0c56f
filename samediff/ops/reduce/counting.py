"""Counts of values: histograms and counts of small integers."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import DataTypeError, GraphError, OutOfRangeError, ShapeError
from ...families.in_float import in_float
from ...families.indices import require_integer
from ...families.shape_inputs import ints_of
from ...ir.op import Op, Specs, op, require_same_type

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


def _need_bins(count: int) -> int:
    if count < 1:
        raise GraphError(f"a histogram needs at least one bin, got {count}")
    return count


def _numbers(x: TensorSpec) -> None:
    if not x.dtype.is_numeric or x.dtype is DataType.BOOL:
        raise DataTypeError(f"a histogram needs numbers, got {x.dtype.name}")


def _counts(x: Any, low: float, high: float, bins: int) -> Any:
    """Values outside count in the outermost bins; when there is no width, all in the first."""
    flat = np.asarray(x, np.float64).reshape(-1)
    if np.isnan(flat).any():
        raise ShapeError(f"a histogram has no bin for NaN; {int(np.isnan(flat).sum())} of {flat.size} values are NaN")
    width = (high - low) / bins
    place = np.clip(np.floor((flat - low) / width), 0, bins - 1) if width > 0 else np.zeros(flat.shape)
    return np.bincount(place.astype(np.int64), minlength=bins).astype(np.int64)


@op("histogram", gradient="zero", file=FileArgs(ints=("num_bins",), properties={"numBins": "l:num_bins"}))
class HistogramOp(Op):
    """Counts in ``num_bins`` bins of equal width between the smallest and the largest value, LONG.  Shapes: (*S) -> (num_bins)."""

    num_bins: int

    def infer(self, *specs: TensorSpec) -> Specs:
        """One count for each bin."""
        _numbers(specs[0])
        return TensorSpec((_need_bins(self.num_bins),), DataType.LONG)

    def compute(self, xp: Any, x: Any) -> Any:
        """The largest value lies in the last bin."""
        if not x.size:
            return xp.zeros(self.num_bins, xp.int64)
        return _counts(x, float(x.min()), float(x.max()), self.num_bins)


@op("histogram_fixed_width", inputs="x range_ bins?", gradient="zero", signatures=("x, range_, num_bins", "x, range_, bins"),
    file=FileArgs(ints=("num_bins",)))
class HistogramFixedWidth(Op):
    """Counts in bins of equal width between two numbers, LONG; values outside count in the outermost bins.

    Shapes: x (*S), range_ (2) -> (num_bins), or as many as the scalar ``bins`` says.
    """

    num_bins: int = 100

    def infer(self, *specs: TensorSpec) -> Specs:
        """One count for each bin."""
        x, ends = specs[:2]
        _numbers(x)
        require_same_type(self.id, x, ends)
        if ends.is_static and ends.shape != (2,):
            raise ShapeError(f"the range is two numbers, got shape {ends.shape}")
        if len(specs) < 3:
            return TensorSpec((_need_bins(self.num_bins),), DataType.LONG)
        require_integer("bins", specs[2])
        known = ints_of(specs[2])
        return TensorSpec((_need_bins(_one(known, "bins")) if known is not None else -1,), DataType.LONG)

    def compute(self, xp: Any, x: Any, range_: Any, bins: Any = None) -> Any:
        """Counts of values in bins of equal width; GraphError unless the range ascends."""
        low, high = float(range_[0]), float(range_[1])
        if not low < high:
            raise GraphError(f"the range must ascend, got {low} to {high}")
        return _counts(x, low, high, self.num_bins if bins is None else _need_bins(_one(bins.reshape(-1).tolist(), "bins")))


def _one(values: Sequence[int], what: str) -> int:
    if len(values) != 1:
        raise ShapeError(f"{what} must be one number, got {len(values)}")
    return int(values[0])


@op("bincount", inputs="x weights? least? most?", signatures=("x, min_length, max_length, data_type", "x, weights, min_length, max_length"),
    file=FileArgs(ints=("min_length?", "max_length?", "data_type?:dtype"), dtypes=("~data_type",), properties={
        "outputType": "s:data_type:dtype"}))
class Bincount(Op):
    """Counts of 0, 1, 2, … in x, or the sums of their weights.

    The result has at least ``min_length`` entries, else as many as needed and at most ``max_length``: larger values do not count. Without
    weights it is INT, or of ``data_type``; weights give it their type.
    """

    min_length: int | None = None
    max_length: int | None = None
    data_type: DataType | None = None

    def infer(self, *specs: TensorSpec) -> Specs:
        """A vector whose length is known when it cannot grow."""
        x, weights, limits = specs[0], specs[1] if len(specs) > 1 else None, specs[2:]
        require_integer("the values of bincount", x)
        for limit in limits:
            if limit is not None:
                require_integer("the limits of bincount", limit)
        if weights is not None and weights.is_static and x.is_static and weights.shape != x.shape:
            raise ShapeError(f"each value needs a weight: x has shape {x.shape}, weights {weights.shape}")
        low, high = self.min_length or 0, self.max_length
        if low < 0 or (high is not None and high < low):
            raise GraphError(f"min_length {low} must not be negative, nor larger than max_length {high}")
        fixed = high is not None and low == high and not any(limits)
        return TensorSpec((high if fixed and high is not None else -1,), weights.dtype if weights is not None else self.result)

    @property
    def result(self) -> DataType:
        """Type of counts."""
        return self.data_type or DataType.INT

    @in_float
    def compute(self, xp: Any, x: Any, weights: Any = None, least: Any = None, most: Any = None) -> Any:
        """The number, or sum of weights, of each value; OutOfRangeError for negative ones."""
        if x.size and int(x.min()) < 0:
            raise OutOfRangeError(f"{self.id}: value {int(x.min())} is out of range (0 and above)")
        if weights is not None and weights.shape != x.shape:
            raise ShapeError(f"each value needs a weight: x has shape {x.shape}, weights {weights.shape}")
        low = self.min_length or 0 if least is None else _one(least.reshape(-1).tolist(), "min_length")
        high = self.max_length if most is None else _one(most.reshape(-1).tolist(), "max_length")
        length = max(low, int(x.max()) + 1 if x.size else 0)
        length = length if high is None else max(low, min(high, length))
        keep = x < length
        out = xp.zeros(length, weights.dtype if weights is not None else self.result.numpy)
        xp.add.at(out, x[keep], 1 if weights is None else weights[keep])
        return out

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Each weight counts where its value says."""
        if len(inputs) < 2 or inputs[1] is None:
            return [None]
        return [None, inputs[0].sd.add_op(CountedAt(), [output_grads[0], inputs[0]]), None, None][:len(inputs)]


@op("counted_at", inputs="g x")
class CountedAt(Op):
    """g at the places x, 0 for places beyond it (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[1].shape, specs[0].dtype)

    def compute(self, xp: Any, g: Any, x: Any) -> Any:
        inside = x < len(g)
        return xp.where(inside, g[xp.where(inside, x, 0)], g.dtype.type(0)) if len(g) else xp.zeros(x.shape, g.dtype)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        (g, x), sd = inputs, inputs[0].sd
        length = sd.call("base", "size", g)
        return [sd.add_op(Bincount(), [x, output_grads[0], length, length]), None]
