"""What has weight or mask 0 reaches neither results nor gradients of losses, by both executors."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.base.enums import LossReduce
from dl4py.samediff.executor.session import request_for, run_reference
from dl4py.samediff.ir.run_context import RunContext

RNG = np.random.default_rng(4)
Y, Z, W = RNG.random((4, 3)), RNG.uniform(0.1, 0.9, (4, 3)), np.array([[1], [0], [2], [0.5]])
EACH = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 2], [0, 0.5, 0]])
GARBAGE = (np.nan, np.inf, 1e20)
LOSSES = ["absolute_difference", "mean_squared_error", "hinge_loss", "huber_loss", "log_loss", "log_poisson", "sigmoid_cross_entropy",
          "softmax_cross_entropy", "cross_entropy", "cosine_distance", "mean_pairwise_squared_error"]


def both(sd, feeds, names):
    """Values by the compiled executor and the reference, which agree."""
    found = sd.output(feeds, *names)
    there = run_reference(sd, feeds, request_for(sd, names, False), RunContext(False, 0, 0))
    for name in names:
        np.testing.assert_allclose(found[name], there[name], rtol=1e-9, atol=1e-11)
    return [np.asarray(found[n]) for n in names]


@pytest.mark.sampled(84)
@pytest.mark.parametrize("how", list(LossReduce))
@pytest.mark.parametrize("loss", LOSSES)
def test_losses(loss, how):
    """Weights per example and, where a loss has one value per element, per element."""
    for weights in (W, EACH):
        if weights is EACH and loss in ("softmax_cross_entropy", "cross_entropy", "cosine_distance", "mean_pairwise_squared_error"):
            continue
        w = weights[:, 0] if loss in ("softmax_cross_entropy", "cross_entropy") else weights
        hidden = np.broadcast_to(weights == 0, Y.shape)
        wanted = None
        for value in (0.3, *GARBAGE):
            sd = SameDiff.create()
            y, z = (sd.placeholder(n, DataType.DOUBLE, -1, 3) for n in "yz")
            extra = (1,) if loss == "cosine_distance" else ()
            out = getattr(sd.loss, loss)("loss", y, z, sd.constant(w), how, *extra)
            sd.set_loss_variables("loss")
            feeds = {"y": np.where(hidden, value, Y), "z": np.where(hidden, value, Z)}
            found = [*both(sd, feeds, [out.name()]), *(np.asarray(g) for g in sd.calculate_gradients(feeds, "y", "z").values())]
            assert all(np.isfinite(f).all() for f in found)
            wanted = wanted or found
            for a, b in zip(wanted, found):
                np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-14)
