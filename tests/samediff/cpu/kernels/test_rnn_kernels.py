"""Compiled loops of simple and gated recurrent networks against the reference."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.cpu import threads
from dl4py.samediff.cpu.kernel_table import KERNELS
from dl4py.samediff.ops.recurrent.gru_sequence import GruSequence, GruSequenceGrad
from dl4py.samediff.ops.recurrent.lstm_sequence import LstmSequence
from dl4py.samediff.ops.recurrent.rnn_sequence import RnnSequence, RnnSequenceGrad
from tests.samediff.cpu.kernels.agreement import agree, spec

SIZES = [(1, 1, 1, 1), (4, 17, 3, 5)]           # steps, batch, inputs, units


def strided(array):
    """The same values as views that no reshape of which is free."""
    return np.ascontiguousarray(array.transpose(*range(1, array.ndim), 0)).transpose(-1, *range(array.ndim - 1))


@pytest.fixture(params=[False, True], ids=["one thread", "two threads"])
def shared(request, monkeypatch):
    monkeypatch.setattr(threads, "WORTH_PARTS", 0 if request.param else 1 << 60)
    monkeypatch.setattr(threads, "thread_count", lambda: 2)


@pytest.mark.slow
@pytest.mark.parametrize("activation", ["tanh", "sigmoid", "relu", "identity"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_simple_network(dtype, size, activation, rng, shared):
    (count, batch, inputs, units), op = size, RnnSequence(activation)

    def draw(*shape):
        return rng.normal(size=shape).astype(dtype)
    weights = draw(count, batch, inputs), draw(inputs, units), draw(units, units)
    mask = (rng.random((count, batch)) < 0.6).astype(dtype)
    for k, rest in enumerate([(draw(units), draw(batch, units), mask), (None, None, None), (draw(1, units), None, mask)]):
        given = [*weights, *rest]
        if k == 2:
            given = [None if a is None else strided(a) for a in given]
        saved = agree(op, given)
        upstream = strided(draw(count, batch, units)) if k else draw(count, batch, units)
        agree(RnnSequenceGrad(activation), [*given, *saved, upstream], "F" if k else "C")


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gated_unit(dtype, size, rng, shared):
    count, batch, inputs, units = size

    def draw(*shape):
        return rng.normal(size=shape).astype(dtype)
    given = [draw(count, batch, inputs), draw(batch, units), draw(inputs, 3 * units), draw(units, 3 * units), draw(3 * units)]
    for arrays in (given, [strided(a) for a in given]):
        saved = agree(GruSequence(), arrays)
        upstream = np.broadcast_to(draw(1, 1, units), (count, batch, units))
        agree(GruSequenceGrad(), [*arrays, *saved, upstream], "C" if arrays is given else "F")


def test_other_activations_empty_batches_and_types_are_left_to_compute():
    x, w, rw = np.zeros((2, 3, 4)), np.zeros((4, 5)), np.zeros((5, 5))
    assert KERNELS.kernel(RnnSequence("tanh"), spec(x), spec(w), spec(rw)) is not None
    assert KERNELS.kernel(RnnSequence("softsign"), spec(x), spec(w), spec(rw)) is None
    assert KERNELS.kernel(RnnSequence("tanh"), spec(x[:, :0]), spec(w), spec(rw)) is None
    assert KERNELS.kernel(RnnSequence("tanh"), *(spec(a.astype(np.float16)) for a in (x, w, rw))) is None


@pytest.mark.parametrize("executor", ["plans", "reference"])
@pytest.mark.parametrize("op, gates", [(RnnSequence(), 1), (LstmSequence(), 4), (LstmSequence(reverse=True), 4)])
def test_without_a_first_state_the_first_step_adds_nothing_to_the_recurrent_weights(op, gates, executor, rng, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    rw = sd.var("rw", rng.normal(size=(2, 2 * gates)))
    states = sd.add_op(op, [sd.constant(np.full((1, 2, 1), np.nan)), sd.constant(rng.normal(size=(1, 2 * gates))), rw])[0]
    sd.setLossVariables(states.sum())
    np.testing.assert_array_equal(sd.calculateGradients({}, "rw")["rw"], np.zeros((2, 2 * gates)))
