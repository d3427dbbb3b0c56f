"""Branches and loops in each other, drawn at random, through files: the same nodes, values and gradients come back."""
from __future__ import annotations

import io

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.codecs.flatbuffers.reader import read_flat_graph
from dl4py.samediff.codecs.flatbuffers.schema import OpType


class Drawn:
    """Values of three floats from an input, a variable and constants."""

    def __init__(self, seed):
        self.rng, self.sd = np.random.default_rng(seed), SameDiff()
        self.known = [self.sd.placeholder("x", DataType.FLOAT, 3), self.sd.var("w", np.float32([0.5, -1, 2]))]
        for depth in (2, 2, 1):
            self.known += self.flow(self.known, depth)
        total = sum((v * v).sum() for v in self.known[2:])
        self.sd.math.tanh(total * 0.01).rename("loss").mark_as_loss()

    def one_of(self, values):
        return values[self.rng.integers(len(values))]

    def plain(self, values):
        a, b = self.one_of(values), self.one_of(values)
        return (lambda: a * 0.5 + b, lambda: (a - b) * 0.75, lambda: self.sd.math.tanh(a) + 0.25, lambda: a + self.sd.constant(
            np.float32(self.rng.normal(size=3))))[self.rng.integers(4)]()

    def several(self, values, depth, count):
        """So many results, some of which are made by further branches and loops."""
        inner = self.flow(values, depth - 1) if depth > 1 and self.rng.random() < 0.6 else []
        own = [*values, *inner]
        return [self.one_of(own) if self.rng.random() < 0.3 else self.plain(own) for _ in range(count)]

    def flow(self, values, depth):
        count = int(self.rng.integers(1, 3))
        if self.rng.random() < 0.5:
            limit, decided = float(self.rng.normal()), self.one_of(values)

            def branch(sd):
                outer, self.sd = self.sd, sd
                try:
                    return self.several(values, depth, count)
                finally:
                    self.sd = outer
            made = self.sd.if_cond(lambda sd: decided.sum() > limit, branch, branch)
            return list(made) if isinstance(made, (list, tuple)) else [made]
        rounds, start = int(self.rng.integers(0, 4)), [self.one_of(values) for _ in range(count)]

        def body(sd, v):
            outer, self.sd = self.sd, sd
            try:
                return [v[0] + 1, *self.several([*v[1:], self.one_of(values)], depth, count)]
            finally:
                self.sd = outer
        return self.sd.while_loop([self.sd.constant(np.int32(0)), *start], lambda sd, v: v[0] < rounds, body)[1:]


def rounds(sd, start, body):
    return sd.while_loop([sd.constant(np.int32(0)), *start], lambda sd, v: v[0] < 3, lambda sd, v: [v[0] + 1, *body(sd, v[1:])])[1:]


#: Loops whose results do not come from their state, and what else a body may give.
LOOPS = {
    "what is around": lambda sd, x, w: rounds(sd, [x], lambda sd, v: [w]),
    "computed of what is around": lambda sd, x, w: rounds(sd, [x], lambda sd, v: [w * 2.0]),
    "one of each": lambda sd, x, w: rounds(sd, [x, w], lambda sd, v: [v[1] * 0.5, w * 2.0]),
    "exchanged": lambda sd, x, w: rounds(sd, [x, w], lambda sd, v: [v[1], v[0]]),
    "one twice": lambda sd, x, w: rounds(sd, [x, w], lambda sd, v: [v[0] * 0.5] * 2),
    "a loop over it": lambda sd, x, w: rounds(sd, [x], lambda sd, v: rounds(sd, [v[0]], lambda sd, u: [u[0] * 0.5 + w])),
    "a loop that reads it": lambda sd, x, w: rounds(sd, [x], lambda sd, v: rounds(sd, [w], lambda sd, u: [u[0] * 0.5 + v[0]])),
    "a loop beside it": lambda sd, x, w: rounds(sd, [x], lambda sd, v: rounds(sd, [w], lambda sd, u: [u[0] * 0.5])),
    "a branch beside it": lambda sd, x, w: rounds(sd, [x], lambda sd, v: [sd.if_cond(
        lambda sd: w.sum() > 0, lambda sd: w * 0.5, lambda sd: x + w)]),
}


@pytest.mark.parametrize("name", LOOPS)
def test_what_a_body_gives(name, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    sd = SameDiff()
    made = LOOPS[name](sd, sd.placeholder("x", DataType.FLOAT, 3), sd.var("w", np.float32([0.5, -1, 2])))
    sum((v * v).sum() for v in made).rename("loss")
    again, feed = SameDiff.from_flat_buffers(sd.as_flat_buffers()), {"x": np.float32([1, 2, -1])}
    assert [n.op.id for n in again.nodes()] == [n.op.id for n in sd.nodes()]
    np.testing.assert_allclose(again.output_single(feed, "loss"), sd.output_single(feed, "loss"), 1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(12))
def test_flows_come_back(seed, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    sd = Drawn(seed).sd
    stream = io.BytesIO()
    sd.save(stream)
    assert not [n for n in read_flat_graph(stream.getvalue()).nodes if n.op_type == OpType.UDF]
    stream.seek(0)
    again = SameDiff.load(stream)
    assert again.missing_ops() == [] and [n.op.id for n in again.nodes()] == [n.op.id for n in sd.nodes()]
    assert len(SameDiff.from_flat_buffers(again.as_flat_buffers()).variables()) == len(again.variables())
    for x in (np.float32([1, 2, -1]), np.float32([-2, 0.5, -3])):
        feed = {"x": x}
        np.testing.assert_allclose(again.output_single(feed, "loss"), sd.output_single(feed, "loss"), 1e-6)
        np.testing.assert_allclose(again.calculate_gradients(feed, "w")["w"], sd.calculate_gradients(feed, "w")["w"], 1e-5, 1e-7)
