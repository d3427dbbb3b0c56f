"""Networks into DL4J model zips."""
from __future__ import annotations

import io
import os
from typing import Any, BinaryIO

from ...samediff.files import write_normalizer
from ..engine.state_layout import ENTRY, to_file
from .missing_classes import ENTRY as CLASSES
from .missing_classes import record
from .model_text import kept_text
from .model_zip import ModelZip, write_model_zip
from .stored import WritableNetwork


def write_model(net: WritableNetwork, path: str | os.PathLike[str] | BinaryIO, save_updater: bool = True, normalizer: Any = None) -> None:
    """Write a network; what an earlier file held and nobody here knows (extra entries) is kept with the network."""
    engine = net.engine
    flat = engine.flat
    normal = None if normalizer is None else normalizer_bytes(normalizer)
    kept = None if net.origin is None else net.origin.model
    with flat.gate:
        configuration = net.get_configuration()
        extra = dict(kept.extra) if kept else {}
        if engine.structure.missing_classes:          # what was not read is written as it was
            state = kept.updater_state if kept and save_updater else None
        else:
            state, more = to_file(engine) if save_updater and flat.state.size else (None, {})
            extra = {n: data for n, data in extra.items() if n not in (ENTRY, CLASSES)} | more | record(engine.structure)
        params, state = flat.params.copy(), None if state is None else state.copy()
    rank_one = kept is not None and kept.rank_one
    write_model_zip(path, ModelZip(
        kept_text(net.origin.model.configuration, net.origin.configuration, configuration) if net.origin else configuration.to_json(),
        params if params.size or rank_one else None, state,
        normal if normal is not None else kept.normalizer if kept else None, extra, rank_one))


def normalizer_bytes(normalizer: Any) -> bytes:
    """A normalizer as the entry of a model file."""
    stream = io.BytesIO()
    write_normalizer(stream, normalizer)
    return stream.getvalue()
