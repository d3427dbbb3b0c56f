"""Checkpoints: saving a model from time to time, and keeping some of the files."""
from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any, ClassVar, Self

from ...base.java.java_enum import JavaEnum
from ...base.java_names import CheckpointListenerBuilderNames, CheckpointListenerNames
from ...codecs.atomic_files import remove_left_over, write_file
from ...configuration.method_builder import MethodBuilder
from ...errors import ConfigurationError
from ..checkpoints.checkpoint_folder import HEADER, RECORD, Checkpoint, Folder, available_checkpoints, file_for_checkpoint, lines_of
from ..checkpoints.checkpoint_loading import CheckpointLoading, OfFolder
from ..checkpoints.resuming import SUFFIX, state_file, write_state
from ..history import Loss
from .listener import Listener
from .listeners import report
from .operation import At, Operation

__all__ = ["CheckpointListener", "CheckpointListenerBuilder", "KeepMode"]

_FILE = re.compile(r".*checkpoint_\d+_.*\.(zip|bin|sd|fb|sdz|sdnb)(" + re.escape(SUFFIX) + ")?")
_MILLISECONDS = {"MILLISECONDS": 1, "SECONDS": 1000, "MINUTES": 60_000, "HOURS": 3_600_000, "DAYS": 86_400_000}


class KeepMode(JavaEnum):
    """Rules for the checkpoint files that are kept."""

    ALL = "ALL"
    LAST = "LAST"
    LAST_AND_EVERY = "LAST_AND_EVERY"


