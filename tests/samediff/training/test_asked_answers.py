"""What graphs and their training configurations answer when they are asked."""
from __future__ import annotations

import numpy as np

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.data import DataSet
from dl4py.samediff.evaluation import Evaluation, RegressionEvaluation
from dl4py.samediff.graph.validation import OpValidation, TestCase
from dl4py.samediff.training import Adam, L1Regularization, L2Regularization, Loss, TrainingConfig


def graph():
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.FLOAT, -1, 4), sd.placeholder("y", DataType.FLOAT, -1, 3)
    w = sd.var("w", np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32))
    sd.loss.mean_squared_error("loss", y, sd.nn.softmax("p", x.mmul(w)))
    return sd


def test_terms_added_to_a_configuration():
    config = (TrainingConfig.builder().updater(Adam(0.1)).l2(0.5).add_regularization(L1Regularization(0.25))
              .data_set_feature_mapping("x").data_set_label_mapping("y").build())
    assert config.get_regularization() == [L2Regularization(0.5), L1Regularization(0.25)]


def test_several_evaluations_at_once():
    sd = graph()
    sd.set_training_config(TrainingConfig.builder().updater(Adam(0.1)).data_set_feature_mapping("x").data_set_label_mapping("y").build())
    x, y = np.random.default_rng(2).normal(size=(9, 4)).astype(np.float32), np.eye(3)[np.arange(9) % 3]
    found, errors = Evaluation(), RegressionEvaluation(3)
    sd.evaluate_multiple([DataSet(x, y)], {"p": [found, errors]})
    p = sd.output({"x": x}, "p")["p"]
    assert found.accuracy() == (p.argmax(1) == y.argmax(1)).mean()
    assert abs(errors.average_mean_squared_error() - ((p - y) ** 2).mean()) < 1e-6
    assert sd.get_variable("p").get_same_diff() is sd


def test_number_of_losses():
    assert Loss(["mse", "l2"], [1.5, 0.25]).num_losses() == 2


def test_variables_left_out_of_a_check():
    def case():
        sd = SameDiff.create()
        w = sd.var("w", np.ones((2, 2)))
        wrong = sd.var("v", np.full((2, 2), 2.0))
        (w.mul(wrong) + sd.math.floor(wrong)).sum("loss")       # floor has steps where v is: no gradient there
        sd.set_loss_variables("loss")
        return TestCase(sd)

    assert OpValidation.validate(case()) == "gradient check failed"
    assert OpValidation.validate(case().grad_check_skip_variables("v")) is None
