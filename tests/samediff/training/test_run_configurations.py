"""Requests that are described first and run with exec(); values that they give."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import BatchOutputConfig, DataSet, DataType, Evaluation, OutAndGrad, SameDiff, SDValue, SDValueType
from dl4py.samediff.errors import ConfigurationError, GraphError
from dl4py.samediff.evaluation import CustomEvaluation
from dl4py.samediff.training import EvaluationConfig, FitConfig, Listener, OutputConfig, Sgd, TrainingConfig

X, Y = np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32)[[0, 1, 1]]
DATA = DataSet(X, Y)


def graph():
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.FLOAT, -1, 3), sd.placeholder("y", DataType.FLOAT, -1, 3)
    z = x.mmul(sd.var("w", np.eye(3, dtype=np.float32)), name="z")
    sd.loss.softmax_cross_entropy("loss", y, z)
    sd.set_loss_variables("loss")
    sd.set_training_config(TrainingConfig(Sgd(0.1), data_set_feature_mapping="x", data_set_label_mapping="y"))
    return sd


class Count(Listener):
    batches = 0

    def iteration_start(self, sd, at, data, etl_time_ms):
        self.batches += 1


def test_evaluate():
    sd, heard = graph(), Count()
    request = sd.evaluate().evaluate("z", Evaluation()).labelIndex("z", 0).data([DATA, DATA]).listeners(heard)
    record = request.exec()
    assert isinstance(request, EvaluationConfig) and heard.batches == 2
    assert record.evaluation("z").accuracy() == pytest.approx(2 / 3)
    assert sd.evaluate().evaluate("z", 0, Evaluation()).data(DATA).exec().evaluation().accuracy() == pytest.approx(2 / 3)
    with pytest.raises(ConfigurationError, match="label array 0 already; it cannot be 1"):
        request.evaluate("z", 1, Evaluation())
    with pytest.raises(ConfigurationError, match="no data"):
        sd.evaluate().evaluate("z", Evaluation()).exec()
    with pytest.raises(ConfigurationError, match="nothing to evaluate"):
        sd.evaluate().data(DATA).exec()


def test_output():
    sd, heard = graph(), Count()
    request = sd.output().output("z").data([DATA, DATA]).listeners(heard)
    assert isinstance(request, OutputConfig) and request.exec()["z"].tolist() == np.concatenate([X, X]).tolist() and heard.batches == 2
    assert [b["z"].shape for b in request.exec_batches()] == [b.shape for b in request.execSingleBatches()] == [(3, 3)] * 2
    assert request.exec_single().shape == (6, 3)
    with pytest.raises(GraphError, match="exactly one output is needed, 2 were asked for: z, loss"):
        request.output("loss").exec_single()
    with pytest.raises(ConfigurationError, match="no data"):
        sd.output().output("z").exec()


def test_batch_output():
    sd, heard = graph(), []

    class Hear(Listener):
        def operation_start(self, sd, operation):
            heard.append(operation.name)

    request = sd.batch_output().input("x", X).output("z").listeners(Hear())
    assert isinstance(request, BatchOutputConfig) and request.output()["z"].tolist() == X.tolist() == request.output_single().tolist()
    assert heard == ["INFERENCE"] * 2 and isinstance(sd.fit(), FitConfig)


def test_batch_output_of_values():
    sd = graph()
    request = sd.batch_output().value_inputs({"x": SDValue.create(X)}).output("z")
    assert request.output_value() == {"z": SDValue.create(X)}
    rows = sd.batchOutput().valueInput("x", SDValue.create(list(X))).output("z")
    assert rows.outputValue()["z"].get_tensor_value().tolist() == X.tolist()
    sd.create_sequence("parts", [X, X + 1])
    parts = sd.batch_output().output("parts").output_value()["parts"]
    assert parts.get_sd_value_type() is SDValueType.LIST and parts.get_list_value()[1].tolist() == (X + 1).tolist()
    with pytest.raises(GraphError, match="takes an SDValue, got ndarray"):
        sd.batch_output().value_input("x", X)
    assert sd.fit().train([DataSet(X, Y)]).epochs(3)._values["epochs"] == 3
    with sd.with_name_scope("here") as scope:
        assert repr(scope) == "NameScope('here')"


def test_outputs_and_gradients():
    found = graph().calculate_gradients_and_outputs({"x": X, "y": Y}, ["z"], ["w"])
    outputs, gradients = found
    assert isinstance(found, OutAndGrad) and found.outputs is outputs and list(outputs) == ["z"] and found.gradients["w"].shape == (3, 3)
    assert found.gradients is gradients
    assert found.getOutputs()["z"].shape() == outputs["z"].shape and found.get_gradients()["w"].equals(gradients["w"])


def test_values():
    array, listed, named = SDValue.create(X), SDValue.create([X, Y]), SDValue.create({"a": X})
    assert array.get_tensor_value() is X and array.getListValue()[0] is X and listed.get_list_value()[1] is Y
    assert named.get_dict_value()["a"] is X and named.get_collection()[0] is X and named.get_sd_value_type() is SDValueType.DICT
    assert SDValue.create([X]).get_tensor_value() is X and SDValue.empty("TENSOR", DataType.INT).get_tensor_value().dtype == np.int32
    assert array == SDValue.create(X.copy()) != listed and named != SDValue.create({"b": X})
    assert SDValue.empty(SDValueType.LIST).get_list_value() == []
    for wrong in (listed.get_tensor_value, named.get_list_value, array.get_dict_value):
        with pytest.raises(GraphError, match="the value is a"):
            wrong()


def test_an_evaluation_of_ones_own():
    mean = CustomEvaluation(lambda y, p, mask: np.abs(y - p).sum())
    assert np.isnan(mean.value())
    mean.eval(X, Y)
    mean.eval(X, X)
    other = mean.new_instance()
    other.eval(X, -X)
    mean.merge(other)
    assert mean.value() == mean.get_value() == pytest.approx(8 / 3) and "3 batches" in mean.stats()
    largest = graph().evaluate([DATA, DATA], "z", CustomEvaluation(lambda y, p, m: len(y), sum)).evaluation("z")
    assert largest.value() == 6
    largest.reset()
    assert np.isnan(largest.value()) and mean != other
    for write in (mean.to_json, mean.to_yaml):
        with pytest.raises(ConfigurationError, match="holds functions"):
            write()
    with pytest.raises(ConfigurationError, match="needs a function"):
        CustomEvaluation(3)
