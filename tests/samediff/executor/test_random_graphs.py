"""Plans compute what the reference executor computes, on random graphs."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType
from tests.helpers.randomgraphs import RandomGraph, agree, reference, same


@pytest.mark.sampled(21)
@pytest.mark.parametrize("seed", range(20))
def test_every_value_of_a_random_graph(seed):
    graph = RandomGraph(seed)
    chosen = [n for n in graph.names() if graph.rng.random() < 0.4] or graph.names()[-1:]
    for batch in (7, 1, 2):
        agree(graph.sd, graph.feeds(batch), *chosen)


@pytest.mark.sampled(32)
@pytest.mark.parametrize("seed", range(100, 106))
@pytest.mark.parametrize("dtype", [DataType.DOUBLE, DataType.HALF, DataType.INT, DataType.LONG, DataType.INT8])
def test_types(seed, dtype):
    graph = RandomGraph(seed, 8, dtype)
    agree(graph.sd, graph.feeds(2), *graph.names()[-3:])


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(200, 206))
def test_gradients(seed):
    graph = RandomGraph(seed, 10)
    last = [v for v in graph.pool[9:] if v.dtype.is_floating and 0 not in v.get_shape()][-3:]
    total = sum(graph.sd.math.tanh(v).sum() for v in last)
    found = graph.sd.gradients(total, graph.pool[2:6])
    names = [g.name() for g in found if g is not None]
    if names:
        agree(graph.sd, graph.feeds(3), *names, total.name())


def test_layouts_of_inputs():
    """Placeholders take any memory layout and values are never changed."""
    graph = RandomGraph(1)
    feeds = graph.feeds(6)
    wanted = reference(graph.sd, feeds, graph.names())
    x, y = feeds["x"], feeds["y"]
    backwards = {"x": np.asfortranarray(x), "y": y[::-1].copy()[::-1]}
    frozen = {n: a.copy() for n, a in feeds.items()}
    for a in frozen.values():
        a.flags.writeable = False
    wide = np.zeros((6, 8), np.float32)
    wide[:, ::2] = y
    raw = np.zeros(x.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(x.shape)
    raw[...] = x
    for given in (backwards, frozen, {"x": raw, "y": wide[:, ::2]}):
        kept = {n: a.copy() for n, a in given.items()}
        found = graph.sd.output(given, *graph.names())
        for name, value in wanted.items():
            same(found[name], value)
        assert all(np.array_equal(kept[n], given[n]) for n in given)
