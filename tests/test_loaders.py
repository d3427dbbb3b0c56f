"""Everything that reads a file takes regular files only, at once; hostile files cost little; what opens one kind of file agrees."""
from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dl4py.networks import ComputationGraph, ModelSerializer, MultiLayerNetwork
from dl4py.networks.commands import convert, inspect, main
from dl4py.networks.early_stopping import LocalFileGraphSaver, LocalFileModelSaver
from dl4py.networks.files.model_zip import read_configuration, read_model_zip
from dl4py.samediff import DataSet, SameDiff
from dl4py.samediff.codecs.array_files import read_arrays, write_arrays
from dl4py.samediff.data import (
    CSVRecordReader,
    CSVSequenceRecordReader,
    FileDataSetIterator,
    MultiDataSet,
    SequenceRecordReaderDataSetIterator,
    StandardScaler,
)
from dl4py.samediff.errors import DL4PyError, PathError
from dl4py.samediff.files import Nd4j, NormalizerSerializer
from dl4py.samediff.nd4j import BinarySerde
from dl4py.samediff.training import CheckpointListener, FileStatsStorage
from dl4py.samediff.training.checkpoints.checkpoint_folder import available_checkpoints
from tests.test_savers import data, graph, graph_network, network, normalizer


def _read_csv(path: Path) -> Any:
    return CSVRecordReader().initialize(path).table()


def _read_series(path: Path) -> Any:
    return SequenceRecordReaderDataSetIterator(CSVSequenceRecordReader().initialize(path), 1, 2, 1).next()


def _command(name: str) -> Callable[[Path], object]:
    def run(path: Path) -> None:
        more = [str(path.parent / "converted.zip")] if name == "convert" else []
        error, sys.stderr = sys.stderr, io.StringIO()
        try:
            status, said = main([name, str(path), *more]), sys.stderr.getvalue()
        finally:
            sys.stderr = error
        if status:
            raise PathError(said) if "PathError" in said or "regular file" in said else DL4PyError(said)
    return run


#: What writes a file, and what reads it, by name.
LOADERS: dict[str, tuple[str, Callable[[Path], object], Callable[[Path], object]]] = {
    "MultiLayerNetwork.load": ("n.zip", lambda p: network().save(p), MultiLayerNetwork.load),
    "ComputationGraph.load": ("n.zip", lambda p: graph_network().save(p), ComputationGraph.load),
    "restore_multi_layer_network": ("n.bin", lambda p: network().save(p), ModelSerializer.restore_multi_layer_network),
    "restore_computation_graph": ("n.bin", lambda p: graph_network().save(p), ModelSerializer.restore_computation_graph),
    "restore_normalizer_from_file": ("n.zip", lambda p: ModelSerializer.write_model(network(), p, True, normalizer()),
                                     ModelSerializer.restore_normalizer_from_file),
    "add_normalizer_to_model": ("n.zip", lambda p: network().save(p), lambda p: ModelSerializer.add_normalizer_to_model(p, normalizer())),
    "read_model_zip": ("n.zip", lambda p: network().save(p), read_model_zip),
    "read_configuration": ("n.zip", lambda p: network().save(p), read_configuration),
    "SameDiff.load": ("g.fb", lambda p: graph().save(p), SameDiff.load),
    "from_flat_file": ("g.fb", lambda p: graph().save(p), SameDiff.from_flat_file),
    "sdnb": ("g.sdnb", lambda p: graph().save(p), SameDiff.load),
    "sdz": ("g.sdz", lambda p: graph().save(p), SameDiff.load),
    "normalizer": ("n", lambda p: NormalizerSerializer().write(normalizer(), p), NormalizerSerializer().restore),
    "DataSet.load": ("d.bin", lambda p: data().save(p), lambda p: DataSet().load(p)),
    "MultiDataSet.load": ("d.bin", lambda p: data().to_multi_data_set().save(p), lambda p: MultiDataSet().load(p)),
    "FileDataSetIterator": ("d.bin", lambda p: data().save(p), lambda p: list(FileDataSetIterator(p))),
    "read_binary": ("a.bin", lambda p: Nd4j.save_binary(np.eye(3), p), Nd4j.read_binary),
    "BinarySerde": ("a.bin", lambda p: BinarySerde.write_array_to_disk(np.eye(3), p), BinarySerde.read_from_disk),
    "npz": ("a.npz", lambda p: write_arrays(p, {"w": np.eye(3)}), read_arrays),
    "safetensors": ("a.safetensors", lambda p: write_arrays(p, {"w": np.eye(3)}), read_arrays),
    "scaler": ("mean", lambda p: _scaler().save(p, p.parent / "std"), lambda p: StandardScaler().load(p, p.parent / "std")),
    "statistics": ("s.jsonl", lambda p: FileStatsStorage(p).put({"iteration": 1}), lambda p: FileStatsStorage(p).records()),
    "checkpoint": ("checkpoint_0_MultiLayerNetwork.zip", lambda p: _checkpoints(p.parent),
                   lambda p: CheckpointListener.load_checkpoint_mln(p.parent, 0)),
    "position": ("checkpoint_0_MultiLayerNetwork.zip.resume.json", lambda p: _checkpoints(p.parent), lambda p: _resume(p.parent)),
    "checkpoint record": ("checkpointInfo.txt", lambda p: _checkpoints(p.parent), lambda p: available_checkpoints(p.parent)),
    "best model": ("bestModel.bin", lambda p: LocalFileModelSaver(p.parent).save_best_model(network(), 0.1),
                   lambda p: LocalFileModelSaver(p.parent).get_best_model()),
    "best graph": ("bestGraph.bin", lambda p: LocalFileGraphSaver(p.parent).save_best_model(graph_network(), 0.1),
                   lambda p: LocalFileGraphSaver(p.parent).get_best_model()),
    "table": ("t.csv", lambda p: p.write_text("1,2\n3,4\n"), _read_csv),
    "series": ("t.csv", lambda p: p.write_text("1,0\n3,1\n"), _read_series),
    "inspect": ("n.zip", lambda p: network().save(p), inspect),
    "convert": ("n.zip", lambda p: network().save(p), lambda p: convert(str(p), str(p.parent / "out.npz"))),
    **{f"dl4py {c}": ("n.zip", lambda p: network().save(p), _command(c)) for c in ("inspect", "summary", "convert", "profile")},
}


