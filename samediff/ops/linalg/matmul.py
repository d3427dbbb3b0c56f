"""Products of matrices and tensors."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType, is_floating
from ...base.spec import Shape, TensorSpec, broadcast, normalize_axes, normalize_axis, size
from ...codecs.file_args import FileArgs
from ...codecs.flatbuffers.graph import FlatNode
from ...errors import GradientError, GraphError, ShapeError
from ...families.broadcasting import broadcast_reduced, sum_to
from ...families.families import Reduction
from ...ir.op import Op, Specs, op, require_floating, require_same_type
from ..shape.reshaping import reshape_like

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


def matmul(x: SDVariable, y: SDVariable, transpose_x: bool = False, transpose_y: bool = False) -> SDVariable:
    """Matrix products over the leading axes, in nodes."""
    return x.sd.call("base", "mmul", x, y, transpose_x, transpose_y, False)  # type: ignore[no-any-return]


def _depth(x: Shape, transposed: bool) -> int:
    """The length of the sums in a product with x on the left."""
    return x[-2 if transposed and len(x) > 1 else -1]


def swapped(x: Any) -> Any:
    """The last two axes exchanged."""
    return x.swapaxes(-1, -2) if x.ndim > 1 else x


@op("matmul", api="base.mmul var.mmul base.matmul math.mmul math.matmul var.matmul linalg.mmul linalg.matmul", inputs="x y",
    signatures=("x, y, transpose_x, transpose_y, transpose_z", "x, y, &transposes"),
    file=FileArgs(ints=("transpose_x:bool", "transpose_y:bool", "transpose_z:bool"), floats=("=1.0", "=0.0"), properties={
        "transposeA": "b:transpose_x", "transposeB": "b:transpose_y", "transposeResult": "b:transpose_z"}))
class Matmul(Op):
    """Matrix product, with operands or result transposed on request.

    Shapes: x (*B, n, k), y (*B, k, m) -> (*B, n, m); a vector counts as a row on the left and as a column on the right.
    """

    by_blas = True
    transpose_x: bool = False
    transpose_y: bool = False
    transpose_z: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        """The rows of x and the columns of y."""
        x, y = specs
        require_floating("mmul", x, y)
        if x.shape is None or y.shape is None:
            return TensorSpec(None, x.dtype)
        if not x.shape or not y.shape:
            raise ShapeError("mmul needs vectors or matrices; use mul for scalars")
        a = _turned((1, *x.shape) if len(x.shape) == 1 else x.shape, self.transpose_x and len(x.shape) > 1)
        b = _turned((*y.shape, 1) if len(y.shape) == 1 else y.shape, self.transpose_y and len(y.shape) > 1)
        if a[-1] != b[-2] and -1 not in (a[-1], b[-2]):
            raise ShapeError(f"columns of x ({a[-1]}) and rows of y ({b[-2]}) differ in {x.shape} times {y.shape}"
                             f"{' with transposes' if self.transpose_x or self.transpose_y else ''}")
        batch = broadcast(a[:-2], b[:-2]) or ()
        end = ((a[-2],) if len(x.shape) > 1 else ()) + ((b[-1],) if len(y.shape) > 1 else ())
        return TensorSpec((*batch, *(end[::-1] if self.transpose_z else end)), x.dtype)

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        z = xp.matmul(swapped(x) if self.transpose_x else x, swapped(y) if self.transpose_y else y)
        return swapped(z) if self.transpose_z and x.ndim > 1 and y.ndim > 1 else z

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        x: Any = inputs[0]
        return 2 * size(outputs[0].shape) * _depth(x.shape, self.transpose_x)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Products with the transposed operands."""
        (x, y), g, sd = inputs, output_grads[0], inputs[0].sd
        ranks = [len(v.spec.shape) if v.spec.shape is not None else None for v in (x, y)]
        if None in ranks:
            raise GradientError("mmul: the ranks must be known to differentiate")
        tx, ty, tz = self.transpose_x, self.transpose_y, self.transpose_z
        if 1 in ranks:
            return self._grad_of_vectors(x, y, g, ranks[0] == 1, ranks[1] == 1)

        def product(a: SDVariable, b: SDVariable, ta: bool, tb: bool) -> Any:
            return sd.add_op(Matmul(ta, tb), [a, b])

        dx = product(y, g, ty, not tz) if tx else product(g, y, tz, not ty)
        dy = product(g, x, not tz, tx) if ty else product(x, g, not tx, tz)
        return [sum_to(dx, x), sum_to(dy, y)]

    def _grad_of_vectors(self, x: SDVariable, y: SDVariable, g: SDVariable, x_is: bool, y_is: bool) -> Sequence[SDVariable | None]:
        """Vectors as matrices of one row or column."""
        sd = x.sd

        def widened(v: SDVariable, axis: int) -> Any:
            return sd.call("base", "expand_dims", v, axis)

        rows = widened(x, 0) if x_is else x
        columns = widened(y, 1) if y_is else y
        if x_is and y_is:
            upstream = widened(widened(g, 0), 0)
        else:
            upstream = widened(g, -2 if x_is else -1)
        whole = Matmul(self.transpose_x and not x_is, self.transpose_y and not y_is)
        dx, dy = whole.grad([rows, columns], [], [upstream])
        return [reshape_like(dx, x), reshape_like(dy, y)]  # type: ignore[arg-type]


