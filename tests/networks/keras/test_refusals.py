"""What files may not do, and what layers of one's own need."""
from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from dl4py.layers import ActivationLayer, DenseLayer
from dl4py.networks import KerasModelImport, register_keras_layer
from dl4py.networks.keras import hdf5 as reading
from dl4py.networks.keras.registry import TABLE
from dl4py.samediff.errors import (
    ConfigurationError,
    DL4PyError,
    FileFormatError,
    LimitError,
    MissingOpError,
    MissingPackageError,
    RegistrationError,
    UnsupportedVersionError,
)
from tests.networks.keras.old_models import hdf5, json_text, layer, sequential

h5py = pytest.importorskip("h5py")
FOLDER = Path(__file__).parent / "models"
DENSE = layer("Dense", "d", batch_input_shape=[None, 4], units=3, activation="linear", use_bias=True)
W, B = np.arange(12, dtype="float32").reshape(4, 3), np.ones(3, "float32")


def imported(source, *rest):
    return KerasModelImport.import_keras_model_and_weights(source, *rest)


def written(change):
    """A good file, changed through h5py."""
    stream = hdf5(sequential(DENSE), {"d": [("d/kernel:0", W), ("d/bias:0", B)]})
    with h5py.File(stream, "r+") as file:
        change(file, file["model_weights/d"])
    stream.seek(0)
    return stream


def external_link(file, group):
    del group["d/kernel:0"]
    group["d/kernel:0"] = h5py.ExternalLink("/etc/other.h5", "/x")


def soft_link(file, group):
    group.move("d/kernel:0", "d/other")
    group["d/kernel:0"] = h5py.SoftLink("/model_weights/d/d/other")


def external_storage(file, group):
    del group["d/kernel:0"]
    group.create_dataset("d/kernel:0", (4, 3), "f4", external=[("/etc/passwd", 0, 48)])


def virtual(file, group):
    del group["d/kernel:0"]
    layout = h5py.VirtualLayout((4, 3), "f4")
    layout[:] = h5py.VirtualSource("other.h5", "x", (4, 3))
    group.create_virtual_dataset("d/kernel:0", layout)


def texts(file, group):
    del group["d/kernel:0"]
    group.create_dataset("d/kernel:0", data=[b"a", b"b"])


def wrong_shape(file, group):
    del group["d/kernel:0"]
    group.create_dataset("d/kernel:0", data=W[:2])


def missing(file, group):
    del group["d/kernel:0"]


def fewer(file, group):
    group.attrs["weight_names"] = [b"d/kernel:0"]


@pytest.mark.parametrize(("change", "text"), [
    (external_link, "link to another place"), (soft_link, "link to another place"), (external_storage, "lies in another file"),
    (virtual, "lies in another file"), (texts, "no numbers"), (wrong_shape, "do not fit"), (missing, "no member"), (fewer, "has 1 arrays")],
    ids=lambda v: getattr(v, "__name__", ""))
def test_files_that_are_refused(change, text):
    with pytest.raises(FileFormatError, match=text):
        imported(written(change))


def test_packed_zeros():
    def bomb(file, group):
        del group["d/kernel:0"]
        group.create_dataset("d/kernel:0", (40_000, 40_000), "f4", chunks=(4000, 4000), compression="gzip", fillvalue=0)
    with pytest.raises(LimitError, match="times the bytes of the file"):
        imported(written(bomb))


def test_packed_archives():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("config.json", json.dumps(sequential(DENSE)))
        archive.writestr("model.weights.h5", bytes(50 << 20))
    stream.seek(0)
    with pytest.raises(LimitError):
        imported(stream)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"class_name": "Sequential"}', b"\x89HDF\r\n\x1a\n" + bytes(100), b"PK\x03\x04",
                                     b'{"class_name": "Sequential", "config": {"layers": [3]}}'])
def test_damaged_files(content):
    with pytest.raises(FileFormatError):
        imported(io.BytesIO(content))


@pytest.mark.parametrize("file", ["words.h5", "series.keras"])
def test_cut_and_changed_files(file):
    content = (FOLDER / file).read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(25):
        broken = bytearray(content[:int(rng.integers(1, len(content)))] if rng.random() < 0.4 else content)
        for place in rng.integers(0, len(broken), 4):
            broken[place] = rng.integers(0, 256)
        try:
            imported(io.BytesIO(bytes(broken)))
        except DL4PyError:
            continue


