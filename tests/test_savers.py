"""Everything that writes a file replaces it as a whole or not at all, replaces regular files only, and writes all there is."""
from __future__ import annotations

import hashlib
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dl4py.layers import DenseLayer, InputType, OutputLayer
from dl4py.networks import ComputationGraph, ModelSerializer, MultiLayerNetwork, NeuralNetConfiguration, to_same_diff
from dl4py.networks.commands import main
from dl4py.networks.early_stopping import LocalFileGraphSaver, LocalFileModelSaver
from dl4py.networks.files.model_zip import ModelZip, read_model_zip, write_model_zip
from dl4py.samediff import DataSet, SameDiff
from dl4py.samediff.codecs.array_files import read_arrays, write_arrays
from dl4py.samediff.data import InFileDataSetCache, ListDataSetIterator, MultiDataSet, NormalizerStandardize, StandardScaler
from dl4py.samediff.data.public import fetcher
from dl4py.samediff.errors import PathError
from dl4py.samediff.files import Nd4j, NormalizerSerializer
from dl4py.samediff.nd4j import BinarySerde
from dl4py.samediff.training import CheckpointListener, CollectScoresIterationListener, FileStatsStorage
from dl4py.samediff.training.listeners.debug_listeners import ArraySavingListener
from dl4py.samediff.training.listeners.profiling_listener import ProfilingListener
from dl4py.udf import new_layer, new_op

OLD = b"old"


@dataclass(frozen=True)
class Saver:
    """``prepare(folder)`` gives what writes ``file`` of that folder, among others; ``same`` what must hold afterwards."""

    file: str
    prepare: Callable[[Path], Callable[[], object]]
    same: Callable[[Path], bool]


@cache
def network() -> MultiLayerNetwork:
    """A small network with updater state."""
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).updater("adam").list(
        DenseLayer(n_in=3, n_out=2), OutputLayer(n_in=2, n_out=2)).set_input_type(InputType.feed_forward(3)).build()).init()
    net.fit(data())
    return net


@cache
def graph_network() -> ComputationGraph:
    """The same as a graph."""
    return network().to_computation_graph()


def data() -> DataSet:
    """Four examples."""
    return DataSet(np.arange(12, dtype="f4").reshape(4, 3), np.eye(2, dtype="f4")[[0, 1, 0, 1]], None, np.ones((4, 1), "f4"))


def graph() -> SameDiff:
    """The network as a plain graph."""
    return to_same_diff(network())


def normalizer() -> NormalizerStandardize:
    """With statistics."""
    return NormalizerStandardize([1.0, 2, 3], [1.0, 1, 1])


def to(file: str, write: Callable[[Path], object], same: Callable[[Path], bool]) -> Saver:
    """A saver that is given a path."""
    return Saver(file, lambda folder: lambda: write(folder / file), same)


def fitted(listener: Any, times: int = 1) -> None:
    """A training that the listener hears of."""
    net = network().clone()
    net.set_listeners(listener)
    net.fit(ListDataSetIterator([data()] * 3, 4), epochs=times)


def _same_network(path: Path) -> bool:
    found = MultiLayerNetwork.load(path)
    return bool((found.params() == network().params()).all()
                and (found.get_updater().get_state_view_array() == network().get_updater().get_state_view_array()).all())


def _same_graph_network(path: Path) -> bool:
    return bool((ComputationGraph.load(path).params() == network().params()).all())


def _same_graph(path: Path) -> bool:
    x = data().get_features()
    sd = SameDiff.load(path)
    return bool(np.allclose(sd.output({"input_0": x}, sd.outputs()[0])[sd.outputs()[0]], network().output(x)))


def _same_data(path: Path) -> bool:
    found = DataSet()
    found.load(path)
    return found == data()


def _same_multi(path: Path) -> bool:
    found = MultiDataSet()
    found.load(path)
    return bool((found.get_features(0) == data().get_features()).all())


def _checkpoints(folder: Path) -> Callable[[], object]:
    listener = CheckpointListener.Builder(folder).save_every_n_epochs(1).log_saving(False).build()
    return lambda: fitted(listener)


def _adding(folder: Path) -> Callable[[], object]:
    write_model_zip(folder / "n.zip", ModelZip(network().get_configuration().to_json(), network().params(),
                                               network().get_updater().get_state_view_array(), None, {"more.txt": b"kept"}))
    return lambda: ModelSerializer.add_normalizer_to_model(folder / "n.zip", normalizer())


