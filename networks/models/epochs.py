"""After each epoch of ``fit``: validation, a line or bar of progress, a record."""
from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any, NamedTuple, SupportsIndex, overload

from ...samediff.drawing.figures import figure_of, lines
from ...samediff.errors import ConfigurationError, UnknownNameError
from ...samediff.text.html import html_table
from ...samediff.training.listeners.calls import Listeners
from ...samediff.training.progress import epoch_line, warn_of_nan, with_bar
from .network import Network


class EpochRecord(NamedTuple):
    """Report of one epoch of ``fit``.

    Parameters
    ----------
    epoch : int
        Its number, from 0, as listeners hear it.
    score : float
        The score of its last step.
    validation_score : float or None
        That of the validation data behind it, None where it was not computed.
    seconds : float
        How long the epoch took, validation included.
    """

    epoch: int
    score: float
    validation_score: float | None
    seconds: float


class EpochRecords(list[EpochRecord]):
    """The epochs of a call of ``fit``, which notebooks show as a table; by a name those values of all epochs.

    The names are those of :class:`EpochRecord`, and Keras' ``"loss"`` and ``"val_loss"`` for its scores.

    Examples
    --------
    >>> records = EpochRecords([EpochRecord(0, 1.5, None, 0.1), EpochRecord(1, 1.25, None, 0.1)])
    >>> records["score"], records["loss"] == records["score"]
    ([1.5, 1.25], True)
    """

    @overload
    def __getitem__(self, key: SupportsIndex) -> EpochRecord: ...
    @overload
    def __getitem__(self, key: slice | str) -> list[Any]: ...
    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        name = {"loss": "score", "val_loss": "validation_score"}.get(key, key)
        if name not in EpochRecord._fields:
            raise UnknownNameError(f"epochs have {', '.join(EpochRecord._fields)}; got {key!r}; measures such as the accuracy are in "
                                   "evaluate(x, y), EvaluativeListener(iterator, 1, InvocationType.EPOCH_END) computes them as it trains")
        return [getattr(record, name) for record in self]

    def keys(self) -> list[str]:
        """The names of the values, those that Keras has first."""
        validated = any(record.validation_score is not None for record in self)
        return ["loss", *(["val_loss"] if validated else []), *EpochRecord._fields]

    def items(self) -> list[tuple[str, list[Any]]]:
        """Each name with its values."""
        return [(name, self[name]) for name in self.keys()]

    def __contains__(self, item: object) -> bool:
        return item in self.keys() if isinstance(item, str) else super().__contains__(item)

    def plot(self, save_to: str | os.PathLike[str] | None = None) -> Any:
        """Draw the scores by epoch, and write the picture to a file where one is named; needs matplotlib."""
        if not self:
            raise ConfigurationError("nothing to draw: fit went through no epochs")
        course = {name: ([e.epoch for e in self if getattr(e, name) is not None], [v for e in self if (v := getattr(e, name)) is not None])
                  for name in ("score", "validation_score")}
        return figure_of([lines("score", {n.replace("_", " "): p for n, p in course.items() if p[0]}, "epoch")], save_to)

    def _repr_html_(self) -> str:
        return html_table(f"{len(self)} epochs", EpochRecord._fields, self)


class Epochs:
    """Looks after the epochs of one call of ``fit``.

    Parameters
    ----------
    network : Network
        It is trained.
    count : int
        Epochs that were asked for.
    validation : any form of labelled data, optional
        Scored after the first epoch and every so many later.
    frequency : int
        How often.
    verbose : bool
        Whether to show progress: a bar where tqdm is installed and the output is a terminal, else a line an epoch.
    """

    def __init__(self, network: Network, count: int, validation: Any = None, frequency: int = 1, verbose: bool = False) -> None:
        self.network, self.count, self.validation, self.frequency, self.verbose = network, count, validation, frequency, verbose
        self.records: list[EpochRecord] = []
        self._began = 0.0

    def begin(self, source: Iterator[Any], batches: Any) -> Iterator[Any]:
        """The batches of an epoch that begins."""
        self._began = time.perf_counter()
        return with_bar(source, self._title(), batches, self.network.score) if self.verbose else source

    def end(self, hear: Listeners, at: Any) -> bool:
        """Validate, note and show; whether a listener wants to stop."""
        stop, score = False, None
        if self.validation is not None and len(self.records) % self.frequency == 0:
            began, before = time.perf_counter(), self.network.engine.progress.score
            score = self.network.score(self.validation)
            self.network.engine.progress.score = before
            stop = hear.validation_done(self.network, at, round(1000 * (time.perf_counter() - began)))
        title = self._title()
        made = EpochRecord(at.epoch(), self.network.score(), score, time.perf_counter() - self._began)
        self.records.append(made)
        warn_of_nan(len(self.records), [record.score for record in self.records[-2:]])
        if self.verbose:
            epoch_line(title, {"score": made.score, "validation score": score}, made.seconds,
                       self.count - len(self.records))
        return stop

    def _title(self) -> str:
        return f"epoch {len(self.records) + 1}/{self.count}"
