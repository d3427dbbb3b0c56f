"""Listeners around the training of networks: pauses, failures, groups, statistics, and going on after an interruption."""
from __future__ import annotations

import time

import numpy as np
import pytest

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import MultiLayerNetwork
from dl4py.samediff.data import NumpyDataSetIterator
from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.training import (
    Adam,
    CallType,
    CheckpointListener,
    CollectScoresListener,
    ComposableIterationListener,
    FailureMode,
    FailureTestingListener,
    InjectedFailure,
    InMemoryStatsStorage,
    Listener,
    ListenerResponse,
    Listeners,
    Sgd,
    SleepMode,
    SleepyTrainingListener,
    StatsListener,
    TimeMode,
)
from tests.helpers.networkcheck import network

R = np.random.default_rng(3)
X, Y = R.normal(size=(20, 4)).astype(np.float32), np.eye(3, dtype=np.float32)[R.integers(0, 3, 20)]


def small(updater=None):
    rule = updater or Adam(0.05)
    return network(DenseLayer(n_in=4, n_out=5, dropOut=0.8, updater=rule), OutputLayer(n_in=5, n_out=3, updater=rule))


def batches():
    return NumpyDataSetIterator(X, Y, 6, shuffle_seed=4)


class Heard(Listener):
    def __init__(self):
        self.calls = []

    def on_epoch_start(self, model):
        self.calls.append("epoch starts")

    def on_epoch_end(self, model):
        self.calls.append("epoch ends")

    def on_backward_pass(self, model):
        self.calls.append("backward")

    def iteration_done(self, model, iteration, epoch):
        self.calls.append((iteration, epoch))


def test_a_group_hears_what_its_members_hear():
    alone, grouped, scores = Heard(), Heard(), CollectScoresListener()
    net = small()
    net.set_listeners(alone, ComposableIterationListener(grouped, scores))
    net.fit(batches(), 2)
    assert grouped.calls == alone.calls and len(alone.calls) == 2 * (2 + 4 * 2) and scores.iterations == list(range(8))


def test_a_group_costs_only_what_its_members_want():
    group = Listeners([ComposableIterationListener(Heard())])
    assert group.wants("on_backward_pass") and group.wants("on_backward_pass", 3)
    assert not group.wants("on_forward_pass") and not group.wants("op_execution")


def test_iterations_that_nobody_listens_to_run_in_one_call():
    """A listener says when it wants to be told; gradients that stay after the step are recorded without leaving it."""
    class Every(Listener):
        def hears(self, hook, iteration):
            return iteration % 3 == 1

        def on_backward_pass(self, model):
            told.append(model.get_iteration_count())

    told, kept = [], {}
    net = small()
    net.set_listeners(ComposableIterationListener(Every()))
    net.fit(batches(), 2)
    assert told == [1, 4, 7]
    for name, others in (("in one call", ()), ("step by step", (Heard(),))):
        storage = InMemoryStatsStorage()
        stats = StatsListener(storage, 2)
        small().fit(batches(), listeners=[stats, *others])
        assert not Listeners([stats]).wants("on_gradient_calculation", 0)
        kept[name] = [r for r in storage.records() if "gradients" in r]
    one, other = kept.values()
    assert [r["iteration"] for r in one] == [0, 2]
    for kind in ("parameters", "gradients", "updates"):
        for a, b in zip(one, other, strict=True):
            assert a[kind].keys() == b[kind].keys() and a[kind]
            assert all(a[kind][n]["l2"] == pytest.approx(b[kind][n]["l2"], rel=1e-5) for n in a[kind])


def test_a_group_passes_on_the_wish_to_stop():
    class Stop(Listener):
        def epoch_end(self, sd, at, loss_curve, epoch_time_millis):
            return ListenerResponse.STOP

    net = small()
    net.set_listeners(ComposableIterationListener(Heard(), Stop()))
    net.fit(batches(), 5)
    assert net.get_epoch_count() == 1


@pytest.mark.parametrize("mode", SleepMode)
def test_pauses(mode):
    listener = SleepyTrainingListener.builder().timerIteration(20).timer_es(30).sleepMode(mode).build()
    net = small()
    net.fit(X, Y)       # compile
    net.set_listeners(listener)
    start = time.perf_counter()
    net.fit(batches())
    assert time.perf_counter() - start >= 0.03 + 4 * 0.02


def test_pauses_that_only_fill_up(monkeypatch):
    now, slept = [100.0], []
    monkeypatch.setattr("dl4py.samediff.training.listeners.sleepy_listener.time.perf_counter", lambda: now[0])
    monkeypatch.setattr("dl4py.samediff.training.listeners.sleepy_listener.time.sleep", lambda s: slept.append(round(s, 6)))
    listener = SleepyTrainingListener(timer_iteration=500, time_mode=TimeMode.ADDITIVE)
    for passed in (7.0, 0.035, 0.6, 0.1):
        now[0] += passed
        listener.iteration_done(None, 0, 0)
    assert slept == [0.465, 0.4]


def test_a_pause_after_forward_passes_is_paid_for_only_when_asked(monkeypatch):
    assert not Listeners([SleepyTrainingListener(timer_bp=1)]).wants("on_forward_pass")
    net = small()
    net.set_listeners(SleepyTrainingListener(timer_ff=1))
    slept = []
    monkeypatch.setattr("dl4py.samediff.training.listeners.sleepy_listener.time.sleep", slept.append)
    net.fit(X, Y)
    assert slept == [0.001]


