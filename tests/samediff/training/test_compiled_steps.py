"""Compiled steps of graphs equal those that are taken one part after the other: parameters, state, losses, random numbers."""
from __future__ import annotations

import sys

import numpy as np
import pytest

from dl4py.samediff import DataSet, DataType, SameDiff
from dl4py.samediff.device import devices
from dl4py.samediff.errors import NumericalError, ShapeError
from dl4py.samediff.training import Adam, L2Regularization, Listener, TrainingConfig


class Watcher(Listener):
    """Asks for the updates, so that steps are not compiled."""

    def pre_update(self, sd, at, variable, update):
        self.seen = update


def graph(dropout=False, **options):
    sd = SameDiff.create()
    sd.seed = 5
    x, y = sd.placeholder("x", DataType.FLOAT, -1, 3), sd.placeholder("y", DataType.FLOAT, -1, 2)
    rng = np.random.default_rng(0)
    h = sd.math.tanh(x.mmul(sd.var("w", rng.standard_normal((3, 6)).astype("f"))) + sd.var("b", np.zeros(6, "f")))
    if dropout:
        h = sd.nn.dropout_inverted(h, 0.7)
    sd.loss.mean_squared_error("loss", y, h.mmul(sd.var("v", rng.standard_normal((6, 2)).astype("f"))), None)
    sd.set_training_config(TrainingConfig(Adam(0.05), data_set_feature_mapping="x", data_set_label_mapping="y", **options))
    return sd


def data(count=5, rows=(4, 4, 7)):
    rng = np.random.default_rng(1)
    return [{"x": rng.standard_normal((rows[k % len(rows)], 3)).astype("f"), "y": rng.standard_normal((rows[k % len(rows)], 2)).astype("f")}
            for k in range(count)]


def same(a, b):
    for name in ("w", "b", "v"):
        np.testing.assert_array_equal(a.get_arr_for_var_name(name), b.get_arr_for_var_name(name))
    for name, updater in a.get_updater_map().items():
        for key, array in updater.get_state().items():
            np.testing.assert_array_equal(array, b.get_updater_map()[name].get_state()[key])


@pytest.mark.parametrize("options", [{}, {"regularization": [L2Regularization(0.1)]}, {"minimize": False}], ids=["plain", "l2", "ascent"])
@pytest.mark.parametrize("dropout", [False, True], ids=["", "dropout"])
def test_steps_agree(dropout, options):
    ours, watched = graph(dropout, **options), graph(dropout, **options)
    found = ours.fit(data(), epochs=3)
    wanted = watched.fit(data(), epochs=3, listeners=[Watcher()])
    same(ours, watched)
    np.testing.assert_array_equal(found.loss_curve().mean_loss("loss"), wanted.loss_curve().mean_loss("loss"))
    taken = [[vars(known).get("compiled") for known in sd.last_training_step()._known.values()] for sd in (ours, watched)]
    assert len(taken[0]) == 2 and None not in taken[0] and taken[1] == [None, None]
    assert ours.get_training_config().iteration_count == 15


def test_one_known_batch_takes_few_calls(monkeypatch):
    """Nothing is made for listeners and evaluations that nobody asked for."""
    monkeypatch.setattr(devices, "active", False)           # as in a process that uses none but the CPU
    sd, batch = graph(), DataSet(*data(1)[0].values())
    for _ in range(3):
        sd.fit(batch)
    calls = []
    sys.setprofile(lambda frame, event, _: calls.append(frame.f_code) if event == "call" else None)
    try:
        sd.fit(batch)
    finally:
        sys.setprofile(None)
    assert len(calls) <= 90
    assert len({code.co_filename for code in calls}) <= 20


def test_values_that_have_to_be_converted():
    ours, watched = graph(), graph()
    lists = [{k: v.tolist() for k, v in d.items()} for d in data()]
    ours.fit(lists, epochs=2)
    watched.fit(data(), epochs=2)
    same(ours, watched)


def test_a_changed_graph_is_trained_as_it_is_now():
    ours, fresh = graph(), graph()
    ours.fit(data(), epochs=2)
    for sd in (ours, fresh):
        for name in ("w", "b", "v"):
            sd.set_array(name, np.full(sd.variable(name).get_shape(), 0.1, "f"))
    before = ours.get_arr_for_var_name("w").copy()
    ours.fit(data(), epochs=1)
    assert not np.array_equal(before, ours.get_arr_for_var_name("w"))


def test_errors_change_nothing():
    sd = graph()
    sd.fit(data(), epochs=2)
    before = {n: sd.get_arr_for_var_name(n).copy() for n in ("w", "b", "v")}
    with pytest.raises(ShapeError):
        sd.fit({"x": np.zeros((4, 5), "f"), "y": np.zeros((4, 2), "f")})
    with pytest.raises(NumericalError):
        sd.fit({"x": np.full((4, 3), np.nan, "f"), "y": np.zeros((4, 2), "f")}, check_finite=True)
    for name, array in before.items():
        np.testing.assert_array_equal(array, sd.get_arr_for_var_name(name))