def _added(path: Path) -> bool:
    found = read_model_zip(path)
    return _same_network(path) and found.extra["more.txt"] == b"kept" and found.normalizer is not None


def _fetching(folder: Path) -> Callable[[], object]:
    import urllib.request
    from io import BytesIO
    wanted = fetcher.Resource("thing", ("http://nowhere.invalid/thing",), hashlib.sha256(b"x" * 99).hexdigest(), 99)

    def run() -> None:
        real = urllib.request.urlopen
        urllib.request.urlopen = lambda *_, **__: BytesIO(b"x" * 99)  # type: ignore[assignment]
        try:
            fetcher._download(wanted.urls[0], folder / "thing", wanted)
        finally:
            urllib.request.urlopen = real
    return run


def _command(*arguments: str) -> Callable[[Path], Callable[[], object]]:
    def prepare(folder: Path) -> Callable[[], object]:
        network().save(folder / "source.zip")

        def run() -> None:
            from dl4py.networks.commands.conversion import convert
            from dl4py.networks.commands.profiling import profile
            if arguments[0] == "convert":
                convert(str(folder / "source.zip"), str(folder / arguments[1]))
            else:
                profile(str(folder / "source.zip"), 2, trace=str(folder / arguments[1]))
        return run
    return prepare


def _arrays_of_ops(folder: Path) -> Callable[[], object]:
    listener = ArraySavingListener(folder)

    def run() -> None:
        sd = graph()
        sd.set_listeners(listener)
        sd.output({"input_0": data().get_features()}, sd.outputs())
    return run


def _name_of_an_array() -> str:
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        _arrays_of_ops(Path(folder))()
        return sorted(os.listdir(folder))[0]


def _holds(path: Path) -> bool:
    return path.stat().st_size > len(OLD)


def _scores() -> CollectScoresIterationListener:
    listener = CollectScoresIterationListener()
    fitted(listener)
    return listener


