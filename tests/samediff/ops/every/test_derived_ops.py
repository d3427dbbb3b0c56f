"""Ops of one's own that derive from built-in ones: kernels are found by class, whatever the name."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.ir.op import OPS, op
from tests.samediff.ops.rows.op_table import ROWS

FAMILIES = ("segment_", "unsorted_segment_", "scatter_", "reduce_", "distance", "arg", "cum", "maxpool", "avgpool", "conv", "softmax")
EXAMPLES = {r.op_id: r for r in reversed(ROWS) if r.op_id.startswith(FAMILIES) and not OPS[r.op_id].stateful}


@contextmanager
def derived(parent: type[Any], **members: Any) -> Iterator[type[Any]]:
    """A registered class of another name."""
    cls = op("acme.derived")(type("Derived", (parent,), {"__doc__": "Another one.", **members}))
    try:
        yield cls
    finally:
        OPS.remove("acme.derived")


def run(made: Any, arrays: list[Any]) -> list[Any]:
    sd = SameDiff.create()
    feeds = {f"in{i}": a for i, a in enumerate(arrays) if a is not None}
    found = sd.add_op(made, [None if a is None else sd.placeholder(f"in{i}", DataType.of(a), *a.shape) for i, a in enumerate(arrays)])
    names = [v.name() for v in (found if isinstance(found, list) else [found])]
    return [sd.output(feeds, *names)[n] for n in names]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_derived_op_computes_what_its_parent_does(name):
    row = EXAMPLES[name]
    arrays = [a.astype(np.float32) if a is not None and a.dtype == np.float64 else a for a in row.arrays()]
    with derived(OPS[name]) as cls:
        for found, expected in zip(run(cls(**row.attributes), arrays), run(row.op(), arrays)):
            np.testing.assert_allclose(found, expected, 1e-6)       # sums of array code are carried on in float64


@pytest.mark.parametrize(("name", "method", "arrays", "expected"), [
    ("scatter_add", "combine", [[1.0, 2.0], [1], [5.0]], [1.0, 7.0]), ("reduce_sum", "reduce", [[1.0, 2.0, 4.0]], 7.0),
    ("reduce_max", "reduce", [[[1.0], [2.0]]], 2.0)])
def test_one_that_overrides_a_part_is_not_run_by_the_kernel_of_its_parent(name, method, arrays, expected):
    arrays = [np.asarray(a, np.int32 if isinstance(a[0], int) else np.float32) for a in arrays]
    (found,) = run(OPS[name](), arrays)
    np.testing.assert_array_equal(found, expected)

    def combine(self, xp, out, indices, rows):
        out[indices] = -1

    def reduce(self, xp, x, axes):
        return xp.full((), -1, x.dtype)
    with derived(OPS[name], **{method: combine if method == "combine" else reduce}) as cls:
        assert -1 in run(cls(), arrays)[0]
