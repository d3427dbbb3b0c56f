"""The gated recurrent unit over a whole sequence, time first: what ``gru`` is made of.

r, u = sigmoid(x_t W + h_{t-1} R + b);  c = tanh(x_t W_c + r * (h_{t-1} R_c) + b_c);  h_t = u h_{t-1} + (1 - u) c.
Source: Cho et al. 2014, with the reset gate behind the product.
"""
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.named_axes import agree
from ...base.spec import TensorSpec
from ...expressions.arrays import as_rows
from ...families.in_float import in_float
from ...ir.op import Op, op, require_floating, require_same_type
from .recurrence import apply, recurrent_gradient, sequence_flops
from .sequence_scan import gru_by_scan, through_scan

if TYPE_CHECKING:
    from ...ir.variable import SDVariable

AXES = "x T N I, h_last N U, wx I 3U, wh U 3U, biases 3U"


@op("gru_sequence", inputs="x h_last wx wh biases")
class GruSequence(Op):
    """A gated recurrent unit over a sequence (what ``gru`` stands for).

    Shapes: x (T, N, in), h_last (N, n), wx (in, 3n), wh (n, 3n), biases (3n), blocks r, u, c -> all h (T, N, n); r, u, c and
    h R_c (T, N, 4n), which the gradient needs.
    """

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """Time and batch of x, units of the state."""
        x, h = specs[:2]
        require_floating(self.id, *specs)
        require_same_type(self.id, *specs)
        agree(AXES, specs, flat="biases")
        lead, units = (-1, -1) if x.shape is None else x.shape[:2], h.shape[1] if h.shape else -1
        return TensorSpec((*lead, units), x.dtype), TensorSpec((*lead, -1 if units == -1 else 4 * units), x.dtype)

    @in_float
    def compute(self, xp: Any, x: Any, h: Any, wx: Any, wh: Any, b: Any) -> Any:
        """One matrix product for the inputs of all steps, then one step after the other."""
        units = h.shape[1]
        sums = xp.matmul(x, wx) + b.reshape(-1)
        states, saved = xp.empty((*x.shape[:2], units), x.dtype), xp.empty((*x.shape[:2], 4 * units), x.dtype)
        for t in range(len(sums)):
            product = h @ wh
            gates = apply(xp, "sigmoid", sums[t, :, :2 * units] + product[:, :2 * units])
            r, u, kept = gates[:, :units], gates[:, units:], product[:, 2 * units:]
            c = xp.tanh(sums[t, :, 2 * units:] + r * kept)
            h = u * h + (1 - u) * c
            states[t], saved[t] = h, xp.concatenate([gates, c, kept], 1)
        return states, saved

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        return sequence_flops(inputs[0], inputs[2], inputs[3], 3)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient through time; the values saved by the forward pass count as constants."""
        return list(inputs[0].sd.add_op(GruSequenceGrad(), [*inputs, *outputs, output_grads[0]]))


@op("gru_sequence_grad", inputs="x h_last wx wh biases states saved grad_states")
class GruSequenceGrad(Op):
    """Gradients of :class:`GruSequence` by back-propagation through time; what it saved counts as a function of the inputs
    (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        agree(AXES + ", states T N U, saved T N 4U, grad_states T N U", specs, flat="biases")
        require_same_type(self.id, *specs)
        return tuple(TensorSpec(s.shape, specs[0].dtype) for s in specs[:5])

    @in_float
    def compute(self, xp: Any, x: Any, h: Any, wx: Any, wh: Any, b: Any, states: Any, saved: Any, upstream: Any) -> Any:
        """Step by step, backwards; the weights' gradients in one product each."""
        units = h.shape[1]
        dz, dr = (xp.empty((*x.shape[:2], 3 * units), x.dtype) for _ in range(2))
        carried = xp.zeros(h.shape, x.dtype)
        previous = xp.concatenate([h[None], states[:-1]]) if len(states) else states
        for t in reversed(range(len(states))):
            r, u, c, kept = (saved[t, :, k * units:(k + 1) * units] for k in range(4))
            total = upstream[t] + carried
            dc = total * (1 - u) * (1 - c * c)
            gates = [dc * kept * r * (1 - r), total * (previous[t] - c) * u * (1 - u)]
            dz[t], dr[t] = xp.concatenate([*gates, dc], 1), xp.concatenate([*gates, dc * r], 1)
            carried = total * u + dr[t] @ wh.T
        flat = as_rows(dz)
        return ((flat @ wx.T).reshape(x.shape), carried, as_rows(x).T @ flat, recurrent_gradient(h, states, dr),
                flat.sum(0).reshape(b.shape))

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        return 2 * sequence_flops(inputs[0], inputs[2], inputs[3], 3)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Second derivatives, by expressing the gradient as a scan."""
        found = through_scan(functools.partial(gru_by_scan), inputs[:5], None, inputs[7:8], output_grads)
        return [*found[:5], None, None, *found[5:]]
