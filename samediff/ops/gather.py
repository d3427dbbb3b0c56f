"""Elements and rows chosen by indices."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from ..datatype import DataType
from ..errors import DataTypeError, ShapeError
from ..named_axes import expect
from ..op import Kernel, Op, Specs, op, require_floating
from ..spec import TensorSpec, normalize_axis

if TYPE_CHECKING:
    from ..executor.cuda.actions import CudaKernel
    from ..variable import SDVariable


def require_integer(what: str, spec: TensorSpec) -> None:
    """DataTypeError unless indices are integers."""
    if not spec.dtype.is_integer:
        raise DataTypeError(f"{what} must be integers, got {spec.dtype.name}")


def add_rows(xp: Any, out: Any, indices: Any, rows: Any) -> None:
    """``out[indices[k]] += rows[k]`` along axis 0, repeated indices included."""
    if indices.size == 0:
        return
    if out.ndim == 1:
        xp.add.at(out, indices, rows)
        return
    indices = indices % out.shape[0]
    order = xp.argsort(indices, kind="stable")
    ordered = indices[order]
    starts = xp.flatnonzero(xp.concatenate([xp.ones(1, bool), ordered[1:] != ordered[:-1]]))
    out[ordered[starts]] += xp.add.reduceat(rows[order], starts, axis=0, dtype=out.dtype)


def check_range(indices: Any, n: int) -> None:
    """ShapeError when an index lies outside an axis; negative ones do not count from the end."""
    if indices.size and (int(indices.min()) < 0 or int(indices.max()) >= n):
        bad = indices[(indices < 0) | (indices >= n)].reshape(-1)[0]
        raise ShapeError(f"index {bad} is out of range for an axis of size {n} (0 to {n - 1})")


def or_compute(op: Op, call: Callable[..., bool]) -> Callable[..., None]:
    """A kernel that leaves indices out of range to ``compute`` and its errors."""

    def checked(*arrays: Any) -> None:
        if not call(*arrays):
            arrays[-1][...] = op.compute(np, *arrays[:-1])
    return checked


def gather_gradient(upstream: SDVariable, indices: SDVariable, like: SDVariable, axis: int) -> SDVariable:
    """Sum of the upstream slices at their indices."""
    return like.sd.add_op(GatherGradient(axis), [upstream, like, indices])  # type: ignore[no-any-return]


@op("gather", api="base.gather math.gather var.gather", inputs="x positions?", signatures=("x, positions, axis", "x, indices, axis"))
class Gather(Op):
    """Slices of x along an axis.  Shapes: out = x.shape[:axis] + indices.shape + x.shape[axis + 1:]."""

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
            check_range(values, x.shape[at])
        return TensorSpec((*x.shape[:at], *inner, *x.shape[at + 1:]), x.dtype)

    def compute(self, xp: Any, x: Any, positions: Any = None) -> Any:
        """A copy."""
        chosen = xp.asarray(self.indices, dtype=np.int64) if positions is None else positions
        check_range(chosen, x.shape[self.axis])
        return xp.take(x, chosen, axis=self.axis)

    def cpu(self, *specs: TensorSpec) -> Kernel | None:
        """Slices copied one after the other."""
        from ..executor.cpu.indexed import take
        x, fixed = specs[0], np.asarray(self.indices, np.int64)
        positions = specs[1] if len(specs) > 1 else TensorSpec((fixed.size,), DataType.LONG)
        if not (x.is_static and positions.is_static and x.shape):
            return None
        call = take(normalize_axis(self.axis, len(x.shape)), x, positions)
        return None if call is None else Kernel(or_compute(self, call) if len(specs) > 1 else lambda x, out: call(x, fixed, out))

    def cuda(self, *specs: TensorSpec) -> CudaKernel | None:
        """The same; NaN, or 0, where an index is out of range."""
        from ..executor.cuda.rows import take
        positions = specs[1] if len(specs) > 1 else TensorSpec((len(self.indices),), DataType.LONG)
        at = normalize_axis(self.axis, specs[0].rank or 0)
        return take(at, specs[0], positions, self.indices if len(specs) == 1 else None)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Scattered back."""
        g, sd = output_grads[0], inputs[0].sd
        positions = inputs[1] if len(inputs) > 1 else sd.constant(np.asarray(self.indices, np.int64))
        return [gather_gradient(g, positions, inputs[0], self.axis), None]


