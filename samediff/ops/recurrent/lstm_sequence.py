"""The LSTM over a whole sequence, time first: what every LSTM op and layer is made of.

z = x_t W + h_{t-1} RW + b in four blocks of columns, a (block input), f (forget), o (output), g (input gate)::

    g, f: + peephole * c_{t-1}        c_t = gate(f) c_{t-1} + gate(g) act(a), cut to +-clip
    o:    + peephole * c_t            h_t = gate(o) out(c_t)

A mask multiplies h_t and c_t, or (``hold``) keeps those of the step before.
Source: Hochreiter and Schmidhuber 1997; Gers, Schraudolph and Schmidhuber 2002 (peepholes).
"""
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.named_axes import agree
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import GraphError
from ...expressions.arrays import as_rows
from ...families.in_float import in_float
from ...families.prunable_outputs import PrunableOutputs
from ...ir.op import Expandable, Op, as_tuple, op, require_floating, require_same_type
from ..shape.shape_info import ZerosLike
from .recurrence import apply, function, recurrent_gradient, sequence_flops, slope
from .sequence_scan import gradients_by_scan, lstm_by_scan, through_scan

if TYPE_CHECKING:
    from ...ir.variable import SDVariable

INPUTS = "x w rw b? peephole? h0? c0? mask?"
AXES = "x T N I, w I 4U, rw U 4U, b 4U, peephole 3U, h0 N U, c0 N U, mask T N"
SAVED = ", states T N U, cells T N U, gates T N 4U, squashed T N U, grad_states T N U, grad_cells T N U"


