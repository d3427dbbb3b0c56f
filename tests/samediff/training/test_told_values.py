"""Small values that training hands over: positions, wanted variables, losses, records; and listeners that fail on purpose."""
from __future__ import annotations

import math
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from dl4py.samediff.errors import ConfigurationError, UnknownNameError
from dl4py.samediff.evaluation import Evaluation, RegressionEvaluation
from dl4py.samediff.training import (
    At,
    EvaluationRecord,
    FailureTestingListener,
    History,
    Listener,
    ListenerResponse,
    Listeners,
    ListenerVariables,
    Loss,
    LossCurve,
    Operation,
)
from dl4py.samediff.training.listeners import failure_testing
from dl4py.samediff.training.listeners.failure_testing import CallType, FailureMode, InjectedFailure
from dl4py.samediff.training.listeners.stats import summary_of

ACCURACY, MSE = Evaluation.Metric.ACCURACY, RegressionEvaluation.Metric.MSE


def test_positions():
    at = At(2, 7, Operation.EVALUATION, 3)
    assert (at.epoch(), at.iteration(), at.operation(), at.training_thread_num()) == (2, 7, Operation.EVALUATION, 3)
    assert at.java_thread_num() == threading.get_ident()
    assert at.copy() == at and at.copy().training_thread_num() == 3 and hash(at.copy()) == hash(at)
    moved = at.copy(Operation.TRAINING)
    assert moved != at and (moved.epoch(), moved.iteration(), moved.operation()) == (2, 7, Operation.TRAINING)
    assert len({at, at.copy(), moved}) == 2 and at != "At"
    assert At.default_at(Operation.TRAINING) == At(0, 0, Operation.TRAINING) and At() == At(0, 0, Operation.INFERENCE)
    assert At().training_thread_num() == 0


def test_operations():
    assert [o.is_training_phase() for o in Operation] == [True, True, False, False]
    assert [o.is_validation() for o in Operation] == [False, True, False, False]


READERS = {Operation.TRAINING: "training", Operation.TRAINING_VALIDATION: "validation", Operation.EVALUATION: "evaluation",
           Operation.INFERENCE: "inference"}


@pytest.mark.parametrize("operation", Operation)
def test_variables_of_an_operation(operation):
    method = f"{READERS[operation]}_variables"
    by_method = getattr(ListenerVariables.builder(), method)("a", "b").build()
    by_name = ListenerVariables.Builder().require_variables(operation.name, "a").require_variables(operation, "b").build()
    by_mapping = ListenerVariables({operation: ["a", SimpleNamespace(name=lambda: "b")]})
    for found in (by_method, by_name, by_mapping):
        for other, reader in READERS.items():
            wanted = {"a", "b"} if other is operation else set()
            assert getattr(found, f"{reader}_variables")() == found.required_variables(other) == wanted
    merged = by_method.merge(ListenerVariables({operation: ["c"], Operation.TRAINING: ["d"]}))
    assert merged.required_variables(operation) == {"a", "b", "c", "d"} - ({"c"} if operation is Operation.TRAINING else {"d"})
    assert ListenerVariables.of("x").required_variables(operation) == {"x"} and not ListenerVariables.empty().required_variables(operation)


def test_losses():
    a, b = Loss(["x", "y"], [1.0, 2.5]), Loss(["x", "y"], np.array([[3.0, 0.5]]))
    assert (a.num_losses(), a.loss_names(), a.loss_values().tolist()) == (2, ["x", "y"], [1, 2.5])
    assert (a.total_loss(), a.get_loss("y")) == (3.5, 2.5)
    assert a + b == a.add(b) == a.plus(b) == Loss.sum([a, b]) == Loss(["x", "y"], [4, 3])
    assert a - b == a.sub(b) == a.minus(b) == Loss(["x", "y"], [-2, 2])
    assert (a + b) / 2 == (a + b).div(2) == Loss.average([a, b]) == Loss(["x", "y"], [2, 1.5])
    assert a.copy() == a and a.copy() is not a and a != b and a != Loss(["x", "z"], [1, 2.5]) and a != "Loss"
    a.loss_values()[:] = 0
    assert a.loss_values().tolist() == [1, 2.5] and repr(a) == "Loss(x=1, y=2.5)"
    with pytest.raises(ConfigurationError, match="2 names .x, y. for 1 values"):
        Loss(["x", "y"], [1.0])
    with pytest.raises(ConfigurationError, match="different names"):
        a + Loss(["x"], [1.0])
    with pytest.raises(UnknownNameError, match="no loss named 'yy'.*there are: x, y"):
        a.get_loss("yy")
    with pytest.raises(ConfigurationError, match="name of a variable"):
        a.get_loss(3)


