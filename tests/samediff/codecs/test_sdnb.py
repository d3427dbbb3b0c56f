"""Graph files of 2025: .sdnb, .sdz, shards; damaged ones."""
from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.codecs.flatbuffers.reader import FlatLimits
from dl4py.samediff.codecs.flatbuffers.sdnb import read_sdnb, write_sdnb
from dl4py.samediff.codecs.java_map import read_map, write_map
from dl4py.samediff.errors import DL4PyError, FileFormatError, LimitError, TruncatedFileError, UnsupportedVersionError
from dl4py.samediff.files import any_graph
from dl4py.samediff.files.any_graph import read_any
from dl4py.samediff.training import Adam, TrainingConfig

X, Y = np.random.default_rng(3).normal(size=(2, 6, 4)).astype(np.float32)


def mlp():
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.FLOAT, -1, 4), sd.placeholder("y", DataType.FLOAT, -1, 4)
    w = sd.var("w", np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4))
    scale = sd.constant("scale", np.float64(2)).cast_to(DataType.FLOAT)
    out = sd.math.tanh("h", x.mmul(w)).mul(scale).add("out", sd.var("b", np.zeros(4, np.float32)))
    sd.constant("texts", np.array(["a", "βγ"], dtype=object))
    sd.constant("none", np.zeros((0, 2), np.float32))
    sd.constant("whole", np.arange(6, dtype=np.int64).reshape(2, 3))
    (out - y).mul(out - y).mean("loss")
    sd.set_loss_variables("loss")
    sd.set_training_config(TrainingConfig(Adam(0.1), data_set_feature_mapping="x", data_set_label_mapping="y"))
    sd.fit({"x": X, "y": Y})
    return sd


def describe(sd):
    return ([(v.name(), v.get_variable_type(), v.dtype, v.get_shape()) for v in sd.variables()],
            [(n.name, n.op, n.inputs, n.outputs) for n in sd.nodes()], sd.get_loss_variables(), sd.get_training_config())


@pytest.mark.parametrize("threshold", [1, 33, 64, 1 << 20])
@pytest.mark.parametrize("ending", [".sdnb", ".sdz", ".SDNB"])
def test_everything_comes_back(tmp_path, ending, threshold):
    sd, path = mlp(), tmp_path / f"graph{ending}"
    sd.save(path, True, threshold=threshold)
    again = SameDiff.load(path)
    assert describe(again) == describe(sd)
    for name in ("w", "b", "scale", "none", "whole", "texts"):
        np.testing.assert_array_equal(again.variable(name).get_arr(), sd.variable(name).get_arr())
    for graph in (sd, again):
        graph.fit({"x": X, "y": Y})
    np.testing.assert_array_equal(again.variable("w").get_arr(), sd.variable("w").get_arr())
    with open(path, "rb") as stream:
        assert describe(SameDiff.load(io.BytesIO(stream.read()))) == describe(again) or again.get_training_config().iteration_count == 2
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_layout():
    stream = io.BytesIO()
    write_sdnb(stream, mlp().as_flat_graph(True), 40)
    data = stream.getvalue()
    manifest, length, start = (int.from_bytes(data[i:i + 8], "big") for i in (8, 16, 24))
    assert data[:8] == b"SDNB\0\0\0\1" and start == 32 and manifest + length == len(data)
    places = read_map(data[manifest:])
    assert set(places) == {"w", "whole", "w/M", "w/V"}
    at, size = places["w"]
    np.testing.assert_array_equal(np.frombuffer(data[at:at + size], "<f4").reshape(4, 4), mlp().variable("w").get_arr())
    assert max(a + n for a, n in places.values()) == manifest


def test_columns_first_and_every_type(tmp_path):
    sd = SameDiff.create()
    kinds = [t for t in DataType if t.is_numeric]
    for kind in kinds:
        sd.constant(kind.name, np.array([[0, 1, 1], [1, 0, 1]]).astype(kind.numpy))
    sd.save(tmp_path / "t.sdnb", threshold=1)
    again = SameDiff.load(tmp_path / "t.sdnb")
    for kind in kinds:
        got = again.variable(kind.name).get_arr()
        assert got.dtype == kind.numpy and np.array_equal(got, sd.variable(kind.name).get_arr())


def test_shards(tmp_path):
    graph = mlp().as_flat_graph(True)
    bare = tuple(v if v.name != "w" else replace(v, ndarray=None, shape=(4, 4)) for v in graph.variables)
    parts = [replace(graph, variables=bare, updater_state=()),
             replace(graph, nodes=(), variables=tuple(v for v in graph.variables if v.name == "w"), loss_variables=(),
                     training_config=None)]
    for i, part in enumerate(parts):
        with open(tmp_path / f"m.shard{i}-of-2.sdnb", "wb") as stream:
            write_sdnb(stream, part, 16)
    for name in ("m.sdnb", "m.shard1-of-2.sdnb"):
        again = SameDiff.load(tmp_path / name)
        assert describe(again) == describe(mlp()) and again.get_updater_map()
    (tmp_path / "m.shard0-of-2.sdnb").unlink()
    with pytest.raises(FileFormatError, match="expected 0 to 1"):
        SameDiff.load(tmp_path / "m.sdnb")
    with pytest.raises(FileNotFoundError):
        SameDiff.load(tmp_path / "other.sdnb")


