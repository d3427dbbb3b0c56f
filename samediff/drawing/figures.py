"""Figures of matplotlib; the only place that needs it."""
from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from typing import Any

from ..errors import MissingPackageError

#: What a part of a figure is drawn with: it is given its axes.
Draw = Callable[[Any], None]


def figure_of(parts: Sequence[Draw], save_to: str | os.PathLike[str] | None = None, columns: int = 1,
              size: tuple[float, float] = (8, 3)) -> Any:
    """A figure with a part for each function, which draws into the axes it is given.

    Raises
    ------
    MissingPackageError
        matplotlib is not installed.
    """
    make = figure_class()
    rows = -(-len(parts) // columns)
    figure = make(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).reshape(-1)
    for draw, one in zip(parts, axes):
        draw(one)
    for one in axes[len(parts):]:
        one.set_axis_off()
    if save_to is not None:
        figure.savefig(save_to)
    return figure


def figure_class() -> Any:
    """The class of figures; MissingPackageError where there is none."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingPackageError("pictures need matplotlib: pip install matplotlib (or dl4py[plot])") from None
    return Figure


def lines(title: str, series: Mapping[str, tuple[Any, Any]], x: str, y: str = "", diagonal: bool = False) -> Draw:
    """Lines by name: each a pair of x and y."""
    def draw(axes: Any) -> None:
        for name, (xs, ys) in series.items():
            axes.plot(xs, ys, label=name, marker="." if len(xs) < 20 else None)
        if diagonal:
            axes.plot([0, 1], [0, 1], color="gray", linestyle=":")
        axes.set(title=title, xlabel=x, ylabel=y)
        if len(series) > 1:
            axes.legend(fontsize="small")
    return draw


def bars(title: str, edges: Sequence[float], counts: Sequence[float], x: str = "") -> Draw:
    """A histogram from borders and counts."""
    def draw(axes: Any) -> None:
        axes.stairs(counts, edges, fill=True)
        axes.set(title=title, xlabel=x, ylabel="count")
    return draw


def columns(title: str, names: Sequence[str], values: Mapping[str, Sequence[float]]) -> Draw:
    """Bars of each name beside each other, one for each kind of value."""
    def draw(axes: Any) -> None:
        width = 0.8 / max(len(values), 1)
        for k, (kind, numbers) in enumerate(values.items()):
            axes.bar([i + (k - (len(values) - 1) / 2) * width for i in range(len(names))], numbers, width, label=kind)
        axes.set(title=title)
        if len(names) <= 30:
            axes.set_xticks(range(len(names)), names, rotation=45 if max(map(len, names), default=0) > 3 else 0)
        if len(values) > 1:
            axes.legend(fontsize="small")
    return draw


def matrix(title: str, values: Any, names: Sequence[str], x: str, y: str) -> Draw:
    """A table of numbers as colours, with the numbers where they can be read."""
    def draw(axes: Any) -> None:
        axes.imshow(values, cmap="Blues", aspect="auto")
        axes.set(title=title, xlabel=x, ylabel=y)
        if len(names) <= 20:
            axes.set_xticks(range(len(names)), names, rotation=45 if max(map(len, names), default=0) > 3 else 0)
            axes.set_yticks(range(len(names)), names)
            most = max((value for row in values for value in row), default=0)
            for i, row in enumerate(values):
                for j, value in enumerate(row):
                    ink = "white" if value > most / 2 else "black"
                    axes.text(j, i, f"{value:g}", ha="center", va="center", fontsize="small", color=ink)
    return draw


def svg(figure: Any) -> str:
    """A figure as SVG for the inside of a page."""
    stream = StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None})
    text = stream.getvalue()
    return re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg"):], flags=re.DOTALL)      # it names addresses in the network
