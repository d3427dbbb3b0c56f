"""LSTM gate kernels against NumPy and finite differences."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.executor.cpu import blas, threads
from dl4py.samediff.executor.cpu.kernels.lstm import lstm_gates, lstm_gates_backward
from dl4py.samediff.ops.lstm_sequence import LstmSequence, LstmSequenceGrad

from .agreement import agree, spec


def reference(z, b, c0, order):
    units = c0.shape[1]
    a, f, o, g = (z[:, k * units : (k + 1) * units] + b[k * units : (k + 1) * units] for k in order)
    a, f, o, g = np.tanh(a), 1 / (1 + np.exp(-f)), 1 / (1 + np.exp(-o)), 1 / (1 + np.exp(-g))
    c = f * c0 + g * a
    return o * np.tanh(c), c


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 2, 0)])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (4, 5)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gates_forward_and_backward(dtype, shape, order, rng):
    batch, units = shape
    z, b = rng.normal(size=(batch, 4 * units)).astype(dtype), rng.normal(size=4 * units).astype(dtype)
    c0, dh, dc = (rng.normal(size=shape).astype(dtype) for _ in range(3))
    c1, tanh_c, h = (np.empty(shape, dtype) for _ in range(3))
    active = z.copy()
    lstm_gates(active, b, c0, c1, tanh_c, h, *order)
    want_h, want_c = reference(z.astype(float), b.astype(float), c0.astype(float), order)
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if dtype == np.float32 else {"rtol": 1e-6, "atol": 1e-7}
    np.testing.assert_allclose(h, want_h, **tolerance)
    np.testing.assert_allclose(c1, want_c, **tolerance)

    def value(z, c0):
        out, cell = reference(z, b.astype(float), c0, order)
        return (out * dh + cell * dc).sum()

    def slope(f, x, step=1e-6):
        x, found = x.astype(float), np.empty(x.shape)
        for k in np.ndindex(x.shape):
            kept = x[k]
            x[k] = kept + step
            up = f(x)
            x[k] = kept - step
            found[k] = (up - f(x)) / (2 * step)
            x[k] = kept
        return found
    dz_want, dc_want = slope(lambda v: value(v, c0.astype(float)), z), slope(lambda v: value(z.astype(float), v), c0)
    carried = dc.copy()
    lstm_gates_backward(active, c0, tanh_c, dh, carried, active, *order)
    np.testing.assert_allclose(active, dz_want, **tolerance)
    np.testing.assert_allclose(carried, dc_want, **tolerance)


#: Attributes of whole sequences.
OPTIONS = [{}, {"blocks": (2, 1, 3, 0), "clip": 0.5, "hold": True, "reverse": True, "forget_bias": 1.0}, {"clip": 0.5}, {"hold": True}]


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "+".join(o) or "plain")
@pytest.mark.parametrize("size", [(1, 1, 1, 1), (4, 17, 3, 5)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_whole_sequences(dtype, size, options, parts, rng, monkeypatch):
    monkeypatch.setattr(threads, "WORTH_WAKING", 0 if parts == 2 else 1 << 60)
    monkeypatch.setattr(threads, "thread_count", lambda: 2)
    (count, batch, inputs, units), op = size, LstmSequence(**options)

    def draw(*shape):
        return rng.normal(size=shape).astype(dtype)
    weights = draw(count, batch, inputs), draw(inputs, 4 * units), draw(units, 4 * units)
    mask, state = (rng.random((count, batch)) < 0.6).astype(dtype), (draw(batch, units), draw(batch, units))
    peephole = draw(3, units)
    for rest in [(None,) * 5, (draw(4 * units), peephole, *state, mask), (draw(1, 4 * units), None, None, state[1], mask),
                 (None, peephole, state[0], None, None)]:
        for lay in (np.ascontiguousarray, np.asfortranarray):
            given = [None if a is None else lay(a) for a in (*weights, *rest)]
            saved = agree(op, given)
            upstream = draw(batch, units, count).transpose(2, 0, 1), np.broadcast_to(draw(1, 1, units), (count, batch, units))
            unused = (4,) if rest[1] is None else ()                    # there is no gradient of peepholes that are left out
            agree(LstmSequenceGrad(*op.values()), [*given, *saved, *upstream], "C" if lay is np.ascontiguousarray else "F", unused)


def test_without_a_library_to_call_steps_are_compiled(rng, monkeypatch):
    monkeypatch.setattr(blas, "available", lambda: False)
    given = [rng.normal(size=s) for s in ((3, 2, 4), (4, 12), (3, 12))]
    op = LstmSequence()
    saved = agree(op, given)
    agree(LstmSequenceGrad(*op.values()), [*given, *[None] * 5, *saved, *rng.normal(size=(2, 3, 2, 3))], ignore=(4,))
    assert LstmSequence(clip=1.0).cpu(*map(spec, given)) is None


def test_other_activations_and_empty_batches_are_left_to_compute():
    x, w, rw = np.zeros((2, 3, 4)), np.zeros((4, 20)), np.zeros((5, 20))
    assert LstmSequence(gate="hardsigmoid").cpu(spec(x), spec(w), spec(rw)) is None
    assert LstmSequence().cpu(spec(x[:, :0]), spec(w), spec(rw)) is None
