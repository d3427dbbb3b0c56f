"""One node after the other."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from tests.samediff.onnx.models import one_node
from tests.samediff.onnx.node_table import ROWS


def built(row, **options):
    domain = "ai.onnx.ml" if row.operator == "Scaler" else ""
    return one_node(row.operator, row.arrays, row.held, len(row.expected), row.version, row.order, domain, **options, **row.attributes)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("row", ROWS, ids=[r.name for r in ROWS])
def test_values(row):
    model = built(row)
    sd = SameDiff.import_onnx(model)
    got = sd.output(row.arrays, [f"out{i}" for i in range(len(row.expected))])
    for found, expected in zip(got.values(), row.expected):
        assert found.shape == expected.shape and found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, 1e-5, 1e-6)


OPEN = [r for r in ROWS if next(iter(r.arrays.values())).ndim > 2 and r.name not in (
    "elements", "mean over all", "upsample", "softmax of version 9", "log_softmax of version 9", "running sum", "pad with what is there",
    "top of version 1", "slice to a computed end")]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("row", OPEN, ids=[r.name for r in OPEN])
def test_open_batch(row):
    if row.name in ("resize to sizes",):
        pytest.skip("the sizes hold that of the batch")
    sd = SameDiff.import_onnx(built(row, open_batch=True))
    assert all(sd.get_variable(n).spec.shape[0] == -1 for n in row.arrays if row.arrays[n].ndim)
    got = sd.output(row.arrays, [f"out{i}" for i in range(len(row.expected))])
    for found, expected in zip(got.values(), row.expected):
        np.testing.assert_allclose(found, expected, 1e-5, 1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("row", ROWS, ids=[r.name for r in ROWS])
def test_saved(row, tmp_path):
    sd = SameDiff.import_onnx(built(row))
    sd.save(tmp_path / "graph.fb")
    names = [f"out{i}" for i in range(len(row.expected))]
    again = SameDiff.load(tmp_path / "graph.fb").output(row.arrays, names)
    for name, found in sd.output(row.arrays, names).items():
        np.testing.assert_array_equal(found, again[name])
