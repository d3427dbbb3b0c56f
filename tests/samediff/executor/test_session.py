"""Runs that compile nothing."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.errors import GraphError
from dl4py.samediff.executor import session
from dl4py.samediff.graph.gradient_check import check_gradient
from dl4py.samediff.ir.run_context import RunContext

CONTEXT = RunContext(training=False, seed=1, iteration=0)


@pytest.fixture
def no_plans(monkeypatch):
    """Whoever makes a plan fails."""
    def refuse(*_):
        raise RuntimeError("a plan is made")
    monkeypatch.setattr(session, "plan_for", refuse)
    monkeypatch.delenv("DL4PY_EXECUTOR", raising=False)


def test_values_without_a_plan(no_plans):
    sd = SameDiff.create()
    x = sd.placeholder("x", "FLOAT", -1, 2)
    (sd.math.tanh(x) * sd.constant("two", np.float32(2))).rename("y")
    a = np.array([[1, 2], [3, 4]], np.float32)
    np.testing.assert_allclose(session.run_uncompiled(sd, {"x": a}, ["y"], CONTEXT)["y"], 2 * np.tanh(a), 1e-6)
    with pytest.raises(RuntimeError, match="a plan is made"):
        session.run(sd, {"x": a}, ["y"], CONTEXT)
    with pytest.raises(GraphError, match="no value for placeholder 'x'"):
        session.run_uncompiled(sd, {}, ["y"], CONTEXT)


def test_differences_need_no_plan_and_derivatives_one(no_plans):
    def build(sd, v):
        return sd.math.tanh(v[0])
    x = [np.array([0.3, -0.7])]
    assert check_gradient(build, x, 1, 1e-6, compiled=False) == "relative error below 1e-06"
    with pytest.raises(RuntimeError, match="a plan is made"):
        check_gradient(build, x, 1, 1e-6)
