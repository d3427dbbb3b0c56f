"""Model files with classes that nobody registers: they open as far as they go, and nothing in them is lost."""
from __future__ import annotations

import contextlib
import copy
import json
import os
import pickle
import re
import subprocess
import sys
import textwrap
import warnings
import zipfile

import numpy as np
import pytest

from dl4py.layers import (
    LSTM,
    ActivationLayer,
    Bidirectional,
    ConvolutionLayer,
    DenseLayer,
    DropConnect,
    Dropout,
    FrozenLayer,
    InputType,
    LastTimeStep,
    NonNegativeConstraint,
    NormalDistribution,
    OutputLayer,
    RnnOutputLayer,
    SubsamplingLayer,
    WeightInitDistribution,
)
from dl4py.layers.vertices import ElementWiseVertex, MergeVertex
from dl4py.networks import (
    ComputationGraph,
    FineTuneConfiguration,
    ModelSerializer,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    TransferLearning,
    to_arrays,
    to_same_diff,
)
from dl4py.networks.commands import inspect
from dl4py.networks.files.model_zip import ModelZip, write_model_zip
from dl4py.samediff import DataSet, MultiDataSet
from dl4py.samediff.base.registry import MissingClassWarning
from dl4py.samediff.errors import ConfigurationError, FileFormatError, GraphError, MissingOpError
from dl4py.samediff.training import Adam, Nesterovs, StepSchedule


def run(code, *arguments, path=None):
    """What a fresh process prints."""
    environment = {**os.environ, **({"PYTHONPATH": str(path)} if path else {})}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)], capture_output=True, text=True, check=False,
                          env=environment, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def entries(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(source, target, text, **more):
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in (entries(source) | more).items():
            archive.writestr(name, text if name == "configuration.json" else data)
    return target


def rows():
    schedule = StepSchedule("ITERATION", 0.1, 0.5, 10)
    return MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).updater(Adam(schedule)).l2(0.1).list(
        DenseLayer(n_out=4, activation="relu", dropout=Dropout(0.5)), DenseLayer(n_out=5, activation="tanh", weight_noise=DropConnect(0.9)),
        ActivationLayer(activation="elu"), DenseLayer(n_out=3, constraints=(NonNegativeConstraint(),), updater=Nesterovs(0.1, 0.9)),
        FrozenLayer(DenseLayer(n_in=3, n_out=3, weight_init=WeightInitDistribution(NormalDistribution(0, 1)))),
        OutputLayer(n_out=2)).set_input_type(InputType.feed_forward(3)).build()).init()


def series():
    return MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).updater("adam").list(
        LSTM(n_out=3, activation="tanh"), Bidirectional(LSTM(n_out=2, activation="tanh")), DenseLayer(n_out=4),
        RnnOutputLayer(n_out=2)).set_input_type(InputType.recurrent(3, 4)).build()).init()


def last_step():
    return MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list(
        LastTimeStep(LSTM(n_out=3, activation="tanh")), OutputLayer(n_out=2)).set_input_type(InputType.recurrent(3, 4)).build()).init()


def images():
    return MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).updater("nesterovs").list(
        ConvolutionLayer((2, 2), n_out=3, activation="relu"), SubsamplingLayer((2, 2)), DenseLayer(n_out=4),
        OutputLayer(n_out=2)).set_input_type(InputType.convolutional_flat(6, 6, 1)).build()).init()


def graph():
    return ComputationGraph(
        NeuralNetConfiguration.Builder().seed(1).updater("adam").graph_builder().add_inputs("a", "b")
        .add_layer("left", DenseLayer(n_in=3, n_out=4), "a").add_layer("right", DenseLayer(n_in=3, n_out=4, activation="tanh"), "b")
        .add_vertex("sum", ElementWiseVertex("Add"), "left", "right").add_vertex("both", MergeVertex(), "sum", "right")
        .add_layer("one", OutputLayer(n_in=8, n_out=2), "both").add_layer("two", OutputLayer(n_in=4, n_out=2), "left")
        .set_outputs("one", "two").build()).init()


NETWORKS = {"rows": (rows, (6, 3), (6, 2)), "series": (series, (6, 3, 4), (6, 2, 4)), "last step": (last_step, (6, 3, 4), (6, 2)),
            "images": (images, (6, 36), (6, 2)), "graph": (graph, (6, 3), (6, 2))}