def test_curves():
    curve = LossCurve([Loss(["x", "y"], v) for v in ([1, 2], [0.1, 5], [4, 3])])
    assert len(curve) == 3 and curve.losses()[1] == curve.mean_loss(1) == curve.mean_loss(np.int64(-2)) == Loss(["x", "y"], [0.1, 5])
    assert curve.mean_loss("x").dtype == np.float32 and curve.mean_loss("x").tolist() == [1, np.float32(0.1), 4]
    assert curve.mean_loss("x", 1) == curve.mean_loss("x", -2) == float(np.float32(0.1)) and curve.mean_loss("y", 0) == 2
    assert curve.last_mean_loss() == Loss(["x", "y"], [4, 3]) and curve.last_mean_loss("y") == 3
    assert curve.last_mean_delta() == Loss(["x", "y"], [3.9, -2]) and curve.last_mean_delta("y") == -2
    longer = curve.add_loss_and_copy([7, 8], ["x", "y"])
    assert len(longer) == 4 and len(curve) == 3 and longer.last_mean_loss("x") == 7
    assert curve.add_loss_and_copy(Loss(["x", "y"], [7, 8])).last_mean_loss("y") == 8
    assert repr(LossCurve([Loss(["x"], [1.0])])) == "LossCurve([Loss(x=1)])"
    curve.losses().clear()
    assert len(curve) == 3
    for epoch in (3, -4):
        with pytest.raises(UnknownNameError, match="3 epoch"):
            curve.mean_loss(epoch)
    with pytest.raises(ConfigurationError, match="same loss names"):
        curve.add_loss_and_copy(Loss(["z"], [1.0]))


@pytest.fixture
def record():
    first, second, other = Evaluation(), Evaluation(), RegressionEvaluation(2)
    first.eval(np.eye(2)[[0, 1]], np.eye(2)[[0, 1]])
    second.eval(np.eye(2)[[0, 1]], np.eye(2)[[0, 0]])
    other.eval(np.zeros((2, 2)), np.full((2, 2), 3.0))
    return EvaluationRecord({"p": [first, second], "q": [other], "none": []})


def test_records(record):
    every = record.evaluations()
    assert list(every) == ["p", "q", "none"] and record.evaluations("p") == every["p"] and not record.is_empty()
    first, second = every["p"]
    assert record.evaluation("p", 0) is first and record.evaluation("p", -1) is second and record.evaluation("q") is every["q"][0]
    assert record.evaluation("q", RegressionEvaluation) is record.evaluation(RegressionEvaluation) is every["q"][0]
    assert (record.get_value("p", 1, ACCURACY), record.get_value("q", MSE), record.get_value(MSE)) == (0.5, 9, 9)
    every["p"].clear()
    record.evaluations("p").clear()
    assert len(record.evaluations("p")) == 2
    assert repr(record) == "EvaluationRecord({'p': ['Evaluation', 'Evaluation'], 'q': ['RegressionEvaluation'], 'none': []})"
    assert EvaluationRecord({}).is_empty() and EvaluationRecord({"a": []}).is_empty()
    for selection, text in [(("r",), "no evaluation of 'r'.*evaluated: p, q, none"), (("p",), "2 evaluations fit evaluation of 'p'"),
                            (("p", 2), "no evaluation number 2: there are 2"), (("p", -3), "number -3"),
                            (("q", Evaluation), "0 evaluations fit Evaluation of 'q'"), ((Evaluation,), "2 evaluations fit Evaluation;"),
                            ((), "3 evaluations fit evaluation;")]:
        with pytest.raises(UnknownNameError, match=text):
            record.evaluation(*selection)
    for selection in ((ACCURACY,), ("p", ACCURACY), ("q", ACCURACY)):
        with pytest.raises(UnknownNameError, match="evaluations have the metric"):
            record.get_value(*selection)
    with pytest.raises(UnknownNameError, match="evaluated: nothing"):
        EvaluationRecord({}).evaluations("p")


