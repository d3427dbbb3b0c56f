"""The formula of a round on Spark against the simulation of its transfers."""
from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

FOLDER = str(Path(__file__).resolve().parents[2] / "benchmarks")


@pytest.fixture(scope="module")
def scaling():
    sys.path.insert(0, FOLDER)
    yield importlib.import_module("spark_scaling")
    sys.path.remove(FOLDER)
    for name in ("spark_scaling", "spark_rounds"):
        sys.modules.pop(name)


@pytest.mark.parametrize("workers", [8, 64])
@pytest.mark.parametrize("size, frequency", [(4e3, 1), (4e6, 20), (4e7, 5)])
@pytest.mark.parametrize("bandwidth", [1.25e9, 1.25e10])
def test_both_say_the_same(scaling, workers, size, frequency, bandwidth):
    case = scaling.Case(workers, size, 0.1, frequency, bandwidth)
    assert scaling.predicted(case) == pytest.approx(scaling.simulated(case), rel=0.1)


def test_nothing_to_send_over_a_network(scaling):
    """One worker on the driver's machine: what is left is the sum of the costs."""
    costs = scaling.Costs()
    seconds = costs.round + 20 + 1e6 * (costs.copy + costs.merge)
    for found in (scaling.predicted, scaling.simulated):
        assert found(scaling.Case(1, 1e6, 2.0, 10)) == pytest.approx(seconds)


def test_sums_go_up_the_tree(scaling):
    assert scaling.Case(64, 1, 1, 1).fans() == [8, 8] and scaling.Case(4, 1, 1, 1).fans() == [4] and scaling.Case(1, 1, 1, 1).fans() == [1]


def test_narrow_networks_and_large_models_cost_more(scaling):
    shares = [5 * 0.1 / scaling.predicted(scaling.Case(64, size, 0.1, 5, bandwidth))
              for size, bandwidth in ((4e6, 1.25e10), (4e6, 1.25e9), (2e8, 1.25e9))]
    assert shares == sorted(shares, reverse=True) and shares[2] < 0.1 < shares[0]
