"""Evaluation of graphs: recorded classifications, regressions and histories of DL4J; label indices, masks."""
from __future__ import annotations

import json

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.data import DataSet, ExistingDataSetIterator, MultiDataSet
from dl4py.samediff.errors import ConfigurationError, UnknownNameError
from dl4py.samediff.evaluation import Evaluation, RegressionEvaluation, ROCMultiClass
from dl4py.samediff.training import Adam, Sgd, TrainingConfig


@pytest.fixture
def recorded(golden):
    def load(name):
        folder = golden / "samediff" / "eval" / name
        with np.load(folder / "arrays.npz") as stored:
            return json.loads((folder / "case.json").read_text()), dict(stored)
    return load


def batches(arrays, count, x, y):
    return ExistingDataSetIterator([DataSet(arrays[f"batch{i}/{x}"], arrays[f"batch{i}/{y}"]) for i in range(count)])


def classifier(arrays, **options):
    sd = SameDiff.create()
    x, y = sd.placeholder("input", DataType.FLOAT, -1, 4), sd.placeholder("label", DataType.FLOAT, -1, 3)
    w0, b0, w1, b1 = (sd.var(n, arrays[f"init/{n}"]) for n in ("w0", "b0", "w1", "b1"))
    logits = sd.math.tanh(x.mmul(w0) + b0).mmul(w1) + b1
    sd.nn.softmax("softmax", logits)
    sd.loss.softmax_cross_entropy("loss", y, logits, None)
    sd.set_training_config(TrainingConfig(Adam(0.05), data_set_feature_mapping="input", data_set_label_mapping="label", **options))
    return sd


def check(evaluation, expected):
    for name in ("accuracy", "precision", "recall", "f1"):
        np.testing.assert_allclose(getattr(evaluation, name)(), expected[name], rtol=1e-6)
    assert evaluation.stats() == expected["stats"]


def test_recorded_classification(recorded):
    case, arrays = recorded("classification")
    sd, data = classifier(arrays), batches(arrays, 4, "input", "label")
    before, roc = Evaluation(), ROCMultiClass(0)
    sd.evaluate(data, "softmax", 0, before, roc)
    check(before, case["before"])
    np.testing.assert_allclose([roc.calculate_auc(i) for i in range(3)], case["auc_before"], rtol=1e-5)
    rows = list(data)
    for k in range(10):
        sd.fit(rows[k % 4])
    for name in ("w0", "b0", "w1", "b1"):
        np.testing.assert_allclose(sd.get_variable(name).get_arr(), arrays[f"var10/{name}"], rtol=1e-4, atol=1e-6)
    check(sd.evaluate(data, "softmax", Evaluation()).evaluation(), case["after"])
    outputs = sd.output(data, "softmax", "loss")
    np.testing.assert_allclose(outputs["softmax"], arrays["iterator_output/softmax"], rtol=1e-4)
    np.testing.assert_allclose(outputs["loss"], arrays["iterator_output/loss"], rtol=1e-4)
    found = sd.output_batches(data, "softmax")
    assert len(found) == case["outputBatches_number"]
    np.testing.assert_allclose(found[1]["softmax"], arrays["iterator_batch1/softmax"], rtol=1e-4)


def test_recorded_history(recorded):
    case, arrays = recorded("history")
    options = {f"{kind}_{what}": value for kind in ("train", "validation")
               for what, value in (("evaluations", {"softmax": [Evaluation()]}), ("evaluation_labels", {"softmax": 0}))}
    sd, data = classifier(arrays, **options), batches(arrays, 4, "input", "label")
    history = sd.fit(data, 4, batches(arrays, 4, "input", "label"), 2)
    assert (history.training_epochs(), history.validation_epochs()) == (case["training_epochs"], case["validation_epochs"])
    metric = Evaluation.Metric
    np.testing.assert_allclose(history.training_eval("softmax", metric.ACCURACY), case["train_accuracy_per_epoch"])
    np.testing.assert_allclose(history.training_eval("softmax", metric.F1), case["train_f1_per_epoch"], rtol=1e-6)
    np.testing.assert_allclose(history.validation_eval("softmax", metric.ACCURACY), case["validation_accuracy"])
    check(history.final_training_evaluations().evaluation("softmax"), case["final_train"])
    check(history.final_validation_evaluations().evaluation("softmax"), case["final_validation"])
    assert history.training_evaluations(-1) is history.final_training_evaluations()
    with pytest.raises(UnknownNameError, match="7"):
        history.training_evaluations(7)
    with pytest.raises(UnknownNameError, match=r"from 0 to .*got 'softmax'.*evaluations\(name\)"):
        history.training_evaluations("softmax")
    for name in ("w0", "b0", "w1", "b1"):
        np.testing.assert_allclose(sd.get_variable(name).get_arr(), arrays[f"var/{name}"], rtol=1e-4, atol=1e-6)


def test_recorded_regression(recorded):
    case, arrays = recorded("regression")
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 3)
    sd.placeholder("y", DataType.FLOAT, -1, 2)
    x.mmul(sd.var("w", arrays["init/w"])).add("z", sd.var("b", arrays["init/b"]))
    sd.set_training_config(TrainingConfig(Sgd(0.1), data_set_feature_mapping="x", data_set_label_mapping="y"))
    evaluation = RegressionEvaluation()
    sd.evaluate(batches(arrays, 3, "x", "y"), {"z": evaluation})
    assert evaluation.stats() == case["before"]["stats"]


def two_heads():
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 2)
    sd.placeholder("y0", DataType.FLOAT, -1, 2)
    sd.placeholder("y1", DataType.FLOAT, -1, 2)
    x.add("a", 1.0)
    x.mul("b", 2.0)
    sd.set_training_config(TrainingConfig(Sgd(0.1), data_set_feature_mapping="x", data_set_label_mapping=["y0", "y1"]))
    return sd


def test_label_index_chooses_the_array():
    x = np.arange(8.0).reshape(4, 2)
    data = [MultiDataSet([x], [x + 1, x * 2])]
    found = two_heads().evaluate(data, {"a": RegressionEvaluation(), "b": [RegressionEvaluation()]}, {"a": 0, "b": 1})
    assert found.evaluation("a").average_mean_squared_error() == found.evaluation("b").average_mean_squared_error() == 0
    crossed = two_heads().evaluate(data, "a", 1, RegressionEvaluation()).evaluation()
    np.testing.assert_allclose(crossed.average_mean_squared_error(), ((x + 1 - x * 2) ** 2).mean())


def test_missing_label_array():
    x = np.ones((4, 2))
    with pytest.raises(ConfigurationError, match="label"):
        two_heads().evaluate(DataSet(x, x), "a", RegressionEvaluation())
