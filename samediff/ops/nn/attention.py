"""Dot-product attention (Vaswani et al. 2017)."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.datatype import DataType
from ...base.named_axes import agree, expect, expect_broadcast
from ...base.spec import Shape, TensorSpec, size
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...expressions.arrays import as_rows
from ...families.composite import Composite
from ...families.in_float import in_float
from ...families.sizes import axis_size
from ...ir.op import Copies, Op, Specs, op, require_floating, require_same_type
from ..elementwise.masking import keep_unmasked
from ..linalg.matmul import matmul
from .softmax import softmax

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


def far(dtype: Any) -> float:
    """A penalty added to the scores of steps that a mask leaves out: far below any score, and finite."""
    return -6e4 if dtype == DataType.HALF.numpy else -1e9


def _swap(x: Any) -> Any:
    return x.swapaxes(-1, -2)


@op("dot_product_attention", api="nn.dot_product_attention", inputs="queries keys values mask?",
    file=FileArgs(ints=("scaled:bool", "with_weights:bool")))
class DotProductAttention(Composite):
    """values softmax(keys^T queries / sqrt(features)): for each query a mean of the values, weighted by its likeness to the keys.

    ``scaled`` False leaves out the root. Steps with mask 0 get no weight. ``with_weights`` gives the weights as a second
    output.

    Shapes: queries (batch, [heads,] features, queries), keys (batch, [heads,] features, steps), values
    (batch, [heads,] size, steps), mask (batch, steps) -> (batch, [heads,] size, queries); weights
    (batch, [heads,] steps, queries).
    """

    inlines = True
    scaled: bool = True
    with_weights: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        """One column for each query."""
        q, k, v = specs[:3]
        require_floating(self.id, q, k, v)
        require_same_type(self.id, q, k, v)
        if q.shape is None or k.shape is None or v.shape is None:
            return (TensorSpec(None, q.dtype),) * 2 if self.with_weights else TensorSpec(None, q.dtype)
        ranks = {len(s.shape) for s in (q, k, v)}  # type: ignore[arg-type]
        if len(ranks) != 1 or ranks - {3, 4}:
            raise ShapeError(f"queries {q.shape}, keys {k.shape} and values {v.shape} must all have rank 3, or all rank 4 with heads")
        for what, a, b in (("features of queries and keys", q.shape[-2], k.shape[-2]),
                           ("steps of keys and values", k.shape[-1], v.shape[-1]),
                           ("batches of queries and keys", q.shape[0], k.shape[0]),
                           ("batches of keys and values", k.shape[0], v.shape[0])):
            if a != b and -1 not in (a, b):
                raise ShapeError(f"{what} must agree, got {a} and {b}")
        if len(specs) > 3:
            _check_mask(specs[3], k.shape)
        lead = _lead(q.shape, k.shape)
        out = TensorSpec((*lead, v.shape[-2], q.shape[-1]), q.dtype)
        return (out, TensorSpec((*lead, k.shape[-1], q.shape[-1]), q.dtype)) if self.with_weights else out

    @in_float
    def compute(self, xp: Any, queries: Any, keys: Any, values: Any, mask: Any = None) -> Any:
        """Scores, softmax over the steps, weighted sum."""
        if mask is not None:
            seen = mask.reshape(mask.shape[0], *(1,) * (keys.ndim - 2), mask.shape[1]) != 0
            keys, values = (xp.where(seen, v, v.dtype.type(0)) for v in (keys, values))
        scores = xp.matmul(_swap(keys), queries)
        if self.scaled:
            scores *= scores.dtype.type(1 / math.sqrt(max(keys.shape[-2], 1)))
        weights = softmax(xp, scores if mask is None else _hidden(scores, mask), -2)
        out = xp.matmul(values, weights)
        return (out, weights) if self.with_weights else out

    def expand(self, *inputs: Any) -> Any:
        """Scores, softmax over the steps, weighted sum, in nodes."""
        queries, keys, values, mask = (*inputs, None)[:4]
        return self.attended(queries, seen_steps(keys, mask), seen_steps(values, mask), mask)

    def attended(self, queries: Any, keys: Any, values: Any, mask: Any) -> Any:
        """Results and weights of the attention, for keys and values that are finite where the mask is 0."""
        sd = queries.sd
        scores = matmul(keys, queries, transpose_x=True)
        if self.scaled:
            shape = keys.spec.shape
            if shape is not None and shape[-2] >= 0:
                scores = scores * (1 / math.sqrt(max(shape[-2], 1)))
            else:
                scores = scores / sd.call("math", "sqrt", sd.call("math", "max", axis_size(keys, -2), 1.0))
        if mask is not None:
            scores = sd.add_op(HideSteps(), [scores, mask])
        weights = sd.call("nn", "softmax", scores, -2)
        out = matmul(values, weights)
        return (out, weights) if self.with_weights else out


def seen_steps(x: SDVariable, mask: SDVariable | None) -> SDVariable:
    """``x`` (batch, …, steps), and 0 at steps whose mask (batch, steps) is 0."""
    if mask is None:
        return x
    for _ in range((x.spec.rank or 3) - 2):
        mask = x.sd.call("base", "expand_dims", mask, 1)
    return keep_unmasked(x, mask)


def _check_mask(mask: TensorSpec | None, keys: Shape) -> None:
    if mask is not None and mask.rank not in (None, 2):
        raise ShapeError(f"the mask must have the shape (batch, steps), got {mask.shape}")
    expect_broadcast("the mask", mask, (keys[0], keys[-1]))


def _lead(a: Shape, b: Shape) -> Shape:
    return tuple(max(m, n) for m, n in zip(a[:-2], b[:-2]))


def _hidden(scores: Any, mask: Any) -> Any:
    spread = mask.reshape(mask.shape[0], *(1,) * (scores.ndim - 3), mask.shape[1], 1)
    return scores - (1 - spread.astype(scores.dtype)) * scores.dtype.type(-far(scores.dtype))


@op("hide_steps", inputs="scores mask")
class HideSteps(Op):
    """Scores with a large number taken off where the mask is 0; masks have no gradient (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        scores, mask = specs
        _check_mask(mask, (-1, -1) if scores.shape is None else (scores.shape[0], scores.shape[-2]))      # of one example or of each
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, scores: Any, mask: Any) -> Any:
        return _hidden(scores, mask)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [output_grads[0], None]