@op("gather_bp", inputs="x like indices")
class GatherGradient(Op):
    """Zeros in the shape of ``like`` with the slices of x added at their indices (made by gradients)."""

    axis: int = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        """As ``like``."""
        return TensorSpec(specs[1].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, like: Any, indices: Any) -> Any:
        """Added row by row."""
        out = xp.zeros(like.shape, x.dtype)
        at = self.axis % like.ndim
        rows = xp.moveaxis(x.reshape(*like.shape[:at], -1, *like.shape[at + 1:]) if x.size else x, at, 0) if x.size else x
        if x.size:
            add_rows(xp, xp.moveaxis(out, at, 0), indices.reshape(-1), rows)
        return out

    def cpu(self, *specs: TensorSpec) -> Kernel | None:
        """Rows added in their order."""
        from ..executor.cpu.indexed import change
        x, like, indices = specs
        if not like.shape or not indices.is_static:
            return None
        add = change("add", normalize_axis(self.axis, len(like.shape)), TensorSpec(like.shape, x.dtype), indices)
        if add is None:
            return None

        def call(x: Any, like: Any, indices: Any, out: Any) -> bool:
            out[...] = 0
            return add(x, indices, out)
        return Kernel(or_compute(self, call))

    def cuda(self, *specs: TensorSpec) -> CudaKernel | None:
        """Sums in the order of the indices."""
        from ..executor.cuda.changes import changed, gradient_of
        x, like, indices = specs
        return gradient_of(changed("add", normalize_axis(self.axis, like.rank or 0), TensorSpec(like.shape, x.dtype), indices, "0"))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Gathered again."""
        return [inputs[0].sd.add_op(Gather((), self.axis), [output_grads[0], inputs[2]]), None, None]


def _table(x: TensorSpec, indices: TensorSpec) -> tuple[Any, TensorSpec]:
    """An array as rows that index vectors address, and the places of those; None where shapes are not known."""
    given = indices.shape or ()
    if not (x.is_static and indices.is_static and given):
        return None, indices
    shape, k = x.shape or (), given[-1]
    return TensorSpec((math.prod(shape[:k]), *shape[k:]), x.dtype), TensorSpec((math.prod(given[:-1]),), DataType.LONG)


@op("gather_nd", api="base.gather_nd math.gather_nd", inputs="x indices")
class GatherNd(Op):
    """Elements or slices at index vectors: indices[..., k] address the first k axes of x."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """indices.shape[:-1] + x.shape[k:]."""
        x, indices = specs
        require_integer("indices", indices)
        if x.shape is None or not indices.shape or indices.shape[-1] == -1:
            return TensorSpec(None, x.dtype)
        k = indices.shape[-1]
        if k > len(x.shape):
            raise ShapeError(f"index vectors of length {k} for an array of rank {len(x.shape)}")
        return TensorSpec((*indices.shape[:-1], *x.shape[k:]), x.dtype)

    def compute(self, xp: Any, x: Any, indices: Any) -> Any:
        """Fancy indexing."""
        return x[nd_index(xp, x.shape, indices)]

    def cpu(self, *specs: TensorSpec) -> Kernel | None:
        """Rows of x seen as a table."""
        from ..executor.cpu.indexed import places, take
        x, indices = specs
        table, at = _table(x, indices)
        find, call = (None, None) if table is None else (places(x.shape or (), indices), take(0, table, at))
        if find is None or call is None:
            return None

        def kernel(x: Any, indices: Any, out: Any) -> bool:
            found = find(indices)
            return found is not None and call(x.reshape(table.shape), found, out)
        return Kernel(or_compute(self, kernel))

    def cuda(self, *specs: TensorSpec) -> CudaKernel | None:
        """The same; NaN, or 0, where a vector points outside."""
        from ..executor.cuda.rows import take_nd
        return take_nd(*specs)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Scattered back."""
        return [inputs[0].sd.add_op(GatherNdGradient(), [output_grads[0], *inputs]), None]


def nd_index(xp: Any, shape: Sequence[int], indices: Any) -> tuple[Any, ...]:
    """NumPy's index for index vectors."""
    found = tuple(xp.moveaxis(indices, -1, 0))
    for i, n in zip(found, shape):
        check_range(i, n)
    return found


def change_at(y: TensorSpec, indices: TensorSpec, how: Any) -> Callable[..., bool] | None:
    """``call(updates, indices, y)``: y changed in place at index vectors; False when one is out of range."""
    from ..executor.cpu.indexed import change, places
    table, at = _table(y, indices)
    find, call = (None, None) if table is None else (places(y.shape or (), indices), change(how, 0, table, at))
    if find is None or call is None:
        return None

    def kernel(updates: Any, indices: Any, y: Any) -> bool:
        found = find(indices)
        return found is not None and call(updates, found, y)
    return kernel


