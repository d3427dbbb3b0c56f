"""Graphs to files and back: structure, values, training, missing ops, damage."""
from __future__ import annotations

import io
import itertools
import warnings

import numpy as np
import pytest

from dl4py.networks.commands import inspect
from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.base.registry import MissingClassWarning
from dl4py.samediff.codecs.flatbuffers.graph import FlatGraph, FlatNode, FlatVariable, IntPair
from dl4py.samediff.codecs.flatbuffers.reader import FlatLimits, read_flat_graph
from dl4py.samediff.codecs.flatbuffers.schema import OpType
from dl4py.samediff.codecs.flatbuffers.writer import write_flat_graph
from dl4py.samediff.errors import (
    DataTypeError,
    DL4PyError,
    FileFormatError,
    GraphError,
    LimitError,
    MissingOpError,
    TruncatedFileError,
    UnsupportedVersionError,
)
from dl4py.samediff.ir.op import OPS, Op, op
from dl4py.samediff.training import Adam, L2Regularization, Sgd, TrainingConfig

X, Y = np.random.default_rng(3).normal(size=(2, 6, 4)).astype(np.float32)


def mlp(updater=None):
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.FLOAT, -1, 4), sd.placeholder("y", DataType.FLOAT, -1, 4)
    w = sd.var("w", np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4))
    h = sd.math.tanh("h", x.mmul(w)) * sd.constant("scale", 2.0)
    d = h.add("out", sd.var("b", np.zeros(4, np.float32))) - y
    (d * d).mean("loss")
    sd.set_loss_variables("loss")
    sd.set_training_config(TrainingConfig(updater or Adam(0.1), [L2Regularization(0.01)],
                                          data_set_feature_mapping="x", data_set_label_mapping="y"))
    return sd


def same(a, b, feed, *names):
    want, got = a.output(feed, *names), b.output(feed, *names)
    for name in names:
        np.testing.assert_array_equal(got[name], want[name])


def describe(sd):
    return ([(v.name(), v.get_variable_type(), v.dtype, v.get_shape()) for v in sd.variables()],
            [(n.name, n.op, n.inputs, n.outputs, n.control) for n in sd.nodes()], sd.get_loss_variables(), sd.get_training_config())


def test_everything_comes_back():
    sd = mlp()
    again = SameDiff.from_flat_buffers(sd.as_flat_buffers())
    assert describe(again) == describe(sd)
    assert again.as_flat_buffers() == sd.as_flat_buffers()
    same(sd, again, {"x": X, "y": Y}, "out", "loss")


@pytest.mark.parametrize("saved, loaded, equal", [(True, True, True), (True, False, False), (False, True, False)])
def test_training_goes_on_where_it_was(tmp_path, saved, loaded, equal):
    sd = mlp()
    for _ in range(3):
        sd.fit({"x": X, "y": Y})
    sd.save(tmp_path / "graph.fb", saved)
    again = SameDiff.load(tmp_path / "graph.fb", loaded)
    assert again.get_training_config().iteration_count == 3
    assert bool(again.get_updater_map()) is equal
    for graph in (sd, again):
        graph.fit({"x": X, "y": Y})
    assert np.array_equal(sd.get_variable("w").get_arr(), again.get_variable("w").get_arr()) is equal


@pytest.mark.slow
def test_dup_is_independent():
    sd = mlp()
    sd.fit({"x": X, "y": Y})
    copy = sd.dup()
    for graph in (sd, copy):
        graph.fit({"x": X, "y": Y})
    np.testing.assert_array_equal(sd.get_variable("w").get_arr(), copy.get_variable("w").get_arr())
    copy.fit({"x": X, "y": Y})
    assert not np.array_equal(sd.get_variable("w").get_arr(), copy.get_variable("w").get_arr())


def test_files_streams_and_bytes_are_the_same(tmp_path):
    sd, stream = mlp(), io.BytesIO()
    sd.save(stream)
    sd.as_flat_file(tmp_path / "a.fb", False)
    assert stream.getvalue() == (tmp_path / "a.fb").read_bytes() == sd.as_flat_buffers()
    stream.seek(0)
    assert describe(SameDiff.load(stream)) == describe(SameDiff.from_flat_file(tmp_path / "a.fb"))


