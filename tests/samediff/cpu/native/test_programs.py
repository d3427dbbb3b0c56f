"""Programs: instructions in order, parts on several threads, memory that changes from run to run."""
from __future__ import annotations

import platform
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from dl4py.samediff.cpu import OperandLayout, elementwise_kernel
from dl4py.samediff.cpu.compiler.sources import kernel
from dl4py.samediff.cpu.kernels.cross_entropy import softmax_cross_entropy
from dl4py.samediff.cpu.native import array_address, interpreter, program, thread_pool
from dl4py.samediff.cpu.native.array_address import locator
from dl4py.samediff.cpu.native.instruction import instruction
from dl4py.samediff.cpu.native.program import Program
from dl4py.samediff.cpu.native.thresholds import ALWAYS, NEVER
from dl4py.samediff.expressions.expression import trace


def doubled(x, y, constant=1.0):
    """The instruction y = 2 x + constant."""
    kernel = elementwise_kernel(trace(lambda xp, x: 2 * x + constant, [x.dtype.name]), [OperandLayout.same(x.ndim)])
    return kernel.instruction(kernel.views([x, y]))


@pytest.fixture
def always_shared(monkeypatch):
    """Every instruction in parts, every program with help."""
    monkeypatch.setattr(program, "LEAST", ALWAYS)
    monkeypatch.setattr(program, "thresholds", lambda: ALWAYS)


def test_instructions_run_in_order():
    x, y, z = np.arange(5, dtype=np.float32), np.zeros(5, np.float32), np.zeros(5, np.float32)
    Program([doubled(x, y), doubled(y, z)])()
    assert z.tolist() == (4 * x + 3).tolist()


@pytest.mark.parametrize("size", [1, 2, 3, 31, 1000, 65537])
def test_any_size_in_parts(always_shared, size):
    x, y = np.arange(size, dtype=np.float64), np.zeros(size)
    segment = Program([doubled(x, y), doubled(y, x, 0.0)])
    for _ in range(20):
        x[:] = np.arange(size)
        segment()
    np.testing.assert_array_equal(x, 4 * np.arange(size) + 2)


def test_parts_slice_rows(always_shared, rng):
    logits, labels = rng.standard_normal((2, 37, 5)).astype(np.float32)
    labels = np.eye(5, dtype=np.float32)[np.argmax(labels, 1)]
    called, whole, shared = np.zeros((3, 37), np.float32)
    softmax_cross_entropy(logits, labels, called)
    for out, worth in ((whole, NEVER), (shared, ALWAYS)):
        Program([instruction(softmax_cross_entropy, [logits, labels, out], axes=[0, 0, 0])], worth=worth)()
    np.testing.assert_array_equal(shared, whole)
    # For calls from Python the kernel is compiled once more, and its sums may be reordered in another way.
    np.testing.assert_allclose(whole, called, rtol=1e-5)


@pytest.mark.parametrize("known", [True, False], ids=["read from the object", "given"])
def test_locals_are_looked_up_in_each_run(monkeypatch, known):
    if not known:                       # another Python, or a NumPy whose arrays look different
        monkeypatch.setattr(array_address, "data_offset", lambda: -1)
        monkeypatch.setattr(program, "data_offset", lambda: -1)
    stand_in, out = np.empty(6, np.float32), np.zeros(3, np.float32)
    segment = Program([doubled(stand_in[2:5], out)], {"x": stand_in})
    assert segment.locals == ("x",)
    for k in range(3):
        given = np.arange(6, dtype=np.float32) + k
        interpreter.launch(segment.address, locator()(given), 0, 0, 0)
        assert out.tolist() == (2 * given[2:5] + 1).tolist()


def test_the_place_of_an_address_is_not_guessed(monkeypatch):
    offset = array_address.data_offset.__wrapped__
    assert offset() == array_address.data_offset()
    monkeypatch.setattr(array_address, "address_of", lambda array: 1)       # what no object holds
    assert offset() == -1
    monkeypatch.undo()
    monkeypatch.setattr(array_address, "_WORD", 4)
    assert offset() == -1


