"""Arrays with DL4J's methods in, such arrays out; plain ones in, plain ones out; getters of DL4J give the first, attributes the second."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dl4py
from dl4py import (
    LSTM,
    ActivationTanH,
    BaseTrainingListener,
    ComputationGraph,
    DataNormalization,
    DataSet,
    ImagePreProcessingScaler,
    INDArray,
    LayerWorkspaceMgr,
    ListDataSetIterator,
    LossMSE,
    MultiDataSet,
    MultiLayerNetwork,
    MultiNormalizerStandardize,
    Nd4j,
    NeuralNetConfiguration,
    NormalizerMinMaxScaler,
    NormalizerStandardize,
    ParallelInference,
    RnnOutputLayer,
    SameDiff,
)
from dl4py.samediff.base.java.pair import Pair
from dl4py.samediff.errors import GraphError
from tests.helpers.habits import X, Y, graph_network, list_network, samediff


def kinds(found: Any) -> set[type]:
    """The classes of all arrays in a result."""
    if isinstance(found, dict):
        return kinds(list(found.values()))
    if isinstance(found, (list, tuple)):
        return {kind for one in found for kind in kinds(one)}
    return {type(found)} if isinstance(found, np.ndarray) else set()


def with_epsilon(x: Any) -> Any:
    net = list_network()
    net.set_input(np.asarray(x))
    return net.backprop_gradient(x[:, :3])[1]


def layer_before_activation(x: Any) -> Any:
    layer = list_network().get_layer(0)
    layer.set_input(x)
    return layer.activate(False), layer.pre_output()


#: Calls that answer in the kind of what they are given.
IN_KIND = {
    "output": lambda x: list_network().output(x),
    "output in pieces": lambda x: list_network().output(x, batch_size=5),
    "call": lambda x: list_network()(x),
    "feed_forward": lambda x: list_network().feed_forward(x),
    "feed_forward_to_layer": lambda x: list_network().feed_forward_to_layer(0, x),
    "activate_selected_layers": lambda x: list_network().activate_selected_layers(0, 1, x),
    "backprop_gradient": with_epsilon,
    "score_examples": lambda x: list_network().score_examples(x, Y),
    "layer": lambda x: list_network().get_layer(0).activate(x),
    "layer, its input set": layer_before_activation,
    "graph": lambda x: [graph_network().output(x), graph_network().output(False, x), graph_network().output([x])],
    "graph, single": lambda x: graph_network().output_single(x),
    "graph, by name": lambda x: graph_network().feed_forward(x),
    "samediff": lambda x: samediff().output({"x": x}, "p"),
    "samediff, in pieces": lambda x: samediff().output({"x": x}, "p", batch_size=5),
    "samediff, single": lambda x: samediff().output_single({"x": x}, "p"),
    "samediff, value": lambda x: samediff().get_variable("p").eval({"x": x}),
    "samediff, gradients": lambda x: samediff().calculate_gradients({"x": x, "y": Y, "weights": np.ones((12, 1), np.float32)}, "w"),
    "activation": lambda x: ActivationTanH().get_activation(x[:2]),
    "loss": lambda x: LossMSE().compute_gradient(x, x * 2, "identity"),
}


@pytest.mark.parametrize("call", IN_KIND)
def test_calls_answer_in_kind(call):
    plain, wrapped = IN_KIND[call](X.copy()), IN_KIND[call](INDArray.of(X.copy()))
    assert kinds(plain) == {np.ndarray} and kinds(wrapped) == {INDArray}
    if isinstance(plain, np.ndarray):
        np.testing.assert_array_equal(plain, wrapped)


def with_gradient() -> Any:
    net = list_network()
    net.set_input(X)
    net.set_labels(Y)
    net.compute_gradient_and_score()
    return net.gradient()


def recurrent() -> Any:
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list(LSTM(n_in=4, n_out=3), RnnOutputLayer(n_out=2)).build()).init()
    net.rnn_time_step(X)
    return net


def with_inputs(net: Any) -> Any:
    net.set_inputs(X) if isinstance(net, ComputationGraph) else net.set_input(X)
    net.set_labels(Y)
    return net


def heard() -> Any:
    class Listening(BaseTrainingListener):
        found: Any = None

        def onForwardPass(self, model, activations):
            self.found = activations

    listeners = Listening(), Listening()
    for net, listener in zip((list_network(), graph_network()), listeners):
        net.set_listeners(listener)
        net.fit(X, Y)
    return [one.found for one in listeners]


def batches() -> Any:
    return ListDataSetIterator(DataSet(X, Y).as_list(), 5)


def fitted(normalizer: Any, data: Any) -> Any:
    normalizer.fit(data)
    return normalizer


#: Getters of DL4J.
GETTERS = {
    "features": lambda: DataSet(X, Y).get_features(), "labels": lambda: DataSet(X, Y).getLabels(),
    "masks": lambda: DataSet(X, Y, Y, Y).get_labels_mask_array(), "several": lambda: MultiDataSet([X], [Y]).get_features(),
    "one of several": lambda: MultiDataSet([X], [Y]).get_labels(0), "parameter": lambda: list_network().get_param("0_W"),
    "parameters": lambda: list_network().param_table(), "layer": lambda: list_network().get_layer(0).get_param("W"),
    "gradient": lambda: with_gradient().gradient(), "gradients": lambda: with_gradient().gradient_for_variable(),
    "scores": lambda: [list_network().score_examples(DataSet(X, Y), True), graph_network().score_examples(batches())],
    "variable": lambda: samediff().variable("w").get_arr(),
    "mean": lambda: fitted(NormalizerStandardize(), DataSet(X, Y)).get_mean(),
    "max": lambda: fitted(NormalizerMinMaxScaler(), DataSet(X, Y)).getMax(),
    "inputs that were set": lambda: [with_inputs(list_network()).getInput(), with_inputs(graph_network()).getInputs()],
    "labels that were set": lambda: with_inputs(list_network()).getLabels(),
    "activations of inputs that were set": lambda: [with_inputs(list_network()).feedForward(), with_inputs(list_network()).activate(True),
                                                    with_inputs(list_network()).feedForwardToLayer(0),
                                                    with_inputs(graph_network()).feedForward()],
    "states": lambda: [recurrent().rnnGetPreviousState(0), recurrent().rnnGetPreviousStates()],
    "updater": lambda: [list_network().getUpdater().getStateViewArray(), list_network().updaterState()],
    "gradients of the last step": lambda: list_network().getGradientsViewArray(), "listeners": heard,
    "outputs of iterators": lambda: [list_network().output(batches()), graph_network().output(batches()), samediff().output(batches(), "p"),
                                     samediff().output(DataSet(X, Y), "p")],
    "means": lambda: fitted(MultiNormalizerStandardize(), MultiDataSet([X], [Y])).get_feature_mean(0),
}


@pytest.mark.parametrize("getter", GETTERS)
def test_getters(getter):
    assert kinds(GETTERS[getter]()) == {INDArray}


def test_attributes_are_plain():
    assert kinds([DataSet(X, Y).features, MultiDataSet([X], [Y]).labels, DataSet(INDArray.of(X), Y).features]) == {np.ndarray}
    assert DataSet(X, Y).getFeatures().getDouble(1, 2) == X[1, 2]
    data = DataSet(X.copy(), Y)
    data.getFeatures().muli(2)                      # the same memory, as in DL4J
    np.testing.assert_array_equal(data.features, 2 * X)


def test_graphs_of_arrays_with_methods_go_on_with_them():
    sd = SameDiff.create()
    v = sd.var("v", Nd4j.ones(2))
    assert kinds([v.add(1.0).eval(), sd.output({}, v)]) == {INDArray}
    sd = SameDiff.create()
    x = sd.placeholder("x", "FLOAT", 2)
    y = x * 2
    x.set_array(np.ones(2))
    assert kinds(y.eval()) == {np.ndarray}
    x.set_array(Nd4j.ones(2))
    assert kinds(y.eval()) == {INDArray}


def test_served():
    with ParallelInference.Builder(list_network()).workers(1).build() as served:
        assert kinds(served.output(X)) == {np.ndarray} and kinds(served.output(INDArray.of(X))) == {INDArray}


def test_parameters_change_by_methods_of_dl4j():
    for net in (list_network(), graph_network()):
        params, before = net.params(), np.array(net.params())
        assert params.subi(0.5) is params
        np.testing.assert_allclose(net.params(), before - 0.5, rtol=1e-6)
        np.testing.assert_array_equal(params, net.params())
        params.putScalar(0, 7.0)
        net.params().assign(net.params().mul(2))
        assert net.params().getDouble(0) == 14 and params.getDouble(0) == 7
        for change in (lambda p=params: p.__isub__(1), lambda p=params: p.__setitem__(0, 1), lambda p=params: p.fill(0),
                       lambda p=params: p[:3].addi(1)):
            with pytest.raises(GraphError, match="would not change the network"):
                change()
        copy = params.dup()
        assert copy.addi(1) is copy and net.params().getDouble(0) == 14
        assert "ReadOnly" not in repr(params)


@pytest.mark.parametrize("normalizer", [NormalizerStandardize(), NormalizerMinMaxScaler(), ImagePreProcessingScaler()], ids=repr)
def test_normalizers_change_arrays_with_methods(normalizer):
    assert isinstance(normalizer, DataNormalization)
    normalizer.fit(DataSet(X, Y))
    given = INDArray.of(X.copy())
    assert normalizer.transform(given) is given
    np.testing.assert_array_equal(given, normalizer.transform(X))
    assert normalizer.revertFeatures(given) is given
    np.testing.assert_allclose(given, X, rtol=1e-4, atol=1e-5)
    whole = INDArray.of(np.arange(12).reshape(3, 4))
    assert kinds(normalizer.transform(whole)) == {INDArray} and whole.tolist() == np.arange(12).reshape(3, 4).tolist()


def test_activations_change_arrays_with_methods():
    given = INDArray.of(X[:2].copy())
    assert ActivationTanH().getActivation(given, True) is given
    np.testing.assert_allclose(given, np.tanh(X[:2]), rtol=1e-6)
    given, epsilon = INDArray.of(X[:2].copy()), INDArray.of(np.ones((2, 4), np.float32))
    gradient = ActivationTanH().backprop(given, epsilon)
    assert isinstance(gradient, Pair) and gradient.getFirst() is given
    np.testing.assert_allclose(given, 1 - np.tanh(X[:2]) ** 2, rtol=1e-5)


def test_updates_take_the_network_and_a_workspace_manager():
    vectors = []
    for form in (lambda net, g: net.get_updater().update(g, 0, 0, 12), lambda net, g: net.getUpdater().update(net, g, 0, 0, 12, None)):
        net = list_network()
        net.set_input(X)
        net.set_labels(Y)
        net.compute_gradient_and_score()
        gradient = net.gradient()
        form(net, gradient)
        vectors.append(np.array(gradient.gradient()))
    np.testing.assert_array_equal(*vectors)
    assert np.abs(vectors[0]).max() > 0


def test_activations_before_the_function():
    net = list_network()
    hidden, last = net.get_layer(0), net.get_layer(1)
    hidden.set_input(X)
    np.testing.assert_allclose(hidden.pre_output(), X @ net.get_param("0_W") + net.get_param("0_b"), rtol=1e-5, atol=1e-6)
    inner = hidden.activate(X)
    last.setInput(inner, LayerWorkspaceMgr.noWorkspaces())
    z = last.preOutput(False, LayerWorkspaceMgr.noWorkspacesImmutable())
    np.testing.assert_allclose(np.exp(z) / np.exp(z).sum(1, keepdims=True), last.activate(inner), rtol=1e-5)
    assert last.input() is inner
    with pytest.raises(GraphError, match="set_input"):
        list_network().get_layer(0).activate(True)


@pytest.mark.parametrize("name, said", [("TanDerivative", "op_classes import TanDerivative"), ("SparkDl4jMultiLayer", "dl4py.spark"),
                                        ("ParameterAveragingTrainingMaster", "dl4py.spark")])
def test_names_that_stand_elsewhere(name, said):
    with pytest.raises(AttributeError, match=said):
        getattr(dl4py, name)
    assert dl4py.NormalizerSerializer.__module__.startswith("dl4py.samediff.files")