@pytest.mark.parametrize("dtype", [t for t in DataType if t.is_numeric])
def test_every_data_type_is_kept(dtype):
    sd = SameDiff.create()
    values = np.array([[0, 1], [1, 0]]).astype(dtype.numpy)
    sd.constant("c", values)
    got = sd.dup().get_variable("c").get_arr()
    assert got.dtype == dtype.numpy and np.array_equal(got, values)


def test_texts_and_empty_constants():
    sd = SameDiff.create()
    sd.constant("texts", np.array(["a", "βγ", ""], dtype=object))
    sd.constant("empty", np.zeros((0, 3), np.float32))
    again = sd.dup()
    assert again.get_variable("texts").get_arr().tolist() == ["a", "βγ", ""]
    assert again.get_variable("empty").get_arr().shape == (0, 3)


def test_unknown_rank_and_scalar_placeholders():
    sd = SameDiff.create()
    sd.placeholder("scalar", DataType.FLOAT)
    sd.placeholder("any", DataType.FLOAT, None)
    sd.placeholder("some", DataType.INT, -1, 3)
    assert [v.get_shape() for v in sd.dup().variables()] == [(), None, (-1, 3)]


@pytest.mark.slow
def test_several_outputs_and_optional_inputs():
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, 2, 6)
    parts = sd.split(x, 2, 1)
    mean, variance = sd.moments(parts[0], 0)
    (mean * variance).rename("end")
    again = sd.dup()
    assert [n.outputs for n in again.nodes()] == [n.outputs for n in sd.nodes()]
    same(sd, again, {"x": np.arange(12).reshape(2, 6)}, "end", parts[1].name())


@pytest.mark.parametrize("given", [p for p in itertools.product([False, True], repeat=3) if any(p)])
def test_optional_inputs_left_out_anywhere(given):
    @op("test_saving.weighted", inputs="a? b? c?")
    class Weighted(Op):
        def infer(self, *specs):
            return next(s for s in specs if s is not None)

        def compute(self, xp, *arrays):
            return sum(10**k * a for k, a in enumerate(arrays) if a is not None)
    try:
        sd = SameDiff.create()
        values = {n: np.full(2, i, np.float32) for i, n in enumerate("abc", 1) if given[i - 1]}
        variables = [sd.placeholder(n, DataType.FLOAT, 2) if n in values else None for n in "abc"]
        sd.add_op(Weighted(), variables, ["y"])
        again = sd.dup()
        want = sum(10**k * (k + 1) for k in range(3) if given[k])
        for graph in (sd, again, again.dup()):
            np.testing.assert_array_equal(graph.output(values, "y")["y"], [want, want])
    finally:
        OPS.remove("test_saving.weighted")


def test_python_indexing_and_gradients_in_the_graph():
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 6, 5)
    parts = [x[0], x[:, -1], x[1:, ::2, None], x[..., 2:4], x[0, 1, 2], x[:, -2:-1], x[:, 1:5:2]]
    total = sum(((p * p).sum() for p in parts[1:]), (parts[0] ** 3).sum())
    (gradient,) = sd.gradients(total, x)
    same(sd, sd.dup(), {"x": np.random.default_rng(0).normal(size=(3, 6, 5))}, gradient.name(), total.name())


def test_control_dependencies():
    sd = SameDiff.create()
    x = sd.var("x", np.ones(2))
    a, b = x.add("a", 1.0), x.mul("b", 2.0)
    b.add_control_dependency(a)
    assert sd.dup().producer("b").control == ("a",)
    with pytest.raises(GraphError, match="circle"):
        a.add_control_dependency(b)


@pytest.fixture
def user_op():
    def make(version):
        OPS.remove("acme.shift")

        @op("acme.shift", api="")
        class Shift(Op):
            by: float = 1.0
            axes: tuple[int, ...] = ()
            how: str = "up"

            def infer(self, x):
                return x

            def compute(self, xp, x):
                return x + self.by

            @classmethod
            def upgrade(cls, attributes, stored):
                return attributes | {"by": attributes["by"] * 10}
        Shift.version = version
        return Shift
    yield make
    OPS.remove("acme.shift")


