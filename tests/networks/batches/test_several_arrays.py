"""Batches of graphs with several inputs and outputs, in the forms that people have."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dl4py.layers import DenseLayer, MergeVertex, OutputLayer
from dl4py.networks import ComputationGraph, NeuralNetConfiguration
from dl4py.samediff.errors import UnknownNameError
from dl4py.samediff.training import Sgd
from tests.helpers.habits import MODELS, C, X, Y

Z = X[:, 0]
OTHER = X[::-1].copy()


def two_and_two() -> ComputationGraph:
    return ComputationGraph(NeuralNetConfiguration.Builder().seed(1).updater(Sgd(0.1)).graph_builder().add_inputs("a", "b")
                            .add_vertex("m", MergeVertex(), "a", "b").add_layer("d", DenseLayer(n_in=8, n_out=5), "m")
                            .add_layer("y", OutputLayer(n_in=5, n_out=3), "d")
                            .add_layer("z", OutputLayer(n_in=5, n_out=1, activation="identity", loss_function="mse"), "d")
                            .set_outputs("y", "z").build()).init()


#: Two batches in a list.
FORMS: dict[str, Any] = {
    "lists": ([X, OTHER], [Y, Z]), "tuples": ((X, OTHER), (C, Z)), "by name": {"a": X, "b": OTHER, "y": C, "z": Z},
    "inputs and labels by name": ({"a": X, "b": OTHER}, {"y": Y, "z": Z[:, None]}), "one after the other": (X, OTHER, C, Z),
    "in a list": [X, OTHER, Y, Z],
}


@pytest.mark.parametrize("form", FORMS)
def test_batches_of_several_arrays(form):
    net, wanted = two_and_two(), two_and_two()
    net.fit([FORMS[form]] * 2)
    for _ in range(2):
        wanted.fit([X, OTHER], [Y, Z[:, None]])
    np.testing.assert_array_equal(net.params(), wanted.params())
    if isinstance(FORMS[form], (dict, tuple)) and form != "tuples":
        np.testing.assert_array_equal(two_and_two().fit(FORMS[form]).params(), two_and_two().fit([X, OTHER], [Y, Z]).params())


def test_weights_by_output():
    weights = np.linspace(0, 2, 12)
    net, wanted = two_and_two(), two_and_two()
    net.fit([X, OTHER], [C, Z], sample_weight={"z": weights})
    wanted.fit([X, OTHER], [Y, Z[:, None]], None, [None, weights[:, None].astype(np.float32)])
    np.testing.assert_array_equal(net.params(), wanted.params())
    with pytest.raises(UnknownNameError, match="names the output 'zz'; did you mean 'z'"):
        net.fit([X, OTHER], [C, Z], sample_weight={"zz": weights})


@pytest.mark.parametrize("kind", ["list", "graph"])
def test_labels_beside_inputs_by_name(kind):
    net = MODELS[kind]()
    names = net.structure.inputs[0], net.structure.outputs[0]
    by_name = {names[0]: X}, {names[1]: C}
    assert net.evaluate(*by_name).accuracy() == net.evaluate(X, C).accuracy() and net.score(*by_name) == net.score(X, Y)
    assert net.score({names[0]: X, names[1]: C}, True) == net.score(X, Y)
    assert net.evaluate({names[0]: X, names[1]: C}, ["p", "q", "r"]).stats().count("p")
    assert two_and_two().score({"a": X, "b": OTHER}, {"y": C, "z": Z}) == two_and_two().score(([X, OTHER], [Y, Z]))