class CheckpointListener(CheckpointLoading, Listener, CheckpointListenerNames):
    """Saves the model every so many iterations, epochs or minutes, and deletes what need not be kept.

    Files ``checkpoint_<number>_<model class>.zip`` (a graph: ``.fb``) and the list ``checkpointInfo.txt`` lie together.
    At least one of ``save_every_n_epochs``, ``save_every_n_iterations``, ``save_every_ms`` is needed. A small file beside each model
    keeps the position in the data: `resume` goes on from there exactly as the training would have. Between the pieces of one
    batch (truncated back-propagation) nothing is saved; what is due then is saved after the last piece.

    Parameters
    ----------
    root_dir : path
        Folder of the checkpoints, which is made where there is none.
    save_every_n_epochs, save_every_n_iterations, save_every_ms : int, optional
        Save after so many epochs, iterations, milliseconds.
    save_every_n_iterations_since_last, save_every_ms_since_last : bool
        Count from the last save of any kind; False by default.
    keep_mode : KeepMode or str
        ALL (default), LAST or LAST_AND_EVERY.
    keep_last : int
        How many of the newest stay, with LAST and LAST_AND_EVERY.
    keep_every : int
        Every so many checkpoints one stays, with LAST_AND_EVERY.
    log_saving : bool
        Report each save; True by default.
    delete_existing : bool
        Delete checkpoints that the folder has at the start; False by default, which makes them an error.
    file_name_prefix : str
        Before the names of files.
    save_updater_state : bool
        Save the state of the updaters too; True by default.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     listener = CheckpointListener.Builder(folder).keep_last(3).save_every_n_epochs(2).build()
    ...     listener.available_checkpoints()
    []
    """

    Builder: ClassVar[type[CheckpointListenerBuilder]]

    def __init__(self, root_dir: str | os.PathLike[str], *, save_every_n_epochs: int | None = None,
                 save_every_n_iterations: int | None = None, save_every_n_iterations_since_last: bool = False,
                 save_every_ms: int | None = None, save_every_ms_since_last: bool = False,
                 keep_mode: KeepMode | str = KeepMode.ALL, keep_last: int = 1, keep_every: int = 1, log_saving: bool = True,
                 delete_existing: bool = False, file_name_prefix: str = "", save_updater_state: bool = True) -> None:
        every = (save_every_n_epochs, save_every_n_iterations, save_every_ms)
        if all(n is None for n in every):
            raise ConfigurationError("CheckpointListener never saves: set save_every_n_epochs, save_every_n_iterations "
                                     "or save_every")
        for n in (*every, keep_last, keep_every):
            if n is not None and (isinstance(n, bool) or not hasattr(n, "__index__") or n <= 0):
                raise ConfigurationError(f"CheckpointListener: periods and numbers of files must be whole numbers above 0, got {n!r}")
        self.root_dir = Path(root_dir)
        self.every_epochs, self.every_iterations, self.every_ms = every
        self.iterations_since_last, self.ms_since_last = save_every_n_iterations_since_last, save_every_ms_since_last
        self.keep_mode, self.keep_last, self.keep_every = _keep_mode(keep_mode), keep_last, keep_every
        self.log_saving, self.prefix, self.save_updater_state = log_saving, file_name_prefix, save_updater_state
        self._last: Checkpoint | None = None
        self._number, self._start_iteration = 0, -1
        self._start_ms = self._saved_ms = 0
        self._waiting = False
        self._prepare(delete_existing)

    def _prepare(self, delete_existing: bool) -> None:
        self.root_dir.mkdir(parents=True, exist_ok=True)
        old = [f for f in self.root_dir.iterdir() if f.name == RECORD or _FILE.fullmatch(f.name)]
        if old and not delete_existing:
            raise ConfigurationError(f"{self.root_dir} already holds {len(old)} checkpoint file(s), such as "
                                     f"{old[0].name}; use another directory or delete_existing(True)")
        for file in old:
            file.unlink()
        remove_left_over(self.root_dir, lambda name: name == RECORD or _FILE.fullmatch(name) is not None)

    @staticmethod
    def builder(root_dir: str | os.PathLike[str]) -> CheckpointListenerBuilder:
        """Return a builder for a directory."""
        return CheckpointListenerBuilder(root_dir)

    def is_active(self, operation: Operation) -> bool:
        return operation is Operation.TRAINING

    def iteration_done(self, model: Any, at: At, data_set: Any = None, loss: Loss | None = None) -> None:
        if not hasattr(model, "save"):        # a layer that is pretrained
            return
        now = _now()
        if self._start_iteration < 0:  # the first iteration heard only starts the clocks
            self._start_iteration, self._start_ms, self._saved_ms = at.iteration(), now, now
            return
        by_time = not self._iterations_due(at.iteration()) and self._time_due(now)
        if not (self._waiting or by_time or self._iterations_due(at.iteration())):
            return
        self._waiting = hasattr(model, "is_inside_batch") and model.is_inside_batch()
        if not self._waiting:
            self._save(model, at.iteration(), at.epoch())
            self._saved_ms = now if by_time else self._saved_ms

    def _time_due(self, now: int) -> bool:
        since = self._last.timestamp if self.ms_since_last and self._last else self._saved_ms
        return self.every_ms is not None and now - since >= self.every_ms

    def _iterations_due(self, iteration: int) -> bool:
        if self.every_iterations is None:
            return False
        if self.iterations_since_last:
            return iteration - (self._last.iteration if self._last else self._start_iteration) >= self.every_iterations
        return iteration > 0 and iteration % self.every_iterations == 0

    def epoch_end(self, sd: Any, at: At, loss_curve: Any, epoch_time_millis: int) -> None:
        if self.every_epochs is not None and (at.epoch() + 1) % self.every_epochs == 0:
            counter = getattr(sd, "get_iteration_count", None)
            self._save(sd, at.iteration() + 1 if counter is None else int(counter()), at.epoch(), epoch_over=True)

    def _save(self, model: Any, iteration: int, epoch: int, epoch_over: bool = False) -> None:
        kind = type(model).__name__
        name = f"{self.prefix}checkpoint_{self._number}_{kind}.{'fb' if kind == 'SameDiff' else 'zip'}"
        saved = Checkpoint(self._number, _now(), iteration, epoch, kind, name)
        model.save(str(self.root_dir / name), self.save_updater_state)
        write_state(self.root_dir / name, model, epoch, epoch_over)
        record = self.root_dir / RECORD
        lines = lines_of(record) or [HEADER]
        write_file(record, "".join(f"{line}\n" for line in (*lines, saved.to_file_string())))
        self._number, self._last = self._number + 1, saved
        if self.log_saving:
            report(f"Model checkpoint saved: epoch {epoch}, iteration {iteration}, path: {self.root_dir / name}")
        for old in self.available_checkpoints():
            if not self._kept(old, saved):
                (self.root_dir / old.filename).unlink()
                state_file(self.root_dir / old.filename).unlink(missing_ok=True)

    def _kept(self, old: Checkpoint, newest: Checkpoint) -> bool:
        if self.keep_mode is KeepMode.ALL or old.checkpoint_num > newest.checkpoint_num - self.keep_last:
            return True
        number = old.checkpoint_num
        return self.keep_mode is KeepMode.LAST_AND_EVERY and number > 0 and (number + 1) % self.keep_every == 0

    @OfFolder
    def available_checkpoints(root_dir: Folder) -> list[Checkpoint]:
        """Return the checkpoints whose files are there."""
        return available_checkpoints(root_dir) if (Path(root_dir) / RECORD).exists() else []

    @OfFolder
    def last_checkpoint(root_dir: Folder) -> Checkpoint | None:
        """Return the newest checkpoint, None if there is none."""
        return next(reversed(CheckpointListener.available_checkpoints(root_dir)), None)

    @OfFolder
    def get_file_for_checkpoint(root_dir: Folder, checkpoint: Checkpoint | int) -> Path:
        """Return the file of a checkpoint, given as such or by number."""
        return file_for_checkpoint(root_dir, checkpoint)

    availableCheckpoints, lastCheckpoint, getFileForCheckpoint = available_checkpoints, last_checkpoint, get_file_for_checkpoint