@op("gather_nd_bp", inputs="x like indices")
class GatherNdGradient(Op):
    """Zeros in the shape of ``like`` with x added at its index vectors (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """As ``like``; x has a slice for each index vector."""
        x, like, indices = specs
        if like.shape is not None and indices.shape and indices.shape[-1] != -1:
            if indices.shape[-1] > len(like.shape):
                raise ShapeError(f"index vectors of {indices.shape[-1]} numbers cannot point into shape {like.shape}")
            expect("x", x, (*indices.shape[:-1], *like.shape[indices.shape[-1]:]))
        return TensorSpec(like.shape, x.dtype)

    def compute(self, xp: Any, x: Any, like: Any, indices: Any) -> Any:
        """Added one by one."""
        out = xp.zeros(like.shape, x.dtype)
        xp.add.at(out, nd_index(xp, like.shape, indices), x)
        return out

    def cpu(self, *specs: TensorSpec) -> Kernel | None:
        """Added row by row."""
        x, like, indices = specs
        call = change_at(TensorSpec(like.shape, x.dtype), indices, "add")
        if call is None:
            return None

        def kernel(x: Any, like: Any, indices: Any, out: Any) -> bool:
            out[...] = 0
            return call(x, indices, out)
        return Kernel(or_compute(self, kernel))

    def cuda(self, *specs: TensorSpec) -> CudaKernel | None:
        """Sums in the order of the index vectors."""
        from ..executor.cuda.changes import changed_nd, gradient_of
        x, like, indices = specs
        return gradient_of(changed_nd("add", TensorSpec(like.shape, x.dtype), indices, "0"))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Gathered again."""
        return [inputs[0].sd.add_op(GatherNd(), [output_grads[0], inputs[2]]), None, None]


class PartitionMode(Enum):
    """How rows are spread over several embedding tables."""

    MOD = 0
    DIV = 1


@op("embedding_lookup", api="math.embedding_lookup base.embedding_lookup", inputs="x indices", signatures=("x, indices, mode",))
class EmbeddingLookup(Gather):
    """Rows of a table."""

    mode: PartitionMode = PartitionMode.MOD

    def infer(self, *specs: TensorSpec) -> Specs:
        """As gather has it."""
        require_floating("embedding_lookup", specs[0])
        return super().infer(*specs)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Scattered back."""
        return [gather_gradient(output_grads[0], inputs[1], inputs[0], 0), None]


@op("onehot", api="base.one_hot math.one_hot", inputs="indices", gradient="zero", signatures=("indices, depth, axis, on, off, data_type",))
class OneHot(Op):
    """A new axis of size ``depth``: ``on`` where the position equals the index, else ``off``."""

    depth: int
    axis: int = -1
    on: float = 1.0
    off: float = 0.0
    data_type: DataType = DataType.FLOAT

    def infer(self, *specs: TensorSpec) -> Specs:
        """One axis more."""
        shape = specs[0].shape
        if shape is None:
            return TensorSpec(None, self.data_type)
        at = normalize_axis(self.axis, len(shape) + 1)
        return TensorSpec((*shape[:at], self.depth, *shape[at:]), self.data_type)

    def compute(self, xp: Any, indices: Any) -> Any:
        """By comparison."""
        at = self.axis % (indices.ndim + 1)
        steps = xp.arange(self.depth).reshape([-1] + [1] * (indices.ndim - at))
        dtype = self.data_type.numpy
        return xp.where(xp.expand_dims(indices, at) == steps, dtype.type(self.on), dtype.type(self.off))

    def cuda(self, *specs: TensorSpec) -> CudaKernel | None:
        """By comparison."""
        from ..executor.cuda.rows import one_hot
        rank = specs[0].rank or 0
        return one_hot(self.axis % (rank + 1), self.depth, self.on, self.off, self.data_type, specs[0])


@op("invert_permutation", api="base.invert_permutation math.invert_permutation", gradient="none")
class InvertPermutation(Op):
    """out[p[i]] = i for a permutation of 0 … n - 1."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """As the input."""
        require_integer("a permutation", specs[0])
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        """By sorting."""
        if not xp.array_equal(xp.sort(x.reshape(-1)), xp.arange(x.size)):
            raise ShapeError(f"{x.tolist()} is no permutation of 0 to {x.size - 1}")
        return xp.argsort(x.reshape(-1)).reshape(x.shape)
