"""The recurrent layers of DL4J's networks as calls: each stands for a sequence op and the views around it."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...ir.op import Op, Specs, op, require_floating
from ..elementwise.masking import keep_unmasked
from .lstm_sequence import LstmSequence
from .rnn_sequence import RnnSequence

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


def finish(results: list[Any], names: Sequence[str] | None) -> list[Any]:
    """The results under the names asked for."""
    return [r.sd.call("base", "identity", n, r) for r, n in zip(results, names or ())] + results[len(names or ()):]


def given_or_none(sd: Any, inputs: Sequence[Any], count: int) -> list[Any]:
    """The inputs as variables, None for those that are left out."""
    given: list[Any] = sd.tables.as_inputs(inputs)
    return [*given, *[None] * (count - len(given))]


def _series(x: Any) -> Any:
    """(N, F, T) as (T, N, F)."""
    if x.spec.rank not in (None, 3):
        raise ShapeError(f"a sequence needs shape (batch, features, time); got {x.spec.shape}")
    return x.permute(2, 0, 1)


class RecurrentCall(Op):
    """Base of calls that add other nodes instead of one of their own."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """Not asked: the nodes of the call have their own shape rules."""
        raise ShapeError(f"{self.id} is called with sd.rnn.{self.id}(...)")


@op("dl4j_lstm", api="rnn.dl4j_lstm", inputs="x w rw b? h0? c0? mask?",
    signatures=("x, w, rw, b, h0, c0, mask, activation, gate_activation", "x, w, rw, b, activation, gate_activation"))
class Dl4jLstm(RecurrentCall):
    """The LSTM of DL4J's layers: column blocks a (block input), f (forget), o (output), g (input gate).

    z = x_t W + h_{t-1} RW + b;  c_t = f c_{t-1} + g a;  h_t = o act(c_t), with a = act(z_a) and f, o, g = gate(z).  Three more
    columns of RW are peepholes: f += c_{t-1} w_f, o += c_t w_o, g += c_{t-1} w_g.  A mask multiplies h_t and c_t; what x
    holds where it is 0 reaches nothing.

    Shapes: x (N, in, T), w (in, 4n), rw (n, 4n) or (n, 4n + 3), b (4n), h0 and c0 (N, n), mask (N, T) -> all h (N, n, T),
    last h (N, n), last c (N, n).

    Activations are names of elementwise ops or the ops themselves; tanh with sigmoid has a compiled kernel.
    """

    activation: Any = "tanh"
    gate_activation: Any = "sigmoid"

    def place(self, sd: Any, inputs: Sequence[Any], names: Sequence[str] | None) -> list[SDVariable]:
        """The sequence op on views with time first."""
        x, w, rw, b, h0, c0, mask = given_or_none(sd, inputs, 7)
        require_floating(self.id, x.spec)
        if rw.spec.rank not in (None, 2):
            raise ShapeError(f"{self.id} needs recurrent weights (N, 4N) or, with peepholes, (N, 4N + 3); got {rw.spec.shape}")
        peephole, size = None, -1 if rw.spec.shape is None else rw.spec.shape[1]
        if size < 0:
            raise ShapeError(f"{self.id}: the number of recurrent weights' columns says whether there are peepholes, so it must be known; "
                             f"got {rw.spec.shape}")
        if size % 4 == 3:
            units = size // 4
            columns = rw.permute(1, 0)
            f, o, g = (columns[4 * units + k] for k in range(3))
            peephole, rw = sd.call("base", "stack", 0, g, f, o), columns[:4 * units].permute(1, 0)
        made = LstmSequence((0, 1, 2, 3), self.activation, self.gate_activation, self.activation)
        series = _series(keep_unmasked(x, mask))
        states, cells = sd.add_op(made, [series, w, rw, b, peephole, h0, c0, None if mask is None else mask.permute(1, 0)])[:2]
        return finish([states.permute(1, 2, 0), states[-1], cells[-1]], names)


@op("dl4j_simple_rnn", api="rnn.dl4j_simple_rnn", inputs="x w rw b? h0? mask?",
    signatures=("x, w, rw, b, h0, mask, activation", "x, w, rw, b, activation"))
class Dl4jSimpleRnn(RecurrentCall):
    """The simple recurrent layer of DL4J: h_t = act(x_t W + h_{t-1} RW + b), 0 where the mask is.

    Shapes: x (N, in, T), w (in, n), rw (n, n), b (n), h0 (N, n), mask (N, T) -> all h (N, n, T), last h (N, n).
    """

    activation: Any = "tanh"

    def place(self, sd: Any, inputs: Sequence[Any], names: Sequence[str] | None) -> list[SDVariable]:
        """The sequence op on views with time first."""
        x, w, rw, b, h0, mask = given_or_none(sd, inputs, 6)
        series = _series(keep_unmasked(x, mask))
        states = sd.add_op(RnnSequence(self.activation), [series, w, rw, b, h0, None if mask is None else mask.permute(1, 0)])[0]
        return finish([states.permute(1, 2, 0), states[-1]], names)


@op("zero_state", api="nn.zero_state", inputs="x", shape_inputs=(0,), gradient="zero", file=FileArgs(op_type="UDF", all_properties=True))
class ZeroState(Op):
    """Zeros (batch, size) for the first step of a recurrent op, of the type of ``x`` and with its batch size."""

    size: int

    def infer(self, *specs: TensorSpec) -> Specs:
        """The batch size of x by the size of the state."""
        return TensorSpec((-1 if not specs[0].shape else specs[0].shape[0], self.size), specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        return xp.zeros((x.shape[0], self.size), x.dtype)
