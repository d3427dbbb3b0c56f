"""Rows changed at indices: the scatter family."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ShapeError
from ..op import Kernel, Op, Specs, op, require_same_type
from ..spec import Shape, TensorSpec
from .creation import shape_from
from .gather import add_rows, change_at, check_range, nd_index, or_compute, require_integer

if TYPE_CHECKING:
    from ..executor.cuda.actions import CudaKernel
    from ..variable import SDVariable


class Scatter(Op):
    """``ref`` with rows combined with ``updates`` at ``indices`` along axis 0.

    Shapes: ref (n, *R), indices (*I), updates (*I, *R) -> (n, *R).
    """

    inputs = "ref indices updates"

    def infer(self, *specs: TensorSpec) -> Specs:
        """As ``ref``."""
        ref, indices, updates = specs
        require_integer("indices", indices)
        require_same_type(self.id, ref, updates)
        if ref.shape is not None and indices.shape is not None and updates.shape is not None:
            want = (*indices.shape, *ref.shape[1:])
            if len(want) != len(updates.shape) or any(a != b and -1 not in (a, b) for a, b in zip(want, updates.shape)):
                raise ShapeError(f"updates must have shape {want} for indices {indices.shape} into {ref.shape}, got {updates.shape}")
            if indices.value is not None and ref.shape and ref.shape[0] != -1:
                check_range(indices.value, ref.shape[0])
        return TensorSpec(ref.shape, ref.dtype)

    def combine(self, xp: Any, out: Any, indices: Any, rows: Any) -> None:
        """Change ``out`` at ``indices``."""
        raise NotImplementedError

    def compute(self, xp: Any, ref: Any, indices: Any, updates: Any) -> Any:
        """A changed copy."""
        out = ref.copy()
        check_range(indices, ref.shape[0])
        self.combine(xp, out, indices.reshape(-1), updates.reshape(-1, *ref.shape[1:]))
        return out

    def cpu(self, *specs: TensorSpec) -> Kernel | None:
        """A copy whose rows are changed in the order of the indices."""
        ref, indices, _ = specs
        how = self.id.removeprefix("scatter_")
        if how not in ("add", "sub", "mul", "div", "max", "min", "update") or not all(s.is_static for s in specs):
            return None
        from ..executor.cpu.indexed import change
        return _on_copy(self, change(how, 0, ref, indices))  # type: ignore[arg-type]

    def cuda(self, *specs: TensorSpec) -> CudaKernel | None:
        """In the order of the indices; those out of range count for nothing."""
        from ..executor.cuda.changes import changed, scattered
        ref, indices, _ = specs
        how: Any = self.id.removeprefix("scatter_")
        return scattered(changed(how, 0, ref, indices)) if how in ("add", "sub", "mul", "div", "max", "min", "update") else None


def _on_copy(op: Op, call: Callable[..., bool] | None) -> Kernel | None:
    if call is None:
        return None

    def kernel(ref: Any, indices: Any, updates: Any, out: Any) -> bool:
        out[...] = ref
        return call(updates, indices, out)
    return Kernel(or_compute(op, kernel))


def _at(x: SDVariable, indices: SDVariable) -> SDVariable:
    return x.sd.call("base", "gather", x, indices, 0)  # type: ignore[no-any-return]


def scatter(name: str, api: str, combine: Callable[..., None], gradient: Callable[..., Sequence[Any]], doc: str) -> type[Scatter]:
    """Register a member: ``combine(xp, out, indices, rows)`` and ``gradient(op, ref, indices, updates, y, g)``."""

    @op(name, api=api)
    class Declared(Scatter):
        def combine(self, xp: Any, out: Any, indices: Any, rows: Any) -> None:
            combine(xp, out, indices, rows)

        def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
                 output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
            by_ref, by_updates = gradient(self, *inputs, outputs[0], output_grads[0])
            return [by_ref, None, by_updates]

    Declared.__doc__ = doc
    Declared.__name__ = Declared.__qualname__ = "".join(p.title() for p in name.split("_"))
    return Declared


def _subtract(xp: Any, out: Any, indices: Any, rows: Any) -> None:
    add_rows(xp, out, indices, -rows)


def _by_ufunc(ufunc: str) -> Callable[..., None]:
    def combine(xp: Any, out: Any, indices: Any, rows: Any) -> None:
        getattr(xp, ufunc).at(out, indices, rows)
    return combine


def _update(xp: Any, out: Any, indices: Any, rows: Any) -> None:
    out[indices] = rows


def _again(self: Scatter, g: SDVariable, indices: SDVariable, updates: SDVariable) -> SDVariable:
    return g.sd.add_op(self, [g, indices, updates])  # type: ignore[no-any-return]


def _of_extreme(self: Scatter, ref: SDVariable, i: SDVariable, u: SDVariable, y: SDVariable, g: SDVariable) -> Sequence[Any]:
    zeros = ref.sd.call("base", "zeros_like", g)
    rows, here = _at(g, i), ref.sd.call("base", "eq", _at(y, i), u)
    return (ref.sd.call("base", "where", g, zeros, ref.sd.call("base", "eq", ref, y)),
            ref.sd.call("base", "where", rows, ref.sd.call("base", "zeros_like", rows), here))


def _of_update(self: Scatter, ref: SDVariable, i: SDVariable, u: SDVariable, y: SDVariable, g: SDVariable) -> Sequence[Any]:
    last = ref.sd.add_op(LastRow(), [i, u])
    return _again(self, g, i, ref.sd.call("base", "zeros_like", u)), _at(g, i) * last


@op("last_row", inputs="indices like", gradient="zero")
class LastRow(Op):
    """1 for updates that no later one overwrites, else 0, in the shape of ``like`` (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """As ``like``."""
        return TensorSpec(specs[1].shape, specs[1].dtype)

    def compute(self, xp: Any, indices: Any, like: Any) -> Any:
        """By the last occurrence of each index."""
        flat = indices.reshape(-1)
        _, first = xp.unique(flat[::-1], return_index=True)
        keep = xp.zeros(flat.size, like.dtype)
        keep[flat.size - 1 - first] = 1
        return xp.broadcast_to(keep.reshape(*indices.shape, *[1] * (like.ndim - indices.ndim)), like.shape)

    def cuda(self, *specs: TensorSpec) -> CudaKernel | None:
        """By comparison with all later indices."""
        from ..executor.cuda.rows import equal_rows
        return equal_rows(True, *specs)


scatter("scatter_add", "base.scatter_add math.scatter_add", add_rows, lambda self, ref, i, u, y, g: (g, _at(g, i)),
        "Rows of ``ref`` at ``indices`` plus ``updates``; repeated indices accumulate.")
scatter("scatter_sub", "base.scatter_sub math.scatter_sub", _subtract, lambda self, ref, i, u, y, g: (g, -_at(g, i)),
        "Rows of ``ref`` at ``indices`` minus ``updates``; repeated indices accumulate.")
scatter("scatter_mul", "base.scatter_mul math.scatter_mul", _by_ufunc("multiply"),
        lambda self, ref, i, u, y, g: (_again(self, g, i, u), _at(g * y, i) / u),
        "Rows of ``ref`` at ``indices`` times ``updates``; repeated indices multiply.")
scatter("scatter_div", "base.scatter_div math.scatter_div", _by_ufunc("divide"),
        lambda self, ref, i, u, y, g: (_again(self, g, i, u), -_at(g * y, i) / u),
        "Rows of ``ref`` at ``indices`` over ``updates``; repeated indices divide one after the other.")
scatter("scatter_max", "base.scatter_max math.scatter_max", _by_ufunc("maximum"), _of_extreme,
        "The larger of the rows of ``ref`` at ``indices`` and ``updates``.")
scatter("scatter_min", "base.scatter_min math.scatter_min", _by_ufunc("minimum"), _of_extreme,
        "The smaller of the rows of ``ref`` at ``indices`` and ``updates``.")
ScatterUpdate = scatter("scatter_update", "base.scatter_update math.scatter_update", _update, _of_update,
                        "Rows of ``ref`` at ``indices`` replaced by ``updates``; of repeated indices the last counts.")


@op("put_rows", api="var.put", inputs="x rows values positions", signatures=("x, rows, values, positions",))
class PutRows(Op):
    """x with the given rows replaced by rows of ``values`` at ``positions``."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """As x."""
        require_integer("rows", specs[1])
        require_integer("positions", specs[3])
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, rows: Any, values: Any, positions: Any) -> Any:
        """A changed copy."""
        out = x.copy()
        out[rows] = values[positions]
        return out

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """That of gather and scatter_update."""
        x, rows, values, positions = inputs
        chosen = _at(values, positions)
        by_x, _, by_chosen = ScatterUpdate().grad([x, rows, chosen], outputs, output_grads)
        from .gather import gather_gradient
        return [by_x, None, gather_gradient(by_chosen, positions, values, 0), None]  # type: ignore[arg-type]


class ScatterNd(Op):
    """``ref`` changed at index vectors: indices[..., k] address its first k axes."""

    inputs = "ref indices updates"

    def infer(self, *specs: TensorSpec) -> Specs:
        """As ``ref``."""
        require_integer("indices", specs[1])
        return TensorSpec(specs[0].shape, specs[0].dtype)


def taken(ref: TensorSpec, indices: TensorSpec) -> Shape:
    """The shape of what index vectors address."""
    return (*(indices.shape or ())[:-1], *(ref.shape or ())[(indices.shape or (0,))[-1]:])


def _nd(name: str, sign: int, doc: str) -> None:
    @op(name, api=f"base.{name}")
    class Declared(ScatterNd):
        def compute(self, xp: Any, ref: Any, indices: Any, updates: Any) -> Any:
            out, where = ref.copy(), nd_index(xp, ref.shape, indices)
            if sign:
                xp.add.at(out, where, updates if sign > 0 else -updates)
            else:
                out[where] = updates
            return out

        def cpu(self, *specs: TensorSpec) -> Kernel | None:
            ref, indices, updates = specs
            if updates.shape != taken(ref, indices) or updates.dtype is not ref.dtype:
                return None
            return _on_copy(self, change_at(ref, indices, {1: "add", -1: "sub", 0: "update"}[sign]))

        def cuda(self, *specs: TensorSpec) -> CudaKernel | None:
            from ..executor.cuda.changes import changed_nd, scattered
            ref, indices, updates = specs
            same = updates.dtype is ref.dtype and updates.is_static
            found = changed_nd({1: "add", -1: "sub", 0: "update"}[sign], ref, indices) if same else None   # type: ignore[arg-type]
            return scattered(found) if updates.shape == taken(ref, indices) else None

        def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
                 output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
            sd, (_, indices, updates), g = inputs[0].sd, inputs, output_grads[0]
            rows = sd.call("base", "gather_nd", g, indices)
            kept = g if sign else sd.add_op(self, [g, indices, sd.call("base", "zeros_like", updates)])
            return [kept, None, -rows if sign < 0 else rows]

    Declared.__doc__ = doc
    Declared.__name__ = Declared.__qualname__ = "".join(p.title() for p in name.split("_"))


_nd("scatter_nd_add", 1, "``ref`` plus ``updates`` at index vectors; repeated ones accumulate.")
_nd("scatter_nd_sub", -1, "``ref`` minus ``updates`` at index vectors; repeated ones accumulate.")
_nd("scatter_nd_update", 0, "``ref`` with ``updates`` at index vectors, which must differ.")


@op("compat_sparse_to_dense", api="base.sparse_to_dense math.sparse_to_dense", inputs="indices shape values default?",
    signatures=("indices, shape, values, default",))
class SparseToDense(Op):
    """An array of ``shape`` with ``values`` at ``indices`` (a vector, or one row per value) and ``default`` (0) elsewhere."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape in the variable, the type of the values."""
        require_integer("indices", specs[0])
        return TensorSpec(shape_from(specs[1]), specs[2].dtype)

    def compute(self, xp: Any, indices: Any, shape: Any, values: Any, default: Any = None) -> Any:
        """A fresh array."""
        out = xp.full([int(n) for n in shape.reshape(-1)], 0 if default is None else default.item(), values.dtype)
        out[_coordinates(xp, out.ndim, indices)] = values
        return out

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The places of the values, and the sum over the others."""
        sd, g = inputs[0].sd, output_grads[0]
        wide = sd.call("base", "expand_dims", inputs[0], -1) if inputs[0].spec.rank == outputs[0].spec.rank == 1 else inputs[0]
        from .reshaping import reshape_like
        by_values = reshape_like(sd.call("base", "gather_nd", g, wide), inputs[2])
        by_default = reshape_like(g.sum() - by_values.sum(), inputs[3]) if len(inputs) > 3 else None
        return [None, None, by_values, by_default]


def _coordinates(xp: Any, rank: int, indices: Any) -> tuple[Any, ...]:
    rows = np.atleast_1d(indices)
    return (rows,) if rank == 1 and rows.ndim == 1 else tuple(rows.reshape(-1, rank).T)