def _scaler() -> StandardScaler:
    scaler = StandardScaler()
    scaler.fit(data())
    return scaler


def _checkpoints(folder: Path) -> None:
    from tests.test_savers import fitted
    fitted(CheckpointListener.Builder(folder).save_every_n_epochs(1).log_saving(False).build())


def _resume(folder: Path) -> Any:
    from dl4py.samediff.data import ListDataSetIterator
    return CheckpointListener.resume(folder, ListDataSetIterator([data()] * 3, 4))


@pytest.mark.parametrize("name", LOADERS)
def test_a_link_to_a_file_is_read_as_the_file(name, tmp_path):
    file, write, read = LOADERS[name]
    write(tmp_path / file)
    read(tmp_path / file)
    (tmp_path / file).rename(tmp_path / "elsewhere")
    (tmp_path / file).symlink_to("elsewhere")
    read(tmp_path / file)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["fifo", "link to a fifo", "socket", "folder", "device", "endless device"])
@pytest.mark.parametrize("name", LOADERS)
def test_what_is_no_regular_file_is_refused_at_once(name, kind, tmp_path, monkeypatch):
    file, write, read = LOADERS[name]
    write(tmp_path / file)
    path = tmp_path / file
    path.unlink()
    monkeypatch.chdir(tmp_path)         # names of sockets are short
    if kind == "folder":
        path.mkdir()
        if name in ("FileDataSetIterator", "table", "series"):       # they read all files of a folder
            return
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(file)
    elif "device" in kind:
        path.symlink_to("/dev/zero" if kind.startswith("endless") else "/dev/null")
    else:
        os.mkfifo(tmp_path / "fifo" if kind.startswith("link") else path)
        if kind.startswith("link"):
            path.symlink_to("fifo")
    before = os.lstat(path).st_mode
    with pytest.raises(PathError):
        read(path)
    assert os.lstat(path).st_mode == before


def _zip(path: Path, entries: dict[str, bytes | str], comment: bytes = b"", stored: bool = False) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
        archive.comment = comment


def _entries(net: Any) -> dict[str, bytes]:
    stream = io.BytesIO()
    net.save(stream)
    with zipfile.ZipFile(stream) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _changed(entries: dict[str, bytes], change: Callable[[dict[str, Any]], object]) -> dict[str, bytes]:
    document = json.loads(entries["configuration.json"])
    change(document)
    return entries | {"configuration.json": json.dumps(document).encode()}


def _chain(count: int, inputs: Callable[[int], str]) -> Callable[[dict[str, Any]], object]:
    """A change that makes a graph of so many vertices."""
    def change(document: dict[str, Any]) -> None:
        vertex = next(iter(document["vertices"].values()))
        document["vertices"] = {f"v{i}": vertex for i in range(count)}
        document["vertexInputs"] = {f"v{i}": [document["networkInputs"][0] if i == 0 else inputs(i)] for i in range(count)}
        document["networkOutputs"] = [f"v{count - 1}"]
        document.pop("topologicalOrder", None), document.pop("topologicalOrderStr", None)
    return change


