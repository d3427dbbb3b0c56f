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
