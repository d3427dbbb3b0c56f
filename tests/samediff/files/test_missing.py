"""Graphs whose ops are this library's own, those of plug-ins, or nobody's: in a process that has imported nothing but the graph."""
from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
import textwrap
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import dl4py.layers
import dl4py.networks
import dl4py.udf
from dl4py.layers import LSTM, DenseLayer, DropoutLayer, InputType, OutputLayer, RnnOutputLayer, SelfAttentionLayer
from dl4py.layers.functions.dropout import GaussianNoise
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration, to_same_diff
from dl4py.samediff import SameDiff
from dl4py.samediff.codecs.flatbuffers.graph import FlatGraph, FlatNode, FlatVariable, IntPair
from dl4py.samediff.codecs.flatbuffers.schema import OpType, VarType
from dl4py.samediff.codecs.flatbuffers.writer import write_flat_graph
from dl4py.samediff.codecs.legacy_table import op_identity
from dl4py.samediff.ir.op import OPS

PARTS = '''
import numpy as np
from dl4py.layers import IDropout, SameDiffLambdaLayer
from dl4py.samediff.configuration.declaring import configuration
from dl4py.udf import user_op

@user_op("acme.shift", version=3)
def shift(xp, x):
    return x + 1

@configuration("org.acme.BlockDrop")
class BlockDrop(IDropout):
    p: float = 0.5

    def __new__(cls, *args, **kwargs):
        return super().__new__(cls)

    def draw(self, rng, shape, dtype, iteration, epoch):
        return self.p, None
'''


def run(code: str, *arguments: object, path: Path | None = None) -> str:
    """What a fresh process prints."""
    environment = {**os.environ, **({"PYTHONPATH": str(path)} if path else {})}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)], capture_output=True, text=True, check=False,
                          env=environment, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_own_op_is_found():
    for package in (dl4py.layers, dl4py.networks, dl4py.udf):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
    own = sorted(name for name, cls in OPS.items() if (cls.__module__ or "").startswith(("dl4py.layers", "dl4py.networks", "dl4py.udf")))
    assert len(own) > 10
    code = """
        import sys
        from dl4py.samediff import SameDiff
        from dl4py.samediff.ir.op import OPS
        print(all(OPS.get(n) is None for n in sys.argv[1:]), [n for n in sys.argv[1:] if OPS.find(n) is None])
    """
    assert run(code, *own).split(" ", 1)[1].strip() == "[]"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("layers", "shape"), [
    ([DenseLayer(n_out=3, dropout=0.5), DropoutLayer(dropout=GaussianNoise(0.1)), OutputLayer(n_out=2)], (2, 3)),
    ([SelfAttentionLayer(n_out=4, n_heads=2, project_input=True), RnnOutputLayer(n_out=2)], (2, 3, 4)),
    ([LSTM(n_out=4), RnnOutputLayer(n_out=2)], (2, 3, 4))], ids=["dropout", "attention", "recurrent"])
def test_the_graph_of_a_network_runs_by_itself(layers, shape, tmp_path):
    kind = InputType.recurrent(3, 4) if len(shape) == 3 else InputType.feed_forward(3)
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list(*layers).set_input_type(kind).build()).init()
    x = np.linspace(-1, 1, int(np.prod(shape)), dtype="f4").reshape(shape)
    to_same_diff(net).save(tmp_path / "n.fb")
    np.savez(tmp_path / "xy.npz", x=x, y=net.output(x))
    run("""
        import sys
        import numpy as np
        from dl4py.samediff import SameDiff
        sd, data = SameDiff.load(sys.argv[1] + "/n.fb"), np.load(sys.argv[1] + "/xy.npz")
        assert sd.missing_ops() == [] == SameDiff.from_flat_buffers(sd.as_flat_buffers()).missing_ops()
        (name,) = sd.outputs()
        np.testing.assert_allclose(sd.output({"input_0": data["x"]}, [name])[name], data["y"], atol=1e-6)
    """, tmp_path)


@pytest.mark.parametrize("group", ["dl4py.ops", "dl4py.layers", "dl4py.losses"])
@pytest.mark.slow
def test_an_op_of_a_plug_in_is_found_whatever_its_group(group, tmp_path):
    (tmp_path / "acme_parts.py").write_text(PARTS)
    run("""
        import sys
        import acme_parts
        from dl4py.samediff import SameDiff
        sd = SameDiff.create()
        acme_parts.shift(sd.var("x", [1.0]), name="y")
        sd.save(sys.argv[1])
    """, tmp_path / "g.fb", path=tmp_path)
    read = """
        import sys
        from dl4py.samediff import SameDiff
        sd = SameDiff.load(sys.argv[1])
        print(sd.missing_op_versions() or sd.output_single({}, "y").tolist())
    """
    assert run(read, tmp_path / "g.fb", path=tmp_path) == "{'acme.shift': 3}\n"
    info = tmp_path / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\nparts = acme_parts\n")
    assert run(read, tmp_path / "g.fb", path=tmp_path) == "[2.0]\n"


