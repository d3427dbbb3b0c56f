"""Rows changed at indices: the scatter family."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...base.datatype import DataType
from ...base.named_axes import expect, expect_leading, expect_single
from ...base.spec import Shape, TensorSpec, may_equal, size
from ...codecs.file_args import FileArgs
from ...errors import DataTypeError, ShapeError
from ...expressions.arrays import as_rows
from ...families.in_float import in_float
from ...families.indices import check_range, require_integer
from ...families.shape_inputs import shape_from
from ...ir.op import Op, Specs, op, require_same_type
from ..shape.reshaping import reshape_like
from .gather import add_rows, gather_gradient, nd_index

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


def refuse_bool(op_id: str, ref: TensorSpec) -> None:
    """DataTypeError where truth values would be subtracted or divided."""
    if ref.dtype is DataType.BOOL and op_id.endswith(("_sub", "_div")):
        raise DataTypeError(f"{op_id} needs numbers; ref is BOOL: cast it first")


class Scatter(Op):
    """``ref`` with rows combined with ``updates`` at ``indices`` along axis 0.

    Shapes: ref (n, *R), indices (*I), updates (*I, *R) -> (n, *R).
    """

    inputs = "ref indices updates"
    flops_per_element = 1
    how: ClassVar[str] = ""        # the kernels' name for the operation; empty where there is none

    def __init_subclass__(cls) -> None:
        if "combine" in vars(cls):
            cls.how = ""           # the kernel of a parent combines otherwise

    def infer(self, *specs: TensorSpec) -> Specs:
        ref, indices, updates = specs
        require_integer("indices", indices)
        require_same_type(self.id, ref, updates)
        refuse_bool(self.id, ref)
        if ref.shape is not None and indices.shape is not None and updates.shape is not None:
            want = (*indices.shape, *ref.shape[1:])
            if not may_equal(want, updates.shape):
                raise ShapeError(f"updates must have shape {want} for indices {indices.shape} into {ref.shape}, got {updates.shape}")
            if indices.value is not None and ref.shape and ref.shape[0] != -1:
                check_range(f"{self.id}: index", indices.value, ref.shape[0])
        return TensorSpec(ref.shape, ref.dtype)

    def combine(self, xp: Any, out: Any, indices: Any, rows: Any) -> None:
        """Combine ``rows`` with ``out`` at ``indices``, in place."""
        raise NotImplementedError

    @in_float
    def compute(self, xp: Any, ref: Any, indices: Any, updates: Any) -> Any:
        out = ref.copy()
        check_range(f"{self.id}: index", indices, ref.shape[0])
        self.combine(xp, out, indices.reshape(-1), updates.reshape(indices.size, *ref.shape[1:]))
        return out


def _at(x: SDVariable, indices: SDVariable) -> SDVariable:
    return x.sd.call("base", "gather", x, indices, 0)  # type: ignore[no-any-return]


def scatter(name: str, api: str, combine: Callable[..., None], gradient: Callable[..., Sequence[Any]], doc: str,
            **class_attributes: Any) -> type[Scatter]:
    """Register a member: ``combine(xp, out, indices, rows)`` and ``gradient(op, ref, indices, updates, y, g)``."""

    @op(name, api=api, **class_attributes)
    class Declared(Scatter):
        def combine(self, xp: Any, out: Any, indices: Any, rows: Any) -> None:
            combine(xp, out, indices, rows)

        def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
                 output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
            by_ref, by_updates = gradient(self, *inputs, outputs[0], output_grads[0])
            return [by_ref, None, by_updates]

    Declared.how = name.removeprefix("scatter_")
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


@op("last_row", inputs="indices like", gradient="zero", shape_inputs=(1,))
class LastRow(Op):
    """1 for updates that no later one overwrites, else 0, in the shape of ``like`` (made by gradients)."""

    flops_per_element = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        expect_leading("like", specs[1], specs[0].shape)
        return TensorSpec(specs[1].shape, specs[1].dtype)

    def compute(self, xp: Any, indices: Any, like: Any) -> Any:
        """1 for the last occurrence of each index, 0 for earlier ones."""
        flat = indices.reshape(-1)
        _, first = xp.unique(flat[::-1], return_index=True)
        keep = xp.zeros(flat.size, like.dtype)
        keep[flat.size - 1 - first] = 1
        return xp.broadcast_to(keep.reshape(*indices.shape, *[1] * (like.ndim - indices.ndim)), like.shape)


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
                        "Rows of ``ref`` at ``indices`` replaced by ``updates``; of repeated indices the last counts.",
                        file=FileArgs(aliases=("scatter_upd",)), flops_per_element=0)


@op("put_rows", api="var.put", inputs="x rows values positions")
class PutRows(Op):
    """x with the given rows replaced by rows of ``values`` at ``positions``."""

    flops_per_element = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        x, rows, values, positions = specs
        require_integer("rows", rows)
        require_integer("positions", positions)
        expect("positions", positions, rows.shape)
        if x.shape is not None and values.shape is not None:
            if not x.shape or not values.shape:
                raise ShapeError(f"x and values need rows; got shapes {x.shape} and {values.shape}")
            expect("values", values, (values.shape[0], *x.shape[1:]))
        return TensorSpec(x.shape, x.dtype)

    def compute(self, xp: Any, x: Any, rows: Any, values: Any, positions: Any) -> Any:
        check_range(f"{self.id}: row", rows, len(x))
        check_range(f"{self.id}: position", positions, len(values))
        out = x.copy()
        out[rows] = values[positions]
        return out

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradients of ``gather`` and ``scatter_update``."""
        x, rows, values, positions = inputs
        chosen = _at(values, positions)
        by_x, _, by_chosen = ScatterUpdate().grad([x, rows, chosen], outputs, output_grads)
        return [by_x, None, gather_gradient(by_chosen, positions, values, 0), None]  # type: ignore[arg-type]


