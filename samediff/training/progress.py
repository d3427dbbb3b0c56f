"""Progress that ``verbose`` shows: a bar where tqdm or rich is installed and somebody looks at a terminal, else a line an epoch."""
from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..base.source_line import warn_user
from .listeners.listeners import report

Score = Callable[[], float]


def with_bar(batches: Iterator[Any], title: str, data: Any, score: Score | None = None) -> Iterator[Any]:
    """The batches, with a bar that follows them where there can be one.

    Parameters
    ----------
    batches : iterator
        They are given on.
    title : str
        Stands in front of the bar.
    data : object
        Where they come from: its length, where it has one, is their number.
    score : callable, optional
        What is shown behind the bar after each batch.
    """
    if not sys.stderr.isatty():
        return batches
    total = len(data) if hasattr(data, "__len__") else None
    for library, bar in (("tqdm", _by_tqdm), ("rich", _by_rich)):
        if importlib.util.find_spec(library):
            return bar(batches, title, total, score)
    return batches


def _by_tqdm(batches: Iterator[Any], title: str, total: int | None, score: Score | None) -> Iterator[Any]:
    from tqdm import tqdm  # type: ignore[import-untyped, unused-ignore]
    bar: Any = tqdm(batches, title, total, leave=False)
    for batch in bar:
        yield batch
        if score is not None and hasattr(bar, "set_postfix_str"):
            bar.set_postfix_str(f"{score():.4g}", refresh=False)


def _by_rich(batches: Iterator[Any], title: str, total: int | None, score: Score | None) -> Iterator[Any]:
    from rich.console import Console  # type: ignore[import-not-found, unused-ignore]
    from rich.progress import Progress  # type: ignore[import-not-found, unused-ignore]
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        for batch in batches:
            yield batch
            bar.update(task, advance=1, description=title if score is None else f"{title}, {score():.4g}")


def warn_of_nan(epoch: int, scores: Sequence[float]) -> None:
    """Warn where the score of the last epoch is no number, and that of the one before was one."""
    if not math.isfinite(scores[-1]) and all(map(math.isfinite, scores[-2:-1])):
        warn_user(f"the score of epoch {epoch} is {scores[-1]}: the data has NaN or infinity, or the training diverged; "
                  "fit(..., check_finite=True) stops at the first place that has one, and names it")


def epoch_line(title: str, values: Mapping[str, float | None], seconds: float, left: int = 0) -> None:
    """Show an epoch: ``epoch 2/5: score 0.31, validation score 0.35, 1.2 s, 3.6 s left``.

    Parameters
    ----------
    title : str
        Which epoch.
    values : dict of float or None by str
        What is shown of it; None is not.
    seconds : float
        How long it took.
    left : int
        Epochs that are still to come, as long as this one.
    """
    shown = [f"{name} {value:.4g}" for name, value in values.items() if value is not None]
    times = [f"{seconds:.3g} s", *([f"{left * seconds:.3g} s left"] if left else [])]
    report(f"{title}: {', '.join([*shown, *times])}")
