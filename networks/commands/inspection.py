"""Looking into files without running or keeping what is in them."""
from __future__ import annotations

import math
import os
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ...samediff.codecs.array_files import read_arrays
from ...samediff.codecs.data_stream import DataInput
from ...samediff.codecs.flatbuffers.reader import FlatLimits
from ...samediff.codecs.nd4j_array import array_header
from ...samediff.codecs.regular_files import open_regular, path_of
from ...samediff.codecs.safe_zip import SafeZip, binary
from ...samediff.configuration.classes import find_class
from ...samediff.errors import FileFormatError, MissingOpError, UnsupportedVersionError
from ...samediff.files.any_graph import read_any
from ...samediff.graph.graph import SameDiff
from ...samediff.text.document_text import read_text
from ..files.missing_classes import ENTRY, Recorded
from ..files.model_zip import (
    COEFFICIENTS,
    CONFIGURATION,
    NORMALIZER,
    PREPROCESSOR,
    UPDATER_STATE,
    ModelLimits,
    read_configuration,
)
from ..legacy import class_names, layers_of
from ..legacy.versions import written_by
from ..structure.configuration import check_count, is_graph, of_document
from ..structure.structure import Structure, structure_of
from .foreign import inspect_onnx, inspect_state, inspect_tensorflow
from .formats import format_of
from .opening import open_model
from .report import FileReport, Part

_NORMALIZER_HEADER = b"\x00\x0aNORMALIZER"


def inspect(path: str | os.PathLike[str]) -> FileReport:
    """What a file holds: a model of DL4J of any version, Keras, ONNX or TensorFlow, a graph, a normalizer, an array, arrays by name.

    Nothing is run, and classes and ops that are not registered are named instead of refused.

    Raises
    ------
    FileFormatError
        None of these, or damaged.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from dl4py.samediff.files import Nd4j
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Nd4j.save_binary(np.ones((2, 3)), folder + "/a.bin")
    ...     report = inspect(folder + "/a.bin")
    >>> report.kind, report.parts[0].parameters
    ('array', {'array': [2, 3]})
    """
    where = path_of(path)
    own = {"arrays": _arrays, "Keras model": _keras, "model zip": _model, "ONNX model": inspect_onnx,
           "TensorFlow graph": inspect_tensorflow, "PyTorch": inspect_state}
    kind = format_of(where)
    if kind.name in own:
        report = own[kind.name](where)
        return _noted(report, kind.lossy_in)
    with open_regular(where) as stream:
        head = stream.read(32)
        stream.seek(0)
        if head.startswith(_NORMALIZER_HEADER):
            return FileReport(where, "normalizer", normalizer=_kind_of_normalizer(DataInput(stream, where)))
        if head[2:].startswith((b"MIXED_DATA_TYPES", b"LONG_SHAPE", b"JAVACPP", b"HEAP", b"DIRECT")):
            shape, data_type = array_header(stream, where)
            return FileReport(where, "array", data_type=data_type, parts=[Part("array", data_type, {"array": list(shape)})])
    return _graph(where)


def _noted(report: FileReport, lossy: str) -> FileReport:
    if lossy:
        report.notes.append(f"not read: {lossy}")
    return report


def _keras(where: str) -> FileReport:
    """The network that a model of Keras becomes."""
    net = open_model(where)
    parts = [Part(m.conf.layer_name or m.key if m.is_layer else m.key, m.kind, {p.name: list(p.shape) for _, p in m.slots()})
             for m in net.structure.members]
    return FileReport(where, f"Keras model: {type(net).__name__}", parts=parts)


def _arrays(where: str) -> FileReport:
    arrays, texts = read_arrays(where)
    parts = [Part(name, a.dtype.name, {"array": list(a.shape)}) for name, a in arrays.items()]
    return FileReport(where, "arrays", parts=parts, notes=[f"a text named {name}" for name in texts])


def _model(where: str) -> FileReport:
    text = read_configuration(where)
    document = read_text(text, "JSON")
    if not isinstance(document, Mapping):
        raise FileFormatError(f"{where}: {CONFIGURATION} is no JSON object")
    check_count(document, ModelLimits().max_layers)
    report = FileReport(where, "ComputationGraph" if is_graph(document) else "MultiLayerNetwork",
                        iterations=_count(document, "iterationCount"), epochs=_count(document, "epochCount"))
    with SafeZip(where) as archive:
        report.entries = {name: info.file_size for name, info in archive.entries.items()}
        shape, report.data_type = _header(archive, COEFFICIENTS)
        report.parameters = math.prod(shape)
        report.updater_state = math.prod(_header(archive, UPDATER_STATE)[0]) if UPDATER_STATE in archive else None
        if NORMALIZER in archive:
            report.normalizer = _normalizer(archive)
        recorded = Recorded({ENTRY: archive.read(ENTRY, ModelLimits().max_extra_bytes)} if ENTRY in archive else {})
    report.written_by = written_by(document, len(shape))
    _classes(report, document, recorded)
    if PREPROCESSOR in report.entries:
        report.notes.append(f"{PREPROCESSOR} is a serialized Java object: it is kept, but not used")
    try:
        if not report.missing:
            _structure(report, document)
            return report
    except UnsupportedVersionError as error:        # of a class that is older here
        report.notes.append(str(error))
    report.parts = [Part(name, kind) for name, kind in layers_of(document)]
    return report


