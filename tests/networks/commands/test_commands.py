"""Looking into files and converting them from the command line."""
from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from dl4py.layers import LSTM, ConvolutionLayer, DenseLayer, InputType, OutputLayer, RnnOutputLayer
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.networks.commands import main
from dl4py.networks.commands.conversion import convert
from dl4py.networks.commands.inspection import inspect
from dl4py.networks.files.exchange import set_arrays, to_arrays, to_same_diff
from dl4py.samediff import DataSet, SameDiff
from dl4py.samediff.data import NormalizerStandardize
from dl4py.samediff.errors import ConfigurationError, FileFormatError
from dl4py.samediff.files import Nd4j, NormalizerSerializer

FILES = Path(__file__).parents[2] / "golden" / "files"


def network(seed=3, **changes):
    conf = NeuralNetConfiguration.Builder().seed(seed).updater("adam").list(
        DenseLayer(n_in=4, n_out=3, activation="tanh"), OutputLayer(n_out=2, activation="softmax", loss="mcxent", **changes))
    return MultiLayerNetwork(conf.set_input_type(InputType.feed_forward(4)).build()).init()


@pytest.fixture
def trained(tmp_path, rng):
    net = network()
    x = rng.normal(size=(6, 4)).astype("f4")
    net.fit(DataSet(x, np.eye(2, dtype="f4")[[0, 1, 0, 1, 1, 0]]))
    net.save(tmp_path / "net.zip")
    return net, x, tmp_path / "net.zip"


def test_inspecting_a_network(trained, capsys):
    net, _, path = trained
    report = inspect(path)
    assert (report.kind, report.data_type, report.iterations, report.parameters) == ("MultiLayerNetwork", "FLOAT", 1, 23)
    assert [(p.name, p.kind, p.parameters) for p in report.parts] == [
        ("layer0", "DenseLayer", {"W": [4, 3], "b": [3]}), ("layer1", "OutputLayer", {"W": [3, 2], "b": [2]})]
    assert report.updater_state == 46
    assert report.missing == report.custom == report.notes == []
    assert main(["inspect", "--json", str(path)]) == 0
    assert json.loads(capsys.readouterr().out) == report.to_document()
    assert main(["summary", str(path)]) == 0
    assert capsys.readouterr().out.strip() == net.summary().strip()


def test_inspecting_a_file_of_java():
    report = inspect(FILES / "regression_minmax_objects" / "model.zip")
    assert (report.normalizer, report.written_by) == ("MIN_MAX", "1.0.0-M2.1")
    assert any(name.startswith("objects/") for name in report.entries)


def test_classes_that_are_missing_are_named(trained, tmp_path):
    _, _, path = trained
    strange = tmp_path / "strange.zip"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(strange, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"conf.layers.DenseLayer", b"conf.layers.TenseLayer"))
    report = inspect(strange)
    assert report.missing == ["org.deeplearning4j.nn.conf.layers.TenseLayer"]
    assert [p.kind for p in report.parts] == ["TenseLayer", "OutputLayer"]
    assert '@layer("org.deeplearning4j.nn.conf.layers.TenseLayer")' in str(report)
    assert report.parameters == 23


@pytest.mark.parametrize(("layer", "version"), [
    ({"dense": {"activationFunction": "relu", "updater": "SGD", "learningRate": 0.1}}, "0.5.0 ... 0.7.1"),
    ({"dense": {"activationFn": {"ReLU": {}}, "updater": "SGD"}}, "0.7.2 ... 0.8.0"),
    ({"dense": {"updater": "SGD", "iupdater": {"@class": "org.nd4j.linalg.learning.config.Sgd", "learningRate": 0.1}}}, "0.9.0 ... 0.9.1"),
    ({"dense": {"iupdater": {"@class": "org.nd4j.linalg.learning.config.Sgd", "learningRate": 0.1}}}, "1.0.0-alpha"),
    ({"@class": "org.deeplearning4j.nn.conf.layers.DenseLayer", "weightInit": "XAVIER", "l2": 0.1}, "1.0.0-beta ... beta3"),
    ({"@class": "org.deeplearning4j.nn.conf.layers.DenseLayer", "regularization": []}, "1.0.0-beta4 ... beta6"),
])
def test_versions(tmp_path, layer, version):
    path = tmp_path / "old.zip"
    body = next(iter(layer.values())) if "@class" not in layer else layer
    body.update(nin=2, nout=1)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("configuration.json", json.dumps({"confs": [{"layer": layer}]}))
        with archive.open("coefficients.bin", "w") as stream:
            Nd4j.write(np.zeros((1, 3), "f4"), stream)
    report = inspect(path)
    assert report.written_by == version
    assert report.parts[0].parameters == {"W": [2, 1], "b": [1]}


