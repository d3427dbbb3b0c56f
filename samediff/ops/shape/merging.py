"""Several arrays of one shape made one, and coordinate grids."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import GraphError, ShapeError
from ...families.in_float import in_float
from ...ir.op import Op, Specs, op, require_same_type
from ..elementwise.arithmetic import quotient
from .joining import joined
from .reshaping import reshape_like

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


class VariadicElementwise(Op):
    """Base of elementwise ops over any number of arrays of one shape."""

    inputs = "*xs"

    def infer(self, *specs: TensorSpec) -> Specs:
        if not specs:
            raise GraphError(f"{self.id} needs at least one array")
        require_same_type(self.id, *specs)
        return TensorSpec(joined([s.shape for s in specs], self.id), specs[0].dtype)

    def element(self, xp: Any, *xs: Any) -> Any:
        """The op for single elements, as array code to be traced."""
        return self.compute(xp, *xs)


@op("mergeadd", api="math.merge_add base.merge_add")
class MergeAdd(VariadicElementwise):
    """Sum of arrays of one shape."""

    @in_float
    def compute(self, xp: Any, *xs: Any) -> Any:
        """The arrays in turn."""
        out = xs[0].copy()
        for x in xs[1:]:
            out += x
        return out

    @in_float
    def element(self, xp: Any, *xs: Any) -> Any:
        """The sum as one expression."""
        return sum(xs[1:], start=xs[0])

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The upstream gradient for each input."""
        return [output_grads[0]] * len(inputs)


@op("mergeavg", api="math.merge_avg base.merge_avg")
class MergeAvg(MergeAdd):
    """Mean of arrays of one shape, in their type."""

    def compute(self, xp: Any, *xs: Any) -> Any:
        """The sum divided by the number of arrays."""
        return self.element(xp, *xs)

    @in_float
    def element(self, xp: Any, *xs: Any) -> Any:
        """Sums of whole numbers in 64 bits: on the way to a mean they must not wrap around."""
        own = xs[0].dtype
        wide = np.dtype({"u": np.uint64, "i": np.int64, "b": np.float64}.get(own.kind, own))
        total = super().element(xp, *(x.astype(wide) for x in xs))
        return quotient(xp, total, xp.asarray(len(xs), dtype=wide)).astype(own)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The upstream gradient over the number of arrays, for each input."""
        return [output_grads[0] * (1.0 / len(inputs))] * len(inputs)


@op("mergemax", api="math.merge_max base.merge_max")
class MergeMax(VariadicElementwise):
    """Elementwise maximum of arrays of one shape."""

    def compute(self, xp: Any, *xs: Any) -> Any:
        """The arrays in turn."""
        out = xs[0]
        for x in xs[1:]:
            out = xp.maximum(out, x)
        return out

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient goes to the first array that holds the maximum."""
        sd = inputs[0].sd
        winner = sd.add_op(MergeMaxIndex(), list(inputs))
        zeros = sd.call("base", "zeros_like", output_grads[0])
        return [sd.call("base", "where", output_grads[0], zeros, sd.call("base", "eq", winner, float(i))) for i in range(len(inputs))]


@op("mergemaxindex", api="math.merge_max_index base.merge_max_index", signatures=("*xs, data_type", "*xs"), gradient="zero",
    file=FileArgs(ints=("data_type:dtype",)))
class MergeMaxIndex(VariadicElementwise):
    """The number of the array that holds the maximum, element by element (the first of equal ones)."""

    data_type: DataType = DataType.INT

    def infer(self, *specs: TensorSpec) -> Specs:
        """The common shape, in an integer type."""
        found = super().infer(*specs)
        assert isinstance(found, TensorSpec)
        return found.with_dtype(self.data_type)

    def compute(self, xp: Any, *xs: Any) -> Any:
        """The position of the maximum."""
        return xp.argmax(xp.stack(xs), axis=0)

    def element(self, xp: Any, *xs: Any) -> Any:
        """The number by comparing one array after the other; NaN counts as the maximum."""
        best, place = xs[0], xp.asarray(0, np.int64)
        for i, x in enumerate(xs[1:], start=1):
            wins = (x > best) | ((x != x) & (best == best))
            best, place = xp.where(wins, x, best), xp.where(wins, xp.asarray(i, np.int64), place)
        return place


@op("meshgrid", api="math.meshgrid base.meshgrid", inputs="*xs", signatures=("*xs, cartesian", "*xs"),
    file=FileArgs(ints=("cartesian:bool",)))
class Meshgrid(Op):
    """Coordinate arrays from vectors; ``cartesian`` swaps the first two axes (x along columns, y along rows)."""

    cartesian: bool = True

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """One axis for each vector; other arrays count as the vector of their elements."""
        sizes = [math.prod(s.shape) if s.is_static and s.shape is not None else -1 for s in specs]
        if self.cartesian and len(sizes) > 1:
            sizes[:2] = sizes[1::-1]
        return tuple(TensorSpec(tuple(sizes), s.dtype) for s in specs)

    def compute(self, xp: Any, *xs: Any) -> Any:
        n = len(xs)
        axes = [1 - i if self.cartesian and n > 1 and i < 2 else i for i in range(n)]
        shape = [xs[axes.index(a)].size for a in range(n)]
        return tuple(xp.broadcast_to(x.reshape([-1 if i == a else 1 for i in range(n)]), shape) for a, x in zip(axes, xs))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient summed over the axes of the other vectors."""
        n = len(inputs)
        found = []
        for i, (x, g) in enumerate(zip(inputs, output_grads)):
            own = 1 - i if self.cartesian and n > 1 and i < 2 else i
            others = [a for a in range(n) if a != own]
            found.append(reshape_like(x.sd.call("base", "sum", g, *others) if others else g, x))
        return found


@op("listdiff", api="math.list_diff base.list_diff", inputs="x y", gradient="none")
class ListDiff(Op):
    """Values of x that y does not hold, in order, and their positions (INT): two outputs."""

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """Vectors whose length is known when run."""
        require_same_type("list_diff", *specs)
        if 0 in (specs[0].rank, specs[1].rank):
            raise ShapeError(f"list_diff compares the values of vectors; got shapes {specs[0].shape} and {specs[1].shape}")
        return TensorSpec((-1,), specs[0].dtype), TensorSpec((-1,), DataType.INT)

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        keep = ~xp.isin(x, y)
        return x[keep], xp.nonzero(keep)[0]
