"""Options of fit and of the training configuration: misspelt ones, and batch_size."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.data import DataSet
from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.training import Sgd, TrainingConfig

X, Y = np.random.default_rng(5).normal(size=(2, 10, 3))


def graph():
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.DOUBLE, -1, 3), sd.placeholder("y", DataType.DOUBLE, -1, 3)
    w = sd.var("w", np.eye(3))
    ((x.mmul(w) - y) ** 2).mean("loss")
    sd.set_loss_variables("loss")
    sd.set_training_config(TrainingConfig(Sgd(0.1), data_set_feature_mapping="x", data_set_label_mapping="y"))
    return sd


def test_batch_size_cuts_arrays_and_data_sets():
    first, second, third = graph(), graph(), graph()
    first.fit(X, Y, batch_size=4, epochs=2)
    second.fit(DataSet(X, Y), batch_size=4, epochs=2)
    third.fit([DataSet(X[i:i + 4], Y[i:i + 4]) for i in (0, 4, 8)], 2)
    assert first.get_iteration_count() == 6
    for sd in (first, second):
        np.testing.assert_array_equal(sd.variable("w").get_arr(), third.variable("w").get_arr())


@pytest.mark.parametrize("call, text", [
    (lambda sd: sd.fit(X, Y, epoch=2), "fit has no option 'epoch'.*did you mean 'epochs'"),
    (lambda sd: sd.fit(X, Y, batchSize=2), "did you mean 'batch_size'"),
    (lambda sd: sd.fit(X, Y, batch_size=0), "above 0; got 0"),
    (lambda sd: sd.fit([DataSet(X, Y)], batch_size=2), "list decides on its batches"),
    (lambda sd: TrainingConfig(updatr=Sgd(1)), "TrainingConfig has no option 'updatr'.*did you mean 'updater'"),
    (lambda sd: TrainingConfig.builder().updatr(Sgd(1)), "'updatr'.*did you mean 'updater'"),
    (lambda sd: TrainingConfig.builder().dataSetFeatureMaping("x"), "did you mean 'data_set_feature_mapping'")])
def test_what_does_not_exist_is_refused_and_changes_nothing(call, text):
    sd = graph()
    with pytest.raises(ConfigurationError, match=text):
        call(sd)
    assert sd.get_iteration_count() == 0 and sd.variable("w").get_arr().tolist() == np.eye(3).tolist()
    assert not hasattr(TrainingConfig.builder(), "updatr")
