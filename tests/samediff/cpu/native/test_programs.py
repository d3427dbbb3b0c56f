"""Programs: instructions in order, parts on several threads, memory that changes from run to run."""
from __future__ import annotations

import platform
import threading

import numpy as np
import pytest

from dl4py.samediff.cpu import Layout, elementwise_kernel
from dl4py.samediff.cpu.kernels.cross_entropy import softmax_cross_entropy
from dl4py.samediff.cpu.native import program, runner
from dl4py.samediff.cpu.native.entry import instruction
from dl4py.samediff.cpu.native.program import Segment, locator
from dl4py.samediff.cpu.native.thresholds import ALWAYS
from dl4py.samediff.expressions.expression import trace


def doubled(x, y, constant=1.0):
    """The instruction y = 2 x + constant."""
    kernel = elementwise_kernel(trace(lambda xp, x: 2 * x + constant, [x.dtype.name]), [Layout.same(x.ndim)])
    return kernel.instruction(kernel.views([x, y]))


@pytest.fixture
def always_shared(monkeypatch):
    """Every instruction in parts, every program with help."""
    monkeypatch.setattr(program, "LEAST", ALWAYS)
    monkeypatch.setattr(program, "thresholds", lambda: ALWAYS)


def test_instructions_run_in_order():
    x, y, z = np.arange(5, dtype=np.float32), np.zeros(5, np.float32), np.zeros(5, np.float32)
    Segment([doubled(x, y), doubled(y, z)])()
    assert z.tolist() == (4 * x + 3).tolist()


@pytest.mark.parametrize("size", [1, 2, 3, 31, 1000, 65537])
def test_any_size_in_parts(always_shared, size):
    x, y = np.arange(size, dtype=np.float64), np.zeros(size)
    segment = Segment([doubled(x, y), doubled(y, x, 0.0)])
    for _ in range(20):
        x[:] = np.arange(size)
        segment()
    np.testing.assert_array_equal(x, 4 * np.arange(size) + 2)


def test_parts_slice_rows(always_shared, rng):
    logits, labels = rng.standard_normal((2, 37, 5)).astype(np.float32)
    labels = np.eye(5, dtype=np.float32)[np.argmax(labels, 1)]
    whole, shared = np.zeros((2, 37), np.float32)
    softmax_cross_entropy(logits, labels, whole)
    Segment([instruction(softmax_cross_entropy, [logits, labels, shared], axes=[0, 0, 0])])()
    np.testing.assert_array_equal(shared, whole)


def test_locals_are_looked_up_in_each_run():
    stand_in, out = np.empty(6, np.float32), np.zeros(3, np.float32)
    segment = Segment([doubled(stand_in[2:5], out)], {"x": stand_in})
    assert segment.locals == ("x",)
    for k in range(3):
        given = np.arange(6, dtype=np.float32) + k
        runner.launch(segment.address, locator()(given), 0, 0, 0)
        assert out.tolist() == (2 * given[2:5] + 1).tolist()


@pytest.mark.parametrize("count", [5, 7, 100])
def test_more_locals_than_a_call_takes(count):
    inputs = {f"x{k}": np.empty(2, np.float32) for k in range(count)}
    outs = [np.zeros(2, np.float32) for _ in range(count)]
    segment = Segment([doubled(x, y) for x, y in zip(inputs.values(), outs)], inputs)
    given = [np.full(2, k, np.float32) for k in range(count)]
    where = [locator()(given[int(n[1:])]) for n in segment.locals]
    for k, at in enumerate(where[4:], 4):
        runner.place(segment.address, k, at)
    runner.launch(segment.address, *where[:4])
    assert [y.tolist() for y in outs] == [[2 * k + 1.0] * 2 for k in range(count)]


def test_many_threads_run_their_own_programs(always_shared):
    wrong = []

    def work(k):
        x, y = np.full(5000, k, np.float64), np.zeros(5000)
        segment = Segment([doubled(x, y)])
        for _ in range(200):
            y[:] = 0
            segment()
            if not (y == 2 * k + 1).all():
                wrong.append(k)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_child_process_has_helpers_of_its_own():
    import multiprocessing
    with multiprocessing.get_context("spawn").Pool(1) as processes:
        assert processes.apply(_in_child) == 3.0


def _in_child():
    x, y = np.ones(1 << 18, np.float32), np.zeros(1 << 18, np.float32)
    Segment([doubled(x, y)])()
    return float(y.min())


@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="other processors have no such switch")
def test_denormals_are_zero_in_programs_and_stay_outside():
    x, y = np.full(4, 1e-40, np.float32), np.ones(4, np.float32)
    kernel = elementwise_kernel(trace(lambda xp, x: x * 0.5, ["float32"]), [Layout.same(1)])
    Segment([kernel.instruction(kernel.views([x, y]))])()
    assert (y == 0).all()
    assert (x * np.float32(0.5) > 0).all()


def test_arrays_of_types_without_kernels_are_refused():
    assert instruction(softmax_cross_entropy, [np.zeros((1, 2), np.float16)] * 2 + [np.zeros(1, np.float16)]) is None
