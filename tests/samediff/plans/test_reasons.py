"""Why a step runs in Python: the option, type or graph that made it so, and never something that is not the case."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.ir.kernel_table import KernelTable
from dl4py.samediff.ir.op import OPS
from dl4py.samediff.plans.backend import backend_of
from dl4py.samediff.plans.way import missing_kernel, why


def reasons(sd, feeds, *outputs, training=False):
    """The reason of each step that runs in Python, by its label."""
    plan, _ = sd._planned(feeds, [o.name() for o in outputs], training)
    frame, kernels = plan.peek(), backend_of(plan.where).kernels
    return {s.label: found for i, s in enumerate(plan.steps) if (found := why(plan, frame, i, kernels))}


def graph(*shape, dtype="FLOAT"):
    sd = SameDiff.create()
    return sd, sd.placeholder("x", DataType[dtype], *shape), {"x": np.ones([2 if n == -1 else n for n in shape], DataType[dtype].numpy)}


def scanned(step):
    def made():
        sd, x, feeds = graph(4, 3)
        return sd, feeds, sd.scan(step, [x.sum(0)], [x])[0][0]
    return made


def of(shape, build, dtype="FLOAT"):
    def made():
        sd, x, feeds = graph(*shape, dtype=dtype)
        return sd, feeds, build(sd, x)
    return made


DRAWN = scanned(lambda sd, c, e: ([c[0] + e[0] * sd.random.exponential(1.0, DataType.FLOAT, 3)], []))
CASES = {
    "shapes": (of((3,), lambda sd, x: sd.add_op(OPS["matmul"](), [x, x])), "no kernel of matmul for FLOAT(3,)"),
    "random numbers of a step": (DRAWN, "random_exponential in its steps runs in Python: draws random numbers"),
    "a branch": (of((2, 3), lambda sd, x: sd.if_cond(lambda sd: x.sum() > 0, lambda sd: x, lambda sd: -x)), "runs a graph of its own"),
    "a step in Python": (scanned(lambda sd, c, e: ([c[0] + sd.math.digamma(e[0])], [])), "in its steps runs in Python: "),
}


@pytest.mark.parametrize("name", CASES)
def test_reasons(name):
    made, expected = CASES[name]
    sd, feeds, out = made()
    found = reasons(sd, feeds, out, training=True)
    assert any(expected in text for text in found.values()), found


@pytest.mark.parametrize(("alpha", "dtype", "expected"), [
    (0.5, "FLOAT", "no kernel of elu with alpha 0.5"), (1.0, "DOUBLE", "no kernel of elu for DOUBLE")])
def test_the_option_or_the_type_is_named(alpha, dtype, expected):
    table = KernelTable("toy")
    table.register(OPS["elu"])(lambda op, x: "kernel" if op.alpha == 1.0 and x.dtype is DataType.FLOAT else None)
    assert missing_kernel(OPS["elu"](alpha=alpha), [TensorSpec((2,), DataType[dtype])], table, dtype) == expected
