"""The simple recurrent network over a whole sequence, time first: h_t = act(x_t W + h_{t-1} RW + b)."""
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.named_axes import agree
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...expressions.arrays import as_rows
from ...families.in_float import in_float
from ...ir.op import Expandable, as_tuple, op, require_floating, require_same_type
from .recurrence import apply, function, recurrent_gradient, sequence_flops, slope
from .sequence_scan import gradients_by_scan, rnn_by_scan, through_scan

if TYPE_CHECKING:
    from ...ir.variable import SDVariable

AXES = "x T N I, w I U, rw U U, b U, h0 N U, mask T N"


@op("rnn_sequence", inputs="x w rw b? h0? mask?", file=FileArgs(op_type="UDF", all_properties=True))
class RnnSequence(Expandable):
    """A simple recurrent network over a sequence; a mask multiplies h_t.

    Shapes: x (T, N, in), w (in, n), rw (n, n), b (n), h0 (N, n), mask (T, N) -> states (T, N, n), sums before the
    activation (T, N, n).
    """

    activation: Any = "tanh"

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """Time and batch of x, units of the recurrent weights."""
        x, _, rw = specs[:3]
        function(self.activation)
        require_floating(self.id, *specs[:5])
        require_same_type(self.id, *specs[:5])
        agree(AXES, specs, flat="b")
        lead = (-1, -1) if x.shape is None else x.shape[:2]
        one = TensorSpec((*lead, -1 if rw.shape is None else rw.shape[0]), x.dtype)
        return one, one

    @in_float
    def compute(self, xp: Any, x: Any, w: Any, rw: Any, b: Any = None, h0: Any = None, mask: Any = None) -> Any:
        """One matrix product for all inputs, then step by step."""
        sums = (as_rows(x) @ w).reshape(*x.shape[:2], w.shape[1])
        if b is not None:
            sums += b.reshape(-1)
        states, h = xp.empty_like(sums), h0
        for t in range(len(sums)):
            if h is not None:
                sums[t] += h @ rw
            states[t] = apply(xp, self.activation, sums[t])
            if mask is not None:
                states[t] *= mask[t].reshape(-1, 1).astype(x.dtype)
            h = states[t]
        return states, sums

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        return sequence_flops(inputs[0], inputs[1], inputs[2], 1)

    def plan_rewrite(self, name: str) -> Expandable:
        return self

    def expand(self, *inputs: Any) -> Any:
        """A scan, where a back end has no kernel of the activation."""
        return tuple(rnn_by_scan(self.activation, *inputs, *[None] * (6 - len(inputs))))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        given = [*inputs, *[None] * (6 - len(inputs))]
        found = inputs[0].sd.add_op(RnnSequenceGrad(self.activation), [*given, *outputs, output_grads[0]])
        return [None if v is None else found[i] if i < 5 else None for i, v in enumerate(inputs)]


@op("rnn_sequence_grad", inputs="x w rw b? h0? mask? states sums grad_states")
class RnnSequenceGrad(Expandable):
    """Gradients of :class:`RnnSequence` by back-propagation through time; what it saved counts as a function of the inputs
    (made by gradients)."""

    activation: Any = "tanh"

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """The shapes of the inputs; that of a state for initial states left out."""
        x, w, rw, b, h0 = specs[:5]
        agree(AXES + ", states T N U, sums T N U, grad_states T N U", specs, flat="b")
        require_same_type(self.id, *specs[:5], *specs[6:])
        units = -1 if rw.shape is None else rw.shape[0]
        return (*(s.with_shape(s.shape) for s in (x, w, rw)), TensorSpec((units,), x.dtype) if b is None else b.with_shape(b.shape),
                TensorSpec((-1 if x.shape is None else x.shape[1], units), x.dtype) if h0 is None else h0.with_shape(h0.shape))

    @in_float
    def compute(self, xp: Any, x: Any, w: Any, rw: Any, b: Any, h0: Any, mask: Any, states: Any, sums: Any, upstream: Any) -> Any:
        """Step by step, backwards; the weights' gradients in one product each."""
        slopes = slope(xp, self.activation, sums)
        if mask is not None:
            slopes = slopes * mask.reshape(*mask.shape[:2], 1).astype(sums.dtype)
        dz = xp.empty_like(sums)
        carried = xp.zeros(states.shape[1:], states.dtype)
        for t in reversed(range(len(states))):
            dz[t] = (upstream[t] + carried) * slopes[t]
            carried = dz[t] @ rw.T
        flat = as_rows(dz)
        total = flat.sum(0)
        return ((flat @ w.T).reshape(x.shape), as_rows(x).T @ flat, recurrent_gradient(h0, states, dz),
                total if b is None else total.reshape(b.shape), carried)

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        return 2 * sequence_flops(inputs[0], inputs[1], inputs[2], 1)

    def plan_rewrite(self, name: str) -> Expandable:
        return self

    def expand(self, *inputs: Any) -> Any:
        """The gradient as a scan over the steps in reverse."""
        specs = as_tuple(self.infer(*[None if v is None else v.spec for v in inputs]))  # type: ignore[arg-type]  # None for inputs left out
        return gradients_by_scan(functools.partial(rnn_by_scan, self.activation), inputs[:5], inputs[5], inputs[8:], specs)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Second derivatives, by expressing the gradient as a scan."""
        forward = functools.partial(rnn_by_scan, self.activation)
        found = through_scan(forward, inputs[:5], inputs[5], inputs[8:9], output_grads)
        return [*found[:5], *[None] * 3, *found[5:]]


def compiled_name(activation: Any) -> str:
    """The name by which the compiled loops know an activation; empty for others."""
    made = function(activation)
    return next((name for name in ("tanh", "sigmoid", "relu", "identity") if function(name) == made), "")
