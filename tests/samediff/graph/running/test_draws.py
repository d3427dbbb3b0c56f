"""Random numbers of runs outside of training: new in each, the same again from the same seed."""
from __future__ import annotations

import numpy as np

from dl4py.samediff import DataType, SameDiff


def graph(seed=7):
    sd = SameDiff.create()
    sd.seed = seed
    x = sd.var("x", np.ones(64, np.float32))
    sd.random.normal("r", 0.0, 1.0, DataType.FLOAT, 64)
    sd.nn.dropout("d", x, 0.5).sum("loss")
    sd.set_loss_variables("loss")
    return sd


def test_each_run_draws_anew_and_the_seed_starts_again():
    sd, twin = graph(), graph()
    runs = [sd.output_single(None, "r") for _ in range(3)]
    assert not np.array_equal(runs[0], runs[1]) and not np.array_equal(runs[1], runs[2])
    for run in runs:
        np.testing.assert_array_equal(twin.output_single(None, "r"), run)
    sd.set_seed(7)
    np.testing.assert_array_equal(sd.output_single(None, "r"), runs[0])
    sd.seed = 8
    assert not np.array_equal(sd.output_single(None, "r"), runs[0])


def test_dropout_draws_anew_in_training_mode():
    sd = graph()
    first, second = (sd.calculate_gradients(None, "x")["x"] for _ in range(2))
    assert not np.array_equal(first, second)
    masks = [sd.compute(None, ["d"], training=True)["d"] for _ in range(2)]
    assert not np.array_equal(*masks)


def test_random_ops_in_branches_draw_anew():
    sd = SameDiff.create()
    x = sd.var("x", np.zeros(8, np.float32))
    y = sd.if_cond(lambda sd: x.sum() < 1, lambda sd: x + sd.random.normal(0.0, 1.0, DataType.FLOAT, 8), lambda sd: x)
    assert not np.array_equal(y.eval(), y.eval())
