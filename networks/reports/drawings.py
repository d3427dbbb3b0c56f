"""Drawings of networks: their layers and vertices, with what stands between them."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ...layers.preprocessors.flatten import FlattenPreProcessor
from ...layers.preprocessors.unflatten import UnflattenPreProcessor
from ...layers.types.input_type import InputType, InputTypeConvolutional
from ...layers.types.layer_type import LayerType, type_of
from ...samediff.base.java.java_enum import JavaEnum
from ...samediff.drawing.graphs import DrawnNode, GraphDrawing
from ...samediff.errors import ConfigurationError, DL4PyError
from ..engine.engine import Engine
from ..structure.structure import Member, Structure

#: Of the square images that a network may be for.
LARGEST_SIDE = 513


def drawing_of(title: str, engine: Engine, configuration: Any, input_types: Sequence[InputType] = ()) -> GraphDrawing:
    """The drawing of a network; without input types with the shapes that the sizes of its first layers tell.

    Parameters
    ----------
    title : what stands above it
    engine : its parameters
    configuration : of a list or graph
    input_types : one for each input, or none
    """
    structure = engine.structure
    types = _types(structure, configuration, input_types)
    sizes: dict[str, list[str]] = {}
    for slot, (member, _) in zip(engine.parameters.slots, engine.parameters.owners):
        sizes.setdefault(member.key, []).append(f"{slot.name.removeprefix(member.key + '_')} {tuple(slot.shape)}")
    nodes = [DrawnNode(name, "input", (), _shown(types.get(name))) for name in structure.inputs]
    nodes += [DrawnNode(m.key, m.kind, tuple(m.inputs), _shown(types.get(m.key)), _details(m, sizes.get(m.key, [])))
              for m in structure.members]
    return GraphDrawing(title, tuple(nodes))


def _types(structure: Structure, configuration: Any, given: Sequence[InputType]) -> Mapping[str, InputType]:
    """What each input and member gives, as far as it is known."""
    if given and len(given) != len(structure.inputs):
        raise ConfigurationError(f"an input type is needed for each input ({', '.join(structure.inputs)}), or none; got {len(given)}")
    types = list(given) or likely_input_types(structure, configuration)
    if not types:
        return {}
    found = configuration.layer_activation_types(*types)
    keys = [*structure.inputs, *[m.key for m in structure.members]]
    return found if isinstance(found, Mapping) else dict(zip(keys, [*types, *found]))


def likely_input_types(structure: Structure, configuration: Any) -> list[InputType]:
    """Input types that fit to the sizes of the first layers; none where these do not tell."""
    for types in _guesses(structure):
        try:
            configuration.layer_activation_types(*types)
        except (DL4PyError, ValueError):
            continue
        return types
    return []


def _guesses(structure: Structure) -> list[list[InputType]]:
    """Input types that the first layers may be for, the likeliest first."""
    readers = [next((m for m in structure.members if name in m.inputs), None) for name in structure.inputs]
    choices = [_choices(structure, m) for m in readers]
    return [[c[min(k, len(c) - 1)] for c in choices] for k in range(max(map(len, choices), default=0))] if all(choices) else []


def _choices(structure: Structure, reader: Member | None) -> list[InputType]:
    if reader is None:
        return []
    if isinstance(reader.preprocessor, UnflattenPreProcessor):
        return [InputType.feed_forward(math.prod(reader.preprocessor.shape()))]
    size = getattr(reader.conf, "n_in", 0)
    if not isinstance(size, int) or size < 1:
        return []
    sides = [s for s in range(1, LARGEST_SIDE) if _fits(structure, s, size)][:1]
    rows, series = InputType.feed_forward(size), InputType.recurrent(size)
    return [*[InputType.convolutional(s, s, size) for s in sides], *([series, rows] if type_of(reader.conf) is LayerType.RECURRENT
                                                                        else [rows, series])]


def _fits(structure: Structure, side: int, channels: int) -> bool:
    """Whether square images arrive at the first flattened layer in the size that it was made for."""
    types: dict[str, InputType] = {structure.inputs[0]: InputType.convolutional(side, side, channels)}
    for m in structure.members:
        before = types.get(m.inputs[0])
        if isinstance(m.preprocessor, FlattenPreProcessor) and isinstance(before, InputTypeConvolutional):
            c, h, w = before.channels, before.height, before.width
            return m.preprocessor.shape() in ((c, h, w), (h, w, c))
        if m.preprocessor is not None or not m.is_layer or before is None:
            return False
        try:
            types[m.key] = m.conf.get_output_type(0, before)
        except (DL4PyError, ValueError):
            return False
    return False


def _shown(given: InputType | None) -> str:
    return "" if given is None else str(tuple("?" if n < 0 else n for n in given.array_shape())).replace("'", "")


def _details(member: Member, sizes: Sequence[str]) -> dict[str, str]:
    names = [n for n in getattr(type(member.conf), "_fields", ()) if not n.startswith("_")]
    found = {"parameters": ", ".join(sizes)} if sizes else {}
    if member.preprocessor is not None:
        found["preprocessor"] = repr(member.preprocessor)
    return found | {n: text for n in names if (text := _text(getattr(member.conf, n, None)))}


def _text(value: Any) -> str:
    if isinstance(value, JavaEnum):
        return value.name.strip("_")
    return "" if value is None or value in ((), [], {}) else str(value)[:200]
