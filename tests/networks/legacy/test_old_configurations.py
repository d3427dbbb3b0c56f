"""Configurations of 0.5.0 ... beta3 as today's objects."""
from __future__ import annotations

import json

import pytest

from dl4py.layers import (
    BatchNormalization,
    ConvolutionLayer,
    DenseLayer,
    EmbeddingLayer,
    OutputLayer,
    SubsamplingLayer,
    layer,
)
from dl4py.networks import ComputationGraphConfiguration, MultiLayerConfiguration
from dl4py.networks.structure.order import hash_order, topological_order
from dl4py.samediff.errors import ConfigurationError, MissingOpError
from dl4py.samediff.training import AdaGrad, Adam, Nesterovs, NoOp, RmsProp, Sgd

BASE = {"layerName": "l", "activationFunction": "relu", "weightInit": "XAVIER", "biasInit": 0.0, "dist": None, "learningRate": 0.1,
        "biasLearningRate": 0.1, "momentum": "NaN", "l1": 0.0, "l2": 0.0, "biasL1": 0.0, "biasL2": 0.0, "dropOut": 0.0, "updater": "SGD",
        "rho": "NaN", "rmsDecay": "NaN", "adamMeanDecay": "NaN", "adamVarDecay": "NaN", "epsilon": "NaN",
        "gradientNormalization": "None", "gradientNormalizationThreshold": 1.0, "nin": 3, "nout": 4}


def listed(*layers, **conf):
    confs = [{"layer": one, "seed": 1, "numIterations": 1, "useRegularization": True, "useDropConnect": False, "variables": ["W", "b"],
              "l1ByParam": {}, "optimizationAlgo": "STOCHASTIC_GRADIENT_DESCENT", **conf} for one in layers]
    text = json.dumps({"backprop": True, "pretrain": False, "redistributeParams": False, "confs": confs})
    return MultiLayerConfiguration.from_json(text)


def only(**changes):
    wrapper = changes.pop("wrapper", "dense")
    conf = {k: changes.pop(k) for k in ("useRegularization", "useDropConnect", "learningRatePolicy", "variables") if k in changes}
    return listed({wrapper: {k: v for k, v in (BASE | changes).items() if v is not ...}}, **conf).layers[0]


def test_names_of_the_wrapper_era():
    conf = listed({"dense": BASE}, {"output": BASE | {"activationFunction": "softmax", "lossFunction": "MCXENT"}})
    dense, output = conf.layers
    assert isinstance(dense, DenseLayer)
    assert isinstance(output, OutputLayer)
    modern = DenseLayer(n_in=3, n_out=4, activation="relu", weight_init="XAVIER", updater=Sgd(0.1), layer_name="l", gain_init=0.0,
                        bias_init=0.0, gradient_normalization="None", gradient_normalization_threshold=1.0)
    assert dense == modern
    assert type(output.activation).__name__ == "ActivationSoftmax"
    assert output.loss_fn.softmax_clip_eps == 1e-10
    text = conf.to_json()
    assert "numIterations" not in text
    assert '"l2"' not in text
    assert MultiLayerConfiguration.from_json(text) == conf


@pytest.mark.parametrize(("changes", "expected"), [
    ({"updater": "ADAM", "adamMeanDecay": 0.8, "adamVarDecay": 0.99, "epsilon": 1e-6}, Adam(0.1, beta1=0.8, beta2=0.99, epsilon=1e-6)),
    ({"updater": "ADAM"}, Adam(0.1)),
    ({"updater": "NESTEROVS", "momentum": 0.7}, Nesterovs(0.1, 0.7)),
    ({"updater": "RMSPROP", "rmsDecay": 0.9}, RmsProp(0.1, rms_decay=0.9)),
    ({"updater": "ADAGRAD"}, AdaGrad(0.1)),
    ({"updater": "NONE"}, NoOp()),
    ({"iupdater": {"@class": "org.nd4j.linalg.learning.config.Sgd", "learningRate": 0.3}}, Sgd(0.3)),
])
def test_updaters(changes, expected):
    assert only(**changes).updater == expected