@op("multi_head_dot_product_attention", api="nn.multi_head_dot_product_attention", inputs="queries keys values Wq Wk Wv Wo mask?",
    file=FileArgs(ints=("scaled:bool", "with_weights:bool")))
class MultiHeadDotProductAttention(Composite):
    """Attention of several heads, each on its own projections, joined by a last projection.

    Shapes: queries (batch, features, queries), keys (batch, features, steps), values (batch, features, steps), Wq and Wk
    (heads, projected, features), Wv (heads, size, features), Wo (heads * size, outputs), mask (batch, steps)
    -> (batch, outputs, queries); weights (batch, heads, steps, queries) as a second output with ``with_weights``.
    """

    inlines = True
    scaled: bool = True
    with_weights: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        """One column for each query."""
        q, k, _, wq, _, wv, wo = specs[:7]
        require_floating(self.id, *specs[:7])
        require_same_type(self.id, *specs[:7])
        sizes = agree("queries B F Q, keys B G S, values B V S, Wq H P F, Wk H P G, Wv H Z V, Wo J O", specs)
        if {"H", "Z", "J"} <= sizes.keys() and sizes["H"] * sizes["Z"] != sizes["J"]:
            raise ShapeError(f"Wo {wo.shape} joins {sizes['J']} features, the heads of Wv {wv.shape} give {sizes['H'] * sizes['Z']}")
        if len(specs) > 7:
            _check_mask(specs[7], (sizes.get("B", -1), sizes.get("S", -1)))
        batch = -1 if q.shape is None else q.shape[0]
        queries = -1 if q.shape is None else q.shape[2]
        out = TensorSpec((batch, -1 if wo.shape is None else wo.shape[1], queries), q.dtype)
        weights = TensorSpec((batch, -1 if wq.shape is None else wq.shape[0], -1 if k.shape is None else k.shape[2], queries), q.dtype)
        return (out, weights) if self.with_weights else out

    @in_float
    def compute(self, xp: Any, queries: Any, keys: Any, values: Any, wq: Any, wk: Any, wv: Any, wo: Any, mask: Any = None) -> Any:
        if mask is not None:
            keys, values = (xp.where(mask[:, None, :] != 0, v, v.dtype.type(0)) for v in (keys, values))
        projected = [project(xp, x, w) for x, w in ((queries, wq), (keys, wk), (values, wv))]
        out, weights = DotProductAttention(self.scaled, True).compute(xp, projected[0], projected[1], projected[2], mask)
        joined = xp.matmul(wo.T, out.reshape(out.shape[0], out.shape[1] * out.shape[2], out.shape[3]))
        return (joined, weights) if self.with_weights else joined

    def expand(self, *inputs: Any) -> Any:
        """Projections, attention of each head, and the projection of the joined heads."""
        queries, keys, values, wq, wk, wv, wo, mask = (*inputs, None)[:8]
        sd = queries.sd
        keys, values = seen_steps(keys, mask), seen_steps(values, mask)
        projected = [sd.add_op(Project(), [x, w]) for x, w in ((queries, wq), (keys, wk), (values, wv))]
        out, weights = DotProductAttention(self.scaled, True).attended(projected[0], projected[1], projected[2], mask)
        joined = sd.add_op(JoinHeads(), [out, wo])
        return (joined, weights) if self.with_weights else joined


