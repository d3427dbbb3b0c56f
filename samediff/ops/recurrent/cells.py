"""Recurrent cells and short sequences of the ``rnn`` namespace, as compositions."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ...base.named_axes import agree
from ...base.spec import TensorSpec, size
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...families.decomposed import Decomposed
from ...ir.op import Specs, as_tuple, op, require_floating
from ..elementwise.masking import keep_unmasked, times_mask
from .gru_sequence import GruSequence
from .lstm_layer import LengthMask, text

_CELL = "weights input_peephole_weights? forget_peephole_weights? output_peephole_weights? bias"
_CELL_FILE = {"peepHole": "b:peep_hole", "forgetBias": "d:forget_bias", "clippingCellValue": "d:clipping_cell_value"}


def nn_op(name: str, *args: Any) -> Any:
    """A node of a scalar function of the cell: sigmoid, or one of ``sd.math``."""
    return args[0].sd.call("nn" if name == "sigmoid" else "math", name, *args)


def _joined(*parts: Any, axis: int = 1) -> Any:
    return parts[0].sd.call("base", "concat", axis, *parts)


def _stacked(parts: Sequence[Any], axis: int, like: Any) -> Any:
    """The steps stacked along an axis; without steps, an empty array of steps like ``like``."""
    sd = like.sd
    if parts:
        return sd.call("base", "stack", axis, *parts)
    return sd.call("base", "stack", axis, like)[(slice(None),) * axis + (slice(0, 0),)]


def split_gates(z: Any, count: int, axis: int = 1) -> list[Any]:
    """Equal parts along an axis, whose size may be open."""
    size = -1 if z.spec.shape is None else z.spec.shape[axis]
    if size == -1:
        return list(z.sd.call("base", "split", z, count, axis))
    width = size // count
    return [z[(slice(None),) * axis + (slice(k * width, (k + 1) * width),)] for k in range(count)]


def steps_of(x: Any, axis: int) -> int:
    """The number of time steps; ShapeError while it is not known."""
    shape = x.spec.shape
    if shape is None or shape[axis] == -1:
        raise ShapeError(f"the gradient needs a known number of time steps; got shape {shape}. Declare it, or use lstm_layer")
    return int(shape[axis])


def _block(op_: Any, x: Any, c: Any, y: Any, w: Any, wci: Any, wcf: Any, wco: Any, b: Any) -> list[Any]:
    """The seven results of one step: i, c, f, o, z, h, y."""
    i, z, f, o = split_gates(_joined(x, y).mmul(w) + b, 4)
    if op_.forget_bias:
        f = f + op_.forget_bias
    if op_.peep_hole:
        i, f = i + c * wci, f + c * wcf
    i, z, f = nn_op("sigmoid", i), nn_op("tanh", z), nn_op("sigmoid", f)
    c = f * c + i * z
    if op_.clipping_cell_value > 0:
        c = x.sd.call("math", "clip_by_value", c, -op_.clipping_cell_value, op_.clipping_cell_value)
    o = nn_op("sigmoid", o + c * wco if op_.peep_hole else o)
    h = nn_op("tanh", c)
    return [i, c, f, o, z, h, o * h]


class Cell(Decomposed):
    """A composition whose inputs have to agree as :attr:`axes` says (see :func:`.named_axes.agree`)."""

    axes: ClassVar[str] = ""

    def check(self, *specs: TensorSpec | None) -> None:
        """ShapeError where sizes contradict each other: slices and broadcasting would hide it."""
        require_floating(self.id, *specs)
        self.agree(self.axes, specs)

    def agree(self, axes: str, specs: Sequence[TensorSpec | None]) -> None:
        """ShapeError where inputs contradict each other; R rows of weights are those of x and those of the state."""
        sizes = agree(axes, specs, flat=_VECTORS)
        for name, spec in zip((entry.split()[0] for entry in axes.split(",")), specs):
            if name in _VECTORS.split() and spec is not None and spec.shape and spec.shape[-1] != size(spec.shape):
                raise ShapeError(f"{self.id}: {name} is a vector; got shape {spec.shape}")
        if {"I", "U", "R"} <= sizes.keys() and sizes["I"] + sizes["U"] != sizes["R"]:
            raise ShapeError(f"{self.id}: weights of {sizes['R']} rows do not fit {sizes['I']} inputs and {sizes['U']} units, "
                             f"which need {sizes['I'] + sizes['U']}")

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """Shapes and types of the results of the composition."""
        self.check(*specs)
        return as_tuple(super().infer(*specs))


_VECTORS = "bias ru_bias c_bias wci wcf wco"
_BLOCK_AXES = "c_last N U, y_last N U, weights R 4U, wci U, wcf U, wco U, bias 4U"


@op("lstmBlockCell", api="rnn.lstm_cell", inputs="x c_last y_last " + _CELL, signatures=("x, c_last, y_last, &cell_weights, &config",),
    file=FileArgs(ints=("peep_hole:int",), floats=("forget_bias", "clipping_cell_value"), properties=_CELL_FILE))
class LstmBlockCell(Cell):
    """One step of an LSTM on [x, y_last] W + b with gates i, z, f, o.

    Shapes: x (N, in), c_last and y_last (N, n), weights (in + n, 4n), peepholes (n), bias (4n) -> seven results (N, n):
    input gate, cell, forget gate, output gate, block input, tanh of the cell, output.
    """

    axes = f"x N I, {_BLOCK_AXES}"
    peep_hole: bool = False
    forget_bias: float = 1.0
    clipping_cell_value: float = 0.0

    def expand(self, *inputs: Any) -> Any:
        return _block(self, *inputs)


@op("lstmBlock", api="rnn.lstm_block", inputs="max_ts_length? x c_last y_last " + _CELL,
    signatures=("x, max_ts_length, c_last, y_last, &cell_weights, &config",),
    file=FileArgs(ints=("peep_hole:int", "data_format:TNS|NST|NTS"), floats=("forget_bias", "clipping_cell_value"),
                  properties={**_CELL_FILE, "dataFormat": "s:data_format"}))
class LstmBlock(Cell):
    """``lstm_cell`` over a sequence: its seven results for every step, 0 from step ``max_ts_length`` on.

    Shapes: x (T, N, in), (N, in, T) or (N, T, in) by ``data_format`` TNS, NST or NTS -> results in the same layout.
    """

    data_format: str = "TNS"
    peep_hole: bool = False
    forget_bias: float = 1.0
    clipping_cell_value: float = 0.0

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """The shape of x with the features of the state."""
        x, c = specs[1:3]
        if x.rank not in (None, 3) or c is None or c.rank not in (None, 2):
            raise ShapeError("a sequence x of rank 3 and initial states c_last and y_last of rank 2 are needed")
        self.check(*specs[1:])
        axis = text(self.data_format).index("S")
        units = -1 if c.shape is None else c.shape[1]
        shape = tuple(units if k == axis else n for k, n in enumerate(x.shape or (-1,) * 3))
        return (TensorSpec(shape, x.dtype),) * 7

    def check(self, *specs: TensorSpec | None) -> None:
        require_floating(self.id, *specs)
        layout = text(self.data_format).translate({ord("S"): "I"})
        self.agree(f"x {' '.join(layout)}, {_BLOCK_AXES}", specs)

    def expand(self, *inputs: Any) -> Any:
        limit, x, c, y, *rest = inputs
        layout = text(self.data_format)
        x = x.permute(*(layout.index(a) for a in "TNS"))
        if limit is not None:
            x = keep_unmasked(x, x.sd.add_op(LengthMask(), [limit, x]), channels_last=True)
        rows: list[list[Any]] = []
        for t in range(steps_of(x, 0)):
            rows.append(_block(self, x[t], c, y, *rest))
            c, y = rows[-1][1], rows[-1][6]
        results = [_stacked([row[k] for row in rows], 0, c) for k in range(7)]
        if limit is not None:
            results = [times_mask(r, x.sd.add_op(LengthMask(), [limit, x]), channels_last=True) for r in results]
        return [r.permute(*("TNS".index(a) for a in layout)) for r in results]


@op("lstm_block_first", api="rnn.lstmblock", inputs=LstmBlock.inputs, signatures=LstmBlock.signatures)
class LstmBlockFirst(LstmBlock):
    """The first result of ``lstm_block`` alone, the input gates, as DL4J's method of that name gives it."""

    data_format: str = "TNS"
    peep_hole: bool = False
    forget_bias: float = 1.0
    clipping_cell_value: float = 0.0

    def place(self, sd: Any, inputs: Sequence[Any], names: Sequence[str] | None) -> Any:
        """Add a node of ``lstm_block``; returns its first result."""
        attributes = {n: getattr(self, n) for n in self.attribute_names()}
        return sd.add_op(LstmBlock(**attributes), inputs, names)[0]


