"""InferenceSession: the graph run without its methods."""
import numpy as np

from dl4py.samediff import DataType, InferenceSession, SameDiff


def test_a_session_computes_what_the_graph_computes():
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 2)
    y = x.mul("y", 2.0)
    y.add("z", 1.0)
    found = InferenceSession(sd).output(["z"], {"x": np.ones((3, 2), np.float32)}, None, ["y"])
    assert list(found) == ["z", "y"]
    np.testing.assert_array_equal(found["z"], np.full((3, 2), 3, np.float32))


def test_training_mode_is_a_choice():
    sd = SameDiff.create()
    x = sd.var("x", np.ones(1000, np.float32))
    sd.nn.dropout_inverted("y", x, 0.5)
    session = InferenceSession(sd)
    assert (session.output(["y"])["y"] == 1).all()
    assert (session.output(["y"], training=True)["y"] == 0).any()