def given(name):
    """A network with a step done, its inputs, and a data set."""
    make, x, y = NETWORKS[name]
    rng, net = np.random.default_rng(1), make()
    count = 2 if name == "graph" else 1
    inputs = [rng.normal(size=x).astype("f4") for _ in range(count)]
    labels = [np.moveaxis(np.eye(2, dtype="f4")[rng.integers(0, 2, (y[0], *y[2:]))], -1, 1) for _ in range(count)]
    data = MultiDataSet(inputs, labels) if count > 1 else DataSet(inputs[0], labels[0])
    net.fit(data)
    return net, inputs, data


def classes_in(text):
    """Places of the names of classes in a configuration."""
    return [m.span(1) for m in re.finditer(r'"@class" : "([^"]+)"', text)]


def forward(net, inputs):
    found = net.feed_forward(*inputs)
    return found if isinstance(found, dict) else dict(enumerate(found))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NETWORKS)
def test_any_class_may_be_missing(name, tmp_path):
    net, inputs, data = given(name)
    net.save(tmp_path / "n.zip")
    text = entries(tmp_path / "n.zip")["configuration.json"].decode()
    whole = forward(net, inputs)
    ran, scored = set(), 0
    for start, stop in classes_in(text):
        was = text[start:stop].rpartition(".")[2]
        source = rewritten(tmp_path / "n.zip", tmp_path / "in.zip", text[:start] + "org.acme.Missing" + text[stop:])
        with pytest.warns(MissingClassWarning, match=r"in\.zip: 1 of the classes .* org\.acme\.Missing; they are needed by"):
            found = type(net).load(source)
        assert found.missing_classes() == {"org.acme.Missing": None}
        assert found.params().size == net.params().size
        for key, array in found.param_table().items():
            np.testing.assert_array_equal(array, net.param_table().get(key, array), err_msg=f"{was} {key}")
        try:
            out = found.output(*inputs)
            assert all(np.array_equal(a, b) for a, b in zip(out, net.output(*inputs))), was
            ran.add(was)
            activations = forward(found, inputs)
        except MissingOpError as error:
            assert "org.acme.Missing" in str(error)
            with pytest.warns(MissingClassWarning, match="without activations of"):
                activations = forward(found, inputs)
            assert 0 < len(activations) < len(whole)
        for key, array in activations.items():
            np.testing.assert_array_equal(array, whole[key])
        with pytest.raises(MissingOpError, match=r"org\.acme\.Missing"):
            found.fit(data)
        with pytest.raises(MissingOpError, match=r"org\.acme\.Missing"):
            found.get_updater().state_view()
        with contextlib.suppress(MissingOpError):
            scored += np.isclose(found.score(data), net.score(data))
        for one, target in ((found, "same.zip"), (found.clone(), "clone.zip")):
            one.save(tmp_path / target)
            assert entries(tmp_path / target) == entries(source), was
        assert found.summary()
    assert ran >= {"Adam"} if name in ("rows", "graph", "series") else ran
    assert "DenseLayer" not in ran and scored


def test_what_needs_nothing_of_a_missing_layer_runs(tmp_path):
    net, (x,), _ = given("rows")
    net.save(tmp_path / "n.zip")
    document = json.loads(entries(tmp_path / "n.zip")["configuration.json"])
    document["confs"][3]["layer"]["@class"] = "org.acme.Missing"
    source = rewritten(tmp_path / "n.zip", tmp_path / "in.zip", json.dumps(document))
    with pytest.warns(MissingClassWarning, match=r"layer 'layer3' \(Missing\)"):
        found = MultiLayerNetwork.load(source)
    assert len(found.feed_forward_to_layer(2, x)) == 4
    np.testing.assert_array_equal(found.activate_selected_layers(0, 2, x), net.feed_forward(x)[3])
    after = net.feed_forward(x)
    np.testing.assert_array_equal(found.activate_selected_layers(4, 5, after[4]), after[6])
    np.testing.assert_array_equal(found.get_layer(1).activate(x=after[1]), after[2])
    for call in (lambda: found.output(x), lambda: found.activate(x), lambda: found.feed_forward_to_layer(3, x), lambda: found.predict(x),
                 lambda: found.output(x, True), lambda: found.get_layer(3).activate(after[3])):
        with pytest.raises(MissingOpError, match=r"layer 'layer3' \(Missing\).*org\.acme\.Missing.*import the package"):
            call()
    assert found.get_param("3_unknown").size == 5 * 3 + 3 and found.get_layer(3).num_params() == 18
    changed = found.params() + 1
    found.set_params(changed)
    found.save(tmp_path / "changed.zip")
    again = entries(tmp_path / "changed.zip")
    assert again["configuration.json"] == entries(source)["configuration.json"]
    assert again["updaterState.bin"] == entries(source)["updaterState.bin"]
    with pytest.warns(MissingClassWarning):
        assert (MultiLayerNetwork.load(tmp_path / "changed.zip").params() == changed).all()


