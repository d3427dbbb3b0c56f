"""Ops without a kernel: their array code as nodes, where these run without Python; else the code itself."""
from __future__ import annotations

import os
from unittest import mock

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.ir.op import OPS, Op, op


class Same(Op):
    def infer(self, *specs):
        return TensorSpec(specs[0].shape, specs[0].dtype)


CODE = {
    "loops and reductions": (lambda self, xp, x: x / xp.sqrt((x * x).sum(axis=-1, keepdims=True)), True),
    "over no axes": (lambda self, xp, x: x.sum(axis=(), keepdims=True), True),
    "an axis by value": (lambda self, xp, x: xp.concatenate([x[:, 1:], x[:, :1]], axis=1), True),
    "itself": (lambda self, xp, x: x if x.shape[0] == 1 else xp.node("inline_case", [x]) * 1 if hasattr(xp, "node") else x + 0, False),
    "values": (lambda self, xp, x: x * (2 if float(x.sum()) > 0 else 3), False),
    "another type": (lambda self, xp, x: x.astype(np.float64) * 2, False),
    "a function without a node": (lambda self, xp, x: xp.sort(x, axis=0), False),
    "for NumPy's arrays alone": (lambda self, xp, x: x + 1 if isinstance(x, np.ndarray) else x.nothing, False),
}


@pytest.mark.parametrize("name", CODE)
def test_array_code(name, rng):
    code, native = CODE[name]
    cls = op("inline_case", inputs="x")(type("InlineCase", (Same,), {"compute": code}))
    try:
        sd = SameDiff.create()
        out = sd.add_op(cls(), [sd.placeholder("x", DataType.FLOAT, -1, 4)])
        feeds = {"x": rng.random((3, 4), np.float32)}
        found = out.eval(feeds)
        with mock.patch.dict(os.environ, {"DL4PY_EXECUTOR": "reference"}):
            expected = out.eval(feeds)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        assert ("steps called from Python: 0" in sd.explain(feeds, out.name())) == native
    finally:
        OPS.remove("inline_case")


def test_constants_that_steer_are_values():
    """Whole numbers that are known make nodes of code that asks for them; what only a run knows does not."""
    x = np.arange(12, dtype=np.float32).reshape(3, 4)

    def code(self, xp, x, axis):
        return x.sum(axis=int(axis), keepdims=True) + x * 0
    cls = op("inline_case", inputs="x axis")(type("InlineCase", (Same,), {"compute": code}))
    try:
        for axis in (0, 1):
            sd = SameDiff.create()
            v = sd.placeholder("x", DataType.FLOAT, 3, 4)
            fixed, given = sd.add_op(cls(), [v, sd.constant("axis", np.array(axis))]), sd.placeholder("given", DataType.LONG)
            free, feeds = sd.add_op(cls(), [v, given]), {"x": x, "given": np.array(axis)}
            for out, native in ((fixed, True), (free, False)):
                np.testing.assert_array_equal(out.eval(feeds), x.sum(axis, keepdims=True) + 0 * x)
                assert ("steps called from Python: 0" in sd.explain(feeds, out.name())) == native
    finally:
        OPS.remove("inline_case")
