"""Losses, loss curve, evaluation records, history."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.errors import ConfigurationError, UnknownNameError
from dl4py.samediff.evaluation import Evaluation, RegressionEvaluation
from dl4py.samediff.training import EvaluationRecord, History, Loss, LossCurve

F1 = Evaluation.Metric.F1


def evaluated() -> Evaluation:
    evaluation = Evaluation()
    evaluation.eval(np.eye(3), np.eye(3)[[0, 1, 1]])
    return evaluation


def test_loss_arithmetic() -> None:
    a, b = Loss(["x", "y"], [1, 2]), Loss(["x", "y"], [3, 5])
    assert (a + b).total_loss() == 11
    assert Loss.average([a, b]) == Loss(["x", "y"], [2, 3.5])
    assert (b - a) / 2 == Loss(["x", "y"], [1, 1.5])
    assert b.sub(a) == b.minus(a)
    assert a.getLoss("y") == 2
    with pytest.raises(UnknownNameError, match="'z'"):
        a.get_loss("z")
    with pytest.raises(ConfigurationError, match="names"):
        a + Loss(["x"], [1])
    with pytest.raises(ConfigurationError):
        Loss(["x"], [1, 2])


def test_curve() -> None:
    curve = LossCurve([Loss(["x"], [2.0]), Loss(["x"], [0.1])])
    assert curve.mean_loss(-1) == curve.last_mean_loss() == Loss(["x"], [0.1])
    assert curve.mean_loss("x").dtype == np.float32
    assert curve.last_mean_delta("x") == pytest.approx(-1.9)
    assert curve.get_loss_names() == ["x"] and LossCurve().get_loss_values().shape == (0, 0)
    np.testing.assert_array_equal(curve.get_loss_values(), np.array([[2.0], [0.1]], np.float32), strict=True)
    longer = curve.add_loss_and_copy(Loss(["x"], [0.0]))
    assert (len(curve), len(longer)) == (2, 3)
    with pytest.raises(UnknownNameError, match="epoch"):
        LossCurve([Loss(["x"], [2.0])]).last_mean_delta()
    with pytest.raises(ConfigurationError):
        curve.add_loss_and_copy(Loss(["y"], [0.0]))


def test_record_selection() -> None:
    record = EvaluationRecord({"out": [evaluated(), RegressionEvaluation()], "other": [evaluated()]})
    assert record.evaluation("out", Evaluation) is record.evaluations("out")[0]
    assert record.evaluation("out", 1) is record.evaluation(RegressionEvaluation)
    assert record.get_value("out", F1) == record.get_value("out", 0, F1) == evaluated().f1()
    with pytest.raises(UnknownNameError, match="2 evaluations"):
        record.get_value(F1)
    with pytest.raises(UnknownNameError, match="'nope'"):
        record.evaluations("nope")
    with pytest.raises(UnknownNameError, match="number 5"):
        record.evaluation("out", 5)
    assert EvaluationRecord({}).is_empty()


def test_history_selection() -> None:
    records = [EvaluationRecord({"out": [evaluated()]}) for _ in range(3)]
    history = History(records, records[:1], None, 100, [7])
    assert history.training_epochs() == 3
    assert history.training_eval("out", F1) == [evaluated().f1()] * 3
    assert history.training_eval(F1) == history.training_eval("out", 0, F1)
    assert history.trainingEval("out", 0) == [r.evaluation("out", 0) for r in records]
    assert history.training_eval() == records
    assert history.training_evaluations(-1) is records[2]
    assert history.final_validation_evaluations() is records[0]
    assert history.validation_times_millis() == [7]
    with pytest.raises(UnknownNameError):
        history.training_evaluations(7)
    with pytest.raises(UnknownNameError):
        History().final_training_evaluations()


def refused(error, text, call, *args) -> None:
    with pytest.raises(error) as caught:
        call(*args)
    assert str(caught.value) == text


class Named:
    """A variable, as histories know it."""

    def __init__(self, name, called=False):
        self.name = (lambda: name) if called else name


@pytest.mark.parametrize("variable", ["y", Named("y"), Named("y", True)])
def test_losses_are_found_by_name_or_variable(variable) -> None:
    loss = Loss(["x", "y"], np.array([[1.5], [2.0]]))
    assert (loss.get_loss(variable), loss.num_losses(), loss.loss_names(), loss.total_loss()) == (2.0, 2, ["x", "y"], 3.5)
    assert repr(loss) == "Loss(x=1.5, y=2)" and Loss.__hash__ is None
    assert EvaluationRecord({variable: []}).evaluations() == {"y": []}


def test_what_loss_refuses() -> None:
    loss = Loss(["one", "two"], [1, 2])
    refused(UnknownNameError, "no loss named 'tow'; did you mean 'two'?; there are: one, two", loss.get_loss, "tow")
    refused(ConfigurationError, "expected the name of a variable, or a variable; got 3", loss.get_loss, 3)
    refused(ConfigurationError, "Loss: 2 names (one, two) for 1 values", Loss, ["one", "two"], [1])
    refused(ConfigurationError, "losses of different names: ['one', 'two'] and ['two', 'one']", loss.__sub__, Loss(["two", "one"], [1, 2]))
    refused(ConfigurationError, "the epochs of a loss curve must have the same loss names", LossCurve, [loss, loss, Loss(["one"], [1])])


def test_losses_do_not_share_their_values() -> None:
    loss = Loss(["x"], [1.0])
    loss.loss_values()[0] = 7
    assert loss.get_loss("x") == 1 and loss.loss_values().dtype == np.float64
    same = loss.copy()
    assert same == loss and same is not loss and Loss.sum([loss]) is not loss
    assert Loss.sum([loss, loss, Loss(["x"], [2.5])]) == Loss(["x"], [4.5]) and Loss.average([loss, loss, loss, loss]) == loss
    assert loss != Loss(["y"], [1.0]) and loss != Loss(["x"], [2.0]) and loss != "loss"
    assert loss.plus(loss) == loss.add(loss) == Loss(["x"], [2.0]) and loss.div(4) == Loss(["x"], [0.25])


def test_epochs_of_a_curve_count_from_both_ends() -> None:
    losses = [Loss(["x", "y"], [k, 10 + k]) for k in range(3)]
    curve = LossCurve(losses)
    assert [curve.mean_loss(k) for k in (0, 2, -1, -3, np.int64(1))] == [losses[k] for k in (0, 2, 2, 0, 1)]
    for epoch in (3, -4):
        refused(UnknownNameError, f"no losses of epoch {epoch}: the curve has 3 epoch(s)", curve.mean_loss, epoch)
    assert (curve.mean_loss("y", 1), curve.mean_loss("x", -1), curve.last_mean_loss("y")) == (11, 2, 12)
    assert curve.mean_loss("y").tolist() == [10, 11, 12] and curve.losses() == losses and curve.losses() is not curve.losses()
    assert curve.last_mean_delta() == Loss(["x", "y"], [1, 1])
    assert curve.get_loss_values().tolist() == [[0, 10], [1, 11], [2, 12]]
    assert curve.add_loss_and_copy([5, 6], ["x", "y"]).last_mean_loss() == Loss(["x", "y"], [5, 6])
    assert len(LossCurve().add_loss_and_copy([])) == 1 and LossCurve().get_loss_names() == []
    assert repr(LossCurve(losses[:1])) == "LossCurve([Loss(x=0, y=10)])"
    assert LossCurve([Loss(["x"], [0.1])]).mean_loss("x", 0) == float(np.float32(0.1))


def test_which_evaluation_is_meant() -> None:
    first, second, other = evaluated(), RegressionEvaluation(), evaluated()
    record = EvaluationRecord({"out": [first, second], "other": (other,)})
    assert not record.is_empty() and EvaluationRecord({"out": []}).is_empty()
    assert [record.evaluation("out", k) for k in (0, 1, -1, -2, np.int64(1))] == [first, second, second, first, second]
    assert record.evaluation("other") is other and record.evaluation("out", RegressionEvaluation) is second
    assert record.evaluation(None, 2) is other and record.evaluation(RegressionEvaluation) is second
    for number in (2, -3):
        refused(UnknownNameError, f"no evaluation number {number}: there are 2", record.evaluation, "out", number)
    refused(UnknownNameError, "3 evaluations fit evaluation; say which: a variable and an index or class", record.evaluation)
    refused(UnknownNameError, "2 evaluations fit evaluation of 'out'; say which: a variable and an index or class",
            record.evaluation, "out")
    refused(UnknownNameError, "2 evaluations fit Evaluation; say which: a variable and an index or class", record.evaluation, Evaluation)
    refused(UnknownNameError, "0 evaluations fit RegressionEvaluation of 'other'; say which: a variable and an index or class",
            record.evaluation, "other", RegressionEvaluation)
    refused(UnknownNameError, "no evaluation of 'othr'; did you mean 'other'?; evaluated: out, other", record.evaluations, "othr")
    refused(UnknownNameError, "no evaluation of 'a'; evaluated: nothing", EvaluationRecord({}).evaluations, "a")
    assert repr(record) == "EvaluationRecord({'out': ['Evaluation', 'RegressionEvaluation'], 'other': ['Evaluation']})"


def test_records_do_not_share_their_lists() -> None:
    given = [evaluated()]
    record = EvaluationRecord({"out": given})
    given.clear()
    record.evaluations()["out"].clear()
    record.evaluations("out").clear()
    assert len(record.evaluations("out")) == 1


def test_metrics_of_records() -> None:
    record = EvaluationRecord({"out": [evaluated(), RegressionEvaluation()], "other": [evaluated()]})
    assert record.get_value("other", F1) == evaluated().f1() == record.get_value("out", 0, F1)
    refused(UnknownNameError, "2 evaluations have the metric ClassificationMetric.F1; say which: a variable, or a variable and an index",
            record.get_value, F1)
    refused(UnknownNameError, f"0 evaluations have the metric {RegressionEvaluation.Metric.MSE}; say which: a variable, or a variable and "
            "an index", record.get_value, "other", RegressionEvaluation.Metric.MSE)


@pytest.mark.parametrize("kind", ["training", "validation"])
def test_records_of_epochs(kind) -> None:
    records = [EvaluationRecord({"out": [evaluated(), RegressionEvaluation()]}) for _ in range(2)]
    history = History(records, (), None, 5, ()) if kind == "training" else History((), records, None, 5, [1, 2])
    one, final, chosen = (getattr(history, name) for name in (
        f"{kind}_evaluations", f"final_{kind}_evaluations", f"{kind}_eval"))
    assert [one(k) for k in (0, 1, -1, -2)] == [records[k] for k in (0, 1, 1, 0)] and final() is records[1]
    for number in (2, -3):
        refused(UnknownNameError, f"no {kind} evaluations number {number}: 2 recorded", one, number)
    assert chosen() == records and chosen("out", 1) == [r.evaluation("out", 1) for r in records]
    assert chosen("out") == [r.evaluations("out") for r in records] == chosen(Named("out", True))
    assert chosen("out", F1) == chosen(F1) == chosen("out", 0, F1) == [evaluated().f1()] * 2
    assert (history.training_epochs(), history.validation_epochs()) == ((2, 0) if kind == "training" else (0, 2))


def test_times_and_defaults_of_histories() -> None:
    empty, curve = History(), LossCurve([Loss(["x"], [2.0])])
    assert (empty.loss_curve(), empty.training_time_millis(), empty.validation_times_millis()) == (None, 0, [])
    assert (empty.training_epochs(), empty.validation_epochs()) == (0, 0)
    history = History(loss=curve, training_time_millis=12, validation_times_millis=(3, 4))
    history.validation_times_millis().clear()
    assert (history.loss_curve(), history.training_time_millis(), history.validation_times_millis()) == (curve, 12, [3, 4])
    assert repr(history) == "History(0 epochs, 0 validations, LossCurve([Loss(x=2)]))"
