"""Reshaping: the same elements in another shape or order of axes."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...base.spec import Shape, TensorSpec, normalize_axis, size
from ...codecs.file_args import FileArgs
from ...codecs.flatbuffers.graph import FlatNode
from ...errors import FileFormatError, GradientError, ShapeError
from ...families.families import View
from ...families.shape_inputs import ints_of, shape_from
from ...ir.op import Op, Specs, op

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@dataclass(frozen=True)
class ReshapeArgs(FileArgs):
    """The order as -99 (c), then the shape; files of older versions hold the shape alone."""

    def decode(self, node: FlatNode) -> dict[str, Any]:
        order, *shape = node.extra_integer or (None,)
        if order == -102:
            raise FileFormatError(f"node {node.name!r}: reshaping in column order (f) is not supported")
        return {} if order is None else {"shape": tuple(shape if order == -99 else node.extra_integer)}


def resolved(shape: Shape | None, target: Shape) -> Shape:
    """``target`` with its -1 worked out from the elements of ``shape``; ShapeError when the counts differ."""
    if sum(n == -1 for n in target) > 1:
        raise ShapeError(f"only one size of {target} may be -1")
    total, fixed = size(shape), 1
    for n in target:
        fixed *= n if n != -1 else 1
    if total == -1:
        known = math.prod(n for n in shape or () if n != -1)
        if -1 not in target and known and fixed % known:
            raise ShapeError(f"shape {shape} cannot be reshaped to {target}: {fixed} elements are no multiple of {known}")
        return target
    if -1 in target:
        if fixed == 0 or total % fixed:
            raise ShapeError(f"{total} elements of shape {shape} cannot be reshaped to {target}: {total} is not divisible by {fixed}")
        return tuple(total // fixed if n == -1 else n for n in target)
    if fixed != total:
        raise ShapeError(f"{total} elements of shape {shape} cannot be reshaped to {target}, which has {fixed}")
    return target


def reshape_like(x: SDVariable, like: SDVariable) -> SDVariable:
    """``x`` in the shape of ``like``."""
    return x.sd.add_op(ReshapeLike(), [x, like])  # type: ignore[no-any-return]


class Reshaping(View):
    """Keeps the elements in c order: the gradient is reshaped back."""

    def same_as(self, *specs: TensorSpec) -> int | None:
        """The number of the input that equals the result, where the shape does not change."""
        inferred = self.infer(*specs)
        return 0 if isinstance(inferred, TensorSpec) and inferred.shape == specs[0].shape else None

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [reshape_like(output_grads[0], inputs[0]), None]


@op("reshape", api="base.reshape var.reshape math.reshape", inputs="x target?", signatures=("x, *shape", "x, target"),
    file=ReshapeArgs(ints=("=-99", "*shape")))
class Reshape(Reshaping):
    """The elements in c order in another shape; one size may be -1."""

    shape: tuple[int, ...] = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        x, target = specs[0], specs[1] if len(specs) > 1 else None
        if target is None:
            shape: Shape | None = resolved(x.shape, self.shape)
        else:
            shape, values = shape_from(target), ints_of(target)
            shape = shape if values is None else resolved(x.shape, values)
        return TensorSpec(shape, x.dtype, None if x.value is None or shape is None or -1 in shape else x.value.reshape(shape))

    def compute(self, xp: Any, x: Any, target: Any = None) -> Any:
        """A view where possible."""
        return x.reshape(resolved(tuple(x.shape), self.shape if target is None else tuple(int(n) for n in target.reshape(-1))))


@op("set_shape", api="base.set_shape", inputs="x target", file=None)
class SetShape(Reshape):
    """The elements in c order in the shape given by a variable."""

    signatures = ("x, target",)


@op("reshape_like", api="base.reshape_like", inputs="x like", shape_inputs=(1,), file=FileArgs(op_name="reshapeas", aliases=("reshapeas",)))
class ReshapeLike(Reshaping):
    """The elements in c order in the shape of ``like``."""

    def infer(self, *specs: TensorSpec) -> Specs:
        if specs[0].is_static and specs[1].is_static and specs[1].shape is not None:
            resolved(specs[0].shape, specs[1].shape)
        return TensorSpec(specs[1].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, like: Any) -> Any:
        """A view where possible."""
        return x.reshape(like.shape)


@op("expand_dims", api="base.expand_dims var.expand_dims math.expand_dims", file=FileArgs(ints=("axis",)))
class ExpandDims(Reshaping):
    """A new axis of size 1 at ``axis``."""

    axis: int

    def infer(self, *specs: TensorSpec) -> Specs:
        x = specs[0]
        if x.shape is None:
            return TensorSpec(None, x.dtype)
        at = normalize_axis(self.axis, len(x.shape) + 1)
        shape = (*x.shape[:at], 1, *x.shape[at:])
        return TensorSpec(shape, x.dtype, None if x.value is None else x.value.reshape(shape))

    def compute(self, xp: Any, x: Any) -> Any:
        return xp.expand_dims(x, self.axis)


@op("squeeze", api="base.squeeze var.squeeze math.squeeze", signatures=("x, *axis",), file=FileArgs(ints=("*axis",)))
class Squeeze(Reshaping):
    """Without the given axes of size 1 (none: all of that size); an axis of another size stays."""

    axis: tuple[int, ...] = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        x = specs[0]
        if x.shape is None:
            return x.with_shape(None)
        if not self.axis and -1 in x.shape:
            return x.with_shape(None)
        return x.with_shape(tuple(n for i, n in enumerate(x.shape) if i not in self.gone(x.shape)))

    def gone(self, shape: Shape) -> set[int]:
        """The axes to drop: an unknown size is taken for 1."""
        chosen = {normalize_axis(a, len(shape)) for a in self.axis} if self.axis else set(range(len(shape)))
        return {a for a in chosen if shape and shape[a] in (1, -1)}

    def compute(self, xp: Any, x: Any) -> Any:
        return x.reshape([n for i, n in enumerate(x.shape) if i not in self.gone(tuple(x.shape))])


@op("permute", api="base.permute var.permute math.permute", inputs="x order?", signatures=("x, *dimensions", "x, order"),
    file=FileArgs(ints=("*dimensions",)))
class Permute(View):
    """The axes in the order ``dimensions`` (none: reversed)."""

    dimensions: tuple[int, ...] = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        """The sizes in that order."""
        x = specs[0]
        order = ints_of(specs[1]) if len(specs) > 1 else self.dimensions
        if x.shape is None:
            return x.with_shape((-1,) * len(order) if order else None)
        if order is None:
            return x.with_shape((-1,) * len(x.shape))
        return x.with_shape(tuple(x.shape[i] for i in self.order(len(x.shape), order)))

    def order(self, rank: int, dimensions: Sequence[int]) -> list[int]:
        """The dimensions as a permutation of the axes; ShapeError if they are none."""
        order = [normalize_axis(int(d), rank) for d in dimensions] if len(dimensions) else list(range(rank))[::-1]
        if sorted(order) != list(range(rank)):
            raise ShapeError(f"{tuple(dimensions)} is no permutation of the {rank} axes")
        return order

    def compute(self, xp: Any, x: Any, order: Any = None) -> Any:
        return x.transpose(self.order(x.ndim, self.dimensions if order is None else order.reshape(-1)))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        g, sd = output_grads[0], inputs[0].sd
        if len(inputs) > 1:
            return [sd.add_op(Permute(), [g, sd.call("base", "invert_permutation", inputs[1])]), None]
        if not self.dimensions:
            return [sd.add_op(Permute(), [g])]
        order = self.order(len(self.dimensions), self.dimensions)
        return [sd.add_op(Permute(tuple(order.index(i) for i in range(len(order)))), [g])]


@op("transpose", api="base.transpose var.transpose math.transpose")
class Transpose(View):
    """All axes reversed."""

    def infer(self, *specs: TensorSpec) -> Specs:
        x = specs[0]
        return x.with_shape(None if x.shape is None else x.shape[::-1])

    def compute(self, xp: Any, x: Any) -> Any:
        return x.transpose()

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(Transpose(), [output_grads[0]])]


@op("flatten", api="base.flatten math.flatten", inputs="*xs", signatures=("*xs, order", "*xs"), file=FileArgs(ints=("order:99=c|102=f",)))
class Flatten(Op):
    """Every input flattened in c or f order, one after the other."""

    flops_per_element = 0
    order: str = "c"

    def infer(self, *specs: TensorSpec) -> Specs:
        """A vector of all elements."""
        if self.order not in ("c", "f"):
            raise ShapeError(f"order must be 'c' or 'f', got {self.order!r}")
        sizes = [size(s.shape) for s in specs]
        return TensorSpec((-1 if -1 in sizes else sum(sizes),), specs[0].dtype)

    def compute(self, xp: Any, *xs: Any) -> Any:
        return xp.concatenate([x.reshape(-1) if self.order == "c" else x.transpose().reshape(-1) for x in xs])

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The part of the gradient for each input, in its shape."""
        sd, found, start = inputs[0].sd, [], 0
        for x in inputs:
            n = size(x.spec.shape)
            if n == -1:
                raise GradientError(f"flatten of {x!r}: its sizes must be known to differentiate")
            part = sd.call("base", "slice", output_grads[0], (start,), (n,))
            transposed = x if self.order == "c" else sd.call("base", "transpose", x)
            part = reshape_like(part, transposed)
            found.append(part if self.order == "c" else sd.call("base", "transpose", part))
            start += n
        return found
