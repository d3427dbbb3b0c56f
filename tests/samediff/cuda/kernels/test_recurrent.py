"""Gated and simple recurrent networks on a device."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.cuda.kernel_table import KERNELS
from dl4py.samediff.cuda.routines import recurrent_gradients
from dl4py.samediff.ops.recurrent.gru_sequence import GruSequence, GruSequenceGrad
from dl4py.samediff.ops.recurrent.rnn_sequence import RnnSequence, RnnSequenceGrad
from tests.samediff.cuda.support import check_kernel, needs_compiler

pytestmark = needs_compiler
random = np.random.default_rng(0)


@pytest.fixture(params=["launch", "steps", "rows"])
def way(request, monkeypatch):
    """All steps in a launch, a launch for each step, or blocks that take several rows."""
    monkeypatch.setattr(recurrent_gradients, "KEPT", 0 if request.param == "steps" else 96)
    monkeypatch.setattr(recurrent_gradients, "MANY", 2 if request.param == "rows" else 512)
    return request.param


def numbers(*shape, dtype=np.float32):
    return (0.5 * random.normal(size=shape)).astype(dtype)


def check_gru(steps, batch, size, units, dtype=np.float32, tolerance=3e-5):
    shapes = (steps, batch, size), (batch, units), (size, 3 * units), (units, 3 * units), (3 * units,)
    given = [numbers(*shape, dtype=dtype) for shape in shapes]
    check_kernel(GruSequence(), *given, tolerance=tolerance)
    saved = [np.asarray(a) for a in GruSequence().compute(np, *given)]
    check_kernel(GruSequenceGrad(), *given, *saved, numbers(steps, batch, units, dtype=dtype), tolerance=tolerance)


def check_rnn(sizes, activation="tanh", bias=True, state=False, mask=None, dtype=np.float32, tolerance=3e-5):
    steps, batch, size, units = sizes
    given = [numbers(steps, batch, size, dtype=dtype), numbers(size, units, dtype=dtype), numbers(units, units, dtype=dtype),
             numbers(units, dtype=dtype) if bias else None, numbers(batch, units, dtype=dtype) if state else None,
             (random.random((steps, batch)) > 0.3).astype(mask) if mask else None]
    check_kernel(RnnSequence(activation), *given, tolerance=tolerance)
    saved = [np.asarray(a) for a in RnnSequence(activation).compute(np, *given)]
    check_kernel(RnnSequenceGrad(activation), *given, *saved, numbers(steps, batch, units, dtype=dtype), tolerance=tolerance)


@pytest.mark.sampled(3)
def test_gru(way):
    check_gru(4, 3, 2, 5)
    check_gru(1, 1, 1, 1)
    check_gru(3, 5, 4, 33)
    check_gru(100, 4, 2, 5, tolerance=1e-4)
    check_gru(3, 2, 4, 5, np.float64, 1e-11)
    check_gru(3, 2, 4, 5, np.float16, 2e-2)


@pytest.mark.slow
@pytest.mark.sampled(3)
def test_rnn(way):
    check_rnn((4, 3, 2, 5))
    check_rnn((1, 1, 1, 1), bias=False)
    check_rnn((3, 5, 4, 33), state=True, mask=np.bool_)
    check_rnn((4, 3, 2, 5), "relu", state=True, mask=np.float32)
    check_rnn((4, 3, 2, 5), "sigmoid", bias=False)
    check_rnn((4, 6, 2, 5), "identity", state=True)
    check_rnn((4, 3, 2, 5), state=True, dtype=np.float64, tolerance=1e-11)
    check_rnn((3, 2, 4, 5), dtype=np.float16, tolerance=2e-2)


@pytest.mark.sampled(2)
def test_other_activations(way):
    check_rnn((4, 3, 2, 5), "softsign", state=True)


def test_what_has_no_kernel():
    shapes = (3, 2, 3), (3, 4), (4, 4), (4,)
    given = [TensorSpec(shape, DataType.FLOAT) for shape in shapes]
    assert KERNELS.kernel(RnnSequence(), *given) is not None
    assert KERNELS.kernel(RnnSequence(), given[0].with_shape((-1, 2, 3)), *given[1:]) is None
    assert KERNELS.kernel(RnnSequence(), *given[:3], given[3].with_dtype(DataType.DOUBLE)) is None
