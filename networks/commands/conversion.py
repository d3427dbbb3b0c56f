"""A model file as another kind of file."""
from __future__ import annotations

import os
from typing import Any, TextIO

from ...samediff.codecs.array_files import write_arrays
from ...samediff.errors import ConfigurationError
from ...samediff.graph.graph import SameDiff
from ..files.exchange import to_arrays, to_same_diff
from ..files.model_zip import CONFIGURATION
from .formats import ARRAYS, GRAPHS, ONNX, format_of, losses
from .opening import open_model
from .progress import ReadingProgress

SUFFIXES = (".zip", *GRAPHS, ONNX, *ARRAYS)


def convert(source: str, target: str, messages: TextIO | None = None, dry_run: bool = False) -> str:
    """Write the model of one file into another kind of file, as the suffix of ``target`` says; one line on what was done.

    What gets lost is said before anything is written.

    ========================  =============================================================================
    ``.zip``                  DL4J's model zip; not from graphs
    ``.fb .sdnb .sdz``        a SameDiff graph; of a network the forward pass
    ``.onnx``                 an ONNX model: the graph, or a network's forward pass, outside of training
    ``.npz .safetensors``     parameters by name, the updater's state and the configuration of a network, or
                              the variables of a graph
    ========================  =============================================================================

    Parameters
    ----------
    source, target : paths
    messages : text stream, optional
        Takes lines on what gets lost, and on the progress with large files.
    dry_run : bool
        Whether it ends there, and nothing is written; False by default.

    Raises
    ------
    ConfigurationError
        The two kinds do not go together, or the suffix is unknown.
    MissingOpError
        ONNX cannot say some of the ops.
    """
    suffix = os.path.splitext(target)[1].lower()
    if suffix not in SUFFIXES:
        raise ConfigurationError(f"{target}: the suffix says the kind of file; expected one of {', '.join(SUFFIXES)}")
    if os.path.exists(target) and os.path.samefile(source, target):
        raise ConfigurationError(f"{target} is the source itself")
    form = format_of(source)
    if os.path.isdir(source):
        model = open_model(source)
    else:
        with ReadingProgress(source, messages) as stream:
            model = open_model(source, stream)
    kind = type(model).__name__
    if suffix == ".zip" and isinstance(model, SameDiff):
        raise ConfigurationError(f"{source} is a graph, from which no layers can be told; a model zip needs a network")
    lost = losses(model, form, suffix)
    if messages is not None:
        print(*(f"lost: {line}" for line in lost), sep="\n", end="\n" if lost else "", file=messages)
    if dry_run:
        return f"{kind} of {source} can be written to {target}" + ("" if lost else "; nothing is lost")
    if messages is not None and os.path.getsize(source) > ReadingProgress.QUIET:
        print(f"writing {target}", file=messages)
    if suffix in ARRAYS:
        arrays, texts = _arrays(model)
        write_arrays(target, arrays, texts)
    elif suffix == ONNX:
        model.export_onnx(target)
    elif suffix in GRAPHS:
        (model if isinstance(model, SameDiff) else to_same_diff(model)).save(target)
    else:
        model.save(target)
    return f"{kind} of {source} written to {target} ({os.path.getsize(target):,} bytes)"


def _arrays(model: Any) -> tuple[dict[str, Any], dict[str, str]]:
    if isinstance(model, SameDiff):
        return {v.name(): v.get_arr() for v in model.variables() if v.get_variable_type().name in ("VARIABLE", "CONSTANT")}, {}
    return to_arrays(model), {CONFIGURATION: model.get_configuration().to_json()}