def test_models_in_circles():
    nodes = [{"class_name": "Dense", "config": {"name": n, "units": 2}, "name": n, "inbound_nodes": [[[m, 0, 0, {}]]]}
             for n, m in ("ab", "ba")]
    start = {"class_name": "InputLayer", "config": {"name": "i", "batch_input_shape": [None, 2]}, "name": "i", "inbound_nodes": []}
    model = {"class_name": "Functional", "config": {"layers": [start, *nodes], "input_layers": [["i", 0, 0]],
                                                    "output_layers": [["a", 0, 0]]}}
    with pytest.raises(FileFormatError, match="by itself"):
        KerasModelImport.import_keras_model_configuration(json_text(model))


def test_h5py_is_asked_for(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(MissingPackageError, match=r"dl4py\[keras\]"):
        reading.h5py()
    assert KerasModelImport.import_keras_sequential_configuration(json_text(sequential(DENSE))).layers


@pytest.fixture
def table():
    before = dict(TABLE)
    yield TABLE
    TABLE.clear()
    TABLE.update(before)


def lambda_layer(name):
    return layer("Lambda", name, function=["4wEAAAAAAAAA", None, None], function_type="lambda", batch_input_shape=[None, 4])


def test_lambdas_are_never_run(table):
    model = json_text(sequential(lambda_layer("swishing")))
    with pytest.raises(MissingOpError, match=r"never run.*register_keras_layer\('swishing'"):
        KerasModelImport.import_keras_sequential_configuration(model)
    register_keras_layer("swishing", lambda k: ActivationLayer(activation="swish"))
    model.seek(0)
    assert KerasModelImport.import_keras_sequential_configuration(model).layers[0].activation is not None


def test_classes_of_ones_own(table):
    own = {"class_name": "Mine", "module": "acme", "registered_name": "acme>Mine", "config": {"name": "m", "size": 3,
                                                                                             "batch_input_shape": [None, 4]}}
    source = hdf5(sequential(own), {"m": [("m/kernel:0", W)]})
    with pytest.raises(MissingOpError, match=r"register_keras_layer\('acme>Mine'"):
        imported(source)
    register_keras_layer("acme>Mine", lambda k: k.made(
        DenseLayer(n_in=k.size(), n_out=k.get("size"), has_bias=False, activation="identity"), {"W": lambda w: w["kernel"]}, ("kernel",),
        shape=(k.get("size"),)))
    source.seek(0)
    np.testing.assert_allclose(imported(source).output(np.ones((1, 4))), W.sum(0)[None])


def test_registrations_that_are_refused():
    with pytest.raises(RegistrationError, match="that the importer knows"):
        register_keras_layer("Dense", lambda k: None)
    with pytest.raises(RegistrationError, match="must be a function"):
        register_keras_layer("acme>Other", 3)


@pytest.mark.parametrize("options", [{"class_name": "Conv2D", "filters": 4, "kernel_size": [2, 2], "groups": 3,
                                      "batch_input_shape": [None, 5, 5, 2]},
                                     {"class_name": "RNN", "cell": {"class_name": "MyCell", "config": {}},
                                      "batch_input_shape": [None, 5, 2]},
                                     {"class_name": "Dense", "units": 2, "activation": "my_own", "batch_input_shape": [None, 5]},
                                     {"class_name": "Conv1D", "filters": 2, "kernel_size": [2], "padding": "full",
                                      "batch_input_shape": [None, 5, 2]}])
def test_options_that_are_refused(options):
    kind = options.pop("class_name")
    with pytest.raises(UnsupportedVersionError, match=f"'x' .{kind}."):
        KerasModelImport.import_keras_sequential_configuration(json_text(sequential(layer(kind, "x", **options))))


HUGE = 1 << 40


@pytest.mark.parametrize(("kind", "shape", "options"), [
    ("Dense", [8], {"units": HUGE}), ("LSTM", [8, 3], {"units": HUGE}), ("Conv2D", [8, 8, 1], {"filters": HUGE, "kernel_size": [2, 2]}),
    ("Conv2D", [8, 8, 1], {"filters": 2, "kernel_size": [HUGE, HUGE], "padding": "same"}),
    ("Embedding", [4], {"input_dim": HUGE, "output_dim": HUGE}), ("Dense", [8], {"units": "x"}), ("Dense", [8], {"units": [3]})])
def test_numbers_that_no_network_has(kind, shape, options):
    """A typed error that names the file or the layer, at once."""
    layer = {"class_name": kind, "config": {"name": "big", "batch_input_shape": [None, *shape], **options}}
    text = json.dumps({"class_name": "Sequential", "config": {"name": "s", "layers": [layer]}})
    with pytest.raises((FileFormatError, ConfigurationError), match="room for|big"):
        KerasModelImport.import_keras_sequential_model_and_weights(io.BytesIO(text.encode()))
