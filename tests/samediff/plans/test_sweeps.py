"""The formulas of sweeps as expressions, against NumPy."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.errors import GraphError
from dl4py.samediff.expressions import expression as ex
from dl4py.samediff.expressions.tracing import trace_by_name
from dl4py.samediff.ir.op import OPS
from dl4py.samediff.plans.sweeps.spec import Stage, Sweep
from dl4py.samediff.plans.sweeps.table import NORMALIZATIONS, REDUCTIONS
from dl4py.samediff.plans.sweeps.traced import reads, traced

F8 = np.dtype(np.float64)
COMBINED = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}


def run(sweep, *arrays):
    """The definition of a sweep over the rows of arrays, fold after fold; ``first`` is near everywhere."""
    formulas = traced(sweep, (F8,) * len(arrays))
    x, (_, length) = arrays[0], arrays[0].shape
    values = {f"x{k}": a for k, a in enumerate(arrays)}
    values |= {"first": x[:, :1], "n": np.float64(length), "count": np.int64(length), "j": np.arange(length)[None]}
    for k, fold in enumerate(formulas.folds):
        terms = np.broadcast_to(ex.evaluate([fold.term], np, values)[0], x.shape)
        if fold.keep:
            values["kept"] = terms
        values["t"] = COMBINED[fold.combine](terms.astype(np.int64) if fold.counting else terms, axis=1, keepdims=True)
        values[f"r{k}"] = ex.evaluate([fold.result], np, values)[0]
    return ex.evaluate(formulas.results if formulas.epilogue is None else [formulas.epilogue], np, values)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, rng):
    x = rng.random((3, 5)) * 0.4 + 0.1
    if name in ("all", "any", "countZero", "countNonZero", "zero_fraction"):
        x = (x > 0.3) * x
    op = OPS[name.removeprefix("sample_")]
    op = op() if name == "zero_fraction" else op(dimensions=(1,), **({"bias_corrected": True} if name.startswith("sample_") else {}))
    rows = [op.compute(np, row[None] if name != "zero_fraction" else row) for row in x]
    for got, *want in zip(run(REDUCTIONS[name], x), *[r if isinstance(r, tuple) else (r,) for r in rows]):
        np.testing.assert_allclose(np.broadcast_to(got, (3, 1)).ravel(), np.array(want, float).ravel(), rtol=1e-12)


def test_softmax(rng):
    x, g = rng.normal(size=(2, 3, 5))
    weights = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    backward = weights * (g - (weights * g).sum(1, keepdims=True))
    for name, given, want in [("softmax", [x], weights), ("log_softmax", [x], np.log(weights)), ("softmax_bp", [x, g], backward),
                              ("softmax_backward", [weights, g], backward),
                              ("log_softmax_backward", [np.log(weights), g], g - weights * g.sum(1, keepdims=True))]:
        np.testing.assert_allclose(run(NORMALIZATIONS[name], *given)[0], want, rtol=1e-9, atol=1e-12)


def test_a_formula_names_what_it_reads():
    sweep = Sweep((Stage(lambda x0, x2: x0 - x2),), epilogue=lambda xp, r0, x0: xp.where(r0 > 0, x0, 0))
    formulas = traced(sweep, (F8,) * sweep.inputs)
    assert sweep.inputs == 3
    assert reads(formulas.folds[0].term) == {"x0", "x2"} and reads(formulas.epilogue, None) == {"r0", "x0"}


def test_unknown_names_and_code_that_cannot_be_traced_are_refused():
    with pytest.raises(KeyError, match="kep"):
        trace_by_name(lambda kep: kep, {"kept": F8})
    with pytest.raises(GraphError, match="where"):
        trace_by_name(lambda t: 0 if t == 0 else 1, {"t": F8})