def test_a_wrong_number_of_parameters_is_noted(tmp_path):
    path = tmp_path / "short.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("configuration.json", network().get_configuration().to_json())
        with archive.open("coefficients.bin", "w") as stream:
            Nd4j.write(np.zeros((1, 22), "f4"), stream)
    assert "23 parameters, the file 22" in inspect(path).notes[0]


def test_inspecting_graphs_normalizers_and_arrays(tmp_path):
    sd = SameDiff.create()
    x = sd.placeholder("x", "FLOAT", -1, 2)
    x.mmul(sd.var("w", np.ones((2, 3), "f4"))).rename("y")
    sd.save(tmp_path / "graph.fb")
    report = inspect(tmp_path / "graph.fb")
    assert (report.kind, report.ops, report.parameters) == ("SameDiff", {"matmul": 1}, 6)
    NormalizerSerializer.get_default().write(NormalizerStandardize([1.0], [2.0]), tmp_path / "n.bin")
    assert (inspect(tmp_path / "n.bin").kind, inspect(tmp_path / "n.bin").normalizer) == ("normalizer", "STANDARDIZE")
    Nd4j.save_binary(np.ones((2, 3), "i4"), tmp_path / "a.bin")
    assert inspect(tmp_path / "a.bin").data_type == "INT"


def test_files_that_are_nothing(tmp_path, capsys):
    (tmp_path / "x").write_bytes(b"not a model")
    with pytest.raises(FileFormatError):
        inspect(tmp_path / "x")
    assert main(["inspect", str(tmp_path / "x")]) == 1
    assert main(["inspect", str(tmp_path / "nowhere")]) == 1
    assert capsys.readouterr().err.count("dl4py: ") == 2


def test_as_a_program(trained):
    _, _, path = trained
    done = subprocess.run([sys.executable, "-m", "dl4py.networks", "inspect", str(path)], capture_output=True, text=True, check=True)
    assert "MultiLayerNetwork" in done.stdout


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_arrays_and_back(trained, tmp_path, suffix):
    net, _, path = trained
    middle, again = str(tmp_path / ("net" + suffix)), str(tmp_path / "again.zip")
    convert(str(path), middle)
    convert(middle, again)
    loaded = MultiLayerNetwork.load(again)
    np.testing.assert_array_equal(loaded.params(), net.params())
    np.testing.assert_array_equal(loaded.updater_state(), net.updater_state())
    assert loaded.get_iteration_count() == 1
    assert inspect(middle).kind == "arrays"


def test_a_network_as_a_graph_file(trained, tmp_path):
    net, x, path = trained
    target = str(tmp_path / "net.fb")
    assert main(["convert", str(path), target]) == 0
    sd = SameDiff.load(target)
    (out,) = sd.outputs()
    np.testing.assert_array_equal(sd.output({"input_0": x}, out)[out], net.output(x))
    with pytest.raises(ConfigurationError, match="a model zip needs a network"):
        convert(target, str(tmp_path / "back.zip"))


def test_graphs_of_recurrent_and_convolutional_networks(rng):
    recurrent = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list(
        LSTM(n_in=3, n_out=2, activation="leakyrelu"), RnnOutputLayer(n_in=2, n_out=2)).build()).init()
    sd, x = to_same_diff(recurrent), rng.normal(size=(2, 3, 4)).astype("f4")
    copy = SameDiff.from_flat_buffers(sd.as_flat_buffers())
    np.testing.assert_allclose(copy.output({"input_0": x}, sd.outputs()[0])[sd.outputs()[0]], recurrent.output(x), atol=1e-6)
    layers = ConvolutionLayer(n_out=2, kernel_size=(2, 2)), OutputLayer(n_out=2)
    builder = NeuralNetConfiguration.Builder().seed(1).list(*layers).set_input_type(InputType.convolutional(4, 4, 1))
    images = MultiLayerNetwork(builder.build()).init()
    x = rng.normal(size=(2, 1, 4, 4)).astype("f4")
    sd = to_same_diff(images)
    np.testing.assert_allclose(sd.output({"input_0": x}, sd.outputs()[0])[sd.outputs()[0]], images.output(x), atol=1e-6)
    with pytest.raises(ConfigurationError, match="accept no inputs"):
        to_same_diff(images, [3])


