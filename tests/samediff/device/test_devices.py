"""Choosing where graphs run."""
from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from dl4py.samediff import DataSet, DataType, DeviceError, SameDiff, TrainingConfig, current_device, device, set_device
from dl4py.samediff.device.devices import Device
from dl4py.samediff.errors import DataTypeError
from dl4py.samediff.ops.reduce.unique import Unique
from dl4py.samediff.training import Adam
from tests.samediff.cuda.support import needs_compiler


@pytest.mark.parametrize("name, expected", [("cpu", "cpu"), ("cuda", "cuda:0"), ("gpu:2", "cuda:2"), ("cuda:1", "cuda:1"),
                                            ("emulated", "emulated:0")])
def test_names(name, expected):
    assert str(Device.of(name)) == expected
    assert Device.of(expected) == Device.of(name)


@pytest.mark.parametrize("name", ["cuad:0", "cuda:", "cuda:-1", "cpu:1", "", 0, None, "cuda:0 "])
def test_names_that_are_none(name):
    before = current_device()
    with pytest.raises(DeviceError):
        set_device(name)
    with pytest.raises(DeviceError):
        device(name)
    assert current_device() == before


def test_a_misspelt_name_is_answered_by_the_right_one():
    with pytest.raises(DeviceError, match="did you mean 'cuda'"):
        device("cuad:0")


@needs_compiler
def test_blocks_nest_and_end_with_an_error():
    with pytest.raises(KeyError), device("emulated"):
        with device("cpu"):
            assert str(current_device()) == "cpu"
        assert str(current_device()) == "emulated:0"
        raise KeyError
    assert str(current_device()) == "cpu"


@needs_compiler
def test_a_block_is_for_its_thread_and_set_device_for_all():
    seen = []

    def look():
        thread = threading.Thread(target=lambda: seen.append(str(current_device())))
        thread.start()
        thread.join()
    with device("emulated"):
        look()
    set_device("emulated")
    try:
        look()
    finally:
        set_device("cpu")
    assert seen == ["cpu", "emulated:0"]


def _graph():
    rng = np.random.default_rng(0)
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 4)
    w, b = sd.var("w", rng.standard_normal((4, 3)).astype(np.float32)), sd.var("b", np.ones(3, np.float32))
    sd.nn.softmax("y", sd.math.tanh(x.mmul(w) + b))
    return sd, rng.standard_normal((5, 4)).astype(np.float32)


@needs_compiler
def test_results_are_those_of_the_cpu():
    sd, x = _graph()
    expected = sd.output_single({"x": x}, "y")
    with device("emulated"):
        for rows in (5, 1, 5, 0):
            found = sd.output_single({"x": x[:rows]}, "y")
            assert isinstance(found, np.ndarray)
            np.testing.assert_allclose(found, expected[:rows], rtol=1e-6)
    np.testing.assert_array_equal(sd.output_single({"x": x}, "y"), expected)


@needs_compiler
def test_a_changed_variable_is_seen_on_either_side():
    sd, x = _graph()
    with device("emulated"):
        sd.output_single({"x": x}, "y")
    sd.get_variable("b").get_arr()[...] = [5, 0, 0]
    expected = sd.output_single({"x": x}, "y")
    with device("emulated"):
        np.testing.assert_allclose(sd.output_single({"x": x}, "y"), expected, rtol=1e-6)
        sd.set_array("b", np.zeros(3, np.float32))
        again = sd.output_single({"x": x}, "y")
    np.testing.assert_allclose(again, sd.output_single({"x": x}, "y"), rtol=1e-6)
    assert abs(again - expected).max() > 0.1


def test_the_environment_chooses():
    text = "from dl4py.samediff import current_device; print(current_device())"
    run = subprocess.run([sys.executable, "-c", text], env={**os.environ, "DL4PY_DEVICE": "nonsense"}, capture_output=True, text=True,
                         check=False)
    assert run.returncode and "DL4PY_DEVICE" in run.stderr and "nonsense" in run.stderr


@needs_compiler
def test_text_and_sizes_that_a_run_tells_stay_on_the_host():
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1)
    sd.constant("words", np.array(["a", "b"], object))
    values = sd.add_op(Unique(), [x])[0]
    sd.math.mul("twice", values, 2.0)
    feeds = {"x": np.array([3, 1, 3, 2], np.float32)}
    expected = sd.output(feeds, "words", "twice")
    with device("emulated"):
        found = sd.output(feeds, "words", "twice")
    assert found["words"].tolist() == ["a", "b"]
    np.testing.assert_array_equal(found["twice"], expected["twice"])


@needs_compiler
def test_a_graph_is_trained_here_and_there():
    def make():
        sd, _ = _graph()
        labels = sd.placeholder("labels", DataType.FLOAT, -1, 3)
        sd.loss.mean_squared_error("loss", labels, sd.get_variable("y"), None)
        sd.set_training_config(TrainingConfig(updater=Adam(1e-2), data_set_feature_mapping="x", data_set_label_mapping="labels"))
        return sd
    here, there, x = make(), make(), _graph()[1]
    data = DataSet(x, np.eye(3, dtype=np.float32)[[0, 1, 2, 0, 1]])
    for name in ("emulated", "cpu", "emulated", "cpu"):
        here.fit(data)
        here.fit(data)
        with device(name):
            there.fit(data)
            there.fit(data)
        np.testing.assert_allclose(there.output_single({"x": x}, "y"), here.output_single({"x": x}, "y"), rtol=1e-5)
        np.testing.assert_allclose(there.get_variable("w").get_arr(), here.get_variable("w").get_arr(), rtol=1e-5)


class _OnGpu:
    """What other libraries say of an array on a GPU."""

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **options):
        raise AssertionError("nobody can read it here")


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="is about machines without CuPy")
def test_an_array_of_a_gpu_needs_cupy():
    sd, _ = _graph()
    with pytest.raises(DataTypeError, match="CuPy, which is not installed"):
        sd.output_single({"x": _OnGpu()}, "y")
