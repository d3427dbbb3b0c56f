"""Where users meet bfloat16, whose kind NumPy does not call floating."""
from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from dl4py import layers, networks, udf
from dl4py import samediff as sm
from dl4py.samediff import DataSet, DataType, SameDiff
from dl4py.samediff.errors import NumericalError

BRIEF = ml_dtypes.bfloat16
X = np.array([[1, 2], [3, 4]], BRIEF)
NAN = np.array([1, np.nan], BRIEF)


def test_check_finite_says_where():
    sd = SameDiff()
    x, y = (sd.placeholder(name, DataType.BFLOAT16, -1, 2) for name in "xy")
    (sd.math.log(x * sd.var("w", np.ones(2, BRIEF))).rename("logs") - y).mean().rename("loss")
    sd.set_loss_variables("loss")
    sd.set_training_config(sm.TrainingConfig.builder().updater(sm.Sgd(0.01)).data_set_feature_mapping("x").data_set_label_mapping("y").build())
    with pytest.raises(NumericalError, match="variable 'logs' is the first"):
        sd.fit(DataSet(-X, X), check_finite=True)


def test_check_finite_of_a_network_says_where():
    conf = networks.NeuralNetConfiguration.builder().data_type(DataType.BFLOAT16).list().layer(
        layers.OutputLayer(n_in=2, n_out=2, activation="softmax", loss="mcxent")).build()
    net = networks.MultiLayerNetwork(conf)
    net.init()
    with pytest.raises(NumericalError, match="'input' is the first"):
        net.fit(DataSet(np.array([[np.nan, 1]], BRIEF), X[:1]), check_finite=True)


@pytest.mark.parametrize("normalizer", [
    sm.NormalizerStandardize, sm.NormalizerMinMaxScaler, sm.ImagePreProcessingScaler, sm.VGG16ImagePreProcessor])
def test_normalizers_keep_the_type(normalizer):
    data = DataSet(np.arange(24).reshape(2, 3, 2, 2).astype(BRIEF), X)
    scaler = normalizer()
    scaler.fit(data)
    scaler.transform(data)
    assert data.features.dtype == BRIEF
    scaler.revert(data)
    assert data.features.dtype == BRIEF


def test_nan_equals_nan():
    assert DataSet(NAN.reshape(2, 1), None) == DataSet(NAN.reshape(2, 1), None)
    first, second = SameDiff(), SameDiff()
    for sd in (first, second):
        sd.constant("c", NAN)
    assert first.equals(second)


def test_costs_of_an_evaluation_are_written():
    evaluation = sm.Evaluation(cost_array=np.array([1, 2], BRIEF))
    evaluation.eval(X / 4, X / 4)
    assert sm.Evaluation.from_json(evaluation.to_json()).cost_array.ravel().tolist() == [1, 2]


def test_functions_keep_the_type():
    assert layers.ActivationTanH().get_activation(X, False).dtype == BRIEF


def test_ops_are_checked():
    report = udf.check_op("tanh", [X])
    assert report.passed and "gradient" in str(report)
