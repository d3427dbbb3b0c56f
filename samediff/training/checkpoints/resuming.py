"""State beside a model file from which training continues as if it had not stopped: a small file for each checkpoint."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ...codecs.atomic_files import write_file
from ...codecs.regular_files import read_file
from ...data.iterators.position import Positioned
from ...errors import ConfigurationError, FileFormatError

SUFFIX = ".resume.json"


def write_state(model_file: Path, model: Any, epoch: int, epoch_over: bool) -> None:
    """Note the position in the data, and the seed of a graph (networks have theirs in the configuration)."""
    if not hasattr(model, "get_data_position"):     # no model of ours
        return
    counted = _counter(model).get_epoch_count() > epoch       # graphs count an epoch before listeners hear of its end, networks after
    state: dict[str, Any] = {"data": model.get_data_position(), "epochOver": epoch_over, "epochCounted": counted}
    if type(model).__name__ == "SameDiff":
        state["seed"] = model.seed
    write_file(state_file(model_file), json.dumps(state))


def state_file(model_file: Path) -> Path:
    """Path of the state file that belongs to a model file."""
    return model_file.with_name(model_file.name + SUFFIX)


def put_back(model: Any, model_file: Path, data: Any) -> None:
    """Give a graph its seed, bring ``data`` to the batch after the checkpoint and count an epoch that was over there.

    Raises
    ------
    ConfigurationError
        Data whose position is not known, or that differ from those of the checkpoint.
    FileFormatError
        A damaged file.
    """
    state = _read(state_file(model_file))
    if type(model).__name__ == "SameDiff" and "seed" in state:
        model.seed = state["seed"]
    missed = bool(state.get("epochOver")) and not state.get("epochCounted")
    if data is None:
        if missed:
            _counter(model).increment_epoch_count()
        return
    position = state.get("data")
    if not isinstance(data, Positioned) or position is None:
        raise ConfigurationError(f"{model_file.name}: the position in the data is kept for iterators over data sets; the training used "
                                 f"{'other data' if position is None else position['iterator']}, resume got {type(data).__name__}. "
                                 "Train with a NumpyDataSetIterator, ListDataSetIterator or another iterator")
    data.set_position(position)
    source: Any = data
    if not source.has_next():
        if source.reset_supported():
            source.reset()
        if missed or not state.get("epochOver"):        # saved after the last batch, before the epoch was counted
            _counter(model).increment_epoch_count()


def _counter(model: Any) -> Any:
    """The object that counts epochs: a network itself, the training configuration of a graph."""
    return model if hasattr(model, "increment_epoch_count") else model.get_training_config()


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise ConfigurationError(f"{path.name} is missing: the checkpoint is of another program or an older version, "
                                 "load the model and start the epoch again")
    try:
        state = json.loads(read_file(path))
    except ValueError as error:
        raise FileFormatError(f"{path}: not JSON ({error})") from None
    if not isinstance(state, dict) or not isinstance(state.get("data"), (dict, type(None))) or not isinstance(state.get("seed", 0), int):
        raise FileFormatError(f"{path}: expected an object with 'data' and 'epochOver', got {state!r:.120}")
    return state
