"""Positions of the largest and smallest elements, and questions about order."""
from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec, normalize_axes
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...families.broadcasting import axes_of
from ...families.families import Reduction
from ...ir.op import OPS, Expandable, Op, Specs, op

ARG = FileArgs(ints=("*dimensions",), bools=("keep_dims",), dtypes=("=9",))


class IndexReduction(Reduction):
    """Reduces each slice over ``dimensions`` to a position in it, in c order; LONG."""

    result = DataType.LONG
    gradient = "zero"

    which: ClassVar[Literal["max", "min"] | None] = None
    absolute: ClassVar[bool] = False        # compares magnitudes

    def choose(self, xp: Any, rows: Any) -> Any:
        """The position along the last axis."""
        raise NotImplementedError

    def reduce(self, xp: Any, x: Any, axes: tuple[int, ...]) -> Any:
        """The reduced axes become one, at the end."""
        kept = [i for i in range(x.ndim) if i not in axes]
        rows = x.transpose([*kept, *axes]).reshape([*(x.shape[i] for i in kept), math.prod(x.shape[i] for i in axes)])
        found = self.choose(xp, rows)
        return found.reshape([1 if i in axes else n for i, n in enumerate(x.shape)]) if self.keep_dims else found


@op("argmax", api="base.argmax var.argmax math.argmax base.arg_max", gradient="zero", file=ARG)
class ArgMax(IndexReduction):
    """Position of the largest element over ``dimensions``: the first of equal ones, or the first NaN."""

    which = "max"

    def choose(self, xp: Any, rows: Any) -> Any:
        return rows.argmax(axis=-1)


@op("argmin", api="base.argmin var.argmin math.argmin base.arg_min", gradient="zero", file=ARG)
class ArgMin(IndexReduction):
    """Position of the smallest element over ``dimensions``: the first of equal ones, or the first NaN."""

    which = "min"

    def choose(self, xp: Any, rows: Any) -> Any:
        return rows.argmin(axis=-1)


def _with_dimensions(name: str, of: type[IndexReduction]) -> None:
    """The form of the math namespace, which insists on dimensions."""

    @op(name, api=f"math.{name}", gradient="zero", file=replace(ARG, op_name=of.id))
    class Needing(of):  # type: ignore[misc, valid-type]
        def infer(self, *specs: TensorSpec) -> Specs:
            if not self.dimensions and len(specs) == 1:
                raise ShapeError(f"{name} needs at least one dimension; {of.id} takes none")
            return super().infer(*specs)  # type: ignore[no-any-return]

    Needing.__doc__ = of.__doc__
    Needing.__name__ = Needing.__qualname__ = name.title()


_with_dimensions("iamax", ArgMax)
_with_dimensions("iamin", ArgMin)


@op("ismax", api="math.is_max base.is_max", gradient="zero", signatures=("x, *dimensions",), file=FileArgs(ints=("*dimensions",)))
class IsMax(Op):
    """True at the position of the maximum (the first of equal ones) of the array, or of each slice over ``dimensions``."""

    dimensions: tuple[int, ...] = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        x = specs[0]
        if x.shape is not None:
            normalize_axes(self.dimensions, len(x.shape))
        return TensorSpec(x.shape, DataType.BOOL)

    def compute(self, xp: Any, x: Any) -> Any:
        axes = axes_of(self.dimensions, x.ndim)
        kept = [i for i in range(x.ndim) if i not in axes]
        order = [*kept, *axes]
        moved = x.transpose(order)
        rows = moved.reshape([*(x.shape[i] for i in kept), math.prod(x.shape[i] for i in axes)])
        if not x.size:
            return xp.zeros(x.shape, bool)
        mask = xp.arange(rows.shape[-1]) == ArgMax().choose(xp, rows)[..., None]
        return mask.reshape(moved.shape).transpose([order.index(i) for i in range(x.ndim)])


@op("at_extreme", inputs="x axes?", gradient="zero")
class AtExtreme(Expandable):
    """True at the position that an op such as argmax finds in each slice over the axes (made by gradients)."""

    by: str
    dimensions: tuple[int, ...] = ()
    in_variable: bool = False           # the axes are a variable, known only in a run

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, DataType.BOOL)

    def compute(self, xp: Any, x: Any, axes: Any = None) -> Any:
        """True at the position that the index reduction finds."""
        gone = axes_of(self.dimensions, x.ndim, axes)
        if not x.size:
            return xp.zeros(x.shape, bool)
        found = OPS[self.by](dimensions=gone or (0,), keep_dims=True).reduce(xp, x, gone)  # type: ignore[attr-defined]
        return found == _numbered(gone, x.shape)

    def plan_rewrite(self, name: str) -> Expandable | None:
        return None if self.in_variable else self

    def expand(self, *inputs: Any) -> Any:
        """The search, and the comparison; all sizes are known."""
        x, sd, shape = inputs[0], inputs[0].sd, inputs[0].spec.shape
        gone = axes_of(self.dimensions, len(shape))
        if 0 in shape or not gone:
            return sd.constant(np.ones(shape, bool))
        return sd.call("base", "eq", sd.add_op(OPS[self.by](dimensions=gone, keep_dims=True), [x]), sd.constant(_numbered(gone, shape)))


def _numbered(axes: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """The numbers of the places in a slice over some axes, of size 1 along the others."""
    sizes = [n if i in axes else 1 for i, n in enumerate(shape)]
    return np.arange(math.prod(sizes)).reshape(sizes)


def _ordered(name: str, api: str, strict: bool, doc: str) -> None:
    @op(name, api=api, gradient="zero")
    class Ordered(Op):
        def infer(self, *specs: TensorSpec) -> Specs:
            return TensorSpec((), DataType.BOOL)

        def compute(self, xp: Any, x: Any) -> Any:
            flat = x.reshape(-1)
            return xp.all(flat[:-1] < flat[1:] if strict else flat[:-1] <= flat[1:])

    Ordered.__doc__ = doc
    Ordered.__name__ = Ordered.__qualname__ = "".join(p.title() for p in name.split("_"))


_ordered("is_non_decreasing", "math.is_non_decreasing base.is_non_decreasing", False,
         "True when no element is smaller than the one before it.")
_ordered("is_strictly_increasing", "math.is_strictly_increasing base.is_strictly_increasing", True,
         "True when every element is larger than the one before it.")
