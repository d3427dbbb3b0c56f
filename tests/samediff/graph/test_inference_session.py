"""InferenceSession: the graph run without its methods."""
import numpy as np
import pytest

from dl4py.samediff import Adam, DataSet, DataType, InferenceSession, SameDiff, TrainingConfig
from dl4py.samediff.errors import ConfigurationError, GraphError
from dl4py.samediff.training import At, BaseListener, Operation


def test_a_session_computes_what_the_graph_computes():
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 2)
    y = x.mul("y", 2.0)
    y.add("z", 1.0)
    found = InferenceSession(sd).output(["z"], {"x": np.ones((3, 2), np.float32)}, None, ["y"])
    assert list(found) == ["z", "y"]
    np.testing.assert_array_equal(found["z"], np.full((3, 2), 3, np.float32))


@pytest.mark.parametrize("kind", [lambda d: d, DataSet.to_multi_data_set])
def test_a_batch_fills_placeholders_by_the_training_configuration(kind):
    sd = SameDiff.create()
    sd.placeholder("x", DataType.FLOAT, -1, 2).sub("y", sd.placeholder("t", DataType.FLOAT, -1, 2))
    sd.set_training_config(TrainingConfig.Builder().updater(Adam(0.1)).data_set_feature_mapping("x").data_set_label_mapping("t").build())
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    found = InferenceSession(sd).output(["y"], None, kind(DataSet(x, np.ones_like(x))))
    np.testing.assert_array_equal(found["y"], x - 1)


def test_training_mode_is_a_choice():
    sd = SameDiff.create()
    x = sd.var("x", np.ones(1000, np.float32))
    sd.nn.dropout_inverted("y", x, 0.5)
    session = InferenceSession(sd)
    assert (session.output(["y"])["y"] == 1).all()
    assert (session.output(["y"], training=True)["y"] == 0).any()


class Heard(BaseListener):
    def __init__(self):
        self.calls = []

    def is_active(self, operation):
        return operation is not Operation.TRAINING

    def operation_start(self, sd, op):
        self.calls.append(("start", op))

    def operation_end(self, sd, op):
        self.calls.append(("end", op))

    def activation_available(self, sd, at, batch, op, name, activation):
        self.calls.append((name, at.iteration(), float(activation)))


def test_listeners_given_hear_of_the_run():
    sd = SameDiff.create()
    sd.var("x", np.float32(2)).mul("y", 3.0)
    session, heard = InferenceSession(sd), Heard()
    assert session.output(["y"], None, None, [], [heard]) == {"y": 6}
    assert heard.calls == [("start", Operation.INFERENCE), ("y", 0, 6.0), ("end", Operation.INFERENCE)]
    heard.calls.clear()
    session.output(["y"], {}, None, None, [heard], At(1, 7, Operation.EVALUATION))
    assert heard.calls == [("start", Operation.EVALUATION), ("y", 7, 6.0), ("end", Operation.EVALUATION)]
    heard.calls.clear()
    session.output(["y"], {}, None, (), [heard], At(1, 7, Operation.TRAINING))
    assert not heard.calls      # it is not active there
    with pytest.raises(ConfigurationError, match="expected a listener"):
        session.output(["y"], {}, None, (), [print])


@pytest.mark.parametrize("arguments, got", [
    ((["y"], {}, {"x": 1}), "dict as placeholders, dict as batch"),
    ((["y"], ["y"]), "list as placeholders, NoneType as batch"),
])
def test_arguments_in_another_order_are_told_the_order(arguments, got):
    sd = SameDiff.create()
    sd.var("x", np.float32(2)).mul("y", 3.0)
    with pytest.raises(GraphError, match=f"placeholders by name, batch or None, required activations, listeners, at.*{got}"):
        InferenceSession(sd).output(*arguments)
