"""Short rows are transposed where that pays, and give what long ones do."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.cpu.sweeps.specialization import is_short
from dl4py.samediff.cpu.sweeps.sweep import swept
from dl4py.samediff.ops.nn.softmax import softmax
from dl4py.samediff.plans.sweeps.table import NORMALIZATIONS


@pytest.mark.parametrize(("passes", "arrays", "longest"), [(3, 2, 31), (2, 1, 31), (1, 1, 16), (2, 3, 12)])
def test_many_passes_pay_for_the_copies(passes, arrays, longest):
    assert is_short(longest, passes, arrays) and not is_short(longest + 1, passes, arrays)


def backward(x, g):
    return x * (g - (x * g).sum(-1, keepdims=True))


@pytest.mark.parametrize("length", [1, 12, 13, 20, 31, 32])
@pytest.mark.parametrize(("name", "expected"), [("softmax", lambda x: softmax(np, x, -1)), ("softmax_backward", backward)])
def test_values(name, expected, length, rng):
    given = [rng.normal(size=(70, length)) for _ in range(1 + (name == "softmax_backward"))]
    out = np.empty((70, length))
    swept(NORMALIZATIONS[name], (1,), [TensorSpec((70, length), DataType.DOUBLE)] * len(given)).call(*given, out)
    np.testing.assert_allclose(out, expected(*given), rtol=1e-12, atol=1e-14)