@pytest.mark.parametrize("load", [MultiLayerNetwork.load, ModelSerializer.restore_multi_layer_network])
def test_the_warning_points_at_who_loads(tmp_path, load):
    net, _, _ = given("rows")
    net.save(tmp_path / "n.zip")
    document = json.loads(entries(tmp_path / "n.zip")["configuration.json"])
    document["confs"][3]["layer"]["@class"] = "org.acme.Missing"
    source = rewritten(tmp_path / "n.zip", tmp_path / "in.zip", json.dumps(document))
    with pytest.warns(MissingClassWarning) as heard:
        load(source)
    assert [w.filename for w in heard] == [__file__]


LOADERS = {"rows": [MultiLayerNetwork.load, ModelSerializer.restore_multi_layer_network],
           "graph": [ComputationGraph.load, ModelSerializer.restore_computation_graph]}


@pytest.mark.parametrize("name", LOADERS)
def test_the_caller_says_what_happens(name, tmp_path):
    net, inputs, _ = given(name)
    net.save(tmp_path / "n.zip")
    document = json.loads(entries(tmp_path / "n.zip")["configuration.json"])
    part = document["confs"][3]["layer"] if name == "rows" else document["vertices"]["both"]
    part["@class"] = "org.acme.One"
    text = json.dumps(document).replace("org.nd4j.linalg.learning.config.Adam", "org.acme.Slow")
    source = rewritten(tmp_path / "n.zip", tmp_path / "in.zip", text)
    for load in LOADERS[name]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = load(source, missing="keep")
            with pytest.raises(MissingOpError, match=r'in\.zip: 2 of .*org\.acme\.(One.*Slow|Slow.*One).*needed by .*missing="keep"'):
                load(source, missing="error")
            assert not load(tmp_path / "n.zip", missing="error").missing_classes()
        assert found.missing_classes().keys() == {"org.acme.One", "org.acme.Slow"}
        with pytest.warns(MissingClassWarning, match="2 of the classes"):
            load(source, missing="warn")
        with pytest.raises(GraphError, match='missing must be "warn", "keep" or "error", got True'):
            load(source, missing=True)
        assert found.summary() and set(found.param_table()) <= {*net.param_table(), "3_unknown"}
        with pytest.warns(MissingClassWarning, match="without activations of"):
            before = forward(found, inputs)
        whole = forward(net, inputs)
        for key, array in before.items():
            np.testing.assert_array_equal(array, whole[key])
        found.save(tmp_path / "same.zip")
        assert entries(tmp_path / "same.zip") == entries(source)


def test_of_several_missing_layers_what_stands_between_is_not_guessed(tmp_path):
    net, _, _ = given("rows")
    net.save(tmp_path / "n.zip")
    document = json.loads(entries(tmp_path / "n.zip")["configuration.json"])
    document["confs"][1]["layer"]["@class"] = "org.acme.One"
    document["confs"][3]["layer"]["iupdater"]["@class"] = "org.acme.Slow"
    document["confs"][4]["layer"]["@class"] = "org.acme.Two"
    source = rewritten(tmp_path / "n.zip", tmp_path / "in.zip", json.dumps(document))
    with pytest.warns(MissingClassWarning, match=r"3 of the classes .*org\.acme\.One, org\.acme\.Slow, org\.acme\.Two"):
        found = MultiLayerNetwork.load(source)
    sizes = {key: array.size for key, array in found.param_table().items()}
    assert sizes == {"0_W": 12, "0_b": 4, "1_unknown": 25 + 18 + 12, "5_W": 6, "5_b": 2}
    for key in ("0_W", "5_W"):
        np.testing.assert_array_equal(found.get_param(key), net.get_param(key))
    with pytest.raises(MissingOpError, match="layer3"):
        found.get_layer(3).activate(np.ones((1, 5), "f4"))
    found.save(tmp_path / "same.zip")
    assert entries(tmp_path / "same.zip") == entries(source)
    document["confs"][0]["layer"]["nout"] = 400
    with pytest.raises(FileFormatError, match="fewer than the layers have"):
        MultiLayerNetwork.load(rewritten(tmp_path / "n.zip", tmp_path / "in.zip", json.dumps(document)))


