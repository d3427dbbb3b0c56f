"""Checkpoints in a folder: the list of them, and their files."""
from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ...base.java_names import CheckpointNames
from ...codecs.regular_files import read_file
from ...errors import ConfigurationError, FileFormatError

__all__ = ["Checkpoint", "available_checkpoints", "file_for_checkpoint", "last_checkpoint"]

Folder = str | os.PathLike[str]

RECORD = "checkpointInfo.txt"
HEADER = "checkpointNum,timestamp,iteration,epoch,modelType,filename"


@dataclass(frozen=True)
class Checkpoint(CheckpointNames):
    """One saved model, a line of ``checkpointInfo.txt``.

    Parameters
    ----------
    checkpoint_num : int
        Number of the checkpoint, from 0.
    timestamp : int
        When it was saved, in milliseconds since 1970.
    iteration, epoch : int
        Counters of the model.
    model_type : str
        Class of the model.
    filename : str
        In the folder of the checkpoints.
    """

    checkpoint_num: int
    timestamp: int
    iteration: int
    epoch: int
    model_type: str
    filename: str

    @staticmethod
    def get_file_header() -> str:
        """Return the first line of the record file."""
        return HEADER

    def to_file_string(self) -> str:
        """Return the line of the record file."""
        return f"{self.checkpoint_num},{self.timestamp},{self.iteration},{self.epoch},{self.model_type},{self.filename}"

    @staticmethod
    def from_file_string(line: str) -> Checkpoint:
        """Return the checkpoint that a line of the list describes."""
        parts = line.strip().split(",")
        try:
            number, stamp, iteration, epoch = (int(p) for p in parts[:4])
            kind, filename = parts[4:]
        except ValueError:
            raise FileFormatError(f"{RECORD}: expected six fields ({HEADER}), got {line!r:.120}") from None
        if Path(filename).name != filename:
            raise FileFormatError(f"{RECORD}: a checkpoint file must lie in the same directory, got {filename!r}")
        return Checkpoint(number, stamp, iteration, epoch, kind, filename)


def available_checkpoints(root_dir: Folder) -> list[Checkpoint]:
    """Return the checkpoints of a directory whose files are there, oldest first.

    Parameters
    ----------
    root_dir : path
        Folder of the checkpoints.

    Raises
    ------
    ConfigurationError
        There is no ``checkpointInfo.txt``.
    """
    record = Path(root_dir) / RECORD
    if not record.exists():
        raise ConfigurationError(f"{root_dir} holds no {RECORD}: it is not a directory of checkpoints")
    found = [Checkpoint.from_file_string(line) for line in lines_of(record)[1:]]
    return [c for c in found if (Path(root_dir) / c.filename).exists()]


def lines_of(record: Path) -> list[str]:
    """The lines of a record, none before there is one."""
    if not record.exists():
        return []
    return [line for line in read_file(record).decode("utf-8", "replace").splitlines() if line.strip()]


def last_checkpoint(root_dir: Folder) -> Checkpoint | None:
    """Return the newest checkpoint of a directory, None if no file is left.

    Parameters
    ----------
    root_dir : path
        Folder of the checkpoints.
    """
    return next(reversed(available_checkpoints(root_dir)), None)


def file_for_checkpoint(root_dir: Folder, checkpoint: Checkpoint | int) -> Path:
    """Return the file of a checkpoint.

    Parameters
    ----------
    root_dir : path
        Folder of the checkpoints.
    checkpoint : Checkpoint or int
        A checkpoint, or its number.

    Raises
    ------
    ConfigurationError
        There is no file of that number (any more).
    """
    return Path(root_dir) / found_checkpoint(root_dir, checkpoint).filename


def found_checkpoint(root_dir: Folder, checkpoint: Checkpoint | int | None) -> Checkpoint:
    """Return the checkpoint of that number whose file is there; None: the newest."""
    available = available_checkpoints(root_dir)
    if checkpoint is None:
        if not available:
            raise ConfigurationError(f"{root_dir} holds no checkpoint any more")
        return available[-1]
    number = checkpoint if isinstance(checkpoint, int) else checkpoint.checkpoint_num
    for found in available:
        if found.checkpoint_num == number:
            return found
    raise ConfigurationError(f"{root_dir} holds no checkpoint {number}; there are: "
                             f"{', '.join(str(c.checkpoint_num) for c in available) or 'none'}")
