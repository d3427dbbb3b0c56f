"""What listeners report, word by word, by a clock that a test moves."""
from __future__ import annotations

import io
from types import SimpleNamespace

import numpy as np
import pytest

from dl4py.samediff.data import DataSet
from dl4py.samediff.evaluation import Evaluation
from dl4py.samediff.training import (
    At,
    CollectScoresListener,
    EvaluativeListener,
    InvocationType,
    Listeners,
    Loss,
    LossCurve,
    Operation,
    PerformanceListener,
    ProgressListener,
    ScoreIterationListener,
    ScoreListener,
    SleepMode,
    SleepyTrainingListener,
    TimeIterationListener,
    TimeMode,
)
from dl4py.samediff.training.listeners import listeners, sleepy_listener

CURVE = LossCurve([Loss(["x"], [1.0]), Loss(["x", ], [2.5])])
BATCH = DataSet(np.zeros((4, 3)), np.zeros((4, 1)))


@pytest.fixture
def clock(monkeypatch):
    """Seconds, which tests set and sleeping adds to."""
    clock = SimpleNamespace(now=100.0, slept=[])
    clock.perf_counter = lambda: clock.now

    def sleep(seconds):
        clock.slept.append(round(seconds, 6))
        clock.now += seconds
    clock.sleep = sleep
    monkeypatch.setattr(listeners, "time", clock)
    monkeypatch.setattr(sleepy_listener, "time", clock)
    return clock


@pytest.fixture
def lines(monkeypatch):
    found: list[str] = []
    monkeypatch.setattr(listeners, "report", found.append)
    return found


def heard(listener, clock, seconds, start=0, model=None, loss=True):
    """Iterations that take so long each."""
    bus = Listeners([listener], Operation.TRAINING)
    for i, took in enumerate(seconds, start):
        at = At(3, i, Operation.TRAINING)
        bus.call("iteration_start", model, at, BATCH, 10 + i)
        clock.now += took
        bus.iteration_done(model, at, BATCH, Loss(["x", "y"], [i, 0.5]) if loss else None)


def test_scores(clock, lines):
    heard(ScoreIterationListener(3), clock, [1] * 7)
    assert lines == ["Score at iteration 0 is 0.5", "Score at iteration 3 is 3.5", "Score at iteration 6 is 6.5"]
    lines.clear()
    heard(ScoreIterationListener(), clock, [1] * 11)
    assert lines == ["Score at iteration 0 is 0.5", "Score at iteration 10 is 10.5"]
    lines.clear()
    heard(ScoreIterationListener(0), clock, [1] * 2, model=SimpleNamespace(score=lambda: 7), loss=False)
    assert lines == ["Score at iteration 0 is 7.0", "Score at iteration 1 is 7.0"]


def test_losses_and_speed(clock, lines):
    heard(ScoreListener(2), clock, [1, 1, 2, 3, 5])
    assert lines == ["Loss at epoch 3, iteration 2: 2.50000, 0.750 batches/sec, 3.000 examples/sec",
                     "Loss at epoch 3, iteration 4: 4.50000, 0.250 batches/sec, 1.000 examples/sec"]
    lines.clear()
    heard(ScoreListener(2, report_iter_performance=False), clock, [1, 1, 1])
    assert lines == ["Loss at epoch 3, iteration 2: 2.50000"]
    lines.clear()
    heard(ScoreListener(), clock, [1] * 21)
    assert [line.partition(":")[0] for line in lines] == ["Loss at epoch 3, iteration 10", "Loss at epoch 3, iteration 20"]


@pytest.mark.parametrize("wanted", [True, False])
def test_epochs(wanted, lines):
    listener = ScoreListener(report_epochs=wanted)
    listener.epoch_start(None, At(2, 7, Operation.TRAINING))
    listener.epoch_end(None, At(2, 9, Operation.TRAINING), CURVE, 12)
    listener.epoch_end(None, At(3, 9, Operation.TRAINING), None, 13)
    assert lines == (["Starting epoch 2 - iteration 7", "Completed epoch 2 in 12 ms, mean loss 2.5", "Completed epoch 3 in 13 ms"]
                     if wanted else [])


