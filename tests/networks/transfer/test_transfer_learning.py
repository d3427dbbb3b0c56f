"""Transfer learning replayed against recorded networks, and what may go wrong."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dl4py.layers import (
    ActivationLayer,
    BatchNormalization,
    ConvolutionLayer,
    DenseLayer,
    FrozenLayer,
    NormalDistribution,
    OutputLayer,
    UniformDistribution,
    WeightInit,
)
from dl4py.networks import (
    ComputationGraph,
    ComputationGraphConfiguration,
    FineTuneConfiguration,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    TransferLearning,
    TransferLearningHelper,
)
from dl4py.samediff import DataSet
from dl4py.samediff.errors import ConfigurationError, GraphError, UnknownNameError
from dl4py.samediff.initializers.nd4j_random import Nd4jRandom
from dl4py.samediff.training import Adam, Nesterovs, Sgd
from tests.helpers.replay import Recorded, close

ROOT = Path(__file__).parents[2] / "golden" / "training" / "transfer_learning"
SGD = FineTuneConfiguration.Builder().seed(12346).updater(Sgd(0.1)).build()
HEAD = {"activation": "softmax", "loss_fn": "mcxent"}

#: What each recorded builder did, after its fine-tune configuration.
LISTS = {
    "no_changes": lambda b: b,
    "fine_tune_only": lambda b: b,
    "fine_tune_many": lambda b: b.validate_output_layer_config(False).fine_tune_configuration(
        FineTuneConfiguration.Builder().seed(12346).updater(Nesterovs(0.05, 0.8)).l2(0.1).l1(0.01).activation("tanh")
        .gradientNormalization("ClipL2PerLayer").gradientNormalizationThreshold(0.5).build()),
    "fine_tune_weight_decay": lambda b: b.fine_tune_configuration(
        FineTuneConfiguration.Builder().seed(12346).updater(Sgd(0.1)).weightDecay(0.1).build()),
    "feature_extractor_0": lambda b: b.set_feature_extractor(0),
    "feature_extractor_1": lambda b: b.setFeatureExtractor(1),
    "nout_replace_1": lambda b: b.nOutReplace(1, 7, WeightInit.XAVIER),
    "nout_replace_1_schemes": lambda b: b.n_out_replace(1, 7, WeightInit.RELU, WeightInit.XAVIER_UNIFORM),
    "nout_replace_output_dist": lambda b: b.n_out_replace(3, 5, NormalDistribution(0.0, 0.1)),
    "nout_replace_output_onces": lambda b: b.set_feature_extractor(2).n_out_replace(3, 4, WeightInit.ONES),
    "nin_replace_2": lambda b: b.n_in_replace(2, 5, WeightInit.ONES),
    "remove_output_add": lambda b: b.removeOutputLayer().addLayer(OutputLayer(n_in=4, n_out=4, **HEAD)),
    "remove_2_add_2": lambda b: b.set_feature_extractor(0).remove_layers_from_output(2)
        .add_layer(DenseLayer.Builder().nIn(5).nOut(3).activation("relu").weightInit(WeightInit.RELU))
        .add_layer(OutputLayer(n_in=3, n_out=3, **HEAD)),
    "add_without_removing": lambda b: b.add_layer(OutputLayer(n_in=3, n_out=3, **HEAD)),
    "cnn_feature_extractor_1": lambda b: b.set_feature_extractor(1),
    "cnn_nout_replace_3": lambda b: b.n_out_replace(3, 7, WeightInit.RELU_UNIFORM),
    "cnn_head_replaced": lambda b: b.remove_layers_from_output(2).add_layer(DenseLayer(n_in=27, n_out=4, activation="relu"))
        .add_layer(OutputLayer(n_in=4, n_out=3, **HEAD)),
}
OUT = OutputLayer(n_out=4, n_in=7, **HEAD)
GRAPHS = {
    "graph_fine_tune": lambda b: b,
    "graph_feature_extractor": lambda b: b.setFeatureExtractor("d1"),
    "graph_nout_replace": lambda b: b.nOutReplace("d1", 6, WeightInit.XAVIER),
    "graph_extractor_replace": lambda b: b.set_feature_extractor("d2").n_out_replace("out", 5, UniformDistribution(-0.2, 0.2)),
    "graph_keep_connections": lambda b: b.remove_vertex_keep_connections("d2")
        .add_layer("d2", DenseLayer(n_in=4, n_out=4, activation="sigmoid", weight_init=WeightInit.ONES), "d1"),
    "graph_replace_output": lambda b: b.removeVertexAndConnections("out").addLayer("out2", OUT, "m").setOutputs("out2"),
}


def base(case):
    text = (case.folder / "base_configuration.json").read_text()
    graph = "vertices" in json.loads(text)
    kind, conf = (ComputationGraph, ComputationGraphConfiguration) if graph else (MultiLayerNetwork, MultiLayerConfiguration)
    return kind(conf.from_json(text)).init(case.arrays["base_params"])


def expected(case, of):
    return of.from_json((case.folder / "new_configuration.json").read_text())


def stripped(layer_conf):
    return layer_conf.replace(variables=())


def assert_trains(net, case):
    a, info = case.arrays, case.info
    close(np.ravel(net.params()), a["new_params"], 1e-5)
    x, y = a["features"], a["labels"]
    if "new_output" in a:
        found = net.output(x)
        close(found[0] if isinstance(found, list) else found, a["new_output"], 1e-5)
    for k in range(1, 4):
        if f"score_{k}" not in info:
            return
        net.fit(DataSet(x, y))
        close(net.score(), info[f"score_{k}"], 2e-4)
        if f"params_after_{k}" in a:
            close(net.params(), a[f"params_after_{k}"], 2e-4)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", LISTS)
def test_lists(name):
    case = Recorded(ROOT / name)
    net = base(case)
    before = net.params()
    builder = TransferLearning.Builder(net, Nd4jRandom(555))
    if name != "no_changes":
        updater = expected(case, MultiLayerConfiguration).layers[-1].updater
        builder.fine_tune_configuration(FineTuneConfiguration.Builder().seed(12346).updater(updater).build())
    built = LISTS[name](builder).build()
    wanted = expected(case, MultiLayerConfiguration)
    assert [stripped(c) for c in built.get_configuration().confs] == [stripped(c) for c in wanted.confs]
    assert built.get_configuration().input_pre_processors == wanted.input_pre_processors
    assert built.get_iteration_count() == 0
    assert_trains(built, case)
    np.testing.assert_array_equal(net.params(), before)


def test_an_output_layer_is_drawn_once():
    """There is no layer behind it that starts anew."""
    test_lists("nout_replace_output_dist")


def test_graphs_take_weight_decay_as_lists_do():
    """DL4J gives each layer that of the settings, and once more what a network gives its layers in any case."""
    tune = FineTuneConfiguration.Builder().weight_decay(0.1).l1(0.2).build()
    conf = NeuralNetConfiguration.Builder().list(DenseLayer(n_in=4, n_out=3), OutputLayer(n_in=3, n_out=2)).build()
    net = MultiLayerNetwork(conf).init()
    a_list = TransferLearning.Builder(net).fine_tune_configuration(tune).build()
    a_graph = TransferLearning.GraphBuilder(net.to_computation_graph()).fine_tune_configuration(tune).build()
    builder = TransferLearning.GraphBuilder(net.to_computation_graph()).fine_tune_configuration(tune)
    new = builder.remove_vertex_and_connections("1").add_layer("2", OutputLayer(n_in=3, n_out=2), "0").set_outputs("2").build()
    kinds = [type(r).__name__ for r in a_list.get_layer(0).regularization]
    assert kinds == ["WeightDecay", "L1Regularization", "WeightDecay"]
    for layer in (a_graph.get_layer("0"), a_graph.get_layer("1"), new.get_layer("0"), new.get_layer("2")):
        assert [type(r).__name__ for r in layer.regularization] == kinds


@pytest.mark.parametrize("outputs", [5, 7])
@pytest.mark.parametrize("as_graph", [False, True])
def test_schemes_of_replaced_layers_win_over_fine_tune_settings(outputs, as_graph):
    """Also where a layer has as many outputs as before."""
    net: Any = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list(
        DenseLayer(n_in=4, n_out=5), ActivationLayer("tanh") if outputs == 7 else DenseLayer(n_in=5, n_out=5),
        OutputLayer(n_in=5, n_out=3)).build()).init()
    name = str if as_graph else int
    builder: Any = TransferLearning.GraphBuilder(net.to_computation_graph()) if as_graph else TransferLearning.Builder(net)
    built = builder.fine_tune_configuration(FineTuneConfiguration(weight_init="ZERO")).n_out_replace(name(0), outputs, "ONES").build()
    behind = 2 if outputs == 7 else 1
    for i in (0, behind):
        assert np.all(built.get_param(f"{i}_W") == 1), i
    assert np.array_equal(built.get_param("2_W"), net.get_param("2_W")) == (behind == 1)


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs(name):
    case = Recorded(ROOT / name)
    net = base(case)
    built = GRAPHS[name](TransferLearning.GraphBuilder(net).fine_tune_configuration(SGD)).build()
    conf, wanted = built.get_configuration(), expected(case, ComputationGraphConfiguration)
    assert conf.vertex_inputs == wanted.vertex_inputs and conf.network_outputs == wanted.network_outputs
    if name == "graph_nout_replace":            # DL4J leaves the layer behind a replaced one without the new settings
        assert conf.vertices["d2"].layer.updater == Sgd(0.1)
        assert built.get_layer("d1").n_out == built.get_layer("d2").n_in == 6
        return
    assert set(conf.vertices) == set(wanted.vertices)
    for key, vertex in conf.vertices.items():
        assert getattr(vertex, "layer", vertex) == getattr(wanted.vertices[key], "layer", wanted.vertices[key]), key
    assert_trains(built, case)


def test_a_convolution_before_a_normalization():
    """DL4J leaves the layers behind the normalization as they were, and such a network cannot run."""
    conf = (NeuralNetConfiguration.Builder().seed(1).list().layer(ConvolutionLayer(n_in=1, n_out=3, kernel_size=(2, 2)))
            .layer(BatchNormalization(n_in=3, n_out=3)).layer(ActivationLayer("relu"))
            .layer(ConvolutionLayer(n_in=3, n_out=2, kernel_size=(2, 2))).layer(DenseLayer(n_in=8, n_out=4))
            .layer(OutputLayer(n_in=4, n_out=2)).input_pre_processor(4, {
                "@class": "org.deeplearning4j.nn.conf.preprocessor.CnnToFeedForwardPreProcessor",
                "inputHeight": 2, "inputWidth": 2, "numChannels": 2}).build())
    net = MultiLayerNetwork(conf).init()
    built = TransferLearning.Builder(net).n_out_replace(0, 5, "XAVIER").build()
    assert [built.get_layer(i).n_in for i in (1, 3)] == [5, 5]
    assert built.output(np.ones((2, 1, 4, 4))).shape == (2, 2)
    np.testing.assert_array_equal(built.get_param("4_W"), net.get_param("4_W"))


def test_frozen_layers_stay_and_files_keep_them(tmp_path):
    case = Recorded(ROOT / "feature_extractor_1")
    net = TransferLearning.Builder(base(case)).fine_tune_configuration(SGD).set_feature_extractor(1).build()
    before = {k: v.copy() for k, v in net.param_table().items()}
    net.fit(DataSet(case.arrays["features"], case.arrays["labels"]))
    moved = {k for k, v in net.param_table().items() if (v != before[k]).any()}
    assert moved == {"2_W", "2_b", "3_W", "3_b"}
    net.save(tmp_path / "net.zip")
    again = MultiLayerNetwork.load(tmp_path / "net.zip")
    assert again == net and isinstance(again.get_configuration().layers[0], FrozenLayer)


@pytest.mark.parametrize("as_graph", [False, True])
def test_frozen_layers_report_the_gradient_normalization_of_what_they_freeze(as_graph, tmp_path):
    layers = DenseLayer(n_in=3, n_out=4), ActivationLayer("tanh"), BatchNormalization(n_in=4, n_out=4), OutputLayer(n_in=4, n_out=2)
    conf = (NeuralNetConfiguration.Builder().gradient_normalization("ClipL2PerLayer").gradient_normalization_threshold(0.5)
            .list(*layers).build())
    net = MultiLayerNetwork(conf).init()
    net = net.to_computation_graph() if as_graph else net
    builder = TransferLearning.GraphBuilder(net) if as_graph else TransferLearning.Builder(net)
    new = builder.set_feature_extractor("2" if as_graph else 2).build()
    new.save(tmp_path / "net.zip")
    for found in (new, type(new).load(tmp_path / "net.zip")):
        for i in range(3):
            frozen, inner = (n.get_layer(str(i) if as_graph else i) for n in (found, net))
            assert "FrozenLayer(" in repr(frozen)
            assert frozen.gradient_normalization is inner.gradient_normalization
            assert frozen.gradient_normalization_threshold == inner.gradient_normalization_threshold
    assert new.get_layer("0" if as_graph else 0).gradient_normalization.name == "ClipL2PerLayer"


def test_graphs_keep_the_settings_of_training():
    options = {"mini_batch": False, "minimize": False, "seed": 5, "data_type": "DOUBLE", "cache_mode": "HOST",
               "max_num_line_search_iterations": 3, "optimization_algo": "CONJUGATE_GRADIENT"}
    conf = (NeuralNetConfiguration.Builder(**options).graph_builder().add_inputs("in").add_layer("d", DenseLayer(n_in=3, n_out=4), "in")
            .add_layer("out", OutputLayer(n_in=4, n_out=2), "d").set_outputs("out").build())
    net = ComputationGraph(conf).init()
    new = TransferLearning.GraphBuilder(net).set_feature_extractor("d").build().get_configuration()
    assert new.data_type == conf.data_type
    found, kept = new.vertices["out"].layer_conf, conf.vertices["out"].layer_conf
    for name in options:
        assert getattr(found, name) == getattr(kept, name) != getattr(NeuralNetConfiguration(), name)


@pytest.mark.parametrize("as_graph", [False, True])
def test_output_layers_that_make_no_sense_are_refused_unless_asked_otherwise(as_graph):
    conf = NeuralNetConfiguration.Builder().list(DenseLayer(n_in=3, n_out=4), OutputLayer(n_in=4, n_out=2, **HEAD)).build()
    net = MultiLayerNetwork(conf).init()

    def builder():
        made = TransferLearning.GraphBuilder(net.to_computation_graph()) if as_graph else TransferLearning.Builder(net)
        return made.n_out_replace("1" if as_graph else 1, 1, "XAVIER")
    with pytest.raises(ConfigurationError, match="softmax over one output"):
        builder().build()
    assert builder().validate_output_layer_config(False).build().get_layer(1).n_out == 1
    frozen = builder().set_feature_extractor("1" if as_graph else 1)
    with pytest.raises(ConfigurationError, match="softmax over one output"):
        frozen.build()


def test_helper_of_a_list():
    case = Recorded(ROOT / "helper_mln")
    a, net = case.arrays, base(case)
    helper = TransferLearningHelper(net, 1)
    data = helper.featurize(DataSet(a["features"], a["labels"]))
    close(data.get_features(), a["featurized_features"], 1e-5)
    close(data.get_labels(), a["featurized_labels"], 1e-5)
    close(helper.output_from_featurized(data.get_features()), a["output_from_featurized_before"], 1e-5)
    close(helper.unfrozenMLN().params(), a["unfrozen_params_before"], 1e-5)
    for k in (1, 2):
        helper.fitFeaturized(data)
        close(helper.unfrozen_mln().params(), a[f"unfrozen_params_after_{k}"], 2e-4)
    close(helper.output_from_featurized(data.get_features()), a["output_from_featurized_after"], 2e-4)
    close(net.params(), a["original_params_after"], 2e-4)
    close(net.output(a["features"]), a["original_output_after"], 2e-4)


def test_helper_of_a_graph():
    case = Recorded(ROOT / "helper_graph")
    a, net = case.arrays, base(case)
    helper = TransferLearningHelper(net, "d1")
    data = helper.featurize(DataSet(a["features"], a["labels"]))
    assert list(helper.unfrozen_graph().get_configuration().network_inputs) == case.info["unfrozen_inputs"]
    close(data.get_features(), a["featurized_features_0"], 1e-5)
    helper.fit_featurized(data)
    close(helper.unfrozen_graph().params(), a["unfrozen_params_after_1"], 2e-4)
    close(helper.output_from_featurized(data.get_features()), a["output_from_featurized_after"], 2e-4)
    close(net.params(), a["original_params_after"], 2e-4)


def test_helper_of_a_graph_with_an_input_past_the_frozen_part():
    case = Recorded(ROOT / "graph_feature_extractor")
    net = base(case)
    helper = TransferLearningHelper(net, "d2")
    data = helper.featurize(DataSet(case.arrays["features"], case.arrays["labels"]))
    assert set(helper.unfrozen_graph().get_configuration().network_inputs) == {"in", "d2"}
    helper.fit_featurized([data, data], 2)
    head = helper.output_from_featurized(data.features)
    np.testing.assert_array_equal(np.squeeze(head), net.output(case.arrays["features"])[0])


def test_json_of_fine_tuning():
    text = (ROOT / "fine_tune_json" / "fine_tune.json").read_text()
    document = {k: v for k, v in json.loads(text).items() if not k.startswith("remove") and k not in ("dropout", "gradientNormalization")}
    tune = FineTuneConfiguration.from_json(json.dumps(document))
    assert FineTuneConfiguration.from_yaml(tune.to_yaml()) == tune
    made = (FineTuneConfiguration.builder().activation("relu").biasInit(0.1).miniBatch(True).seed(3).l2(0.1).l1(0.2)
            .updater(Adam(0.01)).weightInit("XAVIER").gradientNormalizationThreshold(2.0).build())
    given = made.to_document()
    assert given == {k: v for k, v in document.items() if k != "regularizationBias"}


def test_unset_settings_stay():
    net = base(Recorded(ROOT / "no_changes"))
    layer = FineTuneConfiguration(dropout=None, seed=1).applied_to(net.get_configuration().confs[0]).layer
    assert layer.dropout is None and layer == net.get_configuration().layers[0]


LIST, GRAPH = (lambda: base(Recorded(ROOT / "no_changes"))), (lambda: base(Recorded(ROOT / "graph_fine_tune")))


@pytest.mark.parametrize(("make", "error", "message"), [
    (lambda: TransferLearning.Builder(GRAPH()), ConfigurationError, "GraphBuilder is for graphs"),
    (lambda: TransferLearning.GraphBuilder(LIST()), ConfigurationError, "ComputationGraph"),
    (lambda: TransferLearning.Builder(LIST()).set_feature_extractor(9), GraphError, "layer 9"),
    (lambda: TransferLearning.Builder(LIST()).remove_layers_from_output(5), ConfigurationError, "5 more of 4"),
    (lambda: TransferLearning.Builder(LIST()).remove_layers_from_output(4).build(), ConfigurationError, "no layers are left"),
    (lambda: TransferLearning.Builder(LIST()).add_layer("dense"), ConfigurationError, "expected a layer"),
    (lambda: TransferLearning.Builder(LIST()).fine_tune_configuration(3), ConfigurationError, "FineTuneConfiguration"),
    (lambda: TransferLearning.GraphBuilder(GRAPH()).set_feature_extractor("sid"), UnknownNameError, "did you mean 'side'"),
    (lambda: TransferLearning.GraphBuilder(GRAPH()).n_out_replace("m", 3, "XAVIER"), ConfigurationError, "no layer"),
    (lambda: TransferLearning.GraphBuilder(GRAPH()).add_layer("d1", DenseLayer(n_out=2), "in"), ConfigurationError, "twice"),
    (lambda: TransferLearning.GraphBuilder(GRAPH()).remove_vertex_and_connections("out").build(), ConfigurationError, "outputs"),
    (lambda: TransferLearningHelper(LIST()), ConfigurationError, "frozen"),
    (lambda: TransferLearningHelper(LIST(), 3), ConfigurationError, "frozen"),
    (lambda: TransferLearningHelper(3), ConfigurationError, "takes a network")])
def test_mistakes(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("graph", [False, True])
def test_a_network_frozen_whole_computes_and_says_why_it_does_not_train(graph):
    conf = NeuralNetConfiguration.builder().list().layer(DenseLayer(n_in=3, n_out=4)).layer(OutputLayer(n_in=4, n_out=2)).build()
    net = MultiLayerNetwork(conf).init()
    net = net.to_computation_graph() if graph else net
    x, y = np.ones((2, 3), np.float32), np.eye(2, dtype=np.float32)
    builder = TransferLearning.GraphBuilder(net) if graph else TransferLearning.Builder(net)
    frozen = builder.set_feature_extractor("1" if graph else 1).build()
    np.testing.assert_array_equal(frozen(x), net(x))
    with pytest.raises(ConfigurationError, match="one that is frozen has no loss.*set_feature_extractor"):
        frozen.fit(x, y)
