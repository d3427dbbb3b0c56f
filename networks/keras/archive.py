"""Files of Keras of all kinds: what they say of the model, and where its weights are."""
from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from ...samediff.codecs.regular_files import as_stream, open_regular
from ...samediff.codecs.safe_zip import SafeZip
from ...samediff.errors import DL4PyError, FileFormatError, UnsupportedVersionError
from ...samediff.text.document_text import read_text
from .hdf5 import SIGNATURE, Hdf5Group, opened
from .weights import GivenWeights, LayeredWeights, NamedWeights, NoWeights

Source = str | os.PathLike[str] | BinaryIO
MOST_TEXT = 64 << 20        # bytes of a configuration
MOST_WEIGHTS = 16 << 30
CONFIG, WEIGHTS = "config.json", "model.weights.h5"


@dataclass(frozen=True)
class KerasFile:
    """The content of a file of Keras.

    Parameters
    ----------
    where : str
        What messages call the file.
    model : dict
        Class name and configuration of the model.
    training : dict, optional
        Loss and optimizer, where the model was compiled.
    version : int
        Keras 1, 2 or 3.
    backend : str
        What Keras ran on, "" where the file does not say.
    weights : GivenWeights
        The arrays of the layers.
    """

    where: str
    model: dict[str, Any]
    training: dict[str, Any] | None = None
    version: int = 3
    backend: str = ""
    weights: GivenWeights = field(default_factory=NoWeights)


@contextmanager
def documents_of(where: str) -> Iterator[None]:
    """Values of another kind than Keras writes are an error of the file."""
    try:
        yield
    except (AttributeError, TypeError, ValueError, LookupError, ArithmeticError) as error:
        if isinstance(error, DL4PyError):
            raise
        raise FileFormatError(f"{where}: the model is described in a way that the importer cannot read ({type(error).__name__}: "
                              f"{error})") from error


def kind_of(source: Source) -> str:
    """``"zip"``, ``"hdf5"`` or ``"text"`` by the first bytes of a file."""
    with _stream(source) as (stream, _):
        begun = stream.read(len(SIGNATURE))
        stream.seek(-len(begun), 1)
    return "zip" if begun.startswith(b"PK\x03\x04") else "hdf5" if begun == SIGNATURE else "text"


def label_of(source: Source) -> str:
    """The name of a source in messages."""
    return os.fspath(source) if isinstance(source, (str, os.PathLike)) else str(getattr(source, "name", "stream"))


def is_keras(source: Source) -> bool:
    """Whether a file is an archive of Keras 3 or an HDF5 file, by what it holds."""
    if isinstance(source, type) or not (isinstance(source, (str, os.PathLike)) or (hasattr(source, "seekable") and source.seekable())):
        return False
    try:
        kind = kind_of(source)
    except OSError:
        return False
    if kind != "zip":
        return kind == "hdf5"
    try:
        with SafeZip(source) as archive:
            return CONFIG in archive and "configuration.json" not in archive
    except FileFormatError:
        return False


@contextmanager
def read_keras(source: Source, weights: Source | None = None) -> Iterator[KerasFile]:
    """The model of a file, open as long as the block runs.

    Parameters
    ----------
    source : str, path or binary stream
        A ``.keras`` archive, an HDF5 file, or a configuration in JSON.
    weights : str, path or binary stream, optional
        An HDF5 file with the weights where they lie apart.

    Raises
    ------
    FileFormatError
        No file of Keras, or a damaged one.
    """
    kind = kind_of(source)
    if kind == "zip":
        with _archive(source) as found:
            yield found
    elif kind == "hdf5":
        with _stream(source) as (stream, where), opened(stream, where) as root:
            yield _of_hdf5(root, where)
    else:
        with _stream(source) as (stream, where):
            text = stream.read(MOST_TEXT)
        document = _document(text, where)
        found = KerasFile(where, *_parts(document, where))
        if weights is None:
            yield found
            return
        with _stream(weights) as (stream, where), opened(stream, where) as root:
            yield KerasFile(found.where, found.model, found.training, found.version, _backend(root), _weights_of(root))