def test_learning_rate_of_biases():
    assert only(updater="NESTEROVS", momentum=0.7, biasLearningRate=0.2).bias_updater == Nesterovs(0.2, 0.7)
    assert only().bias_updater is None


def test_penalties_were_added_behind_the_updater():
    (l1, decay) = only(l1=0.2, l2=0.03).regularization
    assert (type(l1).__name__, l1.l1.value_at(0, 0)) == ("L1Regularization", 0.2)
    assert (type(decay).__name__, decay.coeff.value_at(0, 0), decay.apply_lr) == ("WeightDecay", 0.03, False)
    assert only(l2=0.03, useRegularization=False).regularization == ()
    assert len(only(l1Bias=0.1).regularization_bias) == 1
    assert only(l1Bias=0.1).regularization == ()


def test_dropout_and_drop_connect():
    assert only(dropOut=0.6).dropout.p == 0.6
    assert only(dropOut=0.0).dropout is None
    connected = only(dropOut=0.6, useDropConnect=True)
    assert connected.dropout is None
    assert type(connected.weight_noise).__name__ == "DropConnect"
    pooled = listed({"subsampling": {"dropOut": 0.5, "poolingType": "MAX", "kernelSize": [2, 2], "stride": [2, 2], "padding": [0, 0]}})
    assert pooled.layers[0].dropout.p == 0.5


def test_weight_initialisation():
    made = only(weightInit="DISTRIBUTION", dist={"normal": {"mean": 0.1, "std": 1.2}}).weight_init
    assert (made.distribution.mean, made.distribution.std) == (0.1, 1.2)
    assert only(weightInit="ZERO").weight_init.value == 0


def test_losses_by_name():
    def loss(**given):
        return only(wrapper="output", **given).loss_fn
    assert type(loss(lossFunction="XENT")).__name__ == "LossBinaryXENT"
    assert type(loss(lossFunction="SQUARED_LOSS")).__name__ == "LossL2"
    assert loss(lossFn={"MCXENT": {}}).softmax_clip_eps == 0
    assert "configProperties" not in loss(lossFn={"MSE": {"configProperties": False}}).to_json()


def test_what_layers_did_before_an_option_existed():
    assert only(wrapper="embedding").has_bias
    pooling = listed({"subsampling": {"poolingType": "AVG", "kernelSize": [2, 2], "stride": [2, 2], "padding": [0, 0]}}).layers[0]
    assert isinstance(pooling, SubsamplingLayer)
    assert pooling.avg_pool_include_pad_in_divisor
    assert isinstance(only(wrapper="embedding"), EmbeddingLayer)
    convolution = only(wrapper="convolution", kernelSize=[2, 2], stride=[1, 1], padding=[0, 0])
    assert isinstance(convolution, ConvolutionLayer)
    assert convolution.has_bias
    assert convolution.dilation == (1, 1)


@pytest.mark.parametrize(("variables", "log"), [(["gamma", "beta", "mean", "var"], False), (["gamma", "mean", "log10stdev"], True)])
def test_parameters_tell_the_kind_of_batch_normalization(variables, log):
    made = only(wrapper="batchNormalization", variables=variables)
    assert isinstance(made, BatchNormalization)
    assert made.use_log_std is log


def test_layers_in_wrappers():
    frozen = listed({"FrozenLayer": {"layer": {"dense": BASE | {"l2": 0.1}}}}).layers[0]
    assert isinstance(frozen.layer, DenseLayer)
    assert frozen.layer.updater == Sgd(0.1)
    assert len(frozen.layer.regularization) == 1


