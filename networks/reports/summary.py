"""Tables that describe a network, as DL4J prints them."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...layers.types.input_type import (
    InputType,
    InputTypeConvolutional,
    InputTypeConvolutional3D,
    InputTypeConvolutionalFlat,
    InputTypeFeedForward,
    InputTypeRecurrent,
)
from ..engine.engine import Engine
from ..structure.configuration import ComputationGraphConfiguration, MultiLayerConfiguration
from ..structure.structure import Member


def list_summary(engine: Engine, conf: MultiLayerConfiguration, input_type: Any = None) -> str:
    """The layers of a list network; with an input type also the shapes between them."""
    head = ["LayerName (LayerType)", "nIn,nOut", "TotalParams", "ParamsShape"]
    types = [] if input_type is None else [input_type, *conf.layer_activation_types(input_type)]
    if types:
        head += ["InputShape", "OutputShape"]
    rows = []
    for i, member in enumerate(engine.structure.members):
        name = getattr(member.conf, "layer_name", None) or f"layer{i}"
        row = [f"{name} ({_kind(member)})", *_sizes(engine, member)]
        if types:
            row += [_fed(member, types[i], "--> "), _shown(types[i + 1])]
        rows.append(row)
    return _table(engine, head, rows)


def graph_summary(engine: Engine, conf: ComputationGraphConfiguration, input_types: Sequence[Any] = ()) -> str:
    """The vertices of a graph; with input types also the shapes between them."""
    head = ["VertexName (VertexType)", "nIn,nOut", "TotalParams", "ParamsShape", "Vertex Inputs"]
    types = conf.layer_activation_types(*input_types) if input_types else {}
    if types:
        head += ["InputShape", "OutputShape"]
    rows = []
    members = {m.key: m for m in engine.structure.members}
    for name in conf.order():
        member = members.get(name)
        if member is None:
            row = [f"{name} (InputVertex)", "-,-", "-", "-", "-"]
        else:
            sizes = _sizes(engine, member, weights_first=True) if member.is_layer else ["-,-", "-", "-"]
            row = [f"{name} ({_kind(member)})", *sizes, f"[{', '.join(conf.vertex_inputs[name])}]"]
        if types:
            given = _fed(member, types[conf.vertex_inputs[name][0]], "-->") if member is not None and member.is_layer else "-"
            row += [given, "-" if member is None else _shown(types[name])]
        rows.append(row)
    return _table(engine, head, rows)


def _fed(member: Member, given: InputType, arrow: str) -> str:
    """What a layer is fed, before and after its preprocessor."""
    after = "" if member.preprocessor is None else f"{arrow}{_shown(member.preprocessor.output_type(given))}"
    return _shown(given) + after


def _shown(given: InputType) -> str:
    """An input type as DL4J prints it."""
    if isinstance(given, InputTypeFeedForward):
        form = given.time_distributed_format
        parts = [str(given.size), *([] if form is None else [form.name])]
    elif isinstance(given, InputTypeRecurrent):
        length = given.time_series_length
        parts = [str(given.size), *([f"timeSeriesLength={length}"] if length > 0 else []), f"format={given.format.name}"]
    elif isinstance(given, InputTypeConvolutional):
        parts = [f"h={given.height}", f"w={given.width}", f"c={given.channels}", given.format.name]
    elif isinstance(given, InputTypeConvolutional3D):
        parts = [f"format={given.data_format.name}", f"d={given.depth}", f"h={given.height}", f"w={given.width}", f"c={given.channels}"]
    elif isinstance(given, InputTypeConvolutionalFlat):
        parts = [f"h={given.height}", f"w={given.width}", f"d={given.depth}"]
    else:
        return str(given)
    return f"{type(given).__name__}({','.join(parts)})"


def _kind(member: Member) -> str:
    return str(getattr(member.conf, "summary_name", member.kind))


def _sizes(engine: Engine, member: Member, weights_first: bool = False) -> list[str]:
    pairs = [(s, p) for s, (m, p) in zip(engine.parameters.slots, engine.parameters.owners) if m is member]
    pairs.sort(key=lambda pair: member.table_rank(pair[0].name))
    if weights_first and pairs and pairs[0][1].role == "bias":      # convolutions have their bias first
        pairs.sort(key=lambda pair: pair[1].role == "bias")
    slots = [s for s, _ in pairs]
    if not slots:
        return ["-,-", "0", "-"]
    shapes = ", ".join(f"{s.name.removeprefix(member.key + '_')}:{{{','.join(map(str, s.shape))}}}" for s in slots)
    shown = getattr(member.conf, "summary_sizes", True)
    sizes = f"{getattr(member.conf, 'n_in', '-')},{getattr(member.conf, 'n_out', '-')}" if shown else "-,-"
    return [sizes, f"{sum(s.size for s in slots):,}", shapes]


def _table(engine: Engine, head: list[str], rows: list[list[str]]) -> str:
    widths = [max(len(r[i]) for r in [head, *rows]) + 3 for i in range(len(head))]
    widths[-1] -= 3
    total = sum(widths)

    def line(cells: list[str]) -> str:
        return "".join(c.ljust(w) for c, w in zip(cells, widths))

    frozen = sum(s.size for s, (m, _) in zip(engine.parameters.slots, engine.parameters.owners)
                 if m.is_frozen and not getattr(m.conf, "counts_as_trainable", False))
    count = int(engine.flat.params.size)
    foot = [f"{label:>28}:  {value:,}" for label, value in
            (("Total Parameters", count), ("Trainable Parameters", count - frozen), ("Frozen Parameters", frozen))]
    return "\n".join(["", "=" * total, line(head), "=" * total, *map(line, rows), "-" * total, *foot, "=" * total, ""])