def test_histories(record):
    curve, empty = LossCurve([Loss(["x"], [1.0])]), EvaluationRecord({})
    history = History([empty, record], [record, record, empty], curve, 12, [3, 4, 5])
    assert history.loss_curve() is curve and history.training_time_millis() == 12 and history.validation_times_millis() == [3, 4, 5]
    assert (history.training_epochs(), history.validation_epochs()) == (2, 3)
    assert history.training_eval() == [empty, record] and history.validation_eval() == [record, record, empty]
    assert history.training_evaluations(1) is history.training_evaluations(-1) is history.final_training_evaluations() is record
    assert history.validation_evaluations(1) is record
    assert history.final_validation_evaluations() is history.validation_evaluations(2) is empty
    assert repr(history) == "History(2 epochs, 3 validations, LossCurve([Loss(x=1)]))"
    known = History([record], [record, record])
    assert known.training_eval("q") == [record.evaluations("q")] and known.training_eval("p", 1) == [record.evaluation("p", 1)]
    assert known.validation_eval("p", 1, ACCURACY) == [0.5, 0.5] and known.training_eval(MSE) == [9]
    assert known.training_eval(SimpleNamespace(name=lambda: "q")) == [record.evaluations("q")]
    for call, text in [(lambda: history.training_evaluations(2), "no training evaluations number 2: 2 recorded"),
                       (lambda: history.validation_evaluations(-4), "no validation evaluations number -4: 3 recorded"),
                       (lambda: History().final_training_evaluations(), "no training"),
                       (lambda: History().final_validation_evaluations(), "no validation")]:
        with pytest.raises(UnknownNameError, match=text):
            call()


def test_answers_of_listeners():
    class Answering(Listener):
        def __init__(self, answer):
            self.answer = answer

        def epoch_end(self, *told):
            return self.answer

        def validation_done(self, *told):
            return self.answer
    stopping = ListenerResponse.STOP
    for answers in ([None], [ListenerResponse.CONTINUE], [stopping], [stopping, None], [None, stopping]):
        bus, stop = Listeners([Answering(a) for a in answers]), stopping in answers
        assert bus.epoch_end(None, At()) == bus.validation_done(None, At()) == stop
    assert Listener().epoch_end(None, At(), None, 0) is None and Listener().validation_done(None, At(), 0) is None


ASKED = {CallType.EPOCH_START: lambda l, m: l.on_epoch_start(m), CallType.EPOCH_END: lambda l, m: l.on_epoch_end(m),
         CallType.FORWARD_PASS: lambda l, m: l.on_forward_pass(m, []), CallType.GRADIENT_CALC: lambda l, m: l.on_gradient_calculation(m),
         CallType.BACKWARD_PASS: lambda l, m: l.on_backward_pass(m), CallType.ITER_DONE: lambda l, m: l.iteration_done(m, 3, 2)}
NETWORK = SimpleNamespace(get_iteration_count=lambda: 3, get_epoch_count=lambda: 2)
GRAPH = SimpleNamespace(get_training_config=lambda: SimpleNamespace(iteration_count=3, epoch_count=2))


