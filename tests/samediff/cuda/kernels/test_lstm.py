"""The LSTM on a device: all steps in one launch, or each in its own."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.base.spec import spec_of
from dl4py.samediff.cuda.drivers.emulator import Emulator
from dl4py.samediff.cuda.kernel_table import KERNELS
from dl4py.samediff.cuda.routines import recurrent_gradients
from dl4py.samediff.ops.recurrent.lstm_sequence import LstmSequence, LstmSequenceGrad
from dl4py.samediff.plans.actions import KernelLaunch
from tests.samediff.cuda.support import check_kernel, needs_compiler

pytestmark = needs_compiler
random = np.random.default_rng(0)


@pytest.fixture(params=["launch", "steps", "rows"])
def way(request, monkeypatch):
    """All steps in a launch, a launch for each step, or blocks that take several rows."""
    monkeypatch.setattr(recurrent_gradients, "KEPT", 0 if request.param == "steps" else 96)
    monkeypatch.setattr(recurrent_gradients, "MANY", 3 if request.param == "rows" else 512)
    return request.param


def numbers(*shape, dtype=np.float32):
    return (0.5 * random.normal(size=shape)).astype(dtype)


def inputs(sizes, dtype, bias, peephole, states, mask):
    steps, batch, size, units = sizes
    return [numbers(steps, batch, size, dtype=dtype), numbers(size, 4 * units, dtype=dtype), numbers(units, 4 * units, dtype=dtype),
            numbers(4 * units, dtype=dtype) if bias else None, numbers(3, units, dtype=dtype) if peephole else None,
            numbers(batch, units, dtype=dtype) if states else None, numbers(batch, units, dtype=dtype) if states else None,
            (random.random((steps, batch)) > 0.3).astype(mask) if mask else None]


def check(sizes, dtype=np.float32, bias=True, peephole=False, states=False, mask=None, with_cells=True, tolerance=3e-5, **attributes):
    given = inputs(sizes, dtype, bias, peephole, states, mask)
    op, (steps, batch, _, units) = LstmSequence(**attributes), sizes
    check_kernel(op, *given, tolerance=tolerance)
    saved = [np.asarray(a) for a in op.compute(np, *given)]
    upstream = [numbers(steps, batch, units, dtype=dtype) for _ in range(2)]
    check_kernel(LstmSequenceGrad(**attributes), *given, *saved, upstream[0], upstream[1] if with_cells else None, tolerance=tolerance)


@pytest.mark.sampled(2)
def test_sizes(way):
    check((3, 2, 3, 5))
    check((1, 1, 1, 1), bias=False)
    check((3, 6, 3, 33), states=True)
    check((1, 2, 3, 4), reverse=True, peephole=True)


@pytest.mark.sampled(4)
def test_options(way):
    check((4, 3, 2, 6), peephole=True, states=True, mask=np.float32, clip=0.3, forget_bias=1.0, blocks=(2, 0, 3, 1))
    check((4, 3, 2, 6), states=True, mask=np.bool_, hold=True, reverse=True, with_cells=False)
    check((5, 4, 3, 4), peephole=True, reverse=True, states=True)
    check((5, 2, 3, 4), peephole=True, mask=np.float64)


@pytest.mark.sampled(2)
def test_other_activations(way):
    other = {"activation": "softsign", "gate": "hardsigmoid", "output": "relu"}
    check((4, 3, 2, 6), peephole=True, states=True, mask=np.float32, clip=0.3, forget_bias=1.0, blocks=(2, 0, 3, 1), **other)
    check((4, 3, 2, 6), states=True, mask=np.bool_, hold=True, reverse=True, with_cells=False, **other)
    check((1, 3, 2, 6), bias=False, **other)


@pytest.mark.sampled(2)
def test_types(way):
    check((3, 2, 3, 5), np.float64, peephole=True, states=True, hold=True, mask=np.float64, clip=0.2, tolerance=1e-11)
    check((3, 2, 3, 5), np.float16, peephole=True, states=True, tolerance=2e-2)


@pytest.mark.sampled(2)
def test_sums_over_many_rows(way):
    check((150, 6, 2, 3), peephole=True, tolerance=1e-4)


def test_inputs_that_are_left_out_at_the_end(way):
    check_kernel(LstmSequence(), *inputs((3, 2, 3, 5), np.float32, True, False, False, None)[:4], tolerance=3e-5)


@pytest.mark.parametrize("sizes", [(0, 2, 3, 4), (2, 0, 3, 4), (2, 1, 3, 0)])
def test_nothing_to_do(sizes):
    given, (steps, batch, _, units) = inputs(sizes, np.float32, True, True, True, None), sizes
    saved = [np.zeros((steps, batch, n), np.float32) for n in (units, units, 4 * units, units)]
    every = [*given, *saved, saved[0], saved[0]]
    specs = [None if a is None else spec_of(a) for a in every]
    kernel, op = KERNELS.kernel(LstmSequenceGrad(), *specs), LstmSequenceGrad()
    outs = [np.full(s.shape, 7, np.float32) for s in op.infer(*specs)]
    Emulator(guard=True).prepare(kernel.actions(*every, *outs, *(np.empty(s.shape, np.float32) for s in kernel.workspace)))()
    assert not any(o.any() for o in outs)


def test_few_units_take_one_launch():
    for units, launches in ((4, 1), (100, 3)):
        given = inputs((3, 2, 3, units), np.float32, True, False, False, None)
        outs = [np.zeros((3, 2, n), np.float32) for n in (units, units, 4 * units, units)]
        made = KERNELS.kernel(LstmSequence(), *(None if a is None else spec_of(a) for a in given)).actions(*given, *outs)
        assert sum(isinstance(action, KernelLaunch) for action in made) == launches