class CheckpointListenerBuilder(MethodBuilder, CheckpointListenerBuilderNames):
    """Builder of :class:`CheckpointListener`; every option returns the builder.

    Parameters
    ----------
    root_dir : path
        Folder of the checkpoints.
    """

    def __init__(self, root_dir: str | os.PathLike[str]) -> None:
        super().__init__()
        self._root = root_dir

    def save_every_epoch(self) -> Self:
        """Save at the end of every epoch."""
        return self._set(save_every_n_epochs=1)

    def save_every_n_epochs(self, n: int) -> Self:
        """Save at the end of every n-th epoch."""
        return self._set(save_every_n_epochs=n)

    def save_every_n_iterations(self, n: int, since_last: bool = False) -> Self:
        """Save every n iterations; ``since_last`` counts from the last save of any kind."""
        return self._set(save_every_n_iterations=n, save_every_n_iterations_since_last=since_last)

    def save_every(self, amount: float, time_unit: Any = "SECONDS", since_last: bool = False) -> Self:
        """Save when that time has passed: ``save_every(10, "MINUTES")``."""
        unit = str(getattr(time_unit, "name", time_unit)).upper()
        if unit not in _MILLISECONDS:
            raise ConfigurationError(f"save_every: unknown time unit {time_unit!r}; one of {', '.join(_MILLISECONDS)}")
        return self._set(save_every_ms=int(amount * _MILLISECONDS[unit]), save_every_ms_since_last=since_last)

    def keep_all(self) -> Self:
        """Keep all files (the default)."""
        return self._set(keep_mode=KeepMode.ALL)

    def keep_last(self, n: int) -> Self:
        """Keep the newest n files."""
        return self._set(keep_mode=KeepMode.LAST, keep_last=n)

    def keep_last_and_every(self, n_last: int, every_n: int) -> Self:
        """Keep the newest files and every n-th."""
        return self._set(keep_mode=KeepMode.LAST_AND_EVERY, keep_last=n_last, keep_every=every_n)

    def log_saving(self, log_saving: bool) -> Self:
        """Report each save (the default)."""
        return self._set(log_saving=log_saving)

    def delete_existing(self, delete_existing: bool) -> Self:
        """Delete old checkpoints of the directory at the start."""
        return self._set(delete_existing=delete_existing)

    def file_name_prefix(self, file_name_prefix: str) -> Self:
        """Put a prefix before the file names."""
        return self._set(file_name_prefix=file_name_prefix)

    def save_updater_state(self, save_updater_state: bool) -> Self:
        """Save the updater state too (the default)."""
        return self._set(save_updater_state=save_updater_state)

    def build(self) -> CheckpointListener:
        """Return the listener."""
        return CheckpointListener(self._root, **self._values)


CheckpointListener.Builder = CheckpointListenerBuilder


def _keep_mode(given: KeepMode | str) -> KeepMode:
    try:
        return given if isinstance(given, KeepMode) else KeepMode(given.upper())
    except (ValueError, AttributeError):
        raise ConfigurationError(f"unknown keep_mode {given!r}; one of {', '.join(m.name for m in KeepMode)}") from None


def _now() -> int:
    return time.time_ns() // 1_000_000
