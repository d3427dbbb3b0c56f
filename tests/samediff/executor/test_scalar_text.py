"""Text of scalar functions: both targets write every function that they have, for the types that they know."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from dl4py.samediff.cpu.code import operators as cpu
from dl4py.samediff.cuda.code import operators as cuda
from dl4py.samediff.expressions.scalar_node import Expr


def text(target, op, *kinds, result=None):
    names = itertools.count()
    args = tuple(Expr("input", (), np.dtype(k), 0) for k in kinds)
    return target.text_of(Expr(op, args, np.dtype(result or kinds[0]), None), lambda _: "xyz"[next(names)])


@pytest.mark.parametrize(("op", "kinds", "result", "numba", "c"), [
    ("where", "?ff", "f", "select(x, y, z)", "x ? y : z"), ("logical_not", "?", "?", "not x", "!x"),
    ("less", "ff", "?", "x < y", "x < y"), ("logical_and", "??", "?", "x & y", "x && y"), ("bitwise_or", "??", "?", "x | y", "x || y"),
    ("signbit", "f", "?", "copysign(f4(1), x) < f4(0)", "copysignf(1.0f, x) < 0"),
    ("signbit", "d", "?", "copysign(f8(1), x) < f8(0)", "copysign(1.0, x) < 0"), ("signbit", "i", "?", "x < 0", "x < 0"),
    ("isnan", "i", "?", "False", "false"), ("add", "ff", "f", "x + y", "x + y"), ("maximum", "??", "?", "x | y", "x || y"),
    ("negative", "f", "f", "-x", "-x"), ("cast", "f", "?", "x != f4(0.0)", "x != 0")])
def test_text(op, kinds, result, numba, c):
    assert text(cpu, op, *kinds, result=result) == numba
    assert text(cuda, op, *kinds, result=result) == c


@pytest.mark.parametrize(("target", "error"), [(cpu, cpu.NoKernel), (cuda, cuda.NoText)])
def test_functions_without_text(target, error):
    with pytest.raises(error, match="subtract of bool"):
        text(target, "subtract", "?", "?")
