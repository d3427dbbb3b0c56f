"""One step of an LSTM with projection."""
from __future__ import annotations

from typing import Any

from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import GradientError, ShapeError
from ...families.decomposed import Decomposed
from ...ir.op import op, require_floating, require_same_type
from .cells import nn_op, split_gates


@op("lstmCell", inputs="x h_last c_last wx wh wc wp b",
    file=FileArgs(ints=("peephole:bool", "projection:bool"), floats=("cell_clip", "projection_clip", "forget_bias")))
class LstmCell(Decomposed):
    """One step of an LSTM with gates i, f, g, o and a projected output: two outputs, h and c.

    i, f, g, o = x Wx + h_last Wh + b;  ``peephole`` adds c_last Wc[0], c_last Wc[1] and c Wc[2] to i, f and o.
    c = sigmoid(f + forget_bias) c_last + sigmoid(i) tanh(g), limited to ``cell_clip``;  h = sigmoid(o) tanh(c).
    ``projection`` multiplies h by Wp and limits it to ``projection_clip``; a limit of 0 is none.

    Shapes: x (N, in), h_last (N, p), c_last (N, n), wx (in, 4n), wh (p, 4n), wc (3n), wp (n, p), b (4n) -> h (N, p), c (N, n);
    p = n without projection.  Source: Sak et al. 2014.
    """

    peephole: bool = False
    projection: bool = False
    cell_clip: float = 0.0
    projection_clip: float = 0.0
    forget_bias: float = 0.0

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        require_floating(self.id, *specs)
        require_same_type(self.id, *specs)
        x, h, c, wx, wh, wc, wp, b = specs
        ranks = [s.rank for s in specs]
        if any(r not in (None, want) for r, want in zip(ranks, (2, 2, 2, 2, 2, 1, 2, 1))):
            raise ShapeError(f"x, both states, Wx, Wh and Wp need rank 2, Wc and b rank 1; got {ranks}")
        units = c.shape[1] if c.shape else -1
        outputs = (h.shape or (-1, -1))[1]
        inside = (x.shape or (-1, -1))[1]
        gates, peeps = (-1, -1) if units == -1 else (4 * units, 3 * units)
        for name, spec, want in (("Wx", wx, (inside, gates)), ("Wh", wh, (outputs, gates)), ("Wc", wc, (peeps,)),
                                 ("Wp", wp, (units, outputs)), ("b", b, (gates,))):
            used = self.peephole if name == "Wc" else self.projection if name == "Wp" else True
            if used and spec.shape is not None and any(a != w and -1 not in (a, w) for a, w in zip(spec.shape, want)):
                raise ShapeError(f"{name} needs shape {want}, got {spec.shape}")
        if not self.projection and -1 not in (outputs, units) and outputs != units:
            raise ShapeError(f"without projection h_last has as many columns as c_last, {units}; got {outputs}")
        batches = {s.shape[0] for s in (x, h, c) if s.shape} - {-1}
        if len(batches) > 1:
            raise ShapeError(f"x, h_last and c_last need one batch size, got {sorted(batches)}")
        batch = batches.pop() if batches else -1
        return x.with_shape((batch, outputs if self.projection else units)), x.with_shape((batch, units))

    def expand(self, *inputs: Any) -> Any:
        x, h, c, wx, wh, wc, wp, b = inputs
        units = c.spec.shape[1] if c.spec.shape else -1
        if units == -1:
            raise GradientError(f"{self.id}: the number of units, the last axis of c_last, must be known; got {c.spec.shape}")
        i, f, g, o = split_gates(x.mmul(wx) + h.mmul(wh) + b, 4)
        peep = [wc[k * units:(k + 1) * units] for k in range(3)] if self.peephole else []
        if peep:
            i, f = i + c * peep[0], f + c * peep[1]
        c = nn_op("sigmoid", f + self.forget_bias) * c + nn_op("sigmoid", i) * nn_op("tanh", g)
        c = _limited(c, self.cell_clip)
        out = nn_op("sigmoid", o + c * peep[2] if peep else o) * nn_op("tanh", c)
        return [_limited(out.mmul(wp), self.projection_clip) if self.projection else out, c]


def _limited(v: Any, limit: float) -> Any:
    return v.sd.call("math", "clip_by_value", v, -limit, limit) if limit > 0 else v