def _layers(count: int, **changes: Any) -> Callable[[dict[str, Any]], object]:
    def change(document: dict[str, Any]) -> None:
        conf = document["confs"][0]
        document["confs"] = [conf | {"layer": conf["layer"] | {k: v.format(i) for k, v in changes.items()}} for i in range(count)]
    return change


def _nested(depth: int) -> Callable[[dict[str, Any]], object]:
    def change(document: dict[str, Any]) -> None:
        for _ in range(depth):
            layer = document["confs"][0]["layer"]
            document["confs"][0]["layer"] = {"@class": "org.deeplearning4j.nn.conf.layers.misc.FrozenLayer", "layer": layer}
    return change


LIST, GRAPH = _entries(network()), _entries(graph_network())
TRAPS: dict[str, Callable[[Path], object]] = {
    **{f"{n} layers": lambda p, n=n: _zip(p, _changed(LIST, _layers(n))) for n in (1000, 1700, 2500, 5000, 20_000)},
    **{f"{n} unknown layers": lambda p, n=n: _zip(p, _changed(LIST, _layers(n, **{"@class": "org.acme.X{}"}))) for n in (1500, 20_000)},
    **{f"a chain of {n}": lambda p, n=n: _zip(p, _changed(GRAPH, _chain(n, lambda i: f"v{i - 1}"))) for n in (1500, 20_000)},
    **{f"a ring of {n}": lambda p, n=n: _zip(p, _changed(GRAPH, _chain(n, lambda i: f"v{i + 1 if i + 1 < n else 0}"))) for n in (1500,)},
    **{f"{n} wrappers": lambda p, n=n: _zip(p, _changed(LIST, _nested(n))) for n in (30, 90, 400)},
    "zeros": lambda p: _zip(p, LIST | {"configuration.json": json.dumps({"confs": [0] * 490_000})}),
    "objects": lambda p: _zip(p, LIST | {"configuration.json": json.dumps({"confs": [], "x": [{}] * 490_000})}),
    "text of 60 MB": lambda p: _zip(p, LIST | {"configuration.json": "[" + "0," * (30 << 20) + "0]"}),
    "one long text": lambda p: _zip(p, LIST | {"configuration.json": '{"confs": "' + "x" * (50 << 20) + '"}'}),
    "brackets": lambda p: _zip(p, LIST | {"configuration.json": "[" * 4_000_000}),
    "a long number": lambda p: _zip(p, LIST | {"configuration.json": '{"confs": ' + "9" * 3_900_000 + "}"}),
    "coefficients of 90 MB": lambda p: _zip(p, LIST | {"coefficients.bin": bytes(90 << 20)}),
    "state of 90 MB": lambda p: _zip(p, LIST | {"updaterState.bin": bytes(90 << 20)}),
    "nOut": lambda p: _zip(p, _changed(LIST, lambda d: d["confs"][0]["layer"].update(nout=10**12))),
    "entries": lambda p: _zip(p, LIST | {f"e{i}": b"" for i in range(900)}),
    "too many entries": lambda p: _zip(p, LIST | {f"e{i}": b"" for i in range(20_000)}),
    "an entry of 90 MB": lambda p: _zip(p, LIST | {"more": bytes(90 << 20)}),
}

COST = """
import resource, sys, time, warnings
from pathlib import Path
warnings.simplefilter("ignore")
from dl4py.networks import ComputationGraph, MultiLayerNetwork
from dl4py.networks.commands import inspect
from dl4py.samediff.errors import DL4PyError
folder = Path(sys.argv[1])
MultiLayerNetwork.load(folder / "warm up.zip"), inspect(folder / "warm up.zip")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for path in sorted(folder.glob("*.trap")):
    for what in (MultiLayerNetwork.load, ComputationGraph.load, inspect):
        begun = time.process_time()
        try:
            what(path)
        except DL4PyError:
            pass
        seconds, taken = time.process_time() - begun, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
        if seconds > 10 or taken > 200:
            print(f"{path.name} of {path.stat().st_size} bytes: {what.__qualname__} took {seconds:.1f} s and {taken} MB")
"""


@pytest.mark.slow
def test_hostile_files_cost_little(tmp_path):
    """Less than a second each where nothing else runs; what this is to find takes minutes."""
    network().save(tmp_path / "warm up.zip")
    for name, write in TRAPS.items():
        write(tmp_path / f"{name}.trap")
    done = subprocess.run([sys.executable, "-c", COST, str(tmp_path)], capture_output=True, text=True, timeout=600, check=False)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr


