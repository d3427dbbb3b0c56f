"""Plans of a device compute what the reference executor computes."""
from __future__ import annotations

import threading

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff, device
from dl4py.samediff.cuda.captured_graph import CapturedGraph
from dl4py.samediff.errors import DeviceError, ShapeError
from tests.helpers.randomgraphs import RandomGraph, agree, same
from tests.helpers.randomviews import RandomViews
from tests.samediff.cuda.support import needs_compiler

pytestmark = needs_compiler


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(4))
def test_random_graphs(seed):
    graph = RandomGraph(seed)
    with device("emulated"):
        for batch in (7, 1):
            agree(graph.sd, graph.feeds(batch), *graph.names()[-4:])


@pytest.mark.parametrize("dtype", [DataType.DOUBLE, DataType.HALF, DataType.INT])
def test_types(dtype):
    graph = RandomGraph(101, 6, dtype)
    with device("emulated"):
        agree(graph.sd, graph.feeds(2), *graph.names()[-3:])


def test_gradients():
    graph = RandomGraph(203, 8)
    last = [v for v in graph.pool[7:] if v.dtype.is_floating and 0 not in v.get_shape()][-2:]
    total = sum(graph.sd.math.tanh(v).sum() for v in last)
    names = [g.name() for g in graph.sd.gradients(total, graph.pool[2:6]) if g is not None]
    with device("emulated"):
        agree(graph.sd, graph.feeds(3), *names, total.name())


def _graph(build):
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 6)
    build(sd, x)
    return sd


def _text(sd, x):
    """What the plan says after two runs."""
    with device("emulated"):
        for _ in range(2):
            found = sd.output_single({"x": x}, "y")
        return found, sd.explain({"x": x}, "y")


def test_a_plan_without_array_code_is_one_graph():
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(2, 6)
    sd = _graph(lambda sd, x: sd.nn.softmax("y", sd.math.tanh(x.reshape(-1, 3).permute(1, 0)) * 2.0))
    found, text = _text(sd, x)
    same(found, sd.output_single({"x": x}, "y"))
    assert "runs as one CUDA graph" in text.splitlines()[1] and "array code: 0" in text


def test_array_code_is_named_with_the_reason():
    x = np.eye(6, dtype=np.float32) * 3 + 1
    sd = _graph(lambda sd, x: sd.math.exp("y", sd.linalg.matrix_determinant(x) * 1e-3))
    found, text = _text(sd, x)
    same(found, sd.output_single({"x": x}, "y"))
    assert "no CUDA graph" in text and "matrix_determinant has no CUDA kernel" in text


@pytest.mark.parametrize("build", [
    lambda sd, x: sd.base.permute("y", x, sd.constant(np.array([1, 0], np.int32))),
    lambda sd, x: sd.base.reshape("y", x, sd.constant(np.array([3, -1], np.int32))),
    lambda sd, x: sd.base.slice("y", x, sd.constant(np.array([0, 1], np.int32)), sd.constant(np.array([2, 3], np.int32))),
    lambda sd, x: sd.math.sum("y", x, sd.constant(np.array([1], np.int32)))])
def test_arrays_that_steer_an_op(build):
    sd, x = _graph(build), np.arange(12, dtype=np.float32).reshape(2, 6)
    wanted = sd.output_single({"x": x}, "y")
    found, _ = _text(sd, x)
    same(found, wanted)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", [5, 7, 16])
def test_views_that_computed_arrays_steer(seed):
    graph = RandomViews(seed)
    names = graph.names()
    with device("emulated"):
        for a, b, values in ((3, 5, 0), (3, 5, 1), (2, 1, 2)):
            agree(graph.sd, graph.feeds(a, b, values), *names)


def test_results_stay_where_they_are_when_asked_to():
    sd = _graph(lambda sd, x: sd.math.exp("y", x))
    x = np.ones((2, 6), np.float32)
    with device("emulated", results_stay=True):
        first = sd.output_single({"x": x}, "y")
        second = sd.output_single({"x": x * 2}, "y")
    assert first[0, 0] == np.float32(np.e) and second[0, 0] > 7


def test_what_fails_names_the_op_and_the_line():
    sd = _graph(lambda sd, x: sd.math.add("y", x, sd.placeholder("z", DataType.FLOAT, -1, 6)))
    texts = []
    for where in ("cpu", "emulated"):
        with device(where), pytest.raises(ShapeError) as raised:
            sd.output_single({"x": np.ones((2, 6), np.float32), "z": np.ones((3, 6), np.float32)}, "y")
        texts.append(str(raised.value))
    assert texts[0] == texts[1] and "test_plans.py" in texts[1]


def test_many_threads_run_one_plan():
    rng = np.random.default_rng(0)
    sd = _graph(lambda sd, x: sd.nn.softmax("y", x.mmul(sd.var("w", rng.standard_normal((6, 5)).astype(np.float32)))))
    inputs = [rng.standard_normal((3, 6)).astype(np.float32) for _ in range(8)]
    wanted = [sd.output_single({"x": x}, "y") for x in inputs]
    wrong = []

    def work(k):
        with device("emulated"):
            for _ in range(20):
                if not np.allclose(sd.output_single({"x": inputs[k]}, "y"), wanted[k], rtol=1e-5):
                    wrong.append(k)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_profiles_are_for_the_cpu():
    sd = _graph(lambda sd, x: sd.math.exp("y", x))
    with device("emulated"), pytest.raises(DeviceError, match="CPU"):
        sd.profile({"x": np.ones((2, 6), np.float32)}, "y")


class _Driver:
    def __init__(self, refuses):
        self.refuses, self.recorded = refuses, 0

    def capture(self, run):
        if self.refuses:
            raise RuntimeError("operation not permitted when stream is capturing")
        self.recorded += 1
        return run


@pytest.mark.parametrize("refuses", [False, True])
def test_the_second_run_is_captured_or_says_why_not(refuses):
    done, driver = [], _Driver(refuses)
    captured = CapturedGraph(driver, lambda: done.append(1))
    for _ in range(4):
        captured()
    assert len(done) == 4
    assert captured.is_captured is not refuses and bool(captured.reason) is refuses
    assert driver.recorded == (0 if refuses else 1)


@pytest.mark.parametrize("setting", ["0", "1"])
def test_graphs_can_be_switched_off(setting, monkeypatch):
    monkeypatch.setenv("DL4PY_CUDA_GRAPHS", setting)
    done, driver = [], _Driver(False)
    captured = CapturedGraph(driver, lambda: done.append(1))
    for _ in range(3):
        captured()
    assert len(done) == 3 and driver.recorded == int(setting)
    assert captured.reason == ("" if setting == "1" else "switched off by DL4PY_CUDA_GRAPHS=0")
