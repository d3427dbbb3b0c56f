"""A simple recurrence whose previous result attends over all steps of the input."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...samediff.base.spec import TensorSpec
from ...samediff.errors import ShapeError
from ...samediff.families.in_float import in_float
from ...samediff.ir.op import Op, Specs, op
from ...samediff.ops.nn.attention import far, project
from ...samediff.ops.nn.softmax import softmax
from ...samediff.ops.recurrent.recurrence import apply, slope

if TYPE_CHECKING:
    from ...samediff.ir.variable import SDVariable

INPUTS = "x w rw b? wq? wk? wv? wo? mask?"


@op("recurrent_attention", inputs=INPUTS)
class RecurrentAttention(Op):
    """y[t] = activation(x[t] W + b + attention(y[t - 1], X) RW), without attention at t = 0.

    Attention is :class:`MultiHeadDotProductAttention` with one query where ``wq`` … ``wo`` are given, and dot-product
    attention without projections where they are not.

    Shapes: x (batch, n_in, time), w (n_in, n_out), rw (n_out, n_out), b (n_out), wq (heads, size, n_out), wk and wv
    (heads, size, n_in), wo (heads * size, n_out), mask (batch, time) -> (batch, n_out, time).
    """

    activation: Any = "tanh"

    def infer(self, *specs: TensorSpec) -> Specs:
        """Series of the same length, with the features of the weights."""
        x, w = specs[0].shape or (-1, -1, -1), specs[1].shape or (-1, -1)
        if len(x) != 3 or (-1 not in (x[1], w[0]) and x[1] != w[0]):
            raise ShapeError(f"recurrent attention takes series (batch, {w[0]}, time); got {list(x)}")
        return TensorSpec((x[0], w[1], x[2]), specs[0].dtype)

    @in_float
    def compute(self, xp: Any, *inputs: Any) -> Any:
        steps = _Steps(xp, self.activation, *inputs)
        return xp.stack([s.y for s in steps.run()], axis=2)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient through all steps in reverse."""
        given = [*inputs, *[None] * (9 - len(inputs))]
        return [*inputs[0].sd.add_op(RecurrentAttentionGrad(self.activation), [output_grads[0], *given]), None]