@pytest.mark.parametrize("model", [NETWORK, GRAPH], ids=["network", "graph"])
@pytest.mark.parametrize("call", ASKED)
def test_failing_on_purpose(call, model, monkeypatch):
    asked = []
    ASKED[call](FailureTestingListener(FailureMode.OOM, lambda *told: asked.append(told)), model)
    assert asked == [(call, 3, 2, model)]
    errors = {FailureMode.OOM: MemoryError, FailureMode.SYSTEM_EXIT_1: SystemExit, FailureMode.ILLEGAL_STATE: InjectedFailure}
    for mode, error in errors.items():
        with pytest.raises(error) as caught:
            ASKED[call](FailureTestingListener(mode, lambda *told: True), model)
        assert caught.value.args == (1,) if error is SystemExit else f"{call.name}, iteration 3, epoch 2" in str(caught.value)
    naps = []

    def sleep(seconds):
        naps.append(seconds)
        if len(naps) == 3:
            raise KeyboardInterrupt
    monkeypatch.setattr(failure_testing, "time", SimpleNamespace(sleep=sleep))
    with pytest.raises(KeyboardInterrupt):
        ASKED[call](FailureTestingListener(FailureMode.INFINITE_SLEEP, lambda *told: True), model)
    assert len(naps) == 3 and min(naps) > 0
    assert [FailureTestingListener(FailureMode.OOM, None).is_active(o) for o in Operation] == [o is Operation.TRAINING for o in Operation]


def fired(trigger, call=CallType.ITER_DONE):
    return [(i, e) for i in range(4) for e in range(3) if trigger(call, i, e, None)]


def test_triggers(monkeypatch):
    of, ask = FailureTestingListener, CallType.ITER_DONE
    assert fired(of.iteration_epoch_trigger(False, 2)) == fired(of.iteration_epoch_trigger(False, 2, ask)) == [(2, e) for e in range(3)]
    assert fired(of.iteration_epoch_trigger(True, 2)) == [(i, 2) for i in range(4)]
    assert fired(of.iteration_epoch_trigger(False, 2, CallType.EPOCH_END)) == []
    assert len(fired(of.random_prob(CallType.ANY, 1.0))) == 12 and fired(of.random_prob(ask, 0.0)) == []
    assert fired(of.random_prob(CallType.EPOCH_END, 1.0)) == []
    some = fired(of.random_prob(ask, 0.5, 1))
    assert some == fired(of.random_prob(ask, 0.5, 1)) and 0 < len(some) < 12
    now = SimpleNamespace(s=5.0)
    monkeypatch.setattr(failure_testing, "time", SimpleNamespace(monotonic=lambda: now.s))
    late = of.time_since_initialized_trigger(1500)
    assert fired(late) == []
    now.s += 1.5
    assert fired(late) == []
    now.s += 0.01
    assert len(fired(late)) == 12
    monkeypatch.setattr(failure_testing, "getpass", SimpleNamespace(getuser=lambda: "Me"))
    monkeypatch.setattr(failure_testing, "socket", SimpleNamespace(gethostname=lambda: "Here"))
    for trigger, right in ((of.user_name_trigger, "mE"), (of.host_name_trigger, "hERE")):
        assert len(fired(trigger(right))) == 12 and fired(trigger("other")) == []
    first, second = of.iteration_epoch_trigger(False, 2), of.iteration_epoch_trigger(True, 1)
    assert fired(of.and_(first, second)) == [(2, 1)]
    assert fired(of.or_(first, second)) == [(i, e) for i in range(4) for e in range(3) if i == 2 or e == 1]


@pytest.mark.parametrize("bins", [0, 4])
def test_summaries_of_arrays(bins):
    found = summary_of(np.array([[1.0, -3.0], [2.0, np.inf], [np.nan, 5.0]], np.float32), bins)
    wanted = {"not_finite": 2, "l2": math.sqrt(39), "mean": 1.25, "mean_magnitude": 2.75, "stdev": math.sqrt(39 / 4 - 1.25 ** 2)}
    if bins:
        assert found.pop("histogram") == {"min": -3.0, "max": 5.0, "counts": [1, 0, 2, 1]}
    assert found == pytest.approx(wanted)
    assert summary_of([np.nan], bins) == {"not_finite": 1}