class LstmAttributes(Expandable):
    """Blocks, activations and clipping, and the loops that the forward and the backward op share."""

    blocks: tuple[int, ...]
    activation: Any
    gate: Any
    output: Any
    clip: float
    forget_bias: float
    hold: bool
    reverse: bool

    def steps(self, count: int) -> list[tuple[int, int | None]]:
        """Places of the steps in the order of time, each with the place before it."""
        order = list(range(count))[::-1] if self.reverse else list(range(count))
        return list(zip(order, [None, *order[:-1]]))

    def check_sizes(self, axes: str, specs: Sequence[TensorSpec | None]) -> None:
        """The compiled loops rely on blocks and sizes that fit."""
        if sorted(self.blocks) != [0, 1, 2, 3]:
            raise GraphError(f"blocks must be the numbers 0 to 3 in some order; got {self.blocks}")
        agree(axes, specs, flat="b peephole")

    def is_plain(self) -> bool:
        """Whether the activations are tanh and sigmoid, as in the compiled kernels."""
        return function(self.activation).id == function(self.output).id == "tanh" and function(self.gate).id == "sigmoid"

    def plan_rewrite(self, name: str) -> Expandable:
        return self

    def split(self, z: Any) -> list[Any]:
        """Views of the blocks a, f, o, g."""
        n = z.shape[-1] // 4
        return [z[..., k * n:(k + 1) * n] for k in self.blocks]

    def bias(self, xp: Any, b: Any, like: Any) -> Any:
        """The bias with the forget bias in it."""
        total = xp.zeros(like.shape[1], like.dtype) if b is None else b.reshape(-1)
        if self.forget_bias:
            total = total.copy()
            self.split(total)[1][...] += self.forget_bias
        return total

    def gates(self, xp: Any, z: Any, b: Any, peephole: Any, before: Any, c: Any, squashed: Any, h: Any) -> None:
        """One step: replaces z by the gates, writes c, ``squashed`` and h."""
        z += b
        za, zf, zo, zg = self.split(z)
        pi, pf, po = (None, None, None) if peephole is None else peephole.reshape(3, -1)
        if peephole is not None:
            zg += before * pi
            zf += before * pf
        za[...], zf[...], zg[...] = apply(xp, self.activation, za), apply(xp, self.gate, zf), apply(xp, self.gate, zg)
        c[...] = zf * before + zg * za
        if self.clip > 0:
            xp.clip(c, -self.clip, self.clip, out=c)
        if peephole is not None:
            zo += c * po
        zo[...] = apply(xp, self.gate, zo)
        squashed[...] = apply(xp, self.output, c)
        h[...] = zo * squashed

    def forward(self, xp: Any, x: Any, w: Any, rw: Any, b: Any, peephole: Any, h0: Any, c0: Any, mask: Any, states: Any, cells: Any,
                gates: Any, squashed: Any) -> None:
        """Write states, cells, gates and squashed cells (T, N, units or 4 units)."""
        count, batch, units = states.shape
        if count:
            xp.matmul(as_rows(x), w, out=gates.reshape(count * batch, 4 * units))
        b = self.bias(xp, b, gates[0] if count else w)
        zero = xp.zeros((batch, units), states.dtype)
        first_h, first_c = zero if h0 is None else h0, zero if c0 is None else c0
        for t, last in self.steps(count):
            h, c = (first_h, first_c) if last is None else (states[last], cells[last])
            if last is not None or h0 is not None:
                gates[t] += h @ rw
            self.gates(xp, gates[t], b, peephole, c, cells[t], squashed[t], states[t])
            if mask is not None:
                m = mask[t].reshape(-1, 1).astype(states.dtype)
                states[t] *= m
                cells[t] *= m
                if self.hold:
                    states[t] += (1 - m) * h
                    cells[t] += (1 - m) * c

    def gates_backward(self, xp: Any, z: Any, peephole: Any, gates: Any, before: Any, squashed: Any, dh: Any, dc: Any, dz: Any,
                       dp: Any) -> None:
        """One step back: writes dz and dp, replaces dc by the gradient of the cell state before."""
        za, zf, zo, zg = self.split(z)
        a, f, o, g = self.split(gates)
        da, df, do, dg = self.split(dz)
        raw = f * before + g * a
        c = xp.clip(raw, -self.clip, self.clip) if self.clip > 0 else raw
        do[...] = dh * squashed * slope(xp, self.gate, zo)
        dc += dh * o * slope(xp, self.output, c)
        if peephole is not None:
            pi, pf, po = peephole.reshape(3, -1)
            dc += do * po
        if self.clip > 0:
            dc *= abs(raw) <= self.clip
        da[...] = dc * g * slope(xp, self.activation, za)
        dg[...] = dc * a * slope(xp, self.gate, zg)
        df[...] = dc * before * slope(xp, self.gate, zf)
        dc *= f
        if peephole is not None:
            dc += dg * pi + df * pf
            dp += xp.stack([(dg * before).sum(0), (df * before).sum(0), (do * c).sum(0)])

    def backward(self, xp: Any, given: Sequence[Any], saved: Sequence[Any], gh: Any, gc: Any) -> list[Any]:
        """Gradients of all inputs but the mask."""
        x, w, rw, b, peephole, h0, c0, mask = given
        states, cells, gates, squashed = saved
        count, batch, units = states.shape
        dtype, dz = states.dtype, xp.empty(gates.shape, gates.dtype)
        gc = xp.zeros_like(gh) if gc is None else gc
        zero = xp.zeros((batch, units), dtype)
        dp = xp.zeros((3, units), dtype)
        dh_next, dc_next = xp.zeros((batch, units), dtype), xp.zeros((batch, units), dtype)
        transposed = xp.ascontiguousarray(rw.T)
        bias = self.bias(xp, b, gates[0] if count else w)
        for t, last in reversed(self.steps(count)):
            h, c = (zero if h0 is None else h0, zero if c0 is None else c0) if last is None else (states[last], cells[last])
            dh, dc = gh[t] + dh_next, gc[t] + dc_next
            kept_h = kept_c = None
            if mask is not None:
                m = mask[t].reshape(-1, 1).astype(dtype)
                if self.hold:
                    kept_h, kept_c = (1 - m) * dh, (1 - m) * dc
                dh, dc = dh * m, dc * m
            z = x[t] @ w + h @ rw + bias
            if peephole is not None:
                self._add_peepholes(z, peephole, gates[t], c, xp)
            self.gates_backward(xp, z, peephole, gates[t], c, squashed[t], dh, dc, dz[t], dp)
            dh_next, dc_next = dz[t] @ transposed, dc
            if kept_h is not None:
                dh_next, dc_next = dh_next + kept_h, dc_next + kept_c
        flat = dz.reshape(count * batch, 4 * units)
        return [(flat @ w.T).reshape(x.shape), as_rows(x).T @ flat, recurrent_gradient(h0, states, dz, self.reverse), flat.sum(0), dp,
                dh_next, dc_next]

    def _add_peepholes(self, z: Any, peephole: Any, gates: Any, before: Any, xp: Any) -> None:
        _, zf, zo, zg = self.split(z)
        a, f, _, g = self.split(gates)
        pi, pf, po = peephole.reshape(3, -1)
        zg += before * pi
        zf += before * pf
        c = f * before + g * a
        zo += (xp.clip(c, -self.clip, self.clip) if self.clip > 0 else c) * po