def test_performance(clock, lines):
    listener = PerformanceListener(2, True)
    heard(listener, clock, [1, 1, 0.5, 2, 4])
    assert lines == ["ETL: 12 ms; iteration 2; iteration time: 500.000 ms; samples/sec: 8.000; batches/sec: 2.000; score: 2.5",
                     "ETL: 14 ms; iteration 4; iteration time: 4000.000 ms; samples/sec: 1.000; batches/sec: 0.250; score: 4.5"]
    assert (listener.last_samples_per_sec, listener.last_batches_per_sec) == (1.0, 0.25)
    lines.clear()
    heard(PerformanceListener(), clock, [1, 1])
    assert lines == ["ETL: 11 ms; iteration 1; iteration time: 1000.000 ms; samples/sec: 4.000; batches/sec: 1.000"]


def test_remaining_time(clock, lines):
    heard(TimeIterationListener(2, 120), clock, [1] * 4)
    assert lines == ["Remaining time: 1 min 58 s, 118 iterations", "Remaining time: 1 min 56 s, 116 iterations"]
    lines.clear()
    heard(TimeIterationListener(1), clock, [1] * 2)
    assert lines == ["Remaining time: 0 min 0 s, 0 iterations"] * 2


def test_collected_scores(clock, lines):
    listener = CollectScoresListener(2, True)
    heard(listener, clock, [1] * 3)
    assert lines == ["Score at iteration 0 is 0.5", "Score at iteration 2 is 2.5"]
    assert (listener.get_list_iteration(), listener.get_list_score()) == ([0, 2], [0.5, 2.5])
    lines.clear()
    every = CollectScoresListener()
    heard(every, clock, [1] * 3)
    assert every.iterations == [0, 1, 2] and not lines


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress(clock):
    terminal = Terminal()
    listener = ProgressListener(terminal, 2.0)
    heard(listener, clock, [0.5, 1, 1, 1])
    listener.epoch_end(None, At(3, 3, Operation.TRAINING), CURVE, 1234)
    listener.epoch_end(None, At(4, 3, Operation.TRAINING), None, 50)
    assert terminal.getvalue().split("\r\x1b[K")[1:] == [
        "epoch 3, iteration 0, score 0.5", "epoch 3, iteration 2, score 2.5", "epoch 3 done in 1.2 s, mean loss 2.5\n",
        "epoch 4 done in 0.1 s\n"]
    often = Terminal()
    heard(ProgressListener(often), clock, [0.09, 0.09, 0.09, 0.2])
    assert often.getvalue().count("\r") == 3


@pytest.mark.parametrize("batch, count", [
    (BATCH, 4), (SimpleNamespace(features=np.zeros((5, 2))), 5), (SimpleNamespace(features=[np.zeros((6, 2)), np.zeros(3)]), 6),
    (SimpleNamespace(features=()), 7), (SimpleNamespace(features=np.float64(2)), 7), (None, 7)])
def test_examples_of_a_batch(batch, count):
    assert listeners.examples_in(SimpleNamespace(batch_size=lambda: 7), batch) == count
    assert listeners.examples_in(SimpleNamespace(batch_size=7), None) == listeners.examples_in(None, None) == 0


@pytest.mark.parametrize("level", ["INFO", "WARNING"])
def test_lines_go_to_the_log_or_to_standard_error(level, caplog, capsys):
    with caplog.at_level(level, "dl4py.training"):
        listeners.report("a line")
    assert caplog.messages == (["a line"] if level == "INFO" else [])
    assert capsys.readouterr().err == ("" if level == "INFO" else "a line\n")


class Evaluated:
    """A model that says that all are of class 1."""

    def do_evaluation(self, data, *evaluations):
        for batch in data:
            for e in evaluations:
                e.eval(batch, np.tile([0.0, 1.0], (len(batch), 1)))