def test_graphs():
    def vertex(one):
        return {"LayerVertex": {"layerConf": {"layer": one, "seed": 5, "variables": ["W", "b"]}, "preProcessor": None}}
    conf = ComputationGraphConfiguration.from_json(json.dumps({
        "backprop": True, "networkInputs": ["in"], "networkOutputs": ["out"],
        "vertexInputs": {"dense": ["in"], "sum": ["dense", "dense"], "out": ["sum"]},
        "vertices": {"dense": vertex({"dense": BASE | {"l2": 0.2}}), "sum": {"ElementWiseVertex": {"op": "Add"}},
                     "out": vertex({"output": BASE | {"lossFunction": "MSE"}})},
        "defaultConfiguration": {"layer": None, "seed": 5, "numIterations": 1}}))
    assert len(conf.vertices["dense"].layer.regularization) == 1
    assert type(conf.vertices["sum"]).__name__ == "ElementWiseVertex"
    assert ComputationGraphConfiguration.from_json(conf.to_json()) == conf


def test_preprocessors():
    conf = MultiLayerConfiguration.from_json(json.dumps({
        "confs": [{"layer": {"dense": BASE}}],
        "inputPreProcessors": {"0": {"cnnToFeedForward": {"inputHeight": 2, "inputWidth": 3, "numChannels": 4}}}}))
    assert conf.input_pre_processors[0].input_width == 3


def test_user_classes_under_their_wrapper_name():
    with pytest.raises(MissingOpError, match="OldCustomLayer"):
        only(wrapper="OldCustomLayer")

    @layer("tests.legacy.OldCustomLayer")
    class OldCustomLayer(DenseLayer):
        """A user layer."""

    assert isinstance(only(wrapper="OldCustomLayer"), OldCustomLayer)


def test_what_cannot_be_kept_is_said():
    with pytest.warns(UserWarning, match="learningRatePolicy Step"):
        only(learningRatePolicy="Step")
    with pytest.raises(ConfigurationError, match="CUSTOM"):
        only(updater="CUSTOM")
    with pytest.raises(ConfigurationError, match="l2: expected a number"):
        only(l2="much")


def test_options_of_users_in_modern_layers_survive():
    text = json.dumps({"confs": [{"layer": {"@class": "org.deeplearning4j.nn.conf.layers.DenseLayer", "nin": 3, "nout": 4,
                                            "regularization": [], "l2": 0.5, "note": "mine"}}]})
    conf = MultiLayerConfiguration.from_json(text)
    assert conf.layers[0].regularization == ()
    written = json.loads(conf.to_json())["confs"][0]["layer"]
    assert (written["l2"], written["note"]) == (0.5, "mine")


def test_order_of_many_vertices():
    # an int set of Java with 16 buckets lists 17 (bucket 1) before 2
    assert hash_order([2, 17]) == [17, 2]
    assert hash_order(range(3, 30, 2)) == list(range(3, 30, 2))         # grown to 32 buckets
    fan = {f"v{i}": ["in"] for i in range(1, 20)}
    order = topological_order(["in"], fan)
    assert order == ["in", *fan]
    sparse = {f"v{i}": ["in"] if i in (2, 17) else [f"v{i - 1}"] for i in range(1, 20) if i != 1}
    assert topological_order(["in"], sparse)[:3] == ["in", "v17", "v2"]


def test_a_stored_order_counts():
    base = {"networkInputs": ["in"], "networkOutputs": ["c"], "vertexInputs": {"a": ["in"], "b": ["in"], "c": ["a", "b"]},
            "vertices": {n: {"@class": "org.deeplearning4j.nn.conf.graph.MergeVertex"} for n in "abc"}}
    stored = base | {"topologicalOrderStr": ["in", "b", "a", "c"], "topologicalOrder": [0, 2, 1, 3]}
    conf = ComputationGraphConfiguration.from_json(json.dumps(stored))
    assert conf.order() == ["in", "b", "a", "c"]
    assert ComputationGraphConfiguration.from_json(json.dumps(base)).order() == ["in", "a", "b", "c"]
    assert conf.replace(vertex_inputs={"a": ("b",), "b": ("in",), "c": ("a",)}).order() == ["in", "b", "a", "c"]
    assert conf.replace(vertex_inputs={"b": ("a",), "a": ("in",), "c": ("b",)}).order() == ["in", "a", "b", "c"]