def project(xp: Any, x: Any, w: Any) -> Any:
    """(batch, features, steps) by (heads, projected, features) -> (batch, heads, projected, steps)."""
    heads, projected, features = w.shape
    return xp.matmul(w.reshape(heads * projected, features), x).reshape(x.shape[0], heads, projected, x.shape[2])


class _Product(Op):
    """A product in which no axis is shared by both factors and the result."""

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        return 2 * math.isqrt(math.prod(size(s.shape) for s in (*inputs, *outputs) if s is not None))


@op("project_heads", inputs="x w")
class Project(_Product):
    """The projections of all heads (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """One block of features for each head."""
        agree("x B F S, w H P F", specs)
        (x, w), none = (s.shape for s in specs), (-1, -1, -1)
        x, w = x or none, w or none
        return TensorSpec((x[0], w[0], w[1], x[2]), specs[0].dtype)

    def compute(self, xp: Any, x: Any, w: Any) -> Any:
        return project(xp, x, w)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        (x, w), (g,) = inputs, output_grads
        return [x.sd.add_op(ProjectedInput(), [g, w]), x.sd.add_op(ProjectedWeights(), [g, x])]


@op("project_heads_input", inputs="g w")
class ProjectedInput(_Product):
    """sum over heads of w^T g (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape of the projection's input."""
        agree("g B H P S, w H P F", specs)
        g, w = (specs[0].shape or (-1,) * 4), (specs[1].shape or (-1,) * 3)
        return TensorSpec((g[0], w[2], g[3]), specs[0].dtype)

    def compute(self, xp: Any, g: Any, w: Any) -> Any:
        return xp.matmul(as_rows(w).T, g.reshape(g.shape[0], g.shape[1] * g.shape[2], g.shape[3]))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        (g, w), (h,) = inputs, output_grads
        return [g.sd.add_op(Project(), [h, w]), g.sd.add_op(ProjectedWeights(), [g, h])]


@op("project_heads_weights", inputs="g x")
class ProjectedWeights(_Product):
    """sum over the batch of g x^T (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape of the projection's weights."""
        agree("g B H P S, x B F S", specs)
        g, x = (specs[0].shape or (-1,) * 4), (specs[1].shape or (-1,) * 3)
        return TensorSpec((g[1], g[2], x[1]), specs[0].dtype)

    @in_float
    def compute(self, xp: Any, g: Any, x: Any) -> Any:
        return xp.tensordot(g, x, axes=((0, 3), (0, 2)))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        (g, x), (h,) = inputs, output_grads
        return [g.sd.add_op(Project(), [x, h]), g.sd.add_op(ProjectedInput(), [g, h])]


@op("join_heads", inputs="x w")
class JoinHeads(Composite):
    """w^T x with the heads of x one below the other (made by gradients)."""

    inlines = True

    def infer(self, *specs: TensorSpec) -> Specs:
        sizes = agree("x B H Z Q, w J O", specs)
        if {"H", "Z", "J"} <= sizes.keys() and sizes["H"] * sizes["Z"] != sizes["J"]:
            raise ShapeError(f"weights {specs[1].shape} join {sizes['J']} features, heads {specs[0].shape} give {sizes['H'] * sizes['Z']}")
        x, w = (specs[0].shape or (-1,) * 4), (specs[1].shape or (-1,) * 2)
        return TensorSpec((x[0], w[1], x[3]), specs[0].dtype)

    def compute(self, xp: Any, x: Any, w: Any) -> Any:
        return xp.matmul(w.T, x.reshape(x.shape[0], x.shape[1] * x.shape[2], x.shape[3]))

    def expand(self, *inputs: Any) -> Any:
        """The gradient of a projection with one block of weights for each head, which computes the same."""
        x, w = inputs
        return x.sd.add_op(ProjectedInput(), [x, x.sd.add_op(HeadRows(), [w, x])])


@op("head_rows", inputs="w x", shape_inputs=(1,))
class HeadRows(Op):
    """The rows of w, grouped by the heads of x (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        w, x = (specs[0].shape or (-1,) * 2), (specs[1].shape or (-1,) * 4)
        expect("w", specs[0], (size(x[1:3]), w[1]))
        return TensorSpec((x[1], x[2], w[1]), specs[0].dtype)

    def compute(self, xp: Any, w: Any, x: Any) -> Any:
        return w.reshape(x.shape[1], x.shape[2], w.shape[1])

    def copies(self, *specs: TensorSpec) -> Copies:
        return Copies(lambda w, x, out: [(w.reshape(out.shape), out)])

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.call("base", "reshape_like", output_grads[0], inputs[0]), None]