def _count(document: Mapping[str, Any], key: str) -> int:
    value = document.get(key, 0)
    return value if isinstance(value, int) else 0


def _header(archive: SafeZip, entry: str) -> tuple[tuple[int, ...], str]:
    if entry not in archive or not archive.entries[entry].file_size:
        return (0, 0), ""
    with archive.open(entry) as stream:
        return array_header(binary(stream), f"{archive.where}: entry {entry}")


def _normalizer(archive: SafeZip) -> str:
    with archive.open(NORMALIZER) as stream:
        return _kind_of_normalizer(DataInput(binary(stream), f"{archive.where}: entry {NORMALIZER}"))


def _kind_of_normalizer(source: DataInput) -> str:
    if bytes(source.read_exact(len(_NORMALIZER_HEADER), "the header")) != _NORMALIZER_HEADER:
        return "a serialized Java object"
    source.read_int("the version")
    return source.read_utf("the type", limit=1024)


def _classes(report: FileReport, document: Mapping[str, Any], recorded: Recorded) -> None:
    for name in dict.fromkeys(class_names(document)):
        try:
            cls = find_class(name)
        except MissingOpError:
            report.missing.append(name)
            whose = recorded.distributions.get(name)
            report.notes.append(f"class {name}{f' of {whose}' if whose else ''} is not registered here: import the package that defines "
                                f'it, or write one and decorate it with its name, for a layer @layer("{name}")')
        else:
            if not cls.__module__.startswith("dl4py."):
                report.custom.append(name)


def _structure(report: FileReport, document: Any) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        configuration = of_document(document, ModelLimits().max_layers)
    report.notes += [str(w.message) for w in caught]
    structure: Structure = structure_of(configuration)
    updaters: Counter[str] = Counter()
    total = 0
    for member in structure.members:
        slots = member.slots()
        prefix = f"{member.key}_"
        name = getattr(member.conf, "layer_name", None) or member.key
        report.parts.append(Part(name, type(member.conf).__name__, {s.name.removeprefix(prefix): list(s.shape) for s, _ in slots}))
        updaters.update(repr(s.updater) for s, _ in slots if s.updater.state_names or type(s.updater).__name__ != "NoOp")
        total += sum(s.size for s, _ in slots)
    report.updater = list(updaters)
    if total != report.parameters:
        report.notes.append(f"the configuration has {total:,} parameters, the file {report.parameters:,}: it will be refused")


def _graph(where: str) -> FileReport:
    try:
        sd = SameDiff.load(where)
    except UnsupportedVersionError as error:        # of an op that is older here
        named = Counter(n.op_name or f"op type {n.op_type}" for n in read_any(where, FlatLimits()).nodes)
        return FileReport(where, "SameDiff", ops=dict(named), notes=[str(error)])
    report = FileReport(where, "SameDiff", missing=list(dict.fromkeys(sd.missing_ops())))
    report.ops = dict(Counter(_op_names(sd)))
    report.custom = sorted({n.op.id for n in sd.nodes() if getattr(n.op, "version", None) is not None})
    for variable in sd.variables():
        if variable.get_variable_type().name == "VARIABLE":
            report.parts.append(Part(variable.name(), variable.dtype.name, {"array": list(variable.get_shape() or ())}))
    report.parameters = sum(p.size for p in report.parts)
    config = sd.get_training_config()
    if config is not None:
        report.updater = [repr(config.updater)]
        report.iterations, report.epochs = config.iteration_count, config.epoch_count
    versions, distributions = sd.missing_op_versions(), sd.missing_op_distributions()
    for name in report.missing:
        whose = "".join([f" (version {versions[name]})" if versions.get(name) is not None else "",
                         f" of {distributions[name]}" if distributions.get(name) else ""])
        report.notes.append(f"op {name}{whose} is not registered here: import the package that defines it, then load the graph again")
    return report


def _op_names(sd: SameDiff) -> Iterator[str]:
    for node in sd.nodes():
        yield getattr(node.op, "missing_id", node.op.id)