@op("lstm_sequence", inputs=INPUTS, file=FileArgs(op_type="UDF", all_properties=True))
class LstmSequence(LstmAttributes):
    """An LSTM over a sequence; see the module.

    Shapes: x (T, N, in), w (in, 4n), rw (n, 4n), b (4n), peephole (3, n) for input gate, forget and output, h0 and c0 (N, n),
    mask (T, N) -> states (T, N, n), cells (T, N, n), gates (T, N, 4n), squashed cells (T, N, n).
    """

    blocks: tuple[int, ...] = (0, 1, 2, 3)
    activation: Any = "tanh"
    gate: Any = "sigmoid"
    output: Any = "tanh"
    clip: float = 0.0
    forget_bias: float = 0.0
    hold: bool = False
    reverse: bool = False

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """Time and batch of x, units of the recurrent weights."""
        x, _, rw = specs[:3]
        for activation in (self.activation, self.gate, self.output):
            function(activation)
        require_floating(self.id, *specs[:7])
        require_same_type(self.id, *specs[:7])
        self.check_sizes(AXES, specs)
        units = -1 if rw.shape is None else rw.shape[0]
        lead = (-1, -1) if x.shape is None else x.shape[:2]
        one, four = TensorSpec((*lead, units), x.dtype), TensorSpec((*lead, -1 if units == -1 else 4 * units), x.dtype)
        return one, one, four, one

    @in_float
    def compute(self, xp: Any, x: Any, w: Any, rw: Any, b: Any = None, peephole: Any = None, h0: Any = None, c0: Any = None,
                mask: Any = None) -> Any:
        shape, units = x.shape[:2], rw.shape[0]
        states, cells, squashed = (xp.empty((*shape, units), x.dtype) for _ in range(3))
        gates = xp.empty((*shape, 4 * units), x.dtype)
        self.forward(xp, x, w, rw, b, peephole, h0, c0, mask, states, cells, gates, squashed)
        return states, cells, gates, squashed

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        return sequence_flops(inputs[0], inputs[1], inputs[2], 4)

    def expand(self, *inputs: Any) -> Any:
        """A scan, where a back end has no kernel of these activations."""
        return tuple(lstm_by_scan(self, *inputs, *[None] * (8 - len(inputs))))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        given = [*inputs, *[None] * (8 - len(inputs))]
        attributes = {n: getattr(self, n) for n in self.attribute_names()}
        sd, (gh, gc) = inputs[0].sd, output_grads[:2]
        node = sd.producer(gc.name())
        unread = node is not None and isinstance(node.op, ZerosLike)
        found = sd.add_op(LstmSequenceGrad(**attributes), [*given, *outputs, gh, None if unread else gc])
        return [None if v is None else found[i] if i < 7 else None for i, v in enumerate(inputs)]


@op("lstm_sequence_grad", inputs=INPUTS + " states cells gates squashed grad_states grad_cells?")
class LstmSequenceGrad(LstmAttributes, PrunableOutputs):
    """Gradients of :class:`LstmSequence` by back-propagation through time; what it saved counts as a function of the inputs
    (made by gradients)."""

    blocks: tuple[int, ...] = (0, 1, 2, 3)
    activation: Any = "tanh"
    gate: Any = "sigmoid"
    output: Any = "tanh"
    clip: float = 0.0
    forget_bias: float = 0.0
    hold: bool = False
    reverse: bool = False
    dx: bool = True

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """The shapes of the inputs; that of a state for initial states left out."""
        x, w, rw, b, peephole, h0, c0 = specs[:7]
        self.check_sizes(AXES + SAVED, specs)
        require_same_type(self.id, *specs[:7], *specs[8:])
        units = -1 if rw.shape is None else rw.shape[0]
        state = TensorSpec((-1 if x.shape is None else x.shape[1], units), x.dtype)
        columns = TensorSpec((-1 if units == -1 else 4 * units,), x.dtype)
        plain = [TensorSpec(None if s is None else s.shape, x.dtype) for s in (x, w, rw)]
        return (*plain, TensorSpec(b.shape, x.dtype) if b is not None else columns,
                TensorSpec(peephole.shape, x.dtype) if peephole is not None else TensorSpec((3, units), x.dtype),
                h0.with_shape(h0.shape) if h0 is not None else state, c0.with_shape(c0.shape) if c0 is not None else state)

    def with_live_outputs(self, read: Sequence[bool]) -> Op:
        """The gradient of x is a product of its own, which the first layer of a network does not need."""
        values: dict[str, Any] = {**dict(zip(self.attribute_names(), self.values())), "dx": read[0]}
        return LstmSequenceGrad(**values)

    @in_float
    def compute(self, xp: Any, *arrays: Any) -> Any:
        """The gradient, from the last step to the first."""
        given, saved, (gh, gc) = arrays[:8], arrays[8:12], arrays[12:14]
        found = self.backward(xp, given, saved, gh, gc)
        return self._shaped(given, found)

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        return 2 * sequence_flops(inputs[0], inputs[1], inputs[2], 4)

    def expand(self, *inputs: Any) -> Any:
        """The gradient as a scan over the steps in reverse."""
        given, upstream = inputs[:7], [g for g in inputs[12:] if g is not None]
        specs = as_tuple(self.infer(*[None if v is None else v.spec for v in inputs]))  # type: ignore[arg-type]  # None for inputs left out
        return gradients_by_scan(functools.partial(lstm_by_scan, self), given, inputs[7], upstream, specs)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Second derivatives, by expressing the gradient as a scan."""
        upstream = [inputs[12], inputs[8].sd.call("base", "zeros_like", inputs[9]) if inputs[13] is None else inputs[13]]
        found = through_scan(functools.partial(lstm_by_scan, self), inputs[:7], inputs[7], upstream, output_grads)
        return [*found[:7], *[None] * 5, found[7], None if inputs[13] is None else found[8]]

    @staticmethod
    def _shaped(given: Sequence[Any], found: list[Any]) -> tuple[Any, ...]:
        return tuple(f if v is None else f.reshape(v.shape) for f, v in zip(found, given))