@op("recurrent_attention_grad", inputs="upstream " + INPUTS, gradient="none")
class RecurrentAttentionGrad(Op):
    """Gradients of :class:`RecurrentAttention` for x, w, rw, b, wq, wk, wv and wo (made by gradients)."""

    activation: Any = "tanh"

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shapes of the inputs; a single 0 for each one left out."""
        given = [*specs[1:9], *[None] * (9 - len(specs))]
        return tuple(TensorSpec((1,), specs[0].dtype) if s is None else TensorSpec(s.shape, specs[0].dtype) for s in given)

    @in_float
    def compute(self, xp: Any, upstream: Any, *inputs: Any) -> Any:
        """All steps computed again, then their gradients in reverse."""
        found = _Steps(xp, self.activation, *inputs).back(upstream)
        return tuple(xp.zeros(1, upstream.dtype) if g is None else g for g in found)


class _Step:
    """Intermediate results of one step: pre-activation, result, query, weights, joined heads and attention."""

    q: Any = None
    a: Any = None
    joined: Any = None
    attended: Any = None
    z: Any = None
    y: Any = None


class _Gradients(NamedTuple):
    """Gradients in one step: of the pre-activation, attention, joined heads, scores and query."""

    z: Any
    attended: Any
    heads: Any
    scores: Any
    query: Any


class _Steps:
    """The recurrence computed on arrays."""

    def __init__(self, xp: Any, activation: Any, x: Any, w: Any, rw: Any, b: Any = None, wq: Any = None, wk: Any = None, wv: Any = None,
                 wo: Any = None, mask: Any = None) -> None:
        self.xp, self.activation = xp, activation
        self.x, self.w, self.rw, self.b, self.wq, self.wk, self.wv, self.wo = x, w, rw, b, wq, wk, wv, wo
        self.keys = x[:, None] if wq is None else project(xp, x, wk)
        self.values = x[:, None] if wq is None else project(xp, x, wv)
        self.scale = x.dtype.type(1 / math.sqrt(self.keys.shape[2]))
        self.hidden = None if mask is None else ((1 - mask.astype(x.dtype)) * x.dtype.type(far(x.dtype)))[:, None]

    def run(self) -> list[_Step]:
        """The intermediate results of all steps, in order."""
        steps: list[_Step] = []
        for t in range(self.x.shape[2]):
            s = _Step()
            s.z = self.x[:, :, t] @ self.w
            if self.b is not None:
                s.z = s.z + self.b
            if steps:
                self._attend(s, steps[-1].y)
                s.z = s.z + s.attended @ self.rw
            s.y = apply(self.xp, self.activation, s.z)
            steps.append(s)
        return steps

    def _attend(self, s: _Step, y: Any) -> None:
        xp = self.xp
        s.q = y[:, None] if self.wq is None else xp.einsum("hsf,nf->nhs", self.wq, y)
        scores = xp.einsum("nhst,nhs->nht", self.keys, s.q) * self.scale
        s.a = softmax(xp, scores if self.hidden is None else scores + self.hidden, -1)
        heads = xp.einsum("nhst,nht->nhs", self.values, s.a)
        s.joined = heads.reshape(heads.shape[0], -1)
        s.attended = s.joined if self.wo is None else s.joined @ self.wo

    def back(self, upstream: Any) -> list[Any]:
        """Gradients of x, w, rw, b, wq, wk, wv, wo: sums over the steps are products of what the steps give, stacked."""
        xp, steps, slopes = self.xp, self.run(), []
        found: list[_Gradients] = []
        carried: Any = 0
        for t in reversed(range(len(steps))):
            s = steps[t]
            dz = (upstream[:, :, t] + carried) * slope(xp, self.activation, s.z)
            slopes.append(dz)
            if not t:
                break
            attended = dz @ self.rw.T
            joined = attended if self.wo is None else attended @ self.wo.T
            heads = joined.reshape(*s.a.shape[:2], -1)
            da = xp.einsum("nhst,nhs->nht", self.values, heads)
            scores = s.a * (da - (da * s.a).sum(axis=-1, keepdims=True)) * self.scale
            query = xp.einsum("nhst,nht->nhs", self.keys, scores)
            carried = query[:, 0] if self.wq is None else xp.einsum("nhs,hsf->nf", query, self.wq)
            found.append(_Gradients(dz, attended, heads, scores, query))
        dz, later = xp.stack(slopes[::-1]), steps[:0:-1]

        def total(formula: str, x: list[Any], y: list[Any], like: Any) -> Any:
            return xp.einsum(formula, xp.stack(x), xp.stack(y)) if x else xp.zeros(like.shape, upstream.dtype)
        dx, dw = xp.einsum("tno,io->nit", dz, self.w), xp.einsum("nit,tno->io", self.x, dz)
        drw = total("tni,tno->io", [s.attended for s in later], [g.z for g in found], self.rw)
        db = None if self.b is None else dz.sum(axis=(0, 1))
        dkeys = total("unhs,unht->nhst", [s.q for s in later], [g.scores for g in found], self.keys)
        dvalues = total("unhs,unht->nhst", [g.heads for g in found], [s.a for s in later], self.values)
        if self.wq is None:
            return [dx + dkeys[:, 0] + dvalues[:, 0], dw, drw, db, None, None, None, None]
        dx = dx + xp.einsum("nhst,hsf->nft", dkeys, self.wk) + xp.einsum("nhst,hsf->nft", dvalues, self.wv)
        dwk, dwv = (xp.einsum("nhst,nft->hsf", d, self.x) for d in (dkeys, dvalues))
        dwq = total("tnhs,tnf->hsf", [g.query for g in found], [s.y for s in steps[-2::-1]], self.wq)
        dwo = total("tni,tno->io", [s.joined for s in later], [g.attended for g in found], self.wo)
        return [dx, dw, drw, db, dwq, dwk, dwv, dwo]