@pytest.mark.parametrize("count", [0, 1, 3, 12, 13, 20])
def test_the_list_of_arrays_survives(count):
    places = {f"layer/{i}:β": (10_000_000_000 + i, i) for i in range(count)}
    data = write_map(places)
    assert read_map(data) == places
    assert (data[:4] == b"\xac\xed\0\5" and b"org.nd4j.common.primitives.Pair" in data) or not count
    for end in range(len(data) - 1):
        with pytest.raises(TruncatedFileError):
            read_map(data[:end])


def test_the_bytes_are_those_of_a_java_virtual_machine():
    """Recorded: ``ObjectOutputStream`` over ``Pair.of(Long, Long)`` of nd4j-common 1.0.0-M2.1; numbers below 128 are shared there."""
    data = write_map({f"v{i}": (1000 + i, (7, 5000, 7)[i % 3]) for i in range(20)})
    assert hashlib.sha256(data).hexdigest() == "c85625d9c2eeda02b0f7685ad46ea90a9972b8380a6372a5332b5bc1345ebb4d"


def test_another_class_is_refused():
    with pytest.raises(FileFormatError, match=r"java\.util\.EvilHashMap"):
        read_map(write_map({}).replace(b"LinkedHashMap", b"EvilHashMap\0\0").replace(b"\0\x17java", b"\0\x15java", 1))


def _archive(method=zipfile.ZIP_STORED, **entries):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return stream.getvalue()


def test_archives(tmp_path):
    stream = io.BytesIO()
    write_sdnb(stream, mlp().as_flat_graph())
    good = stream.getvalue()
    for entries in ({"anything": good, "notes": b"x"}, {"model": good, "a": good}, {"model.sdnb": good, "b": good}):
        assert describe(SameDiff.load(io.BytesIO(_archive(**entries)))) == describe(mlp())
    for data, error, text in ((_archive(notes=b"x"), FileFormatError, "holds no graph"),
                              (_archive(a=good, b=good), FileFormatError, "no graph"),
                              (_archive(zipfile.ZIP_DEFLATED, model=b"SDNB" + bytes(40 << 20)), LimitError, "out of all proportion")):
        with pytest.raises(error, match=text):
            SameDiff.load(io.BytesIO(data))


def test_limits_of_archives_are_exact(monkeypatch):
    stream = io.BytesIO()
    write_sdnb(stream, mlp().as_flat_graph())
    data = _archive(zipfile.ZIP_DEFLATED, model=stream.getvalue(), notes=bytes(5000), more=b"x")
    infos = zipfile.ZipFile(io.BytesIO(data)).infolist()
    sizes, ratios = [i.file_size for i in infos], [-(-i.file_size // i.compress_size) for i in infos]
    for limits in ({"MOST_ENTRIES": 3}, {"MOST_BYTES": sum(sizes)}, {"RATIO_FREE": max(sizes), "MOST_RATIO": 0},
                   {"RATIO_FREE": 0, "MOST_RATIO": max(ratios)}):
        with monkeypatch.context() as patch:
            for name, number in limits.items():
                patch.setattr(any_graph, name, number)
            assert describe(SameDiff.load(io.BytesIO(data))) == describe(mlp())
            name = max(limits, key=lambda n: limits[n])
            patch.setattr(any_graph, name, limits[name] - 1)
            with pytest.raises(LimitError):
                SameDiff.load(io.BytesIO(data))


@pytest.mark.parametrize("form", ["stream", "file"])
def test_limits_of_plain_graphs_are_exact(form, tmp_path):
    data = mlp().as_flat_buffers()
    (tmp_path / "g").write_bytes(data)

    def read(limit):
        return read_any(io.BytesIO(data) if form == "stream" else tmp_path / "g", FlatLimits(max_bytes=limit))
    assert len(read(len(data)).variables) == len(read(1 << 30).variables)
    for less in (1, 2, len(data) - 5):
        with pytest.raises(LimitError):
            read(len(data) - less)


def test_damage(tmp_path):
    stream = io.BytesIO()
    write_sdnb(stream, mlp().as_flat_graph(True), 40)
    data = stream.getvalue()
    with pytest.raises(UnsupportedVersionError, match="version 2"):
        read_sdnb(data[:4] + (2).to_bytes(4, "big") + data[8:])
    with pytest.raises(LimitError):
        read_any(io.BytesIO(data), FlatLimits(max_bytes=100))
    for end in range(4, len(data) - 1, 7):
        with pytest.raises(DL4PyError):
            read_sdnb(data[:end])
    rng = np.random.default_rng(1)
    for _ in range(400):
        changed = bytearray(data)
        changed[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
        try:
            SameDiff.load(io.BytesIO(bytes(changed)))
        except DL4PyError:
            continue


def test_a_failure_leaves_the_old_file(tmp_path):
    sd, path = mlp(), tmp_path / "g.sdz"
    sd.save(path)
    kept = path.read_bytes()
    sd.tables.store["w"] = np.array([1j])
    with pytest.raises(DL4PyError):
        sd.save(path)
    assert path.read_bytes() == kept and list(tmp_path.iterdir()) == [path]
