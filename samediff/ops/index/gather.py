"""Elements and rows chosen by indices."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...base.java.java_enum import JavaEnum
from ...base.named_axes import expect
from ...base.spec import TensorSpec, normalize_axis
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...families.in_float import in_float
from ...families.indices import check_index_vectors, check_range, check_whole, require_integer
from ...ir.op import Op, Specs, op, require_floating

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


def add_rows(xp: Any, out: Any, indices: Any, rows: Any) -> None:
    """``out[indices[k]] += rows[k]`` along axis 0, repeated indices included."""
    if indices.size == 0:
        return
    if out.ndim == 1:
        xp.add.at(out, indices, rows)
        return
    order = xp.argsort(indices, kind="stable")
    ordered = indices[order]
    starts = xp.flatnonzero(xp.concatenate([xp.ones(1, bool), ordered[1:] != ordered[:-1]]))
    out[ordered[starts]] += xp.add.reduceat(rows[order], starts, axis=0, dtype=out.dtype)


def gather_gradient(upstream: SDVariable, indices: SDVariable, like: SDVariable, axis: int) -> SDVariable:
    """Sum of the upstream slices at their indices."""
    return like.sd.add_op(GatherGradient(axis), [upstream, like, indices])  # type: ignore[no-any-return]


@op("gather", api="base.gather math.gather var.gather", inputs="x positions?", signatures=("x, positions, axis", "x, indices, axis"),
    file=FileArgs(ints=("axis", "*indices"), added={"positions": "INT:indices"}))
class Gather(Op):
    """Slices of x along an axis.  Shapes: out = x.shape[:axis] + indices.shape + x.shape[axis + 1:]."""

    flops_per_element = 0
    indices: tuple[int, ...] = ()
    axis: int = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        """Indices take the place of the axis."""
        x = specs[0]
        if len(specs) > 1:
            require_integer("indices", specs[1])
        inner = specs[1].shape if len(specs) > 1 else (len(self.indices),)
        if x.shape is None or inner is None:
            return TensorSpec(None, x.dtype)
        at = normalize_axis(self.axis, len(x.shape))
        values = np.asarray(self.indices) if len(specs) == 1 else specs[1].value
        if values is not None and x.shape[at] != -1:
            check_range(f"{self.id}: index", values, x.shape[at])
        return TensorSpec((*x.shape[:at], *inner, *x.shape[at + 1:]), x.dtype)

    def compute(self, xp: Any, x: Any, positions: Any = None) -> Any:
        chosen = xp.asarray(self.indices, dtype=np.int64) if positions is None else positions
        check_range(f"{self.id}: index", chosen, x.shape[self.axis])
        return xp.take(x, chosen, axis=self.axis)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        g, sd = output_grads[0], inputs[0].sd
        positions = inputs[1] if len(inputs) > 1 else sd.constant(np.asarray(self.indices, np.int64))
        return [gather_gradient(g, positions, inputs[0], self.axis), None]


@op("gather_bp", inputs="x like indices", shape_inputs=(1,), file=FileArgs(ints=("axis",)))
class GatherGradient(Op):
    """Zeros in the shape of ``like`` with the slices of x added at their indices (made by gradients)."""

    flops_per_element = 1
    axis: int = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        x, like, indices = specs
        if like.shape is not None and indices.shape is not None:
            at = normalize_axis(self.axis, len(like.shape))
            expect("x", x, (*like.shape[:at], *indices.shape, *like.shape[at + 1:]))
        return TensorSpec(like.shape, x.dtype)

    @in_float
    def compute(self, xp: Any, x: Any, like: Any, indices: Any) -> Any:
        """Rows added one by one, so that equal indices add up."""
        out = xp.zeros(like.shape, x.dtype)
        at = self.axis % like.ndim
        check_range(f"{self.id}: index", indices, like.shape[at])
        if x.size:
            rows = xp.moveaxis(x.reshape(*like.shape[:at], indices.size, *like.shape[at + 1:]), at, 0)
            add_rows(xp, xp.moveaxis(out, at, 0), indices.reshape(-1), rows)
        return out

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(Gather((), self.axis), [output_grads[0], inputs[2]]), None, None]


@op("gather_nd", api="base.gather_nd math.gather_nd", inputs="x indices")
class GatherNd(Op):
    """Elements or slices at index vectors: indices[..., k] address the first k axes of x."""

    flops_per_element = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        x, indices = specs
        require_integer("indices", indices)
        if x.shape is None or not indices.shape or indices.shape[-1] == -1:
            return TensorSpec(None, x.dtype)
        k = indices.shape[-1]
        if not 1 <= k <= len(x.shape):
            raise ShapeError(f"index vectors of length {k} for an array of rank {len(x.shape)}")
        return TensorSpec((*indices.shape[:-1], *x.shape[k:]), x.dtype)

    def compute(self, xp: Any, x: Any, indices: Any) -> Any:
        return x[nd_index(xp, self.id, x.shape, indices)]

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(GatherNdGradient(), [output_grads[0], *inputs]), None]


def nd_index(xp: Any, name: str, shape: Sequence[int], indices: Any) -> tuple[Any, ...]:
    """NumPy's index for the index vectors of the op ``name``."""
    check_index_vectors(f"{name}: index", shape, indices)
    return tuple(xp.moveaxis(indices, -1, 0))