class Batches(list):
    resets = 0

    def reset(self):
        self.resets += 1


CALLS = {InvocationType.EPOCH_START: lambda l, m: l.on_epoch_start(m), InvocationType.EPOCH_END: lambda l, m: l.on_epoch_end(m),
         InvocationType.ITERATION_END: lambda l, m: l.iteration_done(m, At(0, 0, Operation.TRAINING))}


@pytest.mark.parametrize("kind", InvocationType)
def test_evaluation_from_time_to_time(kind, monkeypatch):
    found = []
    monkeypatch.setattr("dl4py.samediff.training.listeners.evaluative_listener.report", found.append)
    data, model = Batches([np.eye(2)[[0, 1, 1]]]), Evaluated()
    listener = EvaluativeListener(data, 2, kind.name)
    for _ in range(4):
        for call in CALLS.values():
            call(listener, model)
        CALLS[kind](listener, object())                  # a layer that is pretrained
    unit = "iteration" if kind is InvocationType.ITERATION_END else "epoch"
    (evaluation,) = listener.get_evaluations()
    assert found == [f"Reporting evaluation after {n} {unit}(s)" if k == 0 else f"Evaluation:\n{evaluation.stats()}"
                     for n in (1, 3) for k in (0, 1)]
    assert data.resets == 2 and evaluation.accuracy() == pytest.approx(2 / 3)


def test_own_evaluations_start_anew_and_a_callback_gets_them():
    pattern, seen = Evaluation(), []
    listener = EvaluativeListener([np.eye(2)], 1, pattern, Evaluation())
    assert listener.invocation_type is InvocationType.ITERATION_END
    listener.set_callback(lambda *told: seen.append(told))
    model = Evaluated()
    for _ in range(2):
        CALLS[InvocationType.ITERATION_END](listener, model)
    assert [(l, m, n) for l, m, n, _ in seen] == [(listener, model, 0), (listener, model, 1)]
    assert all(len(e) == 2 and e[0].accuracy() == e[1].accuracy() == 0.5 and e[0] is not pattern for *_, e in seen)
    assert pattern == Evaluation() and listener.evaluations is seen[-1][-1]
    assert [listener.is_active(o) for o in Operation] == [o is Operation.TRAINING for o in Operation]


TIMERS = {"timer_es": lambda l: l.on_epoch_start(None), "timer_ee": lambda l: l.on_epoch_end(None),
          "timer_ff": lambda l: l.on_forward_pass(None, []), "timer_bp": lambda l: l.on_backward_pass(None),
          "timer_iteration": lambda l: l.iteration_done(None, 0, 0)}


@pytest.mark.parametrize("timer", TIMERS)
def test_waiting(timer, clock):
    simple = SleepyTrainingListener(**{timer: 200})
    for call in TIMERS.values():
        call(simple)
    TIMERS[timer](simple)
    assert clock.slept == [0.2, 0.2]
    assert Listeners([simple], Operation.TRAINING).wants("on_forward_pass") == (timer == "timer_ff")
    clock.slept.clear()
    additive = SleepyTrainingListener(**{timer: 200}, time_mode=TimeMode.ADDITIVE, sleep_mode=SleepMode.SLEEP)
    for pause in (0, 0.05, 0.3, 0.15):
        clock.now += pause
        TIMERS[timer](additive)
    assert clock.slept == [0.15, 0.05]
    assert [simple.is_active(o) for o in Operation] == [o is Operation.TRAINING for o in Operation]


def test_waiting_with_a_busy_processor(clock):
    ticks = iter(np.arange(0, 10, 0.03).tolist())
    clock.perf_counter = lambda: next(ticks)
    SleepyTrainingListener(timer_iteration=100, sleep_mode=SleepMode.BUSY).iteration_done(None, 0, 0)
    assert clock.slept == [] and next(ticks) == pytest.approx(0.18)