SAVERS = {
    "network": to("n.zip", lambda p: network().save(p), _same_network),
    "graph network": to("n.zip", lambda p: graph_network().save(p), _same_graph_network),
    "write_model": to("n.bin", lambda p: ModelSerializer.write_model(network(), p), _same_network),
    "write_model with a normalizer": to("n.bin", lambda p: ModelSerializer.write_model(network(), p, True, normalizer()), _same_network),
    "add_normalizer_to_model": Saver("n.zip", _adding, _added),
    "graph": to("g.fb", lambda p: graph().save(p), _same_graph),
    "as_flat_file": to("g.fb", lambda p: graph().as_flat_file(p), _same_graph),
    "sdnb": to("g.sdnb", lambda p: graph().save(p), _same_graph),
    "sdz": to("g.sdz", lambda p: graph().save(p), _same_graph),
    "normalizer": to("n", lambda p: NormalizerSerializer().write(normalizer(), p),
                     lambda p: NormalizerSerializer().restore(p).get_mean().tolist() == normalizer().get_mean().tolist()),
    "data set": to("d.bin", lambda p: data().save(p), _same_data),
    "multi data set": to("d.bin", lambda p: data().to_multi_data_set().save(p), _same_multi),
    "array of BinarySerde": to("a.bin", lambda p: BinarySerde.write_array_to_disk(np.eye(3), p),
                               lambda p: bool((BinarySerde.read_from_disk(p) == np.eye(3)).all())),
    "array": to("a.bin", lambda p: Nd4j.save_binary(np.eye(3), p), lambda p: bool((Nd4j.read_binary(p) == np.eye(3)).all())),
    "npz": to("a.npz", lambda p: write_arrays(p, {"w": np.eye(3)}), lambda p: read_arrays(p)[0]["w"].tolist() == np.eye(3).tolist()),
    "safetensors": to("a.safetensors", lambda p: write_arrays(p, {"w": np.eye(3)}),
                      lambda p: read_arrays(p)[0]["w"].tolist() == np.eye(3).tolist()),
    "checkpoint: model": Saver("checkpoint_0_MultiLayerNetwork.zip", _checkpoints, lambda p: MultiLayerNetwork.load(p) is not None),
    "checkpoint: position": Saver("checkpoint_0_MultiLayerNetwork.zip.resume.json", _checkpoints, _holds),
    "checkpoint: record": Saver("checkpointInfo.txt", _checkpoints, _holds),
    "early stopping: best": Saver("bestModel.bin", lambda f: lambda: LocalFileModelSaver(f).save_best_model(network(), 0.1), _same_network),
    "early stopping: latest": Saver("latestModel.bin", lambda f: lambda: LocalFileModelSaver(f).save_latest_model(network(), 0.1),
                                    _same_network),
    "early stopping: graph": Saver("bestGraph.bin", lambda f: lambda: LocalFileGraphSaver(f).save_best_model(graph_network(), 0.1),
                                   _same_graph_network),
    "scores": Saver("s.txt", lambda f: lambda: _scores().export_scores(f / "s.txt"), _holds),
    "trace of a training": Saver("t.json", lambda f: lambda: fitted(ProfilingListener(f / "t.json")), _holds),
    "trace of a profile": to("t.json", lambda p: network().profile(data().get_features()).write_trace(p), _holds),
    "arrays of ops": Saver(_name_of_an_array(), _arrays_of_ops, _holds),
    "scaler": Saver("mean", lambda f: lambda: _scaler().save(f / "mean", f / "std"), _holds),
    "scaler, second file": Saver("std", lambda f: lambda: _scaler().save(f / "mean", f / "std"), _holds),
    "cache of an iterator": Saver(hashlib.sha256(b"key").hexdigest() + ".bin", lambda f: lambda: InFileDataSetCache(f).put("key", data()),
                                  _same_data),
    "download": Saver("thing", _fetching, _holds),
    "new_op": to("op.py", lambda p: new_op("acme.swish", p, overwrite=True), _holds),
    "new_layer": to("layer.py", lambda p: new_layer("MyDense", p, overwrite=True), _holds),
    **{f"convert to {s}": Saver("target" + s, _command("convert", "target" + s), _holds)
       for s in (".zip", ".fb", ".sdnb", ".sdz", ".npz", ".safetensors")},
    "profile --trace": Saver("target.json", _command("profile", "target.json"), _holds),
}
APPENDED = {"statistics": Saver("s.jsonl", lambda f: lambda: FileStatsStorage(f / "s.jsonl").put({"iteration": 1}), _holds)}


def _scaler() -> StandardScaler:
    scaler = StandardScaler()
    scaler.fit(data())
    return scaler


@pytest.mark.parametrize("name", [*SAVERS, *APPENDED])
def test_writes_all_there_is(name, tmp_path):
    saver = (SAVERS | APPENDED)[name]
    saver.prepare(tmp_path)()
    assert saver.same(tmp_path / saver.file)
    assert not [n for n in os.listdir(tmp_path) if n.endswith(".tmp")]


@pytest.mark.parametrize("kind", ["fifo", "folder", "link to a fifo"])
@pytest.mark.parametrize("name", [*SAVERS, *APPENDED])
def test_what_is_no_regular_file_is_refused_and_stays(name, kind, tmp_path):
    saver = (SAVERS | APPENDED)[name]
    run, target = saver.prepare(tmp_path), tmp_path / saver.file
    if name == "add_normalizer_to_model":
        target.unlink()
    if kind == "folder":
        target.mkdir()
    else:
        os.mkfifo(tmp_path / "fifo" if kind.startswith("link") else target)
        if kind.startswith("link"):
            target.symlink_to("fifo")
    if kind == "folder" and name in ("new_op", "new_layer"):      # there it names the folder for the file
        return
    before = os.lstat(target).st_mode
    with pytest.raises(PathError):
        run()
    assert os.lstat(target).st_mode == before
    assert not [n for n in os.listdir(tmp_path) if n.endswith(".tmp")]