def test_a_missing_vertex(tmp_path):
    net, (a, b), _ = given("graph")
    net.save(tmp_path / "n.zip")
    document = json.loads(entries(tmp_path / "n.zip")["configuration.json"])
    document["vertices"]["both"]["@class"] = "org.acme.Both"
    source = rewritten(tmp_path / "n.zip", tmp_path / "in.zip", json.dumps(document))
    with pytest.warns(MissingClassWarning, match=r"vertex 'both' \(Both\)"):
        found = ComputationGraph.load(source)
    np.testing.assert_array_equal(found.output(["two"], False, [a, b])[0], net.output(["two"], False, [a, b])[0])
    with pytest.warns(MissingClassWarning, match="without activations of both, one"):
        assert set(found.feed_forward(a, b)) == {"a", "b", "left", "right", "sum", "two"}
    with pytest.raises(MissingOpError, match=r"vertex 'both' \(Both\).*org\.acme\.Both"):
        found.output(a, b)


def test_the_text_of_a_configuration_names_all_that_is_missing():
    text = rows().get_layer_wise_configurations().to_json()
    text = text.replace("learning.config.Adam", "acme.Slow").replace("layers.ActivationLayer", "acme.Bent")
    for read in (MultiLayerConfiguration.from_json, MultiLayerNetwork):
        with pytest.raises(MissingOpError, match=r"2 of .*acme\.Slow.*acme\.Bent"):
            read(text)


PARTS = '''
from dl4py.layers import DenseLayer, layer

@layer("org.acme.Wide")
class Wide(DenseLayer):
    """A layer of a plug-in."""

@layer("org.acme.Deep")
class Deep(Wide):
    """Another one."""
'''


@pytest.mark.slow
def test_whose_the_missing_classes_are_is_told(tmp_path):
    (tmp_path / "acme_layers.py").write_text(PARTS)
    info = tmp_path / "acme_things-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-things\nVersion: 1.2\n")
    (info / "top_level.txt").write_text("acme_layers\n")
    (info / "entry_points.txt").write_text("[dl4py.layers]\nparts = acme_layers\n")
    made = """
        import sys
        import numpy as np
        from acme_layers import Deep, Wide
        from dl4py.layers import DenseLayer, OutputLayer
        from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
        net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).updater("adam").list(
            DenseLayer(n_in=3, n_out=4), Wide(n_in=4, n_out=4), DenseLayer(n_in=4, n_out=5), Deep(n_in=5, n_out=3),
            OutputLayer(n_in=3, n_out=2)).build()).init()
        net.fit(np.ones((2, 3)), np.eye(2))
        net.save(sys.argv[1] + "/n.zip")
        np.savez(sys.argv[1] + "/p.npz", **net.param_table())
    """
    run(made, tmp_path, path=tmp_path)
    message = (r"2 of .*org\.acme\.Wide \(of acme-things 1\.2\), org\.acme\.Deep \(of acme-things 1\.2\); they are needed by "
               r"layer 'layer1' \(Wide\), layer 'layer3' \(Deep\)")
    with pytest.warns(MissingClassWarning, match=message):
        net = MultiLayerNetwork.load(tmp_path / "n.zip")
    assert net.missing_classes() == {"org.acme.Wide": "acme-things 1.2", "org.acme.Deep": "acme-things 1.2"}
    with np.load(tmp_path / "p.npz") as saved:
        for key, array in net.param_table().items():
            np.testing.assert_array_equal(array, saved[key] if key in saved else np.concatenate(
                [saved[f"{key[0]}_W"].ravel(order="f"), saved[f"{key[0]}_b"].ravel()]))
    assert any("org.acme.Wide of acme-things 1.2 is not registered" in note for note in inspect(tmp_path / "n.zip").notes)
    net.save(tmp_path / "same.zip")
    assert (tmp_path / "same.zip").read_bytes() == (tmp_path / "n.zip").read_bytes()
    assert run("""
        import sys
        from dl4py.networks import MultiLayerNetwork
        net = MultiLayerNetwork.load(sys.argv[1] + "/same.zip")
        print(net.missing_classes(), [type(c).__name__ for c in net.get_configuration().layers][1])
    """, tmp_path, path=tmp_path) == "{} Wide\n"


@pytest.mark.parametrize("entry", [b"", b"[", b"[]", b'{"classes": 1, "parameters": [2]}', b"\xff", b"[" * 100_000,
                                   b'{"classes": {"org.acme.Missing": 1}, "parameters": {"0": -1, "1": 1e9, "2": true, "3": "x"}}',
                                   b'{"parameters": {"0": 5}}'])
