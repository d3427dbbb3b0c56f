"""Kinds of files: how they are recognised, in which directions they go, and what gets lost on the way."""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from ...samediff.codecs.regular_files import open_regular
from ...samediff.graph.graph import SameDiff
from ..files.model_zip import is_model_zip
from ..keras.archive import is_keras

ARRAYS = (".npz", ".safetensors")
GRAPHS = (".fb", ".sdnb", ".sdz")
ONNX, FROZEN, TORCH = ".onnx", (".pb",), (".pt", ".pth")


@dataclass(frozen=True)
class FileFormat:
    """A kind of files.

    Parameters
    ----------
    name : str
        What it is called.
    suffixes : tuple of str
        How names of such files end.
    reads, writes : str
        What is read from it and written into it, for the documentation; empty where that does not exist.
    lossy_in, lossy_out : str
        What is lost when such a file is read, and when something is written into one.
    """

    name: str
    suffixes: tuple[str, ...]
    reads: str
    writes: str
    lossy_in: str = ""
    lossy_out: str = ""


FORMATS = {f.name: f for f in (
    FileFormat("model zip", (".zip", ".bin"), "networks of DL4J 0.5.0 to 1.0.0-M2.1", "networks, as 1.0.0-M2.1"),
    FileFormat("SameDiff graph", GRAPHS, "graphs of DL4J 1.0.0-beta4 and later", "graphs; of networks the forward pass",
               lossy_out="of a network: layers, loss, updater with its state, dropout, normalizer"),
    FileFormat("arrays", ARRAYS, "parameters by name, with the configuration of a network where it is among them",
               "parameters, updater state and configuration of a network; variables of a graph",
               lossy_out="of a network: normalizer and further entries; of a graph: its ops"),
    FileFormat("Keras model", (".keras", ".h5", ".hdf5"), "models of Keras 1 to 3", "",
               lossy_in="state of the optimizer, and what the table of layers says"),
    FileFormat("ONNX model", (ONNX,), "graphs of operator sets 7 and later", "graphs; of networks the forward pass",
               lossy_in="bounds of functions, texts about the model, random seeds; whole numbers of 2 and 4 bits become BYTE, floating "
                        "ones of 8 bits FLOAT",
               lossy_out="loss, updater with its state, dropout, noise; of a network also layers and normalizer; ops that ONNX cannot say "
                         "are an error"),
    FileFormat("TensorFlow graph", FROZEN, "frozen graphs; SavedModels (a folder, or its saved_model.pb)", "",
               lossy_in="functions that are not called, assertions, random seeds, what initializes and saves variables"),
    FileFormat("PyTorch", TORCH, "modules by from_torch; states (.pt, .pth, .safetensors) by set_state_dict",
               "states of modules by to_state_dict",
               lossy_in="two biases of LSTM and RNN become one; batch norms of graphs keep their running statistics",
               lossy_out="counters of batches; layers that PyTorch has not"))}


def format_of(path: str) -> FileFormat:
    """The kind of a file by its name and content; a SameDiff graph where nothing else is recognised."""
    lower = path.lower()
    if os.path.isdir(path) and os.path.isfile(os.path.join(path, "saved_model.pb")):
        return FORMATS["TensorFlow graph"]
    if lower.endswith(ARRAYS) and not is_model_zip(path):
        return FORMATS["arrays"]
    if is_keras(path):
        return FORMATS["Keras model"]
    if is_model_zip(path):
        return FORMATS["model zip"]
    if lower.endswith(ONNX):
        return FORMATS["ONNX model"]
    if lower.endswith(TORCH):
        return FORMATS["PyTorch"]
    if lower.endswith(FROZEN) and not _is_flat(path):
        return FORMATS["TensorFlow graph"]
    return FORMATS["SameDiff graph"]


def _is_flat(path: str) -> bool:
    """Whether a file has the shape of a FlatBuffers table, as graphs of SameDiff under any name have it."""
    with open_regular(path) as stream:
        head = stream.read(8)
        size = stream.seek(0, os.SEEK_END)
    return len(head) == 8 and 4 <= int.from_bytes(head[:4], "little") < size and head[:1] != b"\x0a"


def losses(model: Any, source: FileFormat, target: str) -> list[str]:
    """What a file of that suffix will not hold of a model that was read from ``source``: a line for each."""
    found = []
    if source.lossy_in:
        found.append(f"{source.name} does not bring: {source.lossy_in}")
    graph = isinstance(model, SameDiff)
    if target in ARRAYS:
        found += ["the ops of the graph: arrays alone are written"] if graph else _beside_parameters(model)
        found += _types(model)
    elif target == ONNX or (target in GRAPHS and not graph):
        found += _training(model)
        if target == ONNX:
            found += _while_training(model)
    return found


def _beside_parameters(net: Any) -> list[str]:
    origin = getattr(net, "origin", None)
    more = [n for n in ("normalizer", "extra") if origin is not None and getattr(origin.model, n, None)]
    names = {"normalizer": "the normalizer", "extra": "further entries"}
    return [f"{' and '.join(names[n] for n in more)} of the model zip"] if more else []


def _types(model: Any) -> list[str]:
    if not isinstance(model, SameDiff):
        return []
    brain = [v.name() for v in model.variables() if v.dtype.name == "BFLOAT16"]
    return [f"the type BFLOAT16 of {', '.join(brain[:5])}: written as FLOAT"] if brain else []


def _training(model: Any) -> list[str]:
    if isinstance(model, SameDiff):
        config = model.get_training_config()
        return ["the training configuration, the updater's state, loss variables"] if config is not None else []
    kinds = dict.fromkeys(type(slot.updater).__name__ for m in model.engine.structure.members for slot, _ in m.slots())
    kept = "the layers, the loss and the updater" + (f" ({', '.join(kinds)})" if kinds else "") + " with its state"
    return [f"{kept}: the forward pass alone is written", *_beside_parameters(model)]


def _while_training(model: Any) -> list[str]:
    """Ops that act while training alone, or layers with such."""
    if isinstance(model, SameDiff):
        found = sorted({n.op.id for n in model.nodes() if "dropout" in n.op.id.lower()})
    else:
        found = [str(getattr(m.conf, "layer_name", None) or m.key) for m in model.engine.structure.members
                 if getattr(m.conf, "dropout", None) is not None]
    return [f"dropout: {', '.join(found[:10])}"] if found else []