def shifted(cls):
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, 2)
    sd.add_op(cls(2.5, (1, 0), "down"), [x.add("before", 1.0)], ["y"]).mul("z", 2.0)
    return sd.as_flat_buffers()


def test_user_ops_with_versions(user_op, tmp_path):
    data = shifted(user_op(2))
    sd = SameDiff.from_flat_buffers(data)
    assert sd.producer("y").op == OPS["acme.shift"](2.5, (1, 0), "down")
    user_op(3)
    assert SameDiff.from_flat_buffers(data).producer("y").op.by == 25
    user_op(1)
    with pytest.raises(UnsupportedVersionError, match="version 2"):
        SameDiff.from_flat_buffers(data)
    (tmp_path / "g.fb").write_bytes(data)
    report = inspect(tmp_path / "g.fb")
    assert report.ops["acme.shift"] == 1 and "version 2 of its class; registered is version 1" in report.notes[0]


def test_missing_ops_stay_in_the_graph(user_op):
    data = shifted(user_op(1))
    OPS.remove("acme.shift")
    sd = SameDiff.from_flat_buffers(data)
    feed = {"x": np.zeros(2)}
    assert sd.missing_ops() == ["acme.shift"] and sd.missing_op_versions() == {"acme.shift": 1}
    assert sd.output_single(feed, "before").tolist() == [1, 1]
    with pytest.raises(MissingOpError, match=r"acme\.shift' version 1"):
        sd.output(feed, "z")
    with pytest.raises(MissingOpError, match=r"acme\.shift"):
        sd.gradients(sd.variable("z").sum("loss"), sd.variable("x"))
    again = SameDiff.from_flat_buffers(data).as_flat_buffers()
    user_op(1)
    back = SameDiff.from_flat_buffers(again)
    assert back.missing_ops() == []
    assert back.output_single(feed, "z").tolist() == [7, 7]


def test_the_caller_says_what_happens_with_missing_ops(user_op, tmp_path):
    (tmp_path / "g.fb").write_bytes(shifted(user_op(1)))
    for load in (SameDiff.load, SameDiff.from_flat_file):
        assert load(tmp_path / "g.fb", missing="error").missing_ops() == []
    OPS.remove("acme.shift")
    for load in (SameDiff.load, SameDiff.from_flat_file):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert load(tmp_path / "g.fb").missing_ops() == load(tmp_path / "g.fb", missing="keep").missing_ops() == ["acme.shift"]
        with pytest.warns(MissingClassWarning, match=r"g\.fb: 1 of the ops are not registered: acme\.shift \(version 1\)\. What does"):
            load(tmp_path / "g.fb", missing="warn")
        with pytest.raises(MissingOpError, match=r'acme\.shift \(version 1\).*load with missing="keep"'):
            load(tmp_path / "g.fb", missing="error")
        with pytest.raises(GraphError, match="missing must be"):
            load(tmp_path / "g.fb", missing="all")


def test_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "graph.fb"
    sd = mlp()
    sd.save(path)
    kept = path.read_bytes()
    sd.tables.store["w"] = np.array([1j])  # what no file can hold
    with pytest.raises(DataTypeError):
        sd.save(path)
    assert path.read_bytes() == kept and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("data, error", [(b"", TruncatedFileError), (b"PK\3\4" + bytes(30), FileFormatError),
                                         (b"SDNB" + bytes(30), FileFormatError),
                                         (b"some text that is no graph", FileFormatError)])
def test_other_files_are_refused(tmp_path, data, error):
    (tmp_path / "f").write_bytes(data)
    with pytest.raises(error):
        SameDiff.load(tmp_path / "f")


def test_cut_files_and_limits():
    data = mlp().as_flat_buffers()
    for end in range(0, len(data) - 1, 97):
        with pytest.raises(FileFormatError):
            SameDiff.from_flat_buffers(data[:end])
    with pytest.raises(LimitError):
        SameDiff.from_flat_buffers(data, limits=FlatLimits(max_bytes=100))


def _graph(**nodes):
    x = FlatVariable(IntPair(1), "x", 5, (2,), variabletype=3)
    return write_flat_graph(FlatGraph(variables=(x,), nodes=tuple(nodes.values())))


