"""Networks as DL4J model zips, both ways."""
from __future__ import annotations

import io
import os
from typing import Any, BinaryIO, TypeVar

from ..samediff.datatype import DataType
from ..samediff.document_text import read_text
from ..samediff.errors import FileFormatError
from ..samediff.files import read_normalizer, write_normalizer
from ..samediff.javanames import JavaSpelling
from ..samediff.training.flat import state_length, updater_blocks
from .computation_graph import ComputationGraph
from .configuration import ComputationGraphConfiguration, MultiLayerConfiguration, is_graph
from .legacy import fill_state, is_before_09
from .model_text import kept_text
from .model_zip import ModelLimits, ModelZip, read_model_zip, write_model_zip
from .multilayer import MultiLayerNetwork
from .network import Network
from .state_layout import ENTRY, from_file, to_file
from .structure import Structure, of_graph, of_list

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
        configuration = net.get_configuration()  # type: ignore[attr-defined]  # both kinds of network have it
        state, more = to_file(engine) if save_updater and flat.state.size else (None, {})
        extra = {name: data for name, data in (kept.extra if kept else {}).items() if name != ENTRY} | more
        rank_one = kept is not None and kept.rank_one
        write_model_zip(path, ModelZip(
            kept_text(kept.configuration, net._loaded, configuration) if kept else configuration.to_json(),  # type: ignore[attr-defined]
            flat.params if flat.params.size or rank_one else None, state,
            normal if normal is not None else kept.normalizer if kept else None, extra, rank_one))

    @staticmethod
    def restore_multi_layer_network(path: Source, load_updater: bool = True, limits: ModelLimits | None = None) -> MultiLayerNetwork:
        """Read a list network.

        Raises
        ------
        FileFormatError
            Not a model file, or that of a graph; TruncatedFileError and LimitError are kinds of it.
        MissingOpError
            A class that is not registered here.
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

    def expected(text: str) -> tuple[int, int | None]:
        """The lengths of the two vectors, by the configuration: known before memory is taken for either."""
        document = read_text(text, "JSON", (limits or ModelLimits()).max_nesting)
        graph = is_graph(document)
        if graph != (kind is ComputationGraph):
            other = "ComputationGraph" if graph else "MultiLayerNetwork"
            raise FileFormatError(f"the file holds a {other}; load it with {other}.load")
        structure: Structure
        if graph:
            found.append(ComputationGraphConfiguration.from_document(document))
            structure = of_graph(found[0])
        else:
            found.append(MultiLayerConfiguration.from_document(document))
            structure = of_list(found[0])
        found.append(isinstance(document, dict) and is_before_09(document))
        slots = [s for member in structure.members for s, _ in member.slots()]
        blocks = updater_blocks([(s.name, s.size, s.updater, s.key) for s in slots])
        return sum(s.size for s in slots), state_length(blocks)

    model = read_model_zip(path, limits, expected=expected, load_updater=load_updater)
    configuration, by_parameter = found
    if model.coefficients is not None and model.coefficients.size:      # their type counts, whatever the configuration says
        configuration = configuration.replace(data_type=DataType.of(model.coefficients))
        net = kind(configuration).init(model.coefficients)
    else:
        net = kind(configuration).init()
    if load_updater and model.updater_state is not None and model.updater_state.size:
        if by_parameter:
            fill_state(net.engine.flat, model.updater_state, [m.key for m in net.engine.structure.as_declared])
        else:
            net.get_updater().set_state_view_array(from_file(net.engine, model.updater_state, model.extra))
    net._origin = model  # type: ignore[attr-defined]  # extra entries survive saving
    net._loaded = net.get_configuration()  # type: ignore[attr-defined]  # as does the text where nothing changes
    return net