@contextmanager
def _archive(source: Source) -> Iterator[KerasFile]:
    with SafeZip(source) as archive:
        if CONFIG not in archive:
            raise FileFormatError(f"{archive.where} is no archive of Keras: it has no entry {CONFIG}; "
                                  "networks of DL4J are loaded by MultiLayerNetwork.load and ComputationGraph.load")
        document = _document(archive.read(CONFIG, MOST_TEXT), f"{archive.where}: {CONFIG}")
        model, training, version, _ = _parts(document, archive.where)
        if WEIGHTS not in archive:
            raise FileFormatError(f"{archive.where} has no entry {WEIGHTS}; weights in other forms are not read")
        content = archive.read(WEIGHTS, min(MOST_WEIGHTS, archive.size * 100))
        with opened(content, f"{archive.where}: {WEIGHTS}") as root:
            yield KerasFile(archive.where, model, training, version, "", LayeredWeights(root))


def _of_hdf5(root: Hdf5Group, where: str) -> KerasFile:
    text = root.attribute("model_config")
    if text is None:
        raise FileFormatError(f"{where} holds weights without the configuration of a model: give its JSON, and this file as weights")
    model, _, version, _ = _parts(_document(text, where), where)
    named = root.attribute("keras_version")
    groups = root.group("model_weights") if "model_weights" in root else root
    named = named or groups.attribute("keras_version")
    training = root.attribute("training_config")
    return KerasFile(where, model, None if training is None else _document(training, f"{where}: training_config"),
                     _major(named, version), _backend(root) or _backend(groups), NamedWeights(groups))


def _weights_of(root: Hdf5Group) -> GivenWeights:
    if "model_weights" in root:
        return NamedWeights(root.group("model_weights"))
    return LayeredWeights(root) if root.attribute("layer_names") is None else NamedWeights(root)


def _backend(group: Hdf5Group) -> str:
    return str(group.attribute("backend") or "")


def _major(version: Any, otherwise: int) -> int:
    found = re.match(r"\d+", str(version or ""))
    return int(found[0]) if found else otherwise


def _parts(document: Any, where: str) -> tuple[dict[str, Any], dict[str, Any] | None, int, str]:
    """Model, training, version and back end of a configuration."""
    if not isinstance(document, dict) or not isinstance(document.get("class_name"), str) or "config" not in document:
        raise FileFormatError(f"{where} holds no model of Keras: expected class_name and config")
    if str(document["class_name"]).startswith("Graph"):
        raise UnsupportedVersionError(f"{where}: models of the class Graph, of Keras before 1.0, are not read")
    version = 3 if "module" in document or "build_config" in document else 2
    config = document["config"]
    if isinstance(config, list) and any("output_dim" in _inside(one) or ("batch_input_shape" not in _inside(one) and
                                        "nb_filter" in _inside(one)) for one in config):
        version = 1
    version = _major(document.get("keras_version"), version)
    return document, document.get("compile_config"), version, str(document.get("backend") or "")


def _inside(layer: Any) -> dict[str, Any]:
    found = layer.get("config") if isinstance(layer, dict) else None
    return found if isinstance(found, dict) else {}


def _document(text: str | bytes, where: str) -> Any:
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    try:
        return read_text(text, "JSON")
    except FileFormatError as error:
        raise type(error)(f"{where}: {error}") from None


@contextmanager
def _stream(source: Source) -> Iterator[tuple[BinaryIO, str]]:
    """A stream that can be wound back; one from outside stays open, where it was."""
    if isinstance(source, (str, os.PathLike)):
        with open_regular(source) as stream:
            yield stream, os.fspath(source)
        return
    stream = as_stream(source)
    if not stream.seekable():
        stream = io.BytesIO(stream.read(MOST_WEIGHTS))
    yield stream, label_of(source)