def _node(name, *inputs, op_name="tanh", **more):
    return FlatNode(id=int(name[1:]), name=name, op_type=OpType.TRANSFORM_STRICT, op_num=29, op_name=op_name,
                    input_paired=tuple(IntPair(i) for i in inputs), output_names=(name,), output_types=(5,), **more)


CONTRADICTIONS = {
    "unknown input": (_graph(a=_node("n2", 9)), "no variable"),
    "circle": (_graph(a=_node("n2", 3), b=_node("n3", 2)), "circle"),
    "same name": (_graph(a=_node("n2", 1), b=FlatNode(3, "n2", 3, 29, input_paired=(IntPair(1),), output_names=("n3",))), "named 'n2'"),
    "loss": (write_flat_graph(FlatGraph(loss_variables=("nope",))), "nope"),
    "no array": (write_flat_graph(FlatGraph(variables=(FlatVariable(IntPair(1), "w", 5),))), "no array"),
    "kind": (write_flat_graph(FlatGraph(variables=(FlatVariable(IntPair(1), "w", 5, variabletype=9),))), "9"),
    "twice": (write_flat_graph(FlatGraph(variables=(FlatVariable(IntPair(1), "w", 5, (), variabletype=3),) * 2)), "two variables"),
}


@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_contradictory_files_are_refused(what):
    data, text = CONTRADICTIONS[what]
    with pytest.raises(FileFormatError, match=text):
        SameDiff.from_flat_buffers(data)


def test_nodes_in_any_order():
    data = _graph(b=_node("n3", 2), a=_node("n2", 1))
    sd = SameDiff.from_flat_buffers(data)
    np.testing.assert_allclose(sd.output_single({"x": [1.0, 2.0]}, "n3"), np.tanh(np.tanh([1, 2])), rtol=1e-6)
    assert [n.name for n in sd.nodes()] == ["n3", "n2"]


def test_updater_state_must_fit():
    from dataclasses import replace
    sd = mlp(Adam(0.1))
    sd.fit({"x": X, "y": Y})
    flat = read_flat_graph(sd.as_flat_buffers(True))
    other = TrainingConfig(Sgd(0.1), data_set_feature_mapping="x", data_set_label_mapping="y")
    with pytest.raises(FileFormatError, match="Sgd"):
        SameDiff.from_flat_buffers(write_flat_graph(replace(flat, training_config=other.to_json())))


def test_damaged_files_raise_errors_of_this_library():
    data, random = mlp().as_flat_buffers(), np.random.default_rng(1)
    for _ in range(300):
        damaged = bytearray(data)
        for place in random.integers(0, len(data), 3):
            damaged[place] = random.integers(0, 256)
        try:
            SameDiff.from_flat_buffers(bytes(damaged))
        except DL4PyError:
            continue


def test_long_chains_in_reverse_order():
    rows = {f"n{i}": _node(f"n{i}", i - 1) for i in range(1500, 1, -1)}
    sd = SameDiff.from_flat_buffers(_graph(**rows))
    assert len(sd.nodes()) == 1499 and len(SameDiff.from_flat_buffers(sd.as_flat_buffers()).nodes()) == 1499


def test_the_declared_outputs_come_back():
    sd = mlp()
    sd.set_outputs("out", "h")
    assert SameDiff.from_flat_buffers(sd.as_flat_buffers()).outputs() == sd.dup().outputs() == ["out", "h"]
    assert mlp().dup().outputs() == ["loss"]


def test_files_that_cannot_be_read_are_named(tmp_path):
    path = tmp_path / "text.fb"
    path.write_text("nothing of a graph " * 40)
    with pytest.raises(FileFormatError, match=r"text\.fb: this is no SameDiff graph file; it starts with b'nothing "):
        SameDiff.load(path)
    path.write_bytes(mlp().as_flat_buffers()[:-200])
    with pytest.raises(TruncatedFileError, match=r"text\.fb: "):
        SameDiff.load(path)
    with pytest.raises(FileNotFoundError, match=r"missing.*g\.fb|folder.*missing"):
        mlp().save(tmp_path / "missing" / "g.fb")