@op("gather_nd_bp", inputs="x like indices", shape_inputs=(1,))
class GatherNdGradient(Op):
    """Zeros in the shape of ``like`` with x added at its index vectors (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape of ``like``; x has a slice for each index vector."""
        x, like, indices = specs
        if like.shape is not None and indices.shape and indices.shape[-1] != -1:
            if indices.shape[-1] > len(like.shape):
                raise ShapeError(f"index vectors of {indices.shape[-1]} numbers cannot point into shape {like.shape}")
            expect("x", x, (*indices.shape[:-1], *like.shape[indices.shape[-1]:]))
        return TensorSpec(like.shape, x.dtype)

    @in_float
    def compute(self, xp: Any, x: Any, like: Any, indices: Any) -> Any:
        """Elements added one by one, so that equal indices add up."""
        out = xp.zeros(like.shape, x.dtype)
        xp.add.at(out, nd_index(xp, self.id, like.shape, indices), x)
        return out

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(GatherNd(), [output_grads[0], inputs[2]]), None, None]


class PartitionMode(JavaEnum):
    """Assignment of rows to several embedding tables."""

    MOD = 0
    DIV = 1


@op("embedding_lookup", api="math.embedding_lookup base.embedding_lookup", inputs="x indices", signatures=("x, indices, mode",),
    file=FileArgs(ints=("mode:MOD|DIV",)))
class EmbeddingLookup(Gather):
    """Rows of an embedding table."""

    mode: PartitionMode = PartitionMode.MOD

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape of ``gather``."""
        require_floating("embedding_lookup", specs[0])
        if self.axis or len(specs) < 2:
            raise ShapeError("embedding_lookup takes the rows that an array of indices names; "
                             f"got axis {self.axis}, indices {self.indices}")
        return super().infer(*specs)


@op("onehot", api="base.one_hot math.one_hot", inputs="indices", gradient="zero",
    file=FileArgs(ints=("axis", "depth"), floats=("on", "off"), dtypes=("data_type?",)))
class OneHot(Op):
    """A new axis of size ``depth``: ``on`` where the position equals the index, else ``off``: everywhere for an index out of range."""

    flops_per_element = 0
    element_values = "on off"
    depth: int
    axis: int = -1
    on: float = 1.0
    off: float = 0.0
    data_type: DataType = DataType.FLOAT

    def infer(self, *specs: TensorSpec) -> Specs:
        shape = specs[0].shape
        if shape is None:
            return TensorSpec(None, self.data_type)
        at = normalize_axis(self.axis, len(shape) + 1)
        return TensorSpec((*shape[:at], self.depth, *shape[at:]), self.data_type)

    def compute(self, xp: Any, indices: Any) -> Any:
        check_whole(f"{self.id}: index", indices)
        at = self.axis % (indices.ndim + 1)
        steps = xp.arange(self.depth).reshape([-1] + [1] * (indices.ndim - at))
        dtype = self.data_type.numpy
        return xp.where(xp.expand_dims(indices, at) == steps, dtype.type(self.on), dtype.type(self.off))


@op("invert_permutation", api="base.invert_permutation math.invert_permutation", gradient="none")
class InvertPermutation(Op):
    """out[p[i]] = i for a permutation of 0 … n - 1."""

    def infer(self, *specs: TensorSpec) -> Specs:
        require_integer("a permutation", specs[0])
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        check_range(f"{self.id}: index", x, x.size)
        if not xp.array_equal(xp.sort(x.reshape(-1)), xp.arange(x.size)):
            raise ShapeError(f"{x.tolist()} is no permutation of 0 to {x.size - 1}")
        return xp.argsort(x.reshape(-1)).reshape(x.shape)
