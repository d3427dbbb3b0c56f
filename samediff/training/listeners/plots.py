"""Pictures of recorded trainings; the only place that needs matplotlib."""
from __future__ import annotations

import os
from typing import Any

from ...errors import ConfigurationError, MissingPackageError
from .stats import FileStatsStorage, StatsStorage

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
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingPackageError("pictures of trainings need matplotlib: pip install matplotlib (or dl4py[plot])") from None
    storage = source if isinstance(source, StatsStorage) else FileStatsStorage(source)
    records = storage.records()
    drawn = {"score": _lines(records, "score"), "learning rate": _lines(records, "learning_rate"),
             "log10 of mean magnitudes: updates / parameters": _ratios(records)}
    drawn = {title: lines for title, lines in drawn.items() if lines}
    if not drawn:
        raise ConfigurationError("nothing to draw: the records hold neither scores nor rates nor norms")
    figure = Figure(figsize=(8, 3 * len(drawn)), layout="constrained")
    for axes, (title, lines) in zip(figure.subplots(len(drawn), squeeze=False)[:, 0], drawn.items()):
        for name, (x, y) in lines.items():
            axes.plot(x, y, label=name)
        axes.set(title=title, xlabel="iteration")
        if len(lines) > 1:
            axes.legend(fontsize="small")
    if save_to is not None:
        figure.savefig(save_to)
    return figure


_Lines = dict[str, tuple[list[int], list[float]]]


def _lines(records: list[dict[str, Any]], key: str) -> _Lines:
    points = [(r["iteration"], r[key]) for r in records if r.get(key) is not None]
    return {key: ([x for x, _ in points], [y for _, y in points])} if points else {}


def _ratios(records: list[dict[str, Any]]) -> _Lines:
    import math
    made: _Lines = {}
    for record in records:
        for name, update in record.get("updates", {}).items():
            sizes = update.get("mean_magnitude"), record["parameters"].get(name, {}).get("mean_magnitude")
            if sizes[0] and sizes[1]:
                x, y = made.setdefault(name, ([], []))
                x.append(record["iteration"])
                y.append(math.log10(sizes[0] / sizes[1]))
    return made
