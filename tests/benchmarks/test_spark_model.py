"""The model of scaling on Spark: its formulas agree with a simulation of the messages, and its trees are those of the training."""
from __future__ import annotations

import pytest

from benchmarks.spark_model import GBIT, MEASURED, Cluster, Simulation, efficiency, levels, round_seconds, table
from dl4py.networks.spark.tree import Tree


@pytest.mark.parametrize("size", [4e6, 2e8])
@pytest.mark.parametrize("workers, frequency, gbit", [(1, 1, 10), (2, 5, 10), (8, 1, 10), (8, 20, 100), (12, 5, 10)])
def test_formulas_are_near_the_simulation(size, workers, frequency, gbit):
    given = MEASURED, Cluster(workers, gbit * GBIT), size, 0.1, frequency, 0.05
    assert round_seconds(*given) == pytest.approx(Simulation(*given).seconds(), rel=0.35)


def test_more_steps_pay_and_more_workers_cost():
    few, many = (efficiency(MEASURED, Cluster(8, 10 * GBIT), 2e8, 0.1, frequency) for frequency in (1, 20))
    assert few < many < 1
    assert efficiency(MEASURED, Cluster(64, 10 * GBIT), 2e8, 0.1, 20) < many


@pytest.mark.parametrize("workers, depth", [(1, 2), (5, 2), (12, 2), (64, 2), (512, 3), (512, 1)])
def test_trees_are_those_of_the_training(workers, depth):
    assert levels(workers, depth) == Tree(workers, depth).levels


def test_the_table_is_printed():
    lines = []
    table(lines.append)
    assert len(lines) == 17 and lines[-1].endswith("% |")
