"""Places of batches: the round, the worker."""
from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyspark")

from dl4py.networks.spark.rounds import Deal


@pytest.mark.parametrize("batches, workers, frequency", [(7, 2, 2), (1, 3, 2), (23, 4, 3), (24, 4, 3), (5, 8, 1)])
def test_every_batch_is_dealt_out_once(batches, workers, frequency):
    deal = Deal(batches, workers, frequency)
    counts = np.bincount([deal.partition(turn) for turn in range(batches)], minlength=deal.rounds * workers)
    assert counts.sum() == batches and counts.max() <= frequency and deal.rounds == -(-batches // (workers * frequency))
    last = counts[-workers:]
    assert last.max() - last.min() <= 1


def test_seeds_and_epochs_give_orders():
    orders = [[Deal(40, 2, 3, [7, epoch]).turn(batch) for batch in range(40)] for epoch in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2] and sorted(orders[2]) == list(range(40))
