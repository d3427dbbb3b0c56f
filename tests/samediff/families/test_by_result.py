"""Derivatives from results: they spare an input, and are the same numbers."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType
from dl4py.samediff.families.by_result import by_result
from dl4py.samediff.families.elementwise import PartialDerivative
from dl4py.samediff.ir.op import OPS

X, Y, UP = np.array([0.3, 1.7, 2.0]), np.array([0.5, 2.5, -1.0]), np.array([1.0, -2.0, 0.5])


@pytest.mark.parametrize(("name", "wrt", "left"), [("tanh", 0, ()), ("exp", 0, ()), ("divide", 1, (1,))])
def test_from_results(name, wrt, left):
    given = [X, Y][:1 + (name == "divide")]
    op = OPS[name]()
    partial = PartialDerivative(op, wrt)
    made = by_result(partial, [DataType.DOUBLE] * len(given), DataType.DOUBLE)
    assert made.read == left
    result = op.compute(np, *given)
    np.testing.assert_allclose(made.compute(np, *(given[k] for k in left), result, UP), partial.compute(np, *given, UP), rtol=1e-12)


@pytest.mark.parametrize("name", ["sin", "swish", "relu", "square", "sqrt"])
def test_nothing_is_spared(name):
    assert by_result(PartialDerivative(OPS[name](), 0), [DataType.FLOAT], DataType.FLOAT) is None


def test_results_that_were_rounded():
    assert by_result(PartialDerivative(OPS["tanh"](), 0), [DataType.FLOAT], DataType.HALF) is None
