"""Kernels of whole LSTM sequences against ``compute``."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.executor.cpu import blas, recurrent, threads
from dl4py.samediff.executor.cpu.kernels.series import SMALL
from dl4py.samediff.ops.lstm_sequence import LstmSequence, LstmSequenceGrad

from .agreement import agree, spec

#: Attributes of whole sequences.
OPTIONS = [{}, {"blocks": (2, 1, 3, 0), "clip": 0.5, "hold": True, "reverse": True, "forget_bias": 1.0}, {"clip": 0.5}, {"hold": True}]


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "+".join(o) or "plain")
@pytest.mark.parametrize("size", [(1, 1, 1, 1), (4, 17, 3, 5)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_whole_sequences(dtype, size, options, parts, rng, monkeypatch):
    monkeypatch.setattr(threads, "WORTH_PARTS", 0 if parts == 2 else 1 << 60)
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


@pytest.mark.parametrize("has_library", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_products_with_and_without_a_library(dtype, has_library, rng, monkeypatch):
    if has_library and not blas.available():
        pytest.skip("NumPy uses another library")
    if not has_library:
        monkeypatch.setattr(recurrent, "library", lambda like: 0)
    count, batch, units = 40, 33, 100
    assert count * batch * units * units * 4 > SMALL
    given = [rng.normal(size=s).astype(dtype) / 8 for s in ((count, batch, 7), (7, 4 * units), (units, 4 * units))]
    op = LstmSequence()
    saved = agree(op, given)
    upstream = rng.normal(size=(count, batch, units)).astype(dtype)
    agree(LstmSequenceGrad(*op.values()), [*given, *[None] * 5, *saved, upstream, None], ignore=(4,))


def test_other_activations_and_empty_batches_are_left_to_compute():
    x, w, rw = np.zeros((2, 3, 4)), np.zeros((4, 20)), np.zeros((5, 20))
    assert LstmSequence(gate="hardsigmoid").cpu(spec(x), spec(w), spec(rw)) is None
    assert LstmSequence().cpu(spec(x[:, :0]), spec(w), spec(rw)) is None
