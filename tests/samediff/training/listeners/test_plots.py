"""What pictures of trainings show: a curve for each thing that was recorded, by iteration."""
from __future__ import annotations

import sys
import types

import numpy as np
import pytest

from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.training.listeners.plots import plot_stats
from dl4py.samediff.training.listeners.stats import StatsStorage


class Stored(StatsStorage):
    def __init__(self, *records):
        self._given = list(records)

    def records(self):
        return self._given


class Axes:
    """What is called of a part of a picture."""

    def __init__(self):
        self.lines, self.texts, self.legends = {}, {}, []

    def plot(self, x, y, label, marker):
        self.lines[label] = list(zip(x, y, strict=True))

    def set(self, **texts):
        self.texts |= texts

    def legend(self, **options):
        self.legends.append(options)


class Figure:
    """What is called of a picture."""

    def __init__(self, **options):
        self.options, self.files = options, []

    def subplots(self, count, columns, squeeze):
        assert squeeze is False and columns == 1
        self.axes = [Axes() for _ in range(count)]
        return np.array([[a] for a in self.axes], object)

    def savefig(self, target):
        self.files.append(target)


@pytest.fixture(autouse=True)
def drawn_by_hand(monkeypatch):
    """Matplotlib need not be installed."""
    module = types.ModuleType("matplotlib.figure")
    module.Figure = Figure
    monkeypatch.setitem(sys.modules, "matplotlib", types.ModuleType("matplotlib"))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", module)


def sizes(**magnitudes):
    return {name: {"mean_magnitude": size} for name, size in magnitudes.items()}


def shown(*records):
    """Title, label of the axis, lines and whether there is a legend, of each part."""
    return [(a.texts["title"], a.texts["xlabel"], a.lines, len(a.legends)) for a in plot_stats(Stored(*records)).axes]


RATIOS = "log10 of mean magnitudes: updates / parameters"


def test_scores_rates_and_ratios():
    found = shown({"iteration": 0, "score": 2.0, "learning_rate": 0.5, "updates": sizes(w=0.1, b=1.0), "parameters": sizes(w=10.0, b=1.0)},
                  {"iteration": 3, "score": 1.0, "learning_rate": None, "updates": sizes(w=1.0, b=0.0), "parameters": sizes(w=10.0, b=1.0)},
                  {"iteration": 5, "updates": sizes(w=1.0, b=2.0, c=1.0), "parameters": sizes(w=0.0, b=0.2)})
    assert found == [("score", "iteration", {"score": [(0, 2), (3, 1)]}, 0),
                     ("learning rate", "iteration", {"learning_rate": [(0, 0.5)]}, 0),
                     (RATIOS, "iteration", {"w": [(0, -2), (3, -1)], "b": [(0, 0), (5, 1)]}, 1)]


def test_each_run_has_its_lines():
    found = shown({"iteration": 0, "score": 2.0, "session": "a"}, {"iteration": 9, "score": 1.0, "session": "a"},
                  {"iteration": 0, "score": 3.0, "session": "b"})
    assert found == [("score", "iteration", {"a score": [(0, 2), (9, 1)], "b score": [(0, 3)]}, 1)]


def test_parts_without_numbers_are_left_out(tmp_path):
    assert [title for title, *_ in shown({"iteration": 1, "score": 0.0})] == ["score"]
    assert [title for title, *_ in shown({"iteration": 1, "updates": sizes(w=1.0), "parameters": sizes(w=1.0)})] == [RATIOS]
    with pytest.raises(ConfigurationError, match="nothing to draw"):
        plot_stats(Stored({"iteration": 1, "updates": sizes(w=1.0), "parameters": {}}))
    for target in (None, tmp_path / "a.png"):
        figure = plot_stats(Stored({"iteration": 1, "score": 0.0, "learning_rate": 1.0}), target)
        assert figure.files == ([] if target is None else [target])
        assert figure.options == {"figsize": (8, 6), "layout": "constrained"}
