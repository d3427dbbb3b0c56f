"""Every example runs in a short form and reaches what it promises; the slow tests run the full forms."""
from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.samediff.cuda.support import lacks_compiler

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def example(name):
    """The module of an example, imported by its path."""
    full = f"examples_{name}"
    if full not in sys.modules:          # custom ops and layers are registered once
        spec = importlib.util.spec_from_file_location(full, EXAMPLES / f"{name}.py")
        sys.modules[full] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[full])
    return sys.modules[full]


def quickstart(result, shown):
    assert result > 0.5
    assert ("the same outputs, bit for bit" in shown and "ResidualSwish" in shown) or "SameDiffLayer" in shown


def custom_op(result, shown):
    before, after = result
    assert after < before / 4
    assert shown.count("checks passed") == 2 and "same predictions: True" in shown


def custom_layer(result, shown):
    before, after = result
    assert after < before
    assert example("custom_layer").largest_gradient_error() < 1e-6
    assert "loaded network gives the same numbers: True" in shown


def mlp_iris(result, shown):
    assert result > 0.6
    assert "versicolor" in shown


def char_lstm(result, shown):
    assert result[-1] < result[0]
    assert "Licensor " in shown


def samediff_mnist(result, shown):
    assert result > 0.7
    assert "the same outputs, 80 iterations done" in shown


def gpu(result, shown):
    assert result < 1e-3
    assert "largest difference" in shown


def spark(result, shown):
    assert result > 0.3
    assert "mean score of the workers" in shown and "rows of a DataFrame were classified" in shown


def titanic(result, shown):
    assert result > 0.7
    assert "2201 people" in shown and shown.count("female") == 4


def nile_anomaly(result, shown):
    assert 1913 in result
    assert "less than expected" in shown


SHORT = [(spark, {"epochs": 1}),
         (quickstart, {"epochs": 1}), (custom_op, {"epochs": 40}), (custom_layer, {"epochs": 10}), (mlp_iris, {"epochs": 15}),
         (titanic, {"epochs": 5}), (nile_anomaly, {"epochs": 60}),
         (char_lstm, {"epochs": 2, "width": 16, "characters": 1700, "written": 20}), (samediff_mnist, {"epochs": 2}),
         (gpu, {"name": "emulated" if not lacks_compiler() else "cpu", "epochs": 1, "count": 64})]


def test_every_example_is_run():
    assert sorted(p.stem for p in EXAMPLES.glob("*.py")) == sorted(check.__name__ for check, _ in SHORT)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning", "ignore::UserWarning")
@pytest.mark.parametrize(("check", "short"), SHORT, ids=[check.__name__ for check, _ in SHORT])
def test_short_form(check, short, capsys):
    result = example(check.__name__).main(**short)
    check(result, capsys.readouterr().out)


@pytest.mark.slow
def test_quickstart_reaches_its_accuracy(capsys):
    assert example("quickstart").main() > 0.93


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("mlp_iris", 0.9), ("samediff_mnist", 0.88)])
def test_full_form(name, least, capsys):
    assert example(name).main() > least


@pytest.mark.slow
def test_characters_are_learned(capsys):
    scores = example("char_lstm").main(epochs=12)
    assert scores[-1] < 0.75 * scores[0]
    assert np.isfinite(scores).all()