@pytest.mark.slow
def test_networks_of_many_layers_come_back(tmp_path):
    for count in (1000, 2400):
        net = MultiLayerNetwork.load(_large(tmp_path / "n.zip", count))
        net.save(tmp_path / "again.zip")
        assert len(MultiLayerNetwork.load(tmp_path / "again.zip").get_configuration().confs) == count
        assert inspect(tmp_path / "again.zip").parameters == net.num_params()


def _large(path: Path, count: int) -> Path:
    """A network of so many layers of a usual size."""
    from dl4py.samediff.codecs.nd4j_array import write_array
    document = json.loads(LIST["configuration.json"])
    conf = document["confs"][0]
    conf["layer"] |= {"nin": 8, "nout": 8}
    document["confs"] = [conf] * count
    stream = io.BytesIO()
    write_array(stream, np.random.default_rng(1).normal(size=(1, 72 * count)).astype("f4"))
    _zip(path, {"configuration.json": json.dumps(document), "coefficients.bin": stream.getvalue()})
    return path


def _with_zip64(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in LIST.items():
            with archive.open(name, "w", force_zip64=True) as stream:
                stream.write(content)


def _around(path: Path, before: bytes = b"", after: bytes = b"") -> None:
    network().save(path)
    path.write_bytes(before + path.read_bytes() + after)


def _twice(path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "w") as archive:
        for name in (*LIST, "coefficients.bin"):
            archive.writestr(name, LIST[name])


#: Files that are odd, with the suffix that they are given.
ODD: dict[str, tuple[str, Callable[[Path], object]]] = {
    "bytes in front": (".zip", lambda p: _around(p, b"#!/bin/sh\n" * 30)), "bytes behind": (".zip", lambda p: _around(p, b"", b"\0" * 40)),
    "a graph in front": (".zip", lambda p: _around(p, graph().as_flat_buffers())),
    "a comment": (".zip", lambda p: _zip(p, LIST, b"PK\5\6 said")), "stored": (".zip", lambda p: _zip(p, LIST, stored=True)),
    "zip64": (".zip", _with_zip64), "twice": (".zip", _twice),
    **{f"a network as {s or 'nothing'}": (s, lambda p: network().save(p))
       for s in ("", ".fb", ".npz", ".safetensors", ".sdnb", ".sdz", ".ZIP")},
    **{f"a graph as {s or 'nothing'}": (s, lambda p: p.write_bytes(graph().as_flat_buffers()))
       for s in ("", ".fb", ".zip", ".sdnb", ".sdz")},
    "an sdz as .zip": (".zip", lambda p: (graph().save(p.with_suffix(".sdz")), p.with_suffix(".sdz").rename(p))),
    "arrays": (".npz", lambda p: write_arrays(p, {"w": np.eye(3)})),
    "no configuration": (".zip", lambda p: _zip(p, {n: c for n, c in LIST.items() if n != "configuration.json"})),
    "no coefficients": (".zip", lambda p: _zip(p, {n: c for n, c in LIST.items() if n != "coefficients.bin"})),
    "an unknown layer": (".zip", lambda p: _zip(p, _changed(LIST, lambda d: d["confs"][0]["layer"].update({"@class": "org.acme.X"})))),
    "a list as configuration": (".zip", lambda p: _zip(p, LIST | {"configuration.json": "[]"})),
    "empty": (".zip", lambda p: p.write_bytes(b"")), "text": (".zip", lambda p: p.write_text("hello " * 50)),
    "half": (".zip", lambda p: p.write_bytes(_whole()[:700])), "no end": (".zip", lambda p: p.write_bytes(_whole()[:-30])),
    "flipped": (".zip", lambda p: p.write_bytes(_whole()[:60] + b"\xff\xff" + _whole()[62:])),
}


def _whole() -> bytes:
    stream = io.BytesIO()
    network().save(stream)
    return stream.getvalue()


@pytest.mark.filterwarnings("ignore::dl4py.samediff.base.registry.MissingClassWarning")
@pytest.mark.parametrize("name", ODD)
def test_load_inspect_and_convert_agree(name, tmp_path):
    suffix, write = ODD[name]
    path = tmp_path / f"f{suffix}"
    write(path)

    def opens(read: Callable[[], Any]) -> Any:
        try:
            return read() or True
        except DL4PyError:
            return False

    loaded = opens(lambda: MultiLayerNetwork.load(path)) or opens(lambda: SameDiff.load(path))
    report = opens(lambda: inspect(path))
    target = ".zip" if isinstance(loaded, MultiLayerNetwork) else ".sdz"
    converted = opens(lambda: convert(str(path), str(tmp_path / f"out{target}")))
    if name == "arrays":
        assert (bool(loaded), report.kind, converted) == (False, "arrays", False)
        return
    assert bool(loaded) == bool(report) == bool(converted)
    if loaded:
        assert report.kind == type(loaded).__name__
