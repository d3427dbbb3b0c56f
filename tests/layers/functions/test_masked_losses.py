"""What stands at masked places of labels and outputs reaches neither scores nor gradients, for every loss."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers.functions.loss_base import TermLoss
from tests.layers.function_table import LOSSES

GARBAGE = (np.nan, np.inf, -np.inf, 1e20, -7.0)
EXAMPLES, OUTPUTS = np.array([[1], [0], [1], [0.5]]), np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 0.5, 0]])


@pytest.mark.parametrize("loss, labels, output, activation", LOSSES, ids=lambda v: type(v).__name__ if hasattr(v, "define") else "")
@pytest.mark.parametrize("mask", [EXAMPLES, OUTPUTS, 0 * EXAMPLES], ids=["examples", "outputs", "nothing left"])
def test_masked_places_reach_nothing(loss, labels, output, activation, mask):
    if mask is OUTPUTS and not isinstance(loss, TermLoss):
        pytest.skip("takes a mask with one value per example")
    labels, hidden = np.asarray(labels, np.float64), (mask == 0).all(1)
    wanted = loss.compute_gradient_and_score(labels, output, activation, mask, False)
    assert np.isfinite(wanted.get_first()) and np.isfinite(wanted.get_second()).all() and not wanted.get_second()[hidden].any()
    for value in GARBAGE:
        y, z = labels.copy(), output.copy()
        if mask.shape[1] in (1, y.shape[1]):
            y[np.broadcast_to(mask == 0, y.shape)] = value
        y[hidden], z[hidden] = value, value
        found = loss.compute_gradient_and_score(y, z, activation, mask, False)
        assert found.get_first() == wanted.get_first()
        np.testing.assert_array_equal(found.get_second(), wanted.get_second())