def test_mistakes_of_pauses():
    with pytest.raises(ConfigurationError, match="at least 0"):
        SleepyTrainingListener(timer_ee=-1)
    with pytest.raises(AttributeError, match="no option 'timer_x'"):
        SleepyTrainingListener.builder().timer_x(3)


@pytest.mark.parametrize("mode, error", [(FailureMode.OOM, MemoryError), (FailureMode.SYSTEM_EXIT_1, SystemExit),
                                         (FailureMode.ILLEGAL_STATE, InjectedFailure)])
def test_failures_on_purpose(mode, error):
    net = small()
    net.set_listeners(FailureTestingListener(mode, FailureTestingListener.iteration_epoch_trigger(False, 2)))
    with pytest.raises(error) as caught:
        net.fit(batches())
    assert net.get_iteration_count() == 2 if mode is not FailureMode.SYSTEM_EXIT_1 else caught.value.code == 1


@pytest.mark.parametrize("call, text", [
    (CallType.EPOCH_START, "EPOCH_START, iteration 4, epoch 1"), (CallType.EPOCH_END, "EPOCH_END, iteration"),
    (CallType.FORWARD_PASS, "FORWARD_PASS, iteration 4"), (CallType.BACKWARD_PASS, "BACKWARD_PASS, iteration 4"),
    (CallType.GRADIENT_CALC, "GRADIENT_CALC, iteration 4"), (CallType.ITER_DONE, "ITER_DONE, iteration 4"),
])
def test_moments_of_failure(call, text):
    net = small()
    net.set_listeners(FailureTestingListener(FailureMode.ILLEGAL_STATE, FailureTestingListener.iteration_epoch_trigger(True, 1, call)))
    with pytest.raises(InjectedFailure, match=text):
        net.fit(batches(), 3)


def test_triggers():
    make = FailureTestingListener
    ask = (CallType.ITER_DONE, 3, 1, None)
    yes, no = make.iteration_epoch_trigger(True, 1), make.iteration_epoch_trigger(False, 1)
    assert (make.and_(yes, no)(*ask), make.or_(yes, no)(*ask), make.and_(yes, yes)(*ask)) == (False, True, True)
    often = make.random_prob(CallType.ITER_DONE, 0.5, 1)
    drawn = [often(*ask) for _ in range(200)]
    assert 60 < sum(drawn) < 140 and not any(often(CallType.EPOCH_END, 3, 1, None) for _ in range(50))
    assert not make.time_since_initialized_trigger(60_000)(*ask) and make.time_since_initialized_trigger(-1)(*ask)
    assert not make.user_name_trigger("nobody of that name")(*ask) and not make.host_name_trigger("no such host")(*ask)


def test_a_training_goes_on_bit_by_bit_after_an_interruption(tmp_path):
    """Dropout, shuffling and Adam's moments: everything must be where it was."""
    whole = small()
    start = whole.params()
    whole.fit(batches(), 3)

    broken, data = small(), batches()
    np.testing.assert_array_equal(broken.params(), start)
    sixth = FailureTestingListener.iteration_epoch_trigger(False, 5, CallType.ITER_DONE)
    broken.set_listeners(CheckpointListener(tmp_path, save_every_n_iterations=1, keep_last=2, log_saving=False),
                         FailureTestingListener(FailureMode.ILLEGAL_STATE, sixth))
    with pytest.raises(InjectedFailure):
        broken.fit(data, 3)

    resumed = CheckpointListener.load_last_checkpoint(tmp_path)
    assert isinstance(resumed, MultiLayerNetwork)
    assert (resumed.get_iteration_count(), resumed.get_epoch_count()) == (6, 1) and data.has_next()
    while data.has_next():          # the rest of the epoch; the iterator stands where it was
        resumed.fit(data.next())
    resumed.increment_epoch_count()
    resumed.fit(data, 1)
    np.testing.assert_array_equal(resumed.params(), whole.params())
    np.testing.assert_array_equal(resumed.updater_state(), whole.updater_state())
    assert (resumed.get_iteration_count(), resumed.get_epoch_count()) == (12, 3)


def test_statistics_of_networks():
    storage, net = InMemoryStatsStorage(), small(Sgd(0.5))
    net.set_listeners(StatsListener(storage, 2, bins=4), CollectScoresListener())
    before = {n: a.copy() for n, a in net.param_table().items()}
    net.fit(batches(), 1)
    scores = net.get_listeners()[1].scores
    assert storage.series("score") == ([0, 2], scores[::2]) and storage.series("learning_rate") == ([0, 2], [0.5, 0.5])
    first = storage.records()[0]
    assert list(first["parameters"]) == list(first["gradients"]) == list(first["updates"]) == ["0_W", "0_b", "1_W", "1_b"]
    assert first["updates"]["1_W"]["l2"] == pytest.approx(0.5 * first["gradients"]["1_W"]["l2"] / 6, rel=1e-5)      # of 6 examples
    counts = first["parameters"]["0_W"]["histogram"]["counts"]
    assert len(counts) == 4 and sum(counts) == 20
    assert first["parameters"]["0_W"]["l2"] == pytest.approx(np.linalg.norm(before["0_W"]), rel=0.2)
    assert storage.series("examples") == ([2], [6]) and storage.series("iteration_ms")[1][0] > 0
    plain = InMemoryStatsStorage()
    net.set_listeners(StatsListener(plain, arrays=False))
    net.fit(X, Y)
    assert sorted(plain.records()[0]) == ["epoch", "iteration", "learning_rate", "run", "score", "session", "time"]