class ScatterNd(Op):
    """``ref`` changed at index vectors: indices[..., k] address its first k axes."""

    inputs = "ref indices updates"
    how: ClassVar[str] = ""        # as in :class:`Scatter`

    def infer(self, *specs: TensorSpec) -> Specs:
        ref, indices, updates = specs
        require_integer("indices", indices)
        require_same_type(self.id, ref, updates)
        refuse_bool(self.id, ref)
        if ref.shape is not None and indices.shape is not None:
            if not indices.shape or indices.shape[-1] == 0 or indices.shape[-1] > len(ref.shape):
                raise ShapeError(f"indices of shape {indices.shape} hold no vectors of 1 to {len(ref.shape)} numbers, the axes of ref")
            if indices.shape[-1] != -1:
                expect("updates", updates, taken(ref, indices))
        return TensorSpec(ref.shape, ref.dtype)


def taken(ref: TensorSpec, indices: TensorSpec) -> Shape:
    """The shape of what index vectors address."""
    return (*(indices.shape or ())[:-1], *(ref.shape or ())[(indices.shape or (0,))[-1]:])


def _nd(name: str, sign: int, doc: str) -> None:
    @op(name, api=f"base.{name}")
    class Declared(ScatterNd):
        @in_float
        def compute(self, xp: Any, ref: Any, indices: Any, updates: Any) -> Any:
            out, where = ref.copy(), nd_index(xp, self.id, ref.shape, indices)
            if sign:
                xp.add.at(out, where, updates if sign > 0 else -updates)
            else:
                out[where] = updates
            return out

        def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
                 output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
            sd, (_, indices, updates), g = inputs[0].sd, inputs, output_grads[0]
            rows = sd.call("base", "gather_nd", g, indices)
            kept = g if sign else sd.add_op(self, [g, indices, sd.call("base", "zeros_like", updates)])
            return [kept, None, -rows if sign < 0 else rows]

    Declared.how = name.removeprefix("scatter_nd_")
    Declared.__doc__ = doc
    Declared.__name__ = Declared.__qualname__ = "".join(p.title() for p in name.split("_"))


_nd("scatter_nd_add", 1, "``ref`` plus ``updates`` at index vectors; repeated ones accumulate.")
_nd("scatter_nd_sub", -1, "``ref`` minus ``updates`` at index vectors; repeated ones accumulate.")
_nd("scatter_nd_update", 0, "``ref`` with ``updates`` at index vectors, which must differ.")


@op("compat_sparse_to_dense", api="base.sparse_to_dense math.sparse_to_dense", inputs="indices shape values default?")
class SparseToDense(Op):
    """An array of ``shape`` with ``values`` at ``indices`` (a vector, or one row per value) and ``default`` (0) elsewhere."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape in the variable, the type of the values."""
        indices, shape, values = specs[:3]
        require_integer("indices", indices)
        made, numbers = shape_from(shape), size(indices.shape)
        if made is not None and numbers != -1:
            if not made or numbers % len(made):
                raise ShapeError(f"indices into an array of shape {made} need {len(made)} numbers for each value, got {indices.shape}")
            expect("values", values, (numbers // len(made),))
        if len(specs) > 3:
            expect_single(("default", specs[3]))
        return TensorSpec(made, values.dtype)

    def compute(self, xp: Any, indices: Any, shape: Any, values: Any, default: Any = None) -> Any:
        out = xp.full([int(n) for n in shape.reshape(-1)], 0 if default is None else default.item(), values.dtype)
        rows = np.atleast_1d(indices)
        out[nd_index(xp, self.id, out.shape, rows[:, None] if out.ndim == rows.ndim == 1 else as_rows(rows))] = values
        return out

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The places of the values, and the sum over the others."""
        sd, g = inputs[0].sd, output_grads[0]
        wide = sd.call("base", "expand_dims", inputs[0], -1) if inputs[0].spec.rank == outputs[0].spec.rank == 1 else inputs[0]
        by_values = reshape_like(sd.call("base", "gather_nd", g, wide), inputs[2])
        by_default = reshape_like(g.sum() - by_values.sum(), inputs[3]) if len(inputs) > 3 else None
        return [None, None, by_values, by_default]