@pytest.mark.parametrize("count", [5, 7, 100])
def test_more_locals_than_a_call_takes(count):
    inputs = {f"x{k}": np.empty(2, np.float32) for k in range(count)}
    outs = [np.zeros(2, np.float32) for _ in range(count)]
    segment = Program([doubled(x, y) for x, y in zip(inputs.values(), outs)], inputs)
    given = [np.full(2, k, np.float32) for k in range(count)]
    where = [locator()(given[int(n[1:])]) for n in segment.locals]
    for k, at in enumerate(where[4:], 4):
        interpreter.place(segment.address, k, at)
    interpreter.launch(segment.address, *where[:4])
    assert [y.tolist() for y in outs] == [[2 * k + 1.0] * 2 for k in range(count)]


def test_many_threads_run_their_own_programs(always_shared):
    wrong = []

    def work(k):
        x, y = np.full(5000, k, np.float64), np.zeros(5000)
        segment = Program([doubled(x, y)])
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


@pytest.mark.parametrize(("work", "is_worth_it"), [(1.5e5, True), (5e4, False)])
def test_helpers_that_sleep_are_woken_for_a_tenth_of_a_millisecond(always_shared, work, is_worth_it):
    pool = thread_pool.pool()
    if pool is None:
        pytest.skip("one processor")

    def word(place):
        return pool._words[place // 8]
    x = np.zeros(1000, np.float32)
    made = Program([replace(doubled(x, np.zeros_like(x)), work=work)])
    while word(interpreter.SLEEPING) < pool.helpers:
        time.sleep(0.001)
    pool.reset_backoff()
    before = word(interpreter.TICKET)
    made()
    assert word(interpreter.TICKET) - before == is_worth_it


def test_a_child_process_has_helpers_of_its_own():
    import multiprocessing
    with multiprocessing.get_context("spawn").Pool(1) as processes:
        assert processes.apply(_in_child) == 3.0


def _in_child():
    x, y = np.ones(1 << 18, np.float32), np.zeros(1 << 18, np.float32)
    Program([doubled(x, y)])()
    return float(y.min())


@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="other processors have no such switch")
def test_denormals_are_zero_in_programs_and_stay_outside():
    x, y = np.full(4, 1e-40, np.float32), np.ones(4, np.float32)
    kernel = elementwise_kernel(trace(lambda xp, x: x * 0.5, ["float32"]), [OperandLayout.same(1)])
    Program([kernel.instruction(kernel.views([x, y]))])()
    assert (y == 0).all()
    assert (x * np.float32(0.5) > 0).all()


def test_arrays_of_types_without_kernels_are_refused():
    assert instruction(softmax_cross_entropy, [np.zeros((1, 2), np.float16)] * 2 + [np.zeros(1, np.float16)]) is None


@kernel
def positive(x, y):
    """Copies what is positive; False where something is not."""
    for i in range(x.size):
        if not x[i] > 0:
            return False
        y[i] = x[i]
    return True


@pytest.mark.parametrize("size", [3, 40_000])
def test_a_refusal_ends_a_run_and_nothing_else(always_shared, size):
    x, y, z, w = (np.ones(size) for _ in range(4))
    checked = instruction(positive, [y, z], refuses=True)
    run = Program([doubled(x, y, 0.0), checked, doubled(z, w, 0.0), instruction(positive, [w, z], refuses=True)])
    for turn in range(30):
        x[:], z[:], w[:] = 1.0 + turn, 0.0, 0.0
        if turn % 3:
            x[-1] = -1.0 if turn % 3 == 1 else np.nan
        assert run() == (2 if turn % 3 else 0)
        np.testing.assert_array_equal(w, np.zeros(size) if turn % 3 else 4 * x)
        if turn % 3:                    # the next run starts as if nothing had been
            x[-1] = 1.0
            assert run() == 0
    w[:] = 1.0
    assert Program([instruction(positive, [-w, z], refuses=True)])() == 1
