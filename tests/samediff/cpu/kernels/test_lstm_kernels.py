"""Kernels of whole LSTM sequences against ``compute``."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.cpu import threads
from dl4py.samediff.cpu.blas import blas
from dl4py.samediff.cpu.kernel_table import KERNELS
from dl4py.samediff.cpu.kernels.time_loops import SMALL
from dl4py.samediff.cpu.native.program import Program
from dl4py.samediff.cpu.ops.recurrent import lstm_sequence
from dl4py.samediff.ops.recurrent.lstm_sequence import LstmSequence, LstmSequenceGrad
from tests.samediff.cpu.kernels.agreement import agree, spec

#: Attributes of whole sequences.
OPTIONS = [{}, {"blocks": (2, 1, 3, 0), "clip": 0.5, "hold": True, "reverse": True, "forget_bias": 1.0}, {"clip": 0.5}, {"hold": True}]


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("has_library", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_products_with_and_without_a_library(dtype, has_library, rng, monkeypatch):
    if has_library and not blas.available():
        pytest.skip("NumPy uses another library")
    if not has_library:
        monkeypatch.setattr(lstm_sequence, "library", lambda like: 0)
    count, batch, units = 40, 33, 160
    assert count * batch * units * units * 4 > 2 * SMALL            # of each share, too
    given = [rng.normal(size=s).astype(dtype) / 8 for s in ((count, batch, 7), (7, 4 * units), (units, 4 * units))]
    op = LstmSequence()
    saved = agree(op, given)
    upstream = rng.normal(size=(count, batch, units)).astype(dtype)
    agree(LstmSequenceGrad(*op.values()), [*given, *[None] * 5, *saved, upstream, None], ignore=(4,))


def native_agrees(op, arrays, wanted, unused=()):
    """The same as instructions of a native program, where the executor runs such."""
    kernel = KERNELS.kernel(op, *map(spec, arrays))
    got = [np.full(w.shape, np.nan, w.dtype) for w in wanted]
    work = [np.full(s.shape, np.nan, s.dtype.numpy) for s in kernel.workspace]
    made = kernel.native(*arrays, *got, *work)
    assert made is not None
    for _ in range(2):                                      # instructions do not rely on what an earlier run left
        Program(made)()
    for k, (w, g) in enumerate(zip(wanted, got)):
        if k not in unused:
            np.testing.assert_allclose(g, w, rtol=0, atol=1e-9 * np.abs(w).max(), err_msg=f"output {k}")


@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 9])
def test_native_programs(batch, rng):
    count, inputs, units = 12, 3, 16
    x = rng.normal(size=(batch, inputs, count)).transpose(2, 0, 1)
    weights = np.asfortranarray(rng.normal(size=(inputs, 4 * units))), rng.normal(size=(units, 4 * units)), rng.normal(size=4 * units)
    for rest in ((None,) * 4, (rng.normal(size=(3, units)), None, rng.normal(size=(batch, units)), None)):
        op, given = LstmSequence(reverse=rest[0] is None), [x, *weights, *rest]
        saved = op.compute(np, *given)
        native_agrees(op, given, saved)
        back, arrays = LstmSequenceGrad(*op.values()), [*given, *saved, rng.normal(size=(batch, units, count)).transpose(2, 0, 1), None]
        native_agrees(back, arrays, back.compute(np, *arrays), (4,) if rest[0] is None else ())
    raised = LstmSequence(forget_bias=1.0)                  # its bias is not an array of the graph: it would be out of date
    outputs = [np.empty(s.shape, s.dtype.numpy) for s in raised.infer(*map(spec, [x, *weights]))]
    kernel = KERNELS.kernel(raised, *map(spec, [x, *weights]))
    work = [np.empty(s.shape, s.dtype.numpy) for s in kernel.workspace]
    assert kernel.native(x, *weights, *outputs, *work) is None


def test_other_activations_and_empty_batches_are_left_to_compute():
    x, w, rw = np.zeros((2, 3, 4)), np.zeros((4, 20)), np.zeros((5, 20))
    assert KERNELS.kernel(LstmSequence(gate="hardsigmoid"), spec(x), spec(w), spec(rw)) is None
    assert KERNELS.kernel(LstmSequence(), spec(x[:, :0]), spec(w), spec(rw)) is None