@pytest.mark.slow
def test_a_class_inside_an_op_that_nobody_registers(tmp_path):
    (tmp_path / "acme_parts.py").write_text(PARTS)
    run("""
        import sys
        import acme_parts
        from dl4py.layers import DenseLayer, OutputLayer
        from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration, to_same_diff
        net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list(
            DenseLayer(n_in=3, n_out=3, name="first"), DenseLayer(n_in=3, n_out=3, dropout=acme_parts.BlockDrop()),
            OutputLayer(n_in=3, n_out=2)).build()).init()
        sd = to_same_diff(net)
        type(sd).from_flat_buffers(sd.as_flat_buffers()).save(sys.argv[1])      # arrays in the order of rows, as they are once read
    """, tmp_path / "n.fb", path=tmp_path)
    found = run("""
        import sys
        from dl4py.samediff import SameDiff
        from dl4py.samediff.errors import MissingOpError
        from dl4py.networks.commands import inspect
        sd = SameDiff.load(sys.argv[1])
        print(sd.missing_ops(), inspect(sys.argv[1]).missing)
        data = {"input_0": [[1.0, 2.0, 3.0]]}
        ran = []
        for node in sd.nodes():
            try:
                sd.output(data, [node.outputs[0]])
                ran.append(node.name)
            except MissingOpError as error:
                assert "org.acme.BlockDrop" in str(error)
        print(len(ran) > 1, len(ran) < len(sd.nodes()))
        again = SameDiff.from_flat_buffers(sd.as_flat_buffers())
        print(sd.as_flat_buffers() == open(sys.argv[1], "rb").read(), again.missing_ops())
    """, tmp_path / "n.fb")
    assert found == "['org.acme.BlockDrop'] ['org.acme.BlockDrop']\nTrue True\nTrue ['org.acme.BlockDrop']\n"


@pytest.mark.slow
def test_the_distribution_of_an_op_is_told(tmp_path):
    (tmp_path / "acme_parts.py").write_text(PARTS)
    info = tmp_path / "acme_things-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-things\nVersion: 1.2\n")
    (info / "top_level.txt").write_text("acme_parts\n")
    run("""
        import sys
        import numpy as np
        import acme_parts
        from dl4py.samediff import SameDiff
        sd = SameDiff.create()
        x = sd.placeholder("x", "FLOAT", -1, 2)
        acme_parts.shift(x, name="y")
        sd.if_cond("z", None, lambda s: x.sum() > 0, lambda s: acme_parts.shift(x), lambda s: x * 2)
        sd.save(sys.argv[1])
        again = SameDiff.load(sys.argv[1])
        assert again.output({"x": np.ones((1, 2))}, "y")["y"].tolist() == [[2.0, 2.0]]
    """, tmp_path / "g.fb", path=tmp_path)
    assert run("""
        import sys
        import numpy as np
        from dl4py.samediff import SameDiff
        from dl4py.samediff.errors import MissingOpError
        sd = SameDiff.load(sys.argv[1])
        print(sd.missing_op_versions(), sd.missing_op_distributions())
        try:
            sd.output({"x": np.ones((1, 2))}, "y")
        except MissingOpError as error:
            print("'acme.shift' version 3 of acme-things 1.2" in str(error))
        print(sd.as_flat_buffers() == open(sys.argv[1], "rb").read())
    """, tmp_path / "g.fb") == "{'acme.shift': 3} {'acme.shift': 'acme-things 1.2'}\nTrue\nTrue\n"


@pytest.mark.parametrize("types", [(), (5,)])
@pytest.mark.parametrize("names", [(), ("node",), ("other",)])
@pytest.mark.parametrize("op", ["acme.unknown", "tanh"])
def test_outputs_that_a_file_does_not_name(op, names, types):
    """A node without names of outputs has one of its own name, known or not."""
    kind, number = (OpType.UDF, -1) if op == "acme.unknown" else (OpType.TRANSFORM_STRICT, op_identity("tanh")[1])
    x = FlatVariable(IntPair(1), "x", 5, (2,), variabletype=int(VarType.PLACEHOLDER))
    node = FlatNode(2, "node", int(kind), number, input_paired=(IntPair(1),), op_name=op, output_names=names, output_types=types)
    after = FlatNode(3, "after", *map(int, op_identity("identity")), input_paired=(IntPair(2),), op_name="identity",
                     output_names=("after",))
    sd = SameDiff.from_flat_buffers(write_flat_graph(FlatGraph(variables=(x,), nodes=(node, after))))
    for read in (sd, SameDiff.from_flat_buffers(sd.as_flat_buffers())):
        assert read.missing_ops() == ([] if op == "tanh" else [op])
        assert [(n.name, tuple(n.inputs), tuple(n.outputs)) for n in read.nodes()] == [
            ("node", ("x",), names or ("node",)), ("after", names or ("node",), ("after",))]


def test_what_gives_nothing_is_no_node():
    """A graph with an op that gave no outputs is saved and loaded as without it."""
    sd = SameDiff.create()
    x = sd.constant("x", np.zeros((0, 2), np.float32))
    assert sd.unstack(x, 0) == [] and sd.nodes() == []
    sd.math.tanh("y", x)
    assert sd.unstack(x, 0) == [] and [n.outputs for n in SameDiff.from_flat_buffers(sd.as_flat_buffers()).nodes()] == [("y",)]