@op("gru", api="rnn.gru", inputs="x h_last wx wh biases", file=FileArgs())
class Gru(Decomposed):
    """A gated recurrent unit over a sequence, time first, with the reset gate behind the product.

    r, u = sigmoid(x W + h R + b);  c = tanh(x W_c + r * (h R_c) + b_c);  h' = u h + (1 - u) c.

    Shapes: x (T, N, in), h_last (N, n), wx (in, 3n), wh (n, 3n), biases (3n), blocks r, u, c -> all h (T, N, n).
    Source: Cho et al. 2014.
    """

    has_several = False

    def infer(self, *specs: TensorSpec) -> Specs:
        """Time and batch of x, units of the state."""
        return GruSequence().infer(*specs)[0]

    def expand(self, *inputs: Any) -> Any:
        return inputs[0].sd.add_op(GruSequence(), list(inputs))[0]


@op("gruCell", api="rnn.gru_cell", inputs="x h_last ru_weight c_weight ru_bias c_bias", signatures=("x, h_last, &cell_weights",),
    file=FileArgs())
class GruCell(Cell):
    """One step of a gated recurrent unit with the reset gate before the product.

    r, u = sigmoid([x, h] W + b);  c = tanh([x, r h] W_c + b_c);  h' = u h + (1 - u) c.

    Shapes: x (N, in), h_last (N, n), ru_weight (in + n, 2n), c_weight (in + n, n), ru_bias (2n), c_bias (n) -> r, u, c, h (N, n).
    """

    axes = "x N I, h_last N U, ru_weight R 2U, c_weight R U, ru_bias 2U, c_bias U"

    def expand(self, *inputs: Any) -> Any:
        x, h, wru, wc, bru, bc = inputs
        r, u = (nn_op("sigmoid", v) for v in split_gates(_joined(x, h).mmul(wru) + bru, 2))
        c = nn_op("tanh", _joined(x, r * h).mmul(wc) + bc)
        return [r, u, c, u * h + (1 - u) * c]


