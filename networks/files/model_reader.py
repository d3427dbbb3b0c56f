"""Networks of DL4J model zips."""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeVar

from ...samediff.base.datatype import DataType
from ...samediff.codecs.nd4j_array import LengthError
from ...samediff.configuration.missing_class import stand_ins
from ...samediff.errors import FileFormatError
from ...samediff.files.missing import Missing, check_missing
from ...samediff.text.document_text import read_text
from ...samediff.training.steps.flat_layout import state_length, updater_blocks
from ..engine.state_layout import from_file
from ..legacy import fill_state, is_before_09
from ..structure.configuration import is_graph, kind_of, of_document
from ..structure.structure import Structure, structure_of
from .missing_classes import Recorded, extents, held, missing_in, size_of, tell
from .model_zip import Lengths, ModelLimits, OpenModelZip
from .stored import Origin, ReadableNetwork

N = TypeVar("N", bound=ReadableNetwork)


def read_model(path: str | os.PathLike[str] | BinaryIO, kind: type[N], load_updater: bool = True, limits: ModelLimits | None = None,
               missing: Missing = "warn") -> N:
    """Read a network of that kind; see :class:`.ModelSerializer`."""
    check_missing(missing)
    with OpenModelZip(path, limits) as file:
        head = ModelHead.of(file.configuration, kind, file.limits)
        try:
            model = file.read(head.lengths(), load_updater)
        except LengthError as error:
            raise FileFormatError(f"{error}. {_sizes(head.structure)}") from None
    configuration, structure = head.configuration, head.structure
    unknown = Recorded(model.extra).whose(missing_in(configuration)) if structure.missing_classes else {}
    if unknown:
        total = 0 if model.coefficients is None else model.coefficients.size
        configuration = held(configuration, extents(structure, total, Recorded(model.extra).sizes))
        tell(missing, f"{path}: " if isinstance(path, (str, os.PathLike)) else "", unknown, structure)
    if model.coefficients is not None and model.coefficients.size:      # their type counts, whatever the configuration says
        configuration = configuration.replace(data_type=DataType.of(model.coefficients))
        net = kind(configuration).init(model.coefficients)
    else:
        net = kind(configuration).init()
    if not unknown and load_updater and model.updater_state is not None and model.updater_state.size:
        if head.by_parameter:
            fill_state(net.engine.flat, model.updater_state, [m.key for m in net.engine.structure.as_declared])
        else:
            net.get_updater().set_state_view_array(from_file(net.engine, model.updater_state, model.extra))
    net.origin = Origin(model, net.get_configuration(), unknown)        # extra entries survive saving, as does text that does not change
    return net


@dataclass(frozen=True)
class ModelHead:
    """The configuration of a model file, read before its arrays.

    Attributes
    ----------
    configuration, structure : what it says
    by_parameter : whether the updater state is in the order that versions before 0.9 had
    """

    configuration: Any
    structure: Structure
    by_parameter: bool

    @classmethod
    def of(cls, text: str, kind: type[ReadableNetwork], limits: ModelLimits) -> ModelHead:
        """Read the text of the configuration of a network of that kind."""
        document = read_text(text, "JSON", limits.max_nesting, limits.max_values)
        if kind_of(document) is not kind.configuration_type:
            other = "ComputationGraph" if is_graph(document) else "MultiLayerNetwork"
            raise FileFormatError(f"the file holds a {other}; load it with {other}.load")
        with stand_ins():
            configuration = of_document(document, limits.max_layers)
        return cls(configuration, structure_of(configuration), isinstance(document, dict) and is_before_09(document))

    def lengths(self) -> Lengths:
        """The lengths of the two vectors, known before memory is taken for either."""
        if any(size_of(member) is None for member in self.structure.members):
            return None, None
        slots = [s for member in self.structure.members for s, _ in member.slots()]
        parameters = sum(s.size for s in slots)
        if self.structure.missing_classes:
            return parameters, None
        return parameters, state_length(updater_blocks([(s.name, s.size, s.updater, s.key) for s in slots]))


def _sizes(structure: Structure) -> str:
    """What each layer expects of the parameters, classes of plug-ins first: these are what changes between versions."""
    sizes = {m.label: sum(s.size for s, _ in m.slots()) for m in structure.members}
    custom = [m.label for m in structure.members if not type(m.conf).__module__.startswith("dl4py.") and sizes[m.label]]
    first = f"A class that has changed since may be the cause: {', '.join(custom)}. " if custom else ""
    shown = [f"{label} {size}" for label, size in sizes.items() if size]
    return f"{first}The layers expect: {', '.join(shown[:20])}{', ...' if len(shown) > 20 else ''}"
