"""Networks as DL4J model zips, both ways."""
from __future__ import annotations

import io
import os
from typing import Any, BinaryIO, TypeVar

from ...samediff.base.datatype import DataType
from ...samediff.base.javanames import JavaSpelling
from ...samediff.codecs.nd4j_array import LengthError
from ...samediff.configuration.stand_in import stand_ins
from ...samediff.errors import FileFormatError
from ...samediff.files import read_normalizer, write_normalizer
from ...samediff.text.document_text import read_text
from ...samediff.training.steps.flat import state_length, updater_blocks
from ..engine.state_layout import ENTRY, from_file, to_file
from ..legacy import fill_state, is_before_09
from ..models.computation_graph import ComputationGraph
from ..models.multilayer import MultiLayerNetwork
from ..models.network import Network
from ..structure.configuration import ComputationGraphConfiguration, is_graph, of_document
from ..structure.structure import Structure, of_graph, of_list
from .missing_classes import ENTRY as CLASSES
from .missing_classes import Recorded, extents, held, missing_in, record, size_of, warn
from .model_text import kept_text
from .model_zip import ModelLimits, ModelZip, read_model_zip, write_model_zip

Source = str | os.PathLike[str] | BinaryIO
N = TypeVar("N", bound=Network)


class ModelSerializer(JavaSpelling):
    """Writes and reads DL4J's model files (``ModelSerializer``): networks, their updater state, a normalizer.

    Loading executes nothing that the file names: classes are those registered in this process.
    """

    @staticmethod
    def write_model(net: Network, path: Source, save_updater: bool = True, normalizer: Any = None) -> None:
        """Write a network; what an earlier file held and nobody here knows (extra entries) is kept with the network."""
        engine = net.engine
        flat = engine.flat
        normal = None
        if normalizer is not None:
            stream = io.BytesIO()
            write_normalizer(stream, normalizer)
            normal = stream.getvalue()
        kept: ModelZip | None = getattr(net, "_origin", None)
        with flat.gate:
            configuration = net.get_configuration()  # type: ignore[attr-defined]  # both kinds of network have it
            extra = dict(kept.extra) if kept else {}
            if engine.structure.lacks:          # what was not read is written as it was
                state = kept.updater_state if kept and save_updater else None
            else:
                state, more = to_file(engine) if save_updater and flat.state.size else (None, {})
                extra = {n: data for n, data in extra.items() if n not in (ENTRY, CLASSES)} | more | record(engine.structure)
            params, state = flat.params.copy(), None if state is None else state.copy()
        rank_one = kept is not None and kept.rank_one
        write_model_zip(path, ModelZip(
            kept_text(kept.configuration, net._loaded, configuration) if kept else configuration.to_json(),  # type: ignore[attr-defined]
            params if params.size or rank_one else None, state,
            normal if normal is not None else kept.normalizer if kept else None, extra, rank_one))

    @staticmethod
    def restore_multi_layer_network(path: Source, load_updater: bool = True, limits: ModelLimits | None = None) -> MultiLayerNetwork:
        """Read a list network.

        Raises
        ------
        FileFormatError
            Not a model file, or that of a graph; TruncatedFileError and LimitError are kinds of it.

        Warns
        -----
        MissingClassWarning
            Classes are not registered here: :meth:`~dl4py.networks.MultiLayerNetwork.missing_classes` lists them, what does not need them
            runs, and saving writes them as they were.
        """
        return _restored(path, MultiLayerNetwork, load_updater, limits)

    @staticmethod
    def restore_computation_graph(path: Source, load_updater: bool = True, limits: ModelLimits | None = None) -> ComputationGraph:
        """Read a graph."""
        return _restored(path, ComputationGraph, load_updater, limits)

    @staticmethod
    def restore_normalizer_from_file(path: Source) -> Any:
        """The normalizer stored with a model, None when there is none."""
        content = read_model_zip(path, load_updater=False).normalizer
        return None if content is None else read_normalizer(io.BytesIO(content))

    @staticmethod
    def add_normalizer_to_model(path: str | os.PathLike[str], normalizer: Any) -> None:
        """Put a normalizer into an existing model file."""
        from dataclasses import replace
        stream = io.BytesIO()
        write_normalizer(stream, normalizer)
        write_model_zip(path, replace(read_model_zip(path), normalizer=stream.getvalue()))


def _restored(path: Source, kind: type[N], load_updater: bool, limits: ModelLimits | None) -> N:
    found: list[Any] = []

    def expected(text: str) -> tuple[int | None, int | None]:
        """The lengths of the two vectors, by the configuration: known before memory is taken for either."""
        allowed = limits or ModelLimits()
        document = read_text(text, "JSON", allowed.max_nesting, allowed.max_values)
        graph = is_graph(document)
        if graph != (kind is ComputationGraph):
            other = "ComputationGraph" if graph else "MultiLayerNetwork"
            raise FileFormatError(f"the file holds a {other}; load it with {other}.load")
        with stand_ins():
            configuration = of_document(document, allowed.max_layers)
        structure = of_graph(configuration) if isinstance(configuration, ComputationGraphConfiguration) else of_list(configuration)
        found.extend((configuration, isinstance(document, dict) and is_before_09(document), structure))
        if any(size_of(member) is None for member in structure.members):
            return None, None
        slots = [s for member in structure.members for s, _ in member.slots()]
        if structure.lacks:
            return sum(s.size for s in slots), None
        blocks = updater_blocks([(s.name, s.size, s.updater, s.key) for s in slots])
        return sum(s.size for s in slots), state_length(blocks)

    try:
        model = read_model_zip(path, limits, expected=expected, load_updater=load_updater)
    except LengthError as error:
        raise FileFormatError(f"{error}. {_sizes(found[2])}") from None
    configuration, by_parameter, structure = found
    missing = Recorded(model.extra).whose(missing_in(configuration)) if structure.lacks else {}
    if missing:
        total = 0 if model.coefficients is None else model.coefficients.size
        configuration = held(configuration, extents(structure, total, Recorded(model.extra).sizes))
        warn(f"{path}: " if isinstance(path, (str, os.PathLike)) else "", missing, structure)
    if model.coefficients is not None and model.coefficients.size:      # their type counts, whatever the configuration says
        configuration = configuration.replace(data_type=DataType.of(model.coefficients))
        net = kind(configuration).init(model.coefficients)
    else:
        net = kind(configuration).init()
    net._missing = missing
    if not missing and load_updater and model.updater_state is not None and model.updater_state.size:
        if by_parameter:
            fill_state(net.engine.flat, model.updater_state, [m.key for m in net.engine.structure.as_declared])
        else:
            net.get_updater().set_state_view_array(from_file(net.engine, model.updater_state, model.extra))
    net._origin = model  # type: ignore[attr-defined]  # extra entries survive saving
    net._loaded = net.get_configuration()  # type: ignore[attr-defined]  # as does the text where nothing changes
    return net


def _sizes(structure: Structure) -> str:
    """What each layer expects of the parameters, classes of plug-ins first: these are what changes between versions."""
    sizes = {m.label: sum(s.size for s, _ in m.slots()) for m in structure.members}
    custom = [m.label for m in structure.members if not type(m.conf).__module__.startswith("dl4py.") and sizes[m.label]]
    first = f"A class that has changed since may be the cause: {', '.join(custom)}. " if custom else ""
    shown = [f"{label} {size}" for label, size in sizes.items() if size]
    return f"{first}The layers expect: {', '.join(shown[:20])}{', ...' if len(shown) > 20 else ''}"
