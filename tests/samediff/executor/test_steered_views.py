"""Views, and other ops whose results have shapes that arrays say, when these arrays are constant, computed, fed or stored."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.cpu.code import frame
from dl4py.samediff.executor.plan_cache import plan_for
from dl4py.samediff.executor.session import request_for
from dl4py.samediff.ir.op import OPS
from tests.helpers.randomgraphs import agree
from tests.helpers.randomviews import RandomViews

#: Sizes, and what the arrays that steer hold: the same plan with other values, another plan, the first one again.
RUNS = ((3, 5, 0), (3, 5, 1), (1, 2, 2), (2, 1, 3), (3, 5, 4))


class Dirty:
    """NumPy, but memory that nobody has written holds large numbers."""

    def __getattr__(self, name):
        return getattr(np, name)

    def empty(self, shape, dtype=float):
        made = np.empty(shape, dtype)
        made.view(np.uint8).fill(0x5A) if made.ndim else made.reshape(1).view(np.uint8).fill(0x5A)
        return made


@pytest.fixture(autouse=True)
def dirty(monkeypatch):
    """What a run has not computed yet cannot be right by chance."""
    monkeypatch.setattr(frame, "np", Dirty())


@pytest.mark.sampled(48)
@pytest.mark.parametrize("seed", range(30))
def test_random_views(seed):
    graph = RandomViews(seed)
    names = graph.names()
    for a, b, values in RUNS:
        agree(graph.sd, graph.feeds(a, b, values), *names)


def test_sizes_are_known_when_a_plan_is_made():
    """Arithmetic of sizes costs nothing in a run, and what it steers is a view."""
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.DOUBLE, -1, -1, 4)
    half = sd.shape(x)[2] / sd.constant(np.int64(2))
    heads = x.reshape(sd.stack(0, sd.size_at(x, 0), sd.size_at(x, 1), half, sd.constant(np.int64(2)))).permute(0, 2, 1, 3)
    y = (heads * heads).rename("y")
    feeds = {"x": np.arange(60.0).reshape(3, 5, 4)}
    plan = plan_for(sd, feeds, request_for(sd, ("y",), False))
    assert y.name() == "y" and sorted({s.kind.value for s in plan.steps}) == ["fused", "view"]
    agree(sd, feeds, "y")


@pytest.mark.parametrize("build", [
    lambda sd, x, numbers: sd.add_op(OPS["broadcast_to"](), [x, numbers]), lambda sd, x, numbers: sd.math.sum(x, numbers, False),
    lambda sd, x, numbers: sd.fill(numbers, DataType.DOUBLE, 1.5)])
def test_numbers_may_lie_in_any_shape(build):
    sd = SameDiff.create()
    x, numbers = sd.placeholder("x", DataType.DOUBLE, -1, -1), sd.placeholder("numbers", DataType.INT, 1, 2)
    build(sd, x, numbers).rename("y")
    for values in ([[0, 1]], [[1, 0]]) if sd.producer("y").op.id == "reduce_sum" else ([[3, 4]], [[3, 4]]):
        agree(sd, {"x": np.arange(4.0).reshape(1, 4), "numbers": np.array(values, np.int32)}, "y")