@pytest.mark.parametrize("name", SAVERS)
def test_a_failure_before_the_end_leaves_the_old_file(name, tmp_path, monkeypatch):
    saver = SAVERS[name]
    run, target = saver.prepare(tmp_path), tmp_path / saver.file
    if name != "add_normalizer_to_model":
        target.write_bytes(OLD)
    before, real, failed = target.read_bytes(), os.fsync, []

    def no_room(handle: int) -> None:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode) and os.readlink(f"/proc/self/fd/{handle}").startswith(f"{tmp_path}/.{saver.file}."):
            failed.append(handle)
            raise OSError(28, "no space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(OSError, match="no space"):
        run()
    assert failed
    assert target.read_bytes() == before
    assert not [n for n in os.listdir(tmp_path) if n.endswith(".tmp")]


FULL = """
import os, resource, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests import test_savers as t
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
runs = {}
for k, (name, saver) in enumerate((t.SAVERS | t.APPENDED).items()):
    folder = Path(sys.argv[2]) / str(k)
    folder.mkdir()
    runs[name] = saver.prepare(folder)
    if name == "statistics":
        runs[name]()
    elif name != "add_normalizer_to_model":
        (folder / saver.file).write_bytes(t.OLD)
before = {}
for k, (name, saver) in enumerate((t.SAVERS | t.APPENDED).items()):
    before[name] = (Path(sys.argv[2]) / str(k) / saver.file).read_bytes()
t.network().clone().output(t.data().get_features())
resource.setrlimit(resource.RLIMIT_FSIZE, (5, 5))
for k, (name, saver) in enumerate((t.SAVERS | t.APPENDED).items()):
    folder = Path(sys.argv[2]) / str(k)
    try:
        runs[name]()
        print(name, "did not fail", flush=True)
    except OSError as error:
        after = (folder / saver.file).read_bytes()
        if after != before[name]:
            print(name, "changed the file to", after[:100], flush=True)
        if [n for n in os.listdir(folder) if n.endswith(".tmp")]:
            print(name, "left", os.listdir(folder), flush=True)
print("done", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
def test_a_full_disk_leaves_the_old_files(tmp_path):
    found = subprocess.run([sys.executable, "-c", FULL, str(Path(__file__).parents[1]), str(tmp_path)], capture_output=True, text=True,
                           timeout=300, check=False)
    assert (found.stdout, found.returncode) == ("done\n", 0), found.stderr


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root makes devices")
@pytest.mark.parametrize("name", [*SAVERS, *APPENDED])
def test_devices_stay(name, tmp_path):
    saver = (SAVERS | APPENDED)[name]
    run, target = saver.prepare(tmp_path), tmp_path / saver.file
    target.unlink(missing_ok=True)
    try:
        os.mknod(target, 0o20600, os.makedev(1, 3))
    except PermissionError as error:
        pytest.skip(f"no devices can be made here: {error}")
    with pytest.raises(PathError):
        run()
    assert stat.S_ISCHR(os.lstat(target).st_mode)


def test_the_command_says_it_in_a_line(tmp_path, capsys):
    network().save(tmp_path / "n.zip")
    os.mkfifo(tmp_path / "g.fb")
    assert main(["convert", str(tmp_path / "n.zip"), str(tmp_path / "g.fb")]) == 1
    said = capsys.readouterr().err.splitlines()
    assert said[-1] == f"dl4py: {tmp_path}/g.fb is a FIFO (a pipe); only regular files are replaced"
    assert [line.partition(":")[0] for line in said[:-1]] == ["lost"]


WRITING = re.compile(r"""\.write_(text|bytes)\(|open\([^)\n]*["'](w|a|x|r\+)b?["']|os\.(replace|rename)\(|mkstemp\(""")
#: What may write by itself: the atomic path, entries of archives, caches of compiled code, lists for a process that compiles, and this
#: library's own generators.
MAY = {"samediff/codecs/atomic_files.py", "networks/files/model_zip.py", "samediff/files/any_graph.py", "samediff/codecs/array_files.py",
       "samediff/tools/stubs.py", "samediff/tools/op_docs.py", "samediff/tools/exports.py", "samediff/base/private_folder.py",
       "samediff/cuda/drivers/host_code.py", "samediff/cpu/native/helper_process.py", "networks/keras/documentation.py",
       "networks/commands/documentation.py", "samediff/tools/onnx_docs.py"}


def test_nothing_else_writes_files():
    root = Path(__file__).parents[1]
    code = {str(p.relative_to(root)): [line for line in p.read_text(encoding="utf-8").splitlines() if ">>>" not in line]
            for package in ("samediff", "layers", "networks", "udf") for p in (root / package).rglob("*.py")}
    assert {name for name, lines in code.items() if any(map(WRITING.search, lines))} - MAY == set()
