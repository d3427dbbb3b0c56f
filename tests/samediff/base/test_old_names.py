"""Calls that users of DL4J and of Python try first: what the errors say, and copies of graphs."""
from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from dl4py.samediff import DataType, InferenceSession, SameDiff
from dl4py.samediff.data import DataSet
from dl4py.samediff.errors import ConfigurationError, DL4PyError
from dl4py.samediff.evaluation import Evaluation
from dl4py.samediff.training import Adam, TrainingConfig


def graph():
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 4)
    sd.nn.softmax("o", x.mmul(sd.var("w", np.arange(12, dtype=np.float32).reshape(4, 3))))
    return sd


@pytest.mark.parametrize("call, said", [
    (lambda sd: sd.execAll(), "output_all"),
    (lambda sd: sd.exec(), "no value for placeholder 'x'"),
    (lambda sd: SameDiff.create().exec(), "of which the graph has none"),
    (lambda sd: SameDiff.create().execAndEndResult(), "of which the graph has none"),
    (lambda sd: sd.f().sofmax("x"), "no op 'sofmax'"),
    (lambda sd: SameDiff.importTensorflow("model.pb"), "import_frozen_tf"),
    (lambda sd: sd.import_keras("model.h5"), "KerasModelImport"),
    (lambda sd: SameDiff.crate(), "class SameDiff has no attribute 'crate'"),
    (lambda sd: sd.loss.mse("l", "a", "b"), "did you mean 'mean_squared_error'"),
    (lambda sd: sd.loss.mae("l", "a", "b"), "did you mean 'absolute_difference'"),
    (lambda sd: sd.loss.XENT("a", "b"), "did you mean 'sigmoid_cross_entropy'"),
    (lambda sd: InferenceSession(3), "takes a graph; got int"),
    (lambda sd: TrainingConfig.builder().learning_rate(0.1), "updater"),
])
def test_errors_say_what_is_written_here(call, said):
    with pytest.raises(DL4PyError, match=said):
        call(graph())


@pytest.mark.parametrize("name, said", [("opNum", "op.id"), ("nothing", "has no 'nothing'$")])
def test_nodes_say_what_they_have(name, said):
    node = graph().nodes()[0]
    with pytest.raises(AttributeError, match=said):
        getattr(node, name)
    assert not hasattr(node, "__array__") and copy.copy(node) == node


def test_labels_of_an_evaluation_need_no_placeholder():
    sd = graph()
    sd.set_training_config(TrainingConfig.builder().updater(Adam(0.1)).data_set_feature_mapping("x").mark_labels_unused().build())
    x, y = np.eye(4, dtype=np.float32)[:3], np.eye(3)[[2, 2, 0]]
    found = Evaluation()
    sd.evaluate([DataSet(x, y, None, np.array([[1.0], [1], [0]]))], "o", 0, found)
    assert found.get_num_row_counter() == 2 and found.accuracy() == 1
    with pytest.raises(ConfigurationError, match="label array 1 of 'o' is asked for"):
        sd.evaluate(DataSet(x, y), "o", 1, Evaluation())


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda sd: pickle.loads(pickle.dumps(sd))])
def test_copies_of_graphs_stand_alone(copied):
    sd = graph()
    sd.seed = 7
    other = copied(sd)
    x = np.ones((1, 4), np.float32)
    np.testing.assert_array_equal(other.output({"x": x}, "o")["o"], sd.output({"x": x}, "o")["o"])
    other.get_variable("w").set_array(np.zeros((4, 3), np.float32))
    assert other.seed == 7 and sd.get_variable("w").get_arr()[3, 2] == 11


