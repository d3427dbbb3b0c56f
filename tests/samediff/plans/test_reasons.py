"""Why a step runs in Python: the option, type or graph that made it so, and never something that is not the case."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.ir.op import OPS
from dl4py.samediff.plans.backend import backend_of
from dl4py.samediff.plans.way import why


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


DRAWN = scanned(lambda sd, c, e: ([sd.nn.dropout(c[0] + e[0], 0.5)], []))
CASES = {
    "an option": (of((2, 3), lambda sd, x: sd.add_op(OPS["last_index"](dimensions=(1,)), [x])), "last_index has no kernel"),
    "random numbers of a step": (DRAWN, "dropout in its steps draws random numbers"),
    "a branch": (of((2, 3), lambda sd, x: sd.if_cond(lambda sd: x.sum() > 0, lambda sd: x, lambda sd: -x)), "runs a graph of its own"),
    "a step in Python": (scanned(lambda sd, c, e: ([c[0] + sd.math.cumsum(e[0], 0)], [])), "in its steps runs in Python: "),
    "no elements": (of((0, 3), lambda sd, x: sd.cnn.upsampling2d(x.reshape(0, 1, 1, 3), 2)), "an array has no elements"),
    "sizes": (of((2, 3), lambda sd, x: sd.unique(x.reshape(-1))[0]), "sizes that only a run can tell"),
}


@pytest.mark.parametrize("name", CASES)
def test_reasons(name):
    made, expected = CASES[name]
    sd, feeds, out = made()
    found = reasons(sd, feeds, out, training=True)
    assert any(expected in text for text in found.values()), found
