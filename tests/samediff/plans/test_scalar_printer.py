"""Scalar expressions as text, by the printers of both back ends."""
from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dl4py.samediff.cpu.library import operators as cpu
from dl4py.samediff.cuda.code import operators as cuda
from dl4py.samediff.expressions import expression as ex
from dl4py.samediff.expressions.scalar_node import Expr

PRINTERS = {"cpu": cpu.PRINTER, "cuda": cuda.PRINTER}
#: What the texts of Numba's language mean.
SCOPE = {**{n: d.type for d, n in cpu.TYPE_NAMES.items()}, "inf": math.inf, "nan": math.nan, "select": lambda c, a, b: a if c else b,
         "vmax": np.maximum}

#: The value that does not change a reduction.
NEUTRAL = {
    "sum": lambda d: 0, "mean": lambda d: 0, "prod": lambda d: 1,
    "max": lambda d: -math.inf if d.kind == "f" else np.iinfo(d).min,
    "min": lambda d: math.inf if d.kind == "f" else np.iinfo(d).max}

both = pytest.mark.parametrize("printer", PRINTERS.values(), ids=PRINTERS)


@both
def test_values_come_in_order_and_each_names_those_before(printer):
    x, y = (ex.input_(k, "float32") for k in range(2))
    total = ex.apply("add", x, y)
    order = ex.nodes([ex.apply("multiply", total, ex.constant(2.0, "float32"))])
    names = {e: f"v{k}" for k, e in enumerate(order)}
    found = dict(printer.values(order, names))
    assert [e.op for e in found] == ["add", "multiply"]
    assert names[total] in found[order[-1]] and printer.literal(2.0, np.dtype("f4")) in found[order[-1]]


@both
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int32", "uint8"])
@pytest.mark.parametrize("combine", ["sum", "mean", "prod", "max", "min"])
def test_what_does_not_change_a_reduction(printer, combine, dtype):
    text = printer.identity(combine, np.dtype(dtype))
    assert text == printer.literal(NEUTRAL[combine](np.dtype(dtype)), np.dtype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "int32"])
@pytest.mark.parametrize("op", ["add", "multiply", "less", "negative", "maximum", "where"])
def test_texts_of_the_cpu_mean_what_the_functions_do(op, dtype):
    x, y = np.dtype(dtype).type(-3), np.dtype(dtype).type(2)
    a, b = (ex.input_(k, dtype) for k in range(2))
    e = ex.where(ex.apply("less", a, b), a, b) if op == "where" else ex.apply(op, *(a, b)[:1 if op == "negative" else 2])
    order = ex.nodes([e])
    values = {"x0": x, "x1": y}
    names = {n: f"x{n.value}" if n.op == "input" else f"t{k}" for k, n in enumerate(order)}
    for n, text in PRINTERS["cpu"].values(order, names):
        values[names[n]] = eval(text, SCOPE, values)
    assert values[names[e]] == ex.evaluate([e], np, [np.array(x), np.array(y)])[0]


def text(printer, op, *kinds, result=None):
    names = itertools.count()
    args = tuple(Expr("input", (), np.dtype(k), 0) for k in kinds)
    return printer.text_of(Expr(op, args, np.dtype(result or kinds[0]), None), lambda _: "xyz"[next(names)])


@pytest.mark.parametrize(("op", "kinds", "result", "numba", "c"), [
    ("where", "?ff", "f", "select(x, y, z)", "x ? y : z"), ("logical_not", "?", "?", "not x", "!x"),
    ("less", "ff", "?", "x < y", "x < y"), ("logical_and", "??", "?", "x & y", "x && y"), ("bitwise_or", "??", "?", "x | y", "x || y"),
    ("signbit", "f", "?", "copysign(f4(1), x) < f4(0)", "copysignf(1.0f, x) < 0"),
    ("signbit", "d", "?", "copysign(f8(1), x) < f8(0)", "copysign(1.0, x) < 0"), ("signbit", "i", "?", "x < 0", "x < 0"),
    ("isnan", "i", "?", "False", "false"), ("add", "ff", "f", "x + y", "x + y"), ("maximum", "??", "?", "x | y", "x || y"),
    ("negative", "f", "f", "-x", "-x"), ("cast", "f", "?", "x != f4(0.0)", "x != 0")])
def test_text(op, kinds, result, numba, c):
    assert text(cpu.PRINTER, op, *kinds, result=result) == numba
    assert text(cuda.PRINTER, op, *kinds, result=result) == c


@both
def test_a_function_without_a_text_is_refused(printer):
    with pytest.raises(printer.missing, match="subtract of bool"):
        text(printer, "subtract", "?", "?")