def _sru(x: Any, z: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """The results h and c of one step."""
    z0, z1, z2 = split_gates(z, 3)
    f, r = (nn_op("sigmoid", part + own) for part, own in zip((z1, z2), split_gates(b, 2, axis=0)))
    c = f * c + (1 - f) * z0
    return r * nn_op("tanh", c) + (1 - r) * x, c


class FirstResult(Cell):
    """A call gives the first result of the node."""

    def place(self, sd: Any, inputs: Sequence[Any], names: Sequence[str] | None) -> Any:
        return sd.add_op(self, inputs, names)[0]


@op("sru", api="rnn.sru", inputs="x weights bias initial_c mask?",
    signatures=("x, initial_c, &cell_weights", "x, initial_c, mask, &cell_weights"), file=FileArgs())
class Sru(FirstResult):
    """A simple recurrent unit over a sequence: f = sigmoid(z1 + b1), r = sigmoid(z2 + b2), c = f c + (1 - f) z0,
    h = r tanh(c) + (1 - r) x with z = W x_t; a mask (N, n) multiplies every x_t.

    Shapes: x (N, n, T), weights (3n, n), bias (2n), initial_c (N, n) -> all h (N, n, T); the node has all c besides.
    Source: Lei et al. 2018.
    """

    axes = "x N U T, weights 3U U, biases 2U, initial_c N U, mask N U"

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        self.check(*specs)
        return specs[0].with_shape(specs[0].shape), specs[0].with_shape(specs[0].shape)

    def expand(self, *inputs: Any) -> Any:
        x, w, b, c, mask = (*inputs, None)[:5]
        hs, cs = [], []
        for t in range(steps_of(x, 2)):
            now = times_mask(x[:, :, t], mask)
            h, c = _sru(now, now.mmul(w.permute(1, 0)), b, c)
            hs.append(h)
            cs.append(c)
        return _stacked(hs, 2, c), _stacked(cs, 2, c)


@op("sruCell", api="rnn.sru_cell", inputs="x c_last weights bias", signatures=("x, c_last, &cell_weights",), file=FileArgs())
class SruCell(FirstResult):
    """One step of a simple recurrent unit with z = x W.

    Shapes: x (N, n), c_last (N, n), weights (n, 3n), bias (2n) -> h (N, n); the node has c besides.
    """

    axes = "x N U, c_last N U, weights U 3U, biases 2U"

    def expand(self, *inputs: Any) -> Any:
        x, c, w, b = inputs
        return _sru(x, x.mmul(w), b, c)