def test_a_damaged_record_does_no_harm(entry, tmp_path):
    net, _, _ = given("rows")
    net.save(tmp_path / "n.zip")
    document = json.loads(entries(tmp_path / "n.zip")["configuration.json"])
    document["confs"][0]["layer"]["@class"] = "org.acme.Missing"
    source = rewritten(tmp_path / "n.zip", tmp_path / "in.zip", json.dumps(document), **{"classes.dl4py.json": entry})
    with pytest.warns(MissingClassWarning):
        found = MultiLayerNetwork.load(source)
    assert found.get_param("0_unknown").size == 16
    found.save(tmp_path / "same.zip")
    assert entries(tmp_path / "same.zip") == entries(source)


def test_copies_and_arrays_keep_what_was_not_read(tmp_path):
    net, (x,), _ = given("rows")
    net.save(tmp_path / "n.zip")
    document = json.loads(entries(tmp_path / "n.zip")["configuration.json"])
    document["confs"][3]["layer"]["@class"] = "org.acme.Missing"
    source = rewritten(tmp_path / "n.zip", tmp_path / "in.zip", json.dumps(document))
    with pytest.warns(MissingClassWarning):
        found = MultiLayerNetwork.load(source)
    for copied in (found.clone(), copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert copied == found and copied.missing_classes() == found.missing_classes()
        copied.save(tmp_path / "same.zip")
        assert entries(tmp_path / "same.zip") == entries(source)
    np.testing.assert_array_equal(to_arrays(found)["updaterState"], net.get_updater().state_view())
    for call in (lambda: found.profile(x), lambda: found.explain(x), lambda: to_same_diff(found), found.to_computation_graph,
                 lambda: found.convert_data_type("DOUBLE"), lambda: TransferLearning.Builder(found).set_feature_extractor(1)
                 .fine_tune_configuration(FineTuneConfiguration.Builder().updater("sgd").build()).build()):
        with pytest.raises(MissingOpError, match=r"org\.acme\.Missing"):
            call()
    part = TransferLearning.Builder(found).remove_layers_from_output(3).add_layer(OutputLayer(n_in=5, n_out=2)).build()
    assert part.missing_classes() == {} and part.output(x).shape == (6, 2)


def test_a_configuration_of_an_old_version_stays_as_it_was(tmp_path):
    layers = [{"dense": {"layerName": "a", "activationFunction": "relu", "weightInit": "XAVIER", "learningRate": 0.1, "updater": "ADAM",
                         "nin": 3, "nout": 4}}, {"acmeLayer": {"layerName": "b", "nin": 4, "nout": 2, "beta": 3}}]
    text = json.dumps({"backprop": True, "confs": [{"layer": one, "variables": ["W", "b"]} for one in layers], "inputPreProcessors": {}})
    write_model_zip(tmp_path / "in.zip", ModelZip(text, np.arange(30, dtype="f4"), np.arange(40, dtype="f4")))
    with pytest.warns(MissingClassWarning, match="acmeLayer"):
        net = MultiLayerNetwork.load(tmp_path / "in.zip")
    assert {k: a.size for k, a in net.param_table().items()} == {"0_W": 12, "0_b": 4, "1_unknown": 14}
    net.save(tmp_path / "same.zip")
    assert entries(tmp_path / "same.zip") == entries(tmp_path / "in.zip")


def test_a_missing_layer_has_a_name_or_none(tmp_path):
    path = tmp_path / "n.zip"
    given("rows")[0].save(path)
    document = json.loads(entries(path)["configuration.json"])
    document["confs"][0]["layer"] |= {"@class": "org.acme.Missing", "layerName": 5}
    changed = rewritten(path, tmp_path / "in.zip", json.dumps(document))
    with pytest.raises(ConfigurationError, match="layer_name: expected str; got 5"):
        MultiLayerNetwork.load(changed, missing="keep")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["java.lang.ProcessBuilder", "org.deeplearning4j.nn.conf.layers.TenseLayer", "org.nd4j.learning.Faster"])
def test_unknown_classes_of_no_plug_in_are_errors(tmp_path, name):
    path = tmp_path / "n.zip"
    given("rows")[0].save(path)
    text = entries(path)["configuration.json"].decode()
    for old in {text[a:b] for a, b in classes_in(text)}:
        changed = rewritten(path, tmp_path / "in.zip", text.replace(f'"{old}"', f'"{name}"'))
        with pytest.raises(MissingOpError, match=re.escape(name)):
            MultiLayerNetwork.load(changed)
