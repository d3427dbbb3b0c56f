"""Names of kernels on disk depend on content alone: another process, folder or order compiles nothing anew."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dl4py.samediff.cpu.compiler import sources
from dl4py.samediff.errors import MissingPackageError

ROOT = Path(__file__).resolve().parents[4]

#: Trains networks in the order of the arguments, and prints the names of all that was compiled meanwhile.
PROGRAM = """
import sys
from unittest import mock
import numpy as np
from dl4py.layers import *
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.cpu.cache import store
from dl4py.samediff.data import DataSet
from dl4py.samediff.training import Adam

written, write = [], store.write
def noted(part, name, *rest):
    written.append(name)
    write(part, name, *rest)

def train(kind, shape, *layers):
    x = np.random.default_rng(0).normal(size=(4, *shape)).astype("f")
    conf = NeuralNetConfiguration.Builder().seed(1).updater(Adam(0.01)).list(*layers, OutputLayer(n_out=3)).set_input_type(kind).build()
    net = MultiLayerNetwork(conf).init()
    net.fit(DataSet(x, np.eye(3, dtype="f")[[0, 1, 2, 1]]))
    net.output(x)

image, series = (InputType.convolutional(9, 9, 2), (2, 9, 9)), (InputType.recurrent(3, 5), (3, 5))
NETWORKS = {
    "dense": lambda: train(InputType.feed_forward(5), (5,), DenseLayer(n_out=6, activation="tanh"), BatchNormalization()),
    "convolution": lambda: train(*image, ConvolutionLayer(kernel_size=(3, 3), n_out=4, activation="relu"), SubsamplingLayer()),
    "depthwise": lambda: train(*image, DepthwiseConvolution2D(kernel_size=(3, 3), depth_multiplier=2), GlobalPoolingLayer("AVG")),
    "recurrent": lambda: train(*series, Bidirectional(SimpleRnn(n_out=4)), GlobalPoolingLayer("MAX")),
    "lstm": lambda: train(*series, LastTimeStep(LSTM(n_out=4))),
}
with mock.patch.object(store, "write", noted):
    for name in sys.argv[1:]:
        NETWORKS[name]()
print("compiled", *written)
"""
NETWORKS = "dense", "convolution", "depthwise", "recurrent", "lstm"


def compiled(path: Path, *names: str) -> list[str]:
    """What a process compiles that finds the package in this folder."""
    run = subprocess.run([sys.executable, "-c", PROGRAM, *names], env={**os.environ, "PYTHONPATH": str(path)}, cwd=path, text=True,
                         stdout=subprocess.PIPE, check=True, timeout=600)
    return run.stdout.split()[1:]


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_a_second_process_compiles_nothing(tmp_path):
    compiled(ROOT, *NETWORKS)
    (tmp_path / "dl4py").symlink_to(ROOT / "dl4py")
    assert compiled(tmp_path, *reversed(NETWORKS)) == []


@pytest.mark.parametrize("files, read", [
    (["cpu/a.py", "cpu/ops/b.py", "cpu/__pycache__/a.pyc"], ["cpu/a.py", "cpu/ops/b.py"]),
    (["cpu/a.pyc", "cpu/ops/b.pyc"], ["cpu/a.pyc", "cpu/ops/b.pyc"]),         # compileall -b
    (["cpu"], ["cpu"]),                                           # an archive, which is imported from
    ([], MissingPackageError),
])
def test_names_follow_from_whatever_code_is_there(files, read, tmp_path):
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    if read is MissingPackageError:
        with pytest.raises(read, match="is not there: install it with its"):
            sources.code_of(tmp_path / "cpu")
    else:
        assert list(sources.code_of(tmp_path / "cpu" / "inside" if read == ["cpu"] else tmp_path / "cpu")) == [r.encode() for r in read]
