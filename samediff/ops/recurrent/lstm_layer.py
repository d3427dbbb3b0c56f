"""The LSTM layer of the ``rnn`` namespace: layouts, directions and results around the sequence op."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.named_axes import expect_broadcast
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import GraphError, ShapeError
from ...families.decomposed import Decomposed
from ...families.elementwise import Elementwise
from ...families.indices import check_lengths
from ...ir.op import OPS, Op, Specs, attributes, op, require_floating
from ..elementwise.masking import keep_unmasked, times_mask
from .dl4j_recurrent import RecurrentCall, given_or_none
from .lstm_sequence import LstmSequence
from .recurrence import AffineActivation, ScaledTanh

if TYPE_CHECKING:
    from ...ir.variable import SDVariable

_FORMATS = {"TNS": (0, 1, 2), "NTS": (1, 0, 2), "NST": (2, 0, 1), "T2NS": (0, 1, 2)}
_BACK = {"TNS": (0, 1, 2), "NTS": (1, 0, 2), "NST": (1, 2, 0)}
_ACTIVATIONS = "TANH|RELU|SIGMOID|AFFINE|LEAKY_RELU|THRESHHOLD_RELU|SCALED_TAHN|HARD_SIGMOID|ELU|SOFTSIGN|SOFTPLUS"
_DIRECTIONS = "FWD|BWD|BIDIR_SUM|BIDIR_CONCAT|BIDIR_EXTRA_DIM"


def text(value: Any) -> str:
    """The name of an enum member, or the text itself in upper case."""
    return str(getattr(value, "value", value)).upper()


@op("length_mask", inputs="lengths x", shape_inputs=(1,), gradient="zero")
class LengthMask(Op):
    """1 where the step lies before the length of its sequence, else 0.

    Shapes: lengths (N) or (), x (T, N, in) -> (T, N) of the type of x.
    """

    def infer(self, *specs: TensorSpec) -> Specs:
        """The steps and examples of x."""
        lengths, x = specs
        steps = (-1, -1) if x.shape is None else x.shape[:2]
        expect_broadcast("lengths", lengths, steps[1:])
        return TensorSpec(steps, x.dtype)

    def compute(self, xp: Any, lengths: Any, x: Any) -> Any:
        check_lengths(f"{self.id}: length", lengths, x.shape[0])
        mask = xp.arange(x.shape[0])[:, None] < lengths.reshape(1, -1)
        return xp.broadcast_to(mask, x.shape[:2]).astype(x.dtype)


def activation(name: Any, alpha: float, beta: float) -> Any:
    """The op of an activation with its numbers; 0 means the usual value."""
    name = text(name)
    if name == "AFFINE":
        return AffineActivation(alpha or 1.0, beta)
    if name in ("SCALED_TAHN", "SCALED_TANH"):
        return ScaledTanh(alpha or 1.0, beta or 1.0)
    cls = OPS.get({"LEAKY_RELU": "leakyrelu", "THRESHHOLD_RELU": "thresholdedrelu", "ELU": "elu"}.get(name, ""))
    if cls is not None and issubclass(cls, Elementwise) and alpha:
        return cls(**{cls.attribute_names()[0]: alpha})
    return name.lower()


@attributes
class LstmOptions(Op):
    """Layout, direction, activations, and which results a layer gives."""

    lstmdataformat: str = "TNS"
    direction_mode: str = "FWD"
    gate_act: str = "SIGMOID"
    cell_act: str = "TANH"
    out_act: str = "TANH"
    ret_full_sequence: bool = True
    ret_last_h: bool = False
    ret_last_c: bool = False
    cell_clip: float = 0.0
    gate_alpha: float = 0.0
    gate_beta: float = 0.0
    cell_alpha: float = 0.0
    cell_beta: float = 0.0
    out_alpha: float = 0.0
    out_beta: float = 0.0


@op("lstmLayer", inputs="x weights r_weights *optional", file=FileArgs(
    ints=("lstmdataformat:TNS|NTS|NST|T2NS", f"direction_mode:{_DIRECTIONS}", f"gate_act:{_ACTIVATIONS}", f"out_act:{_ACTIVATIONS}",
          f"cell_act:{_ACTIVATIONS}"),
    floats=("cell_clip",),
    bools=("has_bias", "has_lengths", "has_h", "has_c", "has_peephole", "ret_full_sequence", "ret_last_h", "ret_last_c"),
    properties={"gateAct": "s:gate_act", "outAct": "s:out_act", "cellAct": "s:cell_act", "retFullSequence": "b:ret_full_sequence",
                "retLastH": "b:ret_last_h", "retLastC": "b:ret_last_c", "cellClip": "d:cell_clip", "lstmdataformat": "s:lstmdataformat",
                "directionMode": "s:direction_mode"}))
class LstmLayer(LstmOptions, Decomposed):
    """The node behind ``sd.rnn.lstm_layer``; ``optional`` holds bias, lengths, h0, c0 and peepholes, those that are there."""

    has_bias: bool = False
    has_lengths: bool = False
    has_h: bool = False
    has_c: bool = False
    has_peephole: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        """Shapes and types of the results of the composition."""
        require_floating(self.id, *specs[:3])
        if not (self.ret_full_sequence or self.ret_last_h or self.ret_last_c):
            raise ShapeError("ask for at least one result: ret_full_sequence, ret_last_h or ret_last_c")
        named = [n for n in ("has_bias", "has_lengths", "has_h", "has_c", "has_peephole") if getattr(self, n)]
        if len(specs) != 3 + len(named):
            raise GraphError(f"{self.id}: x, weights, r_weights and {len(named)} more inputs ({', '.join(named) or 'none'}) were expected, "
                             f"got {len(specs)}")
        return Decomposed.infer(self, *specs)

    def expand(self, *inputs: Any) -> Any:
        """One sequence op for each direction."""
        x, w, rw, *rest = inputs
        there = [self.has_bias, self.has_lengths, self.has_h, self.has_c, self.has_peephole]
        given = iter(rest)
        b, lengths, h0, c0, peephole = (next(given) if yes else None for yes in there)
        layout, mode = text(self.lstmdataformat), text(self.direction_mode)
        x = x.permute(*_FORMATS[layout])
        mask = None if lengths is None else x.sd.add_op(LengthMask(), [lengths, x])
        x = keep_unmasked(x, mask, channels_last=True)
        both = mode.startswith("BIDIR")
        results = []
        for k, reverse in enumerate((False, True) if both else (mode == "BWD",)):
            parts = [None if v is None else v[k] if both else v for v in (w, rw, b, peephole, h0, c0)]
            made = LstmSequence((2, 1, 3, 0), activation(self.cell_act, self.cell_alpha, self.cell_beta),
                                activation(self.gate_act, self.gate_alpha, self.gate_beta),
                                activation(self.out_act, self.out_alpha, self.out_beta), self.cell_clip, 0.0, True, reverse)
            states, cells = x.sd.add_op(made, [x, *parts, mask])[:2]
            last = (states[0], cells[0]) if reverse else (states[-1], cells[-1])
            results.append((times_mask(states, mask, channels_last=True), *last))
        return self._chosen(x.sd, results, layout, mode)

    def _chosen(self, sd: Any, results: list[tuple[Any, ...]], layout: str, mode: str) -> list[Any]:
        """The results asked for, joined and in the layout."""
        if len(results) == 1:
            full, h, c = results[0]
        else:
            fulls, hs, cs = zip(*results)
            h, c = (sd.call("base", "stack", 0, *v) for v in (hs, cs))
            if mode == "BIDIR_SUM":
                full = fulls[0] + fulls[1]
            elif mode == "BIDIR_CONCAT":
                full = sd.call("base", "concat", 2, *fulls)
            else:
                full = sd.call("base", "stack", 1, *fulls)
        if mode != "BIDIR_EXTRA_DIM" and layout in _BACK:
            full = full.permute(*_BACK[layout])
        asked = ((self.ret_full_sequence, full), (self.ret_last_h, h), (self.ret_last_c, c))
        return [v for yes, v in asked if yes]


@op("lstm_layer_call", api="rnn.lstm_layer", inputs="x weights r_weights bias? max_ts_length? y_last? c_last? peephole_weights?",
    signatures=("x, &layer_weights, &config", "x, c_last, y_last, max_ts_length, &layer_weights, &config"))
class LstmLayerCall(LstmOptions, RecurrentCall):
    """A whole LSTM layer; gate blocks i, f, c~, o in the columns of the weights, peepholes i, f, o.

    Shapes: x (T, N, in) for TNS, (N, T, in) for NTS, (N, in, T) for NST; weights (in, 4n), recurrent weights (n, 4n), bias (4n),
    peepholes (3n), c_last and y_last (N, n), each with a leading 2 for two directions; max_ts_length (N) holds lengths.
    Results, as far as asked for: all h in the layout of x (2n features for BIDIR_CONCAT, (T, 2, N, n) for BIDIR_EXTRA_DIM), the
    last h and the last c (N, n) or (2, N, n).  Steps past a sequence's length give 0.
    """

    def place(self, sd: Any, inputs: Sequence[Any], names: Sequence[str] | None) -> list[SDVariable]:
        """Add a node with those inputs that were given."""
        given = given_or_none(sd, inputs, 8)
        attributes: dict[str, Any] = {n: getattr(self, n) for n in self.attribute_names()}
        attributes.update(zip(("has_bias", "has_lengths", "has_h", "has_c", "has_peephole"), (v is not None for v in given[3:])))
        return sd.add_op(LstmLayer(**attributes), [v for v in given if v is not None], names)  # type: ignore[no-any-return]

