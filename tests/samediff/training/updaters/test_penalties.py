"""What regularization adds to scores: compiled sums equal those of NumPy, for any term."""
from __future__ import annotations

import threading

import numpy as np
import pytest

from dl4py.samediff.configuration.declaring import configuration
from dl4py.samediff.training import L1Regularization, L2Regularization, Regularization, StepSchedule, WeightDecay
from dl4py.samediff.training.updaters.penalties import Penalties


@configuration("test.Cubes")
class Cubes(Regularization):
    """Says how its entries are penalized."""

    coefficient_name = "c"
    c: float = 0.5

    def penalty(self, xp, param):
        return xp.abs(param) * param * param


@configuration("test.Largest")
class Largest(Regularization):
    """Its score is no sum."""

    coefficient_name = "c"
    c: float = 0.5

    def score(self, xp, param, coefficient):
        return coefficient * xp.max(param)


TERMS = [L1Regularization(0.1), L2Regularization(0.2), WeightDecay(0.3, True), Cubes(), Largest(),
         L2Regularization(StepSchedule("iteration", 0.1, 0.5, 2))]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("size", [1, 7, 1024, 5000])
def test_values(rng, dtype, size):
    arrays = [rng.standard_normal(size).astype(dtype) for _ in TERMS]
    pairs = list(zip(arrays, TERMS))
    ours, numpy = Penalties(pairs), Penalties(pairs, reference=True)
    for iteration in (0, 3):
        wanted = [float(t.score(np, a.astype(float), t.coefficient(iteration, 0))) for a, t in pairs]
        np.testing.assert_allclose(numpy.values(iteration, 0), wanted, rtol=1e-12)
        np.testing.assert_allclose(ours.values(iteration, 0), wanted, rtol=1e-6)


def test_arrays_change_in_place(rng):
    w = rng.standard_normal(100)
    penalties = Penalties([(w, L2Regularization(2.0))])
    before, = penalties.values(0, 0)
    w *= 3
    assert penalties.values(0, 0) == pytest.approx([9 * before])


def test_nothing_to_penalize():
    assert Penalties([]).values(0, 0) == []
    assert Penalties([(np.zeros(0, np.float32), L2Regularization(1.0))]).values(0, 0) == [0.0]


def test_any_thread_may_ask(rng):
    penalties = Penalties([(rng.standard_normal(200_000).astype("f"), t) for t in TERMS[:3]])
    wanted, found = penalties.values(0, 0), []
    threads = [threading.Thread(target=lambda: found.extend(penalties.values(0, 0) for _ in range(50))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 200 and all(f == wanted for f in found)
