"""Masks of dropouts have the bits of NumPy's stream."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.cuda.drivers.emulator import Emulator
from dl4py.samediff.cuda.kernel_table import KERNELS
from dl4py.samediff.ir.run_context import RunContext
from dl4py.samediff.ops.nn.dropout_mask import DropoutMask
from tests.samediff.cuda.support import check_kernel, needs_compiler

pytestmark = needs_compiler
CONTEXT = RunContext(True, 2**63 + 12345, 2**40 + 7, "", 0, 3)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (8,), (9,), (31,), (33,), (5, 1025)])
def test_same_bits(shape):
    for p in (0.0, 0.3, 1.0):
        check_kernel(DropoutMask(p, "dropout/1", shape), context=CONTEXT)


def test_memory_that_is_not_aligned():
    op = DropoutMask(0.5, "dropout/1", (21,))
    memory = np.zeros(40, bool)
    Emulator(guard=True).prepare(KERNELS.kernel(op).actions(CONTEXT.words(), memory[3:24]))()
    assert memory[3:24].tolist() == op.compute(np, context=CONTEXT).tolist()
    assert not memory[24:].any()
