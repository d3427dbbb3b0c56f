"""The names of parameters in configurations: DL4J lists them beside each layer, and tells by them what a BatchNormalization stores."""
from __future__ import annotations

from ...layers.standard.wrappers import LastTimeStep, MaskZeroLayer, TimeDistributed
from .structure import Member, Structure

#: Layers for which DL4J lists none.
_SILENT = (LastTimeStep, TimeDistributed, MaskZeroLayer)


def variable_names(structure: Structure) -> dict[str, tuple[str, ...]]:
    """Names of the parameters of each layer, by its key."""
    return {m.key: _names(m) for m in structure.as_declared if m.is_layer}


def _names(member: Member) -> tuple[str, ...]:
    if isinstance(member.conf, _SILENT):
        return ()
    names = [parameter.name for _, parameter in member.slots()]
    if names[:1] == ["b"]:          # convolutions: the bias comes first in the flat vector, last in the list
        names = [*names[1:], "b"]
    return tuple(names)
