"""What files say and do with version 1 of examples/plugin (``written``), with version 2 (``upgraded``) and without it (``missing``)."""
import subprocess
import sys
import warnings
import zipfile

import numpy as np

from dl4py.layers import DenseLayer, InputType, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.base.registry import MissingClassWarning
from dl4py.samediff.data import DataSet
from dl4py.samediff.errors import MissingOpError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(32, 4)).astype(np.float32)
Y = np.eye(2)[(X.sum(1) > 0).astype(int)]


def command(*words):
    found = subprocess.run([sys.executable, "-m", "dl4py", *words], capture_output=True, text=True, check=False)
    return found.stdout + found.stderr


def says(text, *parts):
    lacking = [part for part in parts if part not in text]
    assert not lacking, f"{lacking} not in:\n{text}"


def written():
    from modern_parts import Lion, RmsNorm, SwiGlu, rms_norm
    says(command("plugins"), "modern-parts 0.1.0", "modern_parts.rms_norm (version 1)", "modern_parts.SwiGlu (version 1)")
    conf = (NeuralNetConfiguration.Builder().seed(1).updater(Lion(0.01))
            .list(DenseLayer(n_out=6, activation="tanh"), RmsNorm(), SwiGlu(n_out=5, hidden=8), OutputLayer(n_out=2))
            .set_input_type(InputType.feed_forward(4)).build())
    net = MultiLayerNetwork(conf).init()
    before = net.score(DataSet(X, Y))
    net.fit(X, Y, epochs=30)
    assert net.score(DataSet(X, Y)) < 0.7 * before
    net.save("net.zip")
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 4)
    doubled = (x * 2).rename("doubled")
    rms_norm("normed", doubled, sd.var("gain", np.ones(4, np.float32)), eps=0.5)
    sd.save("graph.fb")
    np.savez("wanted.npz", first=net.feed_forward(X)[1], output=net.output(X), normed=sd.output_single({"x": X}, "normed"))


def upgraded():
    """Nothing is imported: the entry points are found by the names in the files."""
    wanted = np.load("wanted.npz")
    says(command("plugins"), "modern-parts 0.2.0", "modern_parts.rms_norm (version 2)", "modern_parts.SwiGlu (version 2)")
    net = MultiLayerNetwork.load("net.zip")
    np.testing.assert_array_equal(net.output(X), wanted["output"])
    assert net[2].width == 8          # version 1 called it hidden
    net.fit(X, Y)
    sd = SameDiff.load("graph.fb")
    np.testing.assert_array_equal(sd.output_single({"x": X}, "normed"), wanted["normed"])


def missing():
    wanted = np.load("wanted.npz")
    assert "modern" not in command("plugins")
    says(command("inspect", "net.zip"), "modern_parts.RmsNorm", "modern_parts.SwiGlu", "modern_parts.Lion", "modern-parts 0.1.0")
    says(command("inspect", "graph.fb"), "modern_parts.rms_norm", "modern-parts 0.1.0")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        net = MultiLayerNetwork.load("net.zip")
        known = net.feed_forward(X)
    says(str(told[0].message), "modern_parts.RmsNorm", "modern_parts.SwiGlu", "modern-parts 0.1.0")
    assert all(isinstance(w.message, MissingClassWarning) for w in told)
    assert set(net.missing_classes()) == {"modern_parts.RmsNorm", "modern_parts.SwiGlu", "modern_parts.Lion"}
    np.testing.assert_array_equal(known[-1], wanted["first"])           # up to the gap
    says(net.summary(), "DenseLayer", "RmsNorm", "SwiGlu")
    try:
        net.output(X)
        raise AssertionError("a network without its layers gave an output")
    except MissingOpError as error:
        says(str(error), "modern_parts.RmsNorm")
    net.save("again.zip")
    with zipfile.ZipFile("net.zip") as old, zipfile.ZipFile("again.zip") as new:
        assert {n: old.read(n) for n in old.namelist()} == {n: new.read(n) for n in new.namelist()}
    sd = SameDiff.load("graph.fb")
    np.testing.assert_array_equal(sd.output_single({"x": X}, "doubled"), 2 * X)
    try:
        sd.output_single({"x": X}, "normed")
        raise AssertionError("an op that nobody registers ran")
    except MissingOpError as error:
        says(str(error), "modern_parts.rms_norm", "version 1", "modern-parts 0.1.0")


{"written": written, "upgraded": upgraded, "missing": missing}[sys.argv[1]]()
print(f"{sys.argv[1]}: as expected")