def _turned(shape: Shape, swap: bool) -> Shape:
    return (*shape[:-2], shape[-1], shape[-2]) if swap else shape


@dataclass(frozen=True)
class _GemmArgs(FileArgs):
    """By name; DL4J's nodes have sizes as integers, and factors of the products as two inputs in front."""

    def decode(self, node: FlatNode) -> dict[str, Any]:
        found = super().decode(node)
        if not node.extra_integer:
            return found
        a, b = (value in _TRANSPOSED for value in node.extra_integer[:2])
        return {"transpose_a": a, "transpose_b": b, "scaled": True}


#: A flag, and BLAS' code for a transposed operand.
_TRANSPOSED = (1, 112)


@op("batched_gemm", api="base.batch_mmul linalg.batch_mmul", inputs="*matrices", file=_GemmArgs(op_type="CUSTOM", all_properties=True),
    signatures=("*matrices, transpose_a, transpose_b", "*matrices"))
class BatchMmul(Op):
    """Matrix products of two equally long lists, given one after the other: one output per pair.

    ``scaled``: two vectors stand in front, the factor of each product, and one that multiplies nothing (as files have it).
    """

    transpose_a: bool = False
    transpose_b: bool = False
    scaled: bool = False

    def _lists(self, values: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        matrices = values[2:] if self.scaled else values
        return matrices[:len(matrices) // 2], matrices[len(matrices) // 2:]

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """One matrix for each pair."""
        left, right = self._lists(specs)
        if not left or len(left) != len(right):
            raise GraphError(f"two lists of equal length expected, got {len(specs)} matrices in all")
        one = Matmul(self.transpose_a, self.transpose_b)
        return tuple(one.infer(a, b) for a, b in zip(left, right))  # type: ignore[misc]

    def compute(self, xp: Any, *matrices: Any) -> Any:
        one = Matmul(self.transpose_a, self.transpose_b)
        products = [one.compute(xp, a, b) for a, b in zip(*self._lists(matrices))]
        return tuple(p * matrices[0][i] for i, p in enumerate(products)) if self.scaled else tuple(products)

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        left: Any = inputs[2 if self.scaled else 0]
        return sum(2 * size(s.shape) * _depth(left.shape, self.transpose_a) for s in outputs)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        one, sd = Matmul(self.transpose_a, self.transpose_b), inputs[0].sd
        pairs, factors = [], []
        for i, (a, b, g) in enumerate(zip(*self._lists(inputs), output_grads)):
            if self.scaled:
                factors.append(sd.call("base", "sum", g * sd.add_op(one, [a, b])))
                g = g * inputs[0][i]
            pairs.append(one.grad([a, b], [], [g]))
        front = [sd.call("base", "stack", 0, *factors), None] if self.scaled else []
        return [*front, *(p[0] for p in pairs), *(p[1] for p in pairs)]


@op("tensordot", api="base.tensor_mmul linalg.tensor_mmul base.tensordot", inputs="x y",
    signatures=("x, y, dimensions_x, dimensions_y, transpose_x, transpose_y, transpose_z", "x, y, dimensions_x, *dimensions_y"),
    file=FileArgs(ints=("#dimensions_x", "*dimensions_x", "#dimensions_y", "*dimensions_y"),
                  bools=("transpose_x", "transpose_y", "transpose_z")))
class TensorMmul(Op):
    """Contraction of x over ``dimensions_x`` with y over ``dimensions_y``.  Shapes: free axes of x, then those of y."""

    by_blas = True
    dimensions_x: tuple[int, ...] = ()
    dimensions_y: tuple[int, ...] = ()
    transpose_x: bool = False
    transpose_y: bool = False
    transpose_z: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        x, y = specs
        require_floating("tensor_mmul", x, y)
        require_same_type("tensor_mmul", x, y)
        if x.shape is None or y.shape is None:
            return TensorSpec(None, x.dtype)
        a, b = (s[::-1] if t else s for s, t in ((x.shape, self.transpose_x), (y.shape, self.transpose_y)))
        over_x, over_y = ([normalize_axis(d, len(s)) for d in dims] for s, dims in ((a, self.dimensions_x), (b, self.dimensions_y)))
        if len(over_x) != len(over_y) or any(a[i] != b[j] and -1 not in (a[i], b[j]) for i, j in zip(over_x, over_y)):
            raise ShapeError(f"axes {self.dimensions_x} of {a} and {self.dimensions_y} of {b} do not have the same sizes")
        out = (*(n for i, n in enumerate(a) if i not in over_x), *(n for i, n in enumerate(b) if i not in over_y))
        return TensorSpec(out[::-1] if self.transpose_z else out, x.dtype)

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        z = xp.tensordot(x.T if self.transpose_x else x, y.T if self.transpose_y else y, (self.dimensions_x, self.dimensions_y))
        return z.T if self.transpose_z else z

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        x: Any = inputs[0]
        shape: Shape = x.shape[::-1] if self.transpose_x else x.shape
        return 2 * size(outputs[0].shape) * math.prod(shape[d] for d in self.dimensions_x)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Contractions over the other operand's free axes, axes put back in order."""
        sd, (x, y), g = inputs[0].sd, inputs, output_grads[0]
        if x.spec.shape is None or y.spec.shape is None:
            raise GradientError("tensor_mmul: the ranks must be known to differentiate")
        x, y = (sd.call("base", "transpose", v) if t else v for v, t in ((x, self.transpose_x), (y, self.transpose_y)))
        g = sd.call("base", "transpose", g) if self.transpose_z else g
        rx, ry = len(inputs[0].spec.shape or ()), len(inputs[1].spec.shape or ())
        over_x, over_y = [d % rx for d in self.dimensions_x], [d % ry for d in self.dimensions_y]
        free_x, free_y = ([i for i in range(r) if i not in over] for r, over in ((rx, over_x), (ry, over_y)))
        nx = len(free_x)
        dx = sd.add_op(TensorMmul(tuple(range(nx, nx + len(free_y))), tuple(free_y)), [g, y])
        order = free_x + [over_x[over_y.index(d)] for d in sorted(over_y)]
        dx = dx if order == list(range(rx)) else sd.call("base", "permute", dx, *(order.index(i) for i in range(rx)))
        dy = sd.add_op(TensorMmul(tuple(free_x), tuple(range(nx))), [x, g])
        order = [over_y[over_x.index(d)] for d in sorted(over_x)] + free_y
        dy = dy if order == list(range(ry)) else sd.call("base", "permute", dy, *(order.index(i) for i in range(ry)))
        return [sd.call("base", "transpose", dx) if self.transpose_x else dx, sd.call("base", "transpose", dy) if self.transpose_y else dy]


@op("dot", api="base.dot var.dot math.dot", inputs="x y", signatures=("x, y, *dimensions", "x, y, keep_dims, *dimensions"),
    file=FileArgs(dimensions="dimensions", properties={"keepDims": "b:keep_dims"}))
class Dot(Reduction):
    """Sum of x * y over ``dimensions``."""

    result = "to_float"

    def infer(self, *specs: TensorSpec) -> Specs:
        """The broadcast shape of x and y, reduced."""
        x, y = specs
        normalize_axes(self.dimensions, len(x.shape or ()))
        whole = TensorSpec(broadcast(x.shape, y.shape), x.dtype if x.dtype.is_floating else DataType.FLOAT)
        return super().infer(whole)

    def compute(self, xp: Any, x: Any, y: Any = None) -> Any:
        """The sum of products, those of whole numbers in DOUBLE, as they would wrap around; what has few digits is added up in FLOAT."""
        own = x.dtype if is_floating(x.dtype) else np.dtype(np.float32)
        if not is_floating(x.dtype):
            x, y = x.astype(np.float64), y.astype(np.float64)
        product = x * y
        wide = np.dtype(np.float32) if product.dtype.itemsize == 2 else product.dtype
        return product.sum(axis=normalize_axes(self.dimensions, product.ndim), keepdims=self.keep_dims, dtype=wide).astype(own)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The other operand times the upstream gradient."""
        x, y = inputs
        g = broadcast_reduced(output_grads[0], x * y, self.dimensions, self.keep_dims)
        return [sum_to(g * y, x), sum_to(g * x, y)]