def test_the_graph_has_parameters_of_its_own():
    net = network()
    sd = to_same_diff(net)
    before = np.array(sd.get_variable("0_W").get_arr())
    net.get_param("0_W")[...] = 0
    np.testing.assert_array_equal(sd.get_variable("0_W").get_arr(), before)


def test_arrays_that_do_not_fit_change_nothing(rng):
    net, before = network(), network().params().copy()
    arrays = to_arrays(network(seed=9))
    for wrong, message in (({"0_W": np.ones((2, 2))}, "0_W has shape"), ({"strange": np.ones(1)}, "strange is no parameter"),
                           ({"updaterState": np.ones(3)}, "3 numbers for 46")):
        with pytest.raises(ConfigurationError, match=message):
            set_arrays(net, arrays | wrong)
        np.testing.assert_array_equal(net.params(), before)
    with pytest.raises(ConfigurationError, match="1_b is missing"):
        set_arrays(net, {k: v for k, v in arrays.items() if k != "1_b"})
    set_arrays(net, arrays)
    np.testing.assert_array_equal(net.params(), network(seed=9).params())


def test_graph_networks(tmp_path):
    net = network().to_computation_graph()
    net.save(tmp_path / "graph.zip")
    assert inspect(tmp_path / "graph.zip").kind == "ComputationGraph"
    convert(str(tmp_path / "graph.zip"), str(tmp_path / "graph.npz"))
    convert(str(tmp_path / "graph.npz"), str(tmp_path / "again.zip"))
    np.testing.assert_array_equal(ComputationGraph.load(tmp_path / "again.zip").params(), net.params())


def test_targets_that_make_no_sense(trained, tmp_path):
    _, _, path = trained
    shutil.copy(path, tmp_path / "copy.zip")
    with pytest.raises(ConfigurationError, match="expected one of"):
        convert(str(path), str(tmp_path / "net.txt"))
    with pytest.raises(ConfigurationError, match="the source itself"):
        convert(str(path), str(path))
    np.savez(tmp_path / "plain.npz", a=np.ones(2))
    with pytest.raises(FileFormatError, match="no configuration"):
        convert(str(tmp_path / "plain.npz"), str(tmp_path / "x.zip"))


def test_progress_is_told_for_large_files(trained, tmp_path, monkeypatch, capsys):
    _, _, path = trained
    monkeypatch.setattr("dl4py.networks.commands.progress.ReadingProgress.QUIET", 10)
    assert main(["convert", str(path), str(tmp_path / "net.npz")]) == 0
    told = capsys.readouterr().err
    assert "reading" in told
    assert "%" in told
    assert "writing" in told


def test_a_reader_that_goes_away_is_no_error(trained):
    command = [sys.executable, "-m", "dl4py.networks", "inspect", "--json", str(trained[2])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(60) == 141


@pytest.mark.parametrize("words, said", [
    (["sumary", "x.zip"], "there is no command 'sumary'; did you mean 'summary'?"),
    (["foo"], "there is no command 'foo'; commands: inspect, summary, profile, convert, ui, doctor, info"),
    (["inspect", "x.zip", "--jsn"], "unknown: --jsn; did you mean '--json'?"),
    ([], "required: COMMAND"),
    (["inspect"], "required: file"),
    (["profile", "x.zip", "--batch", "many"], "invalid int value: 'many'"),
])
def test_what_is_not_understood_ends_with_2(words, said, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2 and said in capsys.readouterr().err


def test_the_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0 and capsys.readouterr().out.startswith("dl4py ")


def test_files_that_cannot_be_read_end_with_1(trained, tmp_path, capsys, monkeypatch):
    (tmp_path / "text.zip").write_text("no zip")
    for command in ("inspect", "summary", "profile"):
        for name, said in (("none.zip", "No such file"), (".", "is a folder"), ("text.zip", "text.zip: ")):
            assert main([command, str(tmp_path / name)]) == 1
            found = capsys.readouterr()
            assert found.out == "" and found.err.startswith("dl4py: ") and said in found.err and found.err.count("\n") == 1
    monkeypatch.setattr("dl4py.networks.commands.inspect", lambda path: (_ for _ in ()).throw(KeyboardInterrupt))
    assert main(["inspect", str(trained[2])]) == 130


def test_no_share_of_the_limits_is_above_all_of_them(trained, capsys):
    assert main(["profile", str(trained[2])]) == 0
    text = capsys.readouterr().out
    shares = [float(word[:-1]) for word in text.split() if word.endswith("%")]
    assert shares and max(shares) <= 100
