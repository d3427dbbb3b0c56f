"""Pictures of recorded trainings."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...drawing.figures import figure_class, figure_of, lines
from ...errors import ConfigurationError
from .stats import FileStatsStorage, StatsStorage, update_ratios

__all__ = ["plot_stats"]


def plot_stats(source: StatsStorage | str | os.PathLike[str], save_to: str | os.PathLike[str] | None = None) -> Any:
    """Draw score, learning rate, and the ratio of updates to parameters of a recorded training.

    Parameters
    ----------
    source : StatsStorage or path
        What a `StatsListener` recorded, or the file of it.
    save_to : path, optional
        Write the picture to this file.

    Returns
    -------
    matplotlib figure

    Raises
    ------
    MissingPackageError
        matplotlib is not installed.
    """
    figure_class()
    storage = source if isinstance(source, StatsStorage) else FileStatsStorage(source)
    records = storage.records()
    drawn = {"score": _lines(records, lambda r: {"score": r.get("score")}),
             "learning rate": _lines(records, lambda r: {"learning_rate": r.get("learning_rate")}),
             "log10 of mean magnitudes: updates / parameters": _lines(records, update_ratios)}
    drawn = {title: series for title, series in drawn.items() if series}
    if not drawn:
        raise ConfigurationError("nothing to draw: the records hold neither scores nor rates nor norms")
    return figure_of([lines(title, series, "iteration") for title, series in drawn.items()], save_to)


_Lines = dict[str, tuple[list[int], list[float]]]


def _lines(records: Sequence[dict[str, Any]], values: Callable[[dict[str, Any]], Mapping[str, float | None]]) -> _Lines:
    """The values of each record by name; of several runs by run and name."""
    several = len({r.get("session") for r in records}) > 1
    made: _Lines = {}
    for record in records:
        for name, value in values(record).items():
            if value is not None:
                x, y = made.setdefault(f"{record.get('session', '')} {name}".strip() if several else name, ([], []))
                x.append(record["iteration"])
                y.append(value)
    return made
