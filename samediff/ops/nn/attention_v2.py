"""Dot-product attention with the features last."""
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import GraphError, ShapeError
from ...families.composite import composite_grad
from ...families.in_float import in_float
from ...ir.op import Op, Specs, op, require_floating, require_same_type
from ..elementwise.masking import keep_unmasked
from ..linalg.matmul import matmul
from ..linalg.matrix_parts import MatrixBandPart
from .attention import far
from .dropout import DropoutGrad, masked
from .softmax import softmax

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@op("dot_product_attention_v2", api="nn.dot_product_attention_v2", inputs="queries values keys query_mask? value_mask?", stateful=True,
    file=FileArgs(floats=("scale_factor", "dropout_probability"), bools=("use_causal_mask", "training")))
class DotProductAttentionV2(Op):
    """softmax(scale_factor * queries keys^T) values: for each query a mean of the values, weighted by its likeness to the keys.

    Steps with value mask 0 get no weight, and with ``use_causal_mask`` those behind the query's own; queries with query mask 0
    give 0. With ``training`` each weight is dropped with ``dropout_probability`` and the others grow accordingly, while the graph
    trains only. Masks have no gradient.

    Shapes: queries (batch, queries, features), values (batch, steps, size), keys (batch, steps, features), query mask
    (batch, queries), value mask (batch, steps) -> (batch, queries, size).
    """

    scale_factor: float = 1.0
    dropout_probability: float = 0.0
    use_causal_mask: bool = False
    training: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        """One row for each query."""
        q, v, k = specs[:3]
        q_mask, v_mask = (*specs[3:], None, None)[:2]
        require_floating(self.id, q, v, k)
        require_same_type(self.id, q, v, k)
        if not 0 <= self.dropout_probability < 1:
            raise GraphError(f"the probability of dropping a weight is at least 0 and below 1, got {self.dropout_probability}")
        for what, spec, rank in (("queries", q, 3), ("values", v, 3), ("keys", k, 3), ("the query mask", q_mask, 2),
                                 ("the value mask", v_mask, 2)):
            if spec is not None and spec.rank not in (None, rank):
                raise ShapeError(f"{what} must have rank {rank}, got shape {spec.shape}")
        (qs, vs, ks), anything = (s.shape for s in (q, v, k)), (-1, -1, -1)
        qs, vs, ks = qs or anything, vs or anything, ks or anything
        pairs = [("features of queries and keys", qs[2], ks[2]), ("steps of keys and values", ks[1], vs[1]),
                 ("batches of queries and keys", qs[0], ks[0]), ("batches of keys and values", ks[0], vs[0])]
        for what, mask, shape in (("query", q_mask, qs), ("value", v_mask, vs)):
            if mask is not None and mask.shape is not None:
                pairs += [(f"batches of {what} mask and input", mask.shape[0], shape[0]),
                          (f"steps of {what} mask and input", mask.shape[1], shape[1])]
        for what, a, b in pairs:
            if a != b and -1 not in (a, b):
                raise ShapeError(f"{what} must agree, got {a} and {b}")
        return TensorSpec((max(qs[0], ks[0], vs[0]), qs[1], vs[2]), q.dtype)

    @property
    def keeps(self) -> float:
        """Probability of keeping a weight."""
        return 1.0 - self.dropout_probability if self.training else 1.0

    def at_inference(self) -> Op:
        return self.replace(training=False)

    @in_float
    def compute(self, xp: Any, queries: Any, values: Any, keys: Any, query_mask: Any = None,  # type: ignore[override]  # stateful
                value_mask: Any = None, *, context: Any) -> Any:
        """Scores, softmax over the steps, weighted sum."""
        queries, values, keys = (v if mask is None else xp.where(mask[:, :, None] != 0, v, v.dtype.type(0)) for v, mask in (
            (queries, query_mask), (values, value_mask), (keys, value_mask)))
        scores = xp.matmul(queries, keys.swapaxes(-1, -2)) * queries.dtype.type(self.scale_factor)
        seen = xp.ones(scores.shape[1:], bool) if value_mask is None else value_mask[:, None, :] != 0
        if self.use_causal_mask:
            seen = seen & xp.tri(*scores.shape[1:], dtype=bool)
        weights = softmax(xp, xp.where(seen, scores, scores + scores.dtype.type(far(scores.dtype))), -1)
        if self.keeps < 1:
            weights = masked(xp, weights, self.keeps, True, context)
        out = xp.matmul(weights, values)
        return out if query_mask is None else out * (query_mask[:, :, None] != 0).astype(out.dtype)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Gradients of the composition, with the weights that this node dropped."""
        node = outputs[0].sd.producer(outputs[0].name())
        build = functools.partial(self._in_nodes, node.name, (*inputs[3:], None, None)[:2])  # type: ignore[union-attr]
        return composite_grad(build, inputs[:3], output_grads)

    def _in_nodes(self, name: str, masks: Sequence[Any], q: Any, v: Any, k: Any) -> Any:
        """The meaning in nodes; ``name`` is the node whose random numbers are used."""
        sd, (query_mask, value_mask) = q.sd, masks
        q, v, k = (keep_unmasked(x, mask, channels_last=True) for x, mask in ((q, query_mask), (v, value_mask), (k, value_mask)))

        def ones(mask: Any, axis: int) -> Any:
            kept = sd.call("base", "cast_to", sd.call("base", "cast_to", mask, DataType.BOOL), q.dtype)
            return sd.call("base", "expand_dims", kept, axis)
        scores = matmul(q, k, transpose_y=True) * self.scale_factor
        seen = None if value_mask is None else ones(value_mask, 1)
        if self.use_causal_mask:
            past = sd.add_op(MatrixBandPart(-1, 0), [sd.call("base", "ones_like", scores)])
            seen = past if seen is None else past * seen
        if seen is not None:
            scores = scores + (1.0 - seen) * far(q.dtype.numpy)
        weights = sd.call("nn", "softmax", scores, -1)
        if self.keeps < 1:
            weights = sd.add_op(DropoutGrad(self.keeps, True, name), [weights])
        out = matmul(weights, v)
        return out if query_mask is None else out * ones(query_mask, 2)
