"""Networks of which some classes are not registered: what is missing, whose it is, and where parameters lie all the same."""
from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ...layers.base.base import Layer
from ...layers.vertices import GraphVertex
from ...samediff.base.registry import distribution_of
from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.missing_class import MissingClass, stand_in, stand_ins_in
from ...samediff.errors import FileFormatError, MissingOpError
from ...samediff.files.missing import Missing, tell_missing
from ..structure.configuration import ComputationGraphConfiguration, LayerVertex, MultiLayerConfiguration
from ..structure.structure import Member, Structure, foreign

#: Entry of a model file with the distributions of the classes of plug-ins, and the sizes of their layers; DL4J passes over it.
ENTRY = "classes.dl4py.json"


def record(structure: Structure) -> dict[str, bytes]:
    """The entry for a network; none where all classes are dl4py's own."""
    classes = {c.java_name: distribution_of(type(c).__module__.partition(".")[0]) for m in structure.members for c in foreign(m)}
    if not classes:
        return {}
    sizes = {m.key: sum(s.size for s, _ in m.slots()) for m in structure.members if any(foreign(m))}
    text = json.dumps({"classes": dict(sorted(classes.items())), "parameters": sizes}, indent=1)
    return {ENTRY: text.encode()}


class Recorded:
    """The entry of a file, as far as it can be understood."""

    def __init__(self, extra: Mapping[str, bytes]) -> None:
        try:
            document = json.loads(extra.get(ENTRY, b"{}"))
        except (ValueError, RecursionError):
            document = {}
        classes, sizes = [document.get(k) if isinstance(document, dict) else None for k in ("classes", "parameters")]
        self.distributions = {k: v for k, v in classes.items() if isinstance(v, str)} if isinstance(classes, dict) else {}
        self.sizes = {k: v for k, v in sizes.items() if type(v) is int and v >= 0} if isinstance(sizes, dict) else {}

    def whose(self, names: Sequence[str]) -> dict[str, str | None]:
        """The distributions of classes, None where they are not known."""
        return {name: self.distributions.get(name) for name in names}


def size_of(member: Member) -> int | None:
    """The number of a member's parameters, None where that needs a class that is missing."""
    inside = [s for s in stand_ins_in(member.conf) if isinstance(s, (Layer, GraphVertex)) and s.extent is None]
    try:
        return None if inside else sum(s.size for s, _ in member.slots())
    except MissingOpError:
        return None


def extents(structure: Structure, total: int, recorded: Mapping[str, int]) -> dict[str, int]:
    """The numbers of parameters of members that only this tells, by key.

    What is recorded counts; else one unknown size is what the known ones leave over. Of several the first gets the parameters from there
    to the end of the last, whatever stands between.

    Raises
    ------
    FileFormatError
        There are fewer parameters than the known members have.
    """
    own = {m.key: size_of(m) for m in structure.members}
    sizes = {key: recorded.get(key) if size is None else size for key, size in own.items()}
    if None not in sizes.values() and sum(s for s in sizes.values() if s) != total:
        sizes = own                 # the record is of another network
    keys = list(sizes)
    unknown = [i for i, key in enumerate(keys) if sizes[key] is None]
    found = {key: sizes[key] for key, size in own.items() if size is None}
    if unknown:
        between = keys[unknown[0]:unknown[-1] + 1]
        rest = total - sum(size or 0 for key, size in sizes.items() if key not in between)
        if rest < sum(sizes[key] or 0 for key in between):
            raise FileFormatError(f"the file has {total} parameters, which is fewer than the layers have whose classes are known")
        found |= {key: 0 for key in between if sizes[key] != 0} | {between[0]: rest}
    return {key: size or 0 for key, size in found.items()}


def held(configuration: Any, sizes: Mapping[str, int]) -> Any:
    """The configuration with a stand-in of that size for each of these layers and vertices."""
    if isinstance(configuration, MultiLayerConfiguration):
        confs = (c if str(i) not in sizes else c.replace(layer=_held(c.layer, Layer, sizes[str(i)], configuration))
                 for i, c in enumerate(configuration.confs))
        return configuration.replace(confs=tuple(confs))
    vertices = dict(configuration.vertices)
    for key, size in sizes.items():
        vertex = vertices[key]
        if isinstance(vertex, LayerVertex):
            layer = _held(vertex.layer, Layer, size, configuration)
            vertices[key] = vertex.replace(layer_conf=vertex.layer_conf.replace(layer=layer))
        else:
            vertices[key] = _held(vertex, GraphVertex, size, configuration)
    return configuration.replace(vertices=vertices)


def _held(part: Any, base: type[Configuration], size: int, configuration: Any) -> MissingClass:
    missing_classes = dict.fromkeys(n for s in stand_ins_in(part) for n in s.missing_classes) or missing_in(configuration)
    return stand_in(base).holding(part.to_document(), missing_classes, size)  # type: ignore[arg-type]  # classes are hashable


def missing_in(configuration: MultiLayerConfiguration | ComputationGraphConfiguration) -> list[str]:
    """All classes that a configuration names and nobody registers."""
    return list(dict.fromkeys(name for one in stand_ins_in(configuration) for name in one.missing_classes))


def tell(how: Missing, where: str, names: Mapping[str, str | None], structure: Structure) -> None:
    """One warning or error that lists all that is missing."""
    told = ", ".join(name if whose is None else f"{name} (of {whose})" for name, whose in names.items())
    members = ", ".join(m.label for m in structure.members if any(stand_ins_in([m.conf, m.preprocessor])))
    needed = f"; they are needed by {members}" if members else ""
    tell_missing(how, f"{where}{len(names)} of the classes are not registered: {told}{needed}", stacklevel=4)
