"""Traces and main diagonals of matrices."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.spec import TensorSpec, may_equal
from ...errors import ShapeError
from ...families.in_float import in_float
from ...ir.op import Op, Specs, op, require_same_type

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


def _matrix(spec: TensorSpec, what: str) -> tuple[int, ...] | None:
    if spec.shape is not None and len(spec.shape) < 2:
        raise ShapeError(f"{what} needs matrices, got shape {spec.shape}")
    return spec.shape


@op("trace", api="math.trace base.trace linalg.trace")
class Trace(Op):
    """Sum of the main diagonal of the last two axes."""

    def infer(self, *specs: TensorSpec) -> Specs:
        shape = _matrix(specs[0], "trace")
        return TensorSpec(None if shape is None else shape[:-2], specs[0].dtype)

    @in_float
    def compute(self, xp: Any, x: Any) -> Any:
        return xp.trace(x, axis1=-2, axis2=-1, dtype=x.dtype)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """A diagonal matrix of the upstream gradient."""
        return [inputs[0].sd.add_op(TraceGradient(), [output_grads[0], inputs[0]])]


@op("trace_bp", inputs="x like", shape_inputs=(1,))
class TraceGradient(Op):
    """x along the main diagonal of zeros in the shape of ``like`` (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[1].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, like: Any) -> Any:
        return x[..., None, None] * xp.eye(*like.shape[-2:], dtype=x.dtype)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(Trace(), [output_grads[0]]), None]


@op("matrix_set_diag", api="math.set_diag base.set_diag linalg.set_diag", inputs="in_ diag")
class SetDiag(Op):
    """A copy with the main diagonal of the last two axes replaced."""

    def infer(self, *specs: TensorSpec) -> Specs:
        x, diag = specs
        require_same_type("set_diag", x, diag)
        shape = _matrix(x, "set_diag")
        if shape is not None and diag.shape is not None:
            want = (*shape[:-2], -1 if -1 in shape[-2:] else min(shape[-2:]))
            if not may_equal(want, diag.shape):
                raise ShapeError(f"the diagonal must have shape {want}, got {diag.shape}")
        return TensorSpec(x.shape, x.dtype)

    def compute(self, xp: Any, in_: Any, diag: Any) -> Any:
        out = in_.copy()
        k = xp.arange(min(out.shape[-2:]))
        out[..., k, k] = diag
        return out

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Zeros on the diagonal for the matrix, the diagonal for the other."""
        sd, g = inputs[0].sd, output_grads[0]
        zeros = sd.call("base", "zeros_like", inputs[1])
        return [sd.add_op(SetDiag(), [g, zeros]), sd.add_op(MatrixDiagPart(), [g])]


@op("matrix_diag_part", api="linalg.matrix_diag_part")
class MatrixDiagPart(Op):
    """The main diagonals of the last two axes."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """The length of the shorter matrix axis."""
        shape = _matrix(specs[0], "matrix_diag_part")
        return TensorSpec(None if shape is None else (*shape[:-2], -1 if -1 in shape[-2:] else min(shape[-2:])), specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        return xp.diagonal(x, axis1=-2, axis2=-1)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient on the diagonal, zeros elsewhere."""
        sd = inputs[0].sd
        return [sd.add_op(SetDiag(), [sd.call("base", "zeros_like", inputs[0]), output_grads[0]])]
