"""Numbers exactly at the limits at which ops change what they do, and beside them."""
from __future__ import annotations

import re

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import ShapeError
from dl4py.samediff.ir.op import OPS

EXECUTORS = "plan", "reference"


@pytest.mark.parametrize(("apart", "size", "differ"), [
    (0.9e-5, 1, 0), (1.1e-5, 1, 1), (0.9e-2, 1000, 0), (1.1e-2, 1000, 1), (0.9e-5, 1e-3, 0)])
def test_numbers_that_are_equal_within_a_tolerance(apart, size, differ):
    x = np.array([size, -size, np.inf, np.nan])
    y = np.array([size + apart, -size, np.inf, np.nan])
    with np.errstate(invalid="ignore"):
        assert OPS["equals_with_eps"]().compute(np, x, y) == differ + 1         # NaN equals nothing
        assert OPS["equals_with_eps"](eps=0.5).compute(np, x, y) == 1


@pytest.mark.parametrize(("scores", "least", "chosen"), [
    ([0.5, 0.75, 0.25], 0.5, [1, 0]), ([0.5, 0.75, 0.25], 0.51, [1]), ([0.5, 0.75, 0.25], 0.25, [1, 0, 2]),
    ([0.5, 0.5, 0.5], 0.5, [0, 1, 2])])
def test_scores_at_the_threshold_count(scores, least, chosen):
    boxes = np.array([[k, k, k + 1, k + 1] for k in (0.0, 2.0, 4.0)])
    assert OPS["non_max_suppression"](3, 0.5, least).compute(np, boxes, np.array(scores)).tolist() == chosen
    assert OPS["non_max_suppression"](2, 0.5, least).compute(np, boxes, np.array(scores)).tolist() == chosen[:2]


@pytest.mark.parametrize(("common", "kept"), [(0.5, [0, 1]), (0.51, [0])])
def test_boxes_that_overlap_by_exactly_the_limit_stay(common, kept):
    boxes = np.array([[0, 0, 1, 1.0], [0, 0, 1, common]])               # union 1, so the share is what they have in common
    assert OPS["non_max_suppression"](2, 0.5, 0.0).compute(np, boxes, np.array([0.9, 0.8])).tolist() == kept


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("sizes", [[1, 2], [1, 4], [5, -1], [1, 1, 2], [4]])
def test_sizes_that_do_not_add_up_when_they_are_known(executor, sizes, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    parts = sd.split_v(sd.placeholder("x", DataType.FLOAT, 2, -1), sd.placeholder("n", DataType.INT, -1), 2, 1)
    feeds = {"x": np.arange(8, dtype=np.float32).reshape(2, 4)}
    with pytest.raises(ShapeError, match=re.escape(f"2 sizes that add up to 4 expected, got {sizes}")):
        sd.output(feeds | {"n": np.array(sizes, np.int32)}, *parts)
    found = sd.output(feeds | {"n": np.array([4, 0], np.int32)}, *parts)
    assert [found[v.name()].shape for v in parts] == [(2, 4), (2, 0)]


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("norm", ["norm1", "norm2", "norm_max"])
def test_gradients_of_norms_at_zero(executor, norm, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    getattr(sd.math, norm)(sd.var("x", np.array([[0.0, 0.0], [3.0, -4.0]])), 1).sum("loss").mark_as_loss()
    found = sd.calculate_gradients({}, "x")["x"]
    assert found[0].tolist() == [0, 0] and np.abs(found[1]).sum() > 0


@pytest.mark.parametrize("executor", EXECUTORS)
def test_stitching_nothing_gives_nothing(executor, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    indices, rows = sd.placeholder("i", DataType.INT, -1), sd.placeholder("x", DataType.FLOAT, -1, 3)
    made = sd.dynamic_stitch([indices], [rows])
    for count in (0, 1, 2):
        assert sd.output({"i": np.arange(count, dtype=np.int32), "x": np.ones((count, 3))}, made)[made.name()].shape == (count, 3)


@pytest.mark.parametrize("length", [0, 1, 3])
def test_weights_of_counts_that_nobody_sees_have_no_gradient(length):
    """Places beyond the length, and all of them where it is 0."""
    found = OPS["counted_at"]().compute(np, np.arange(10.0, 10 + length), np.array([[0, 2, 5]]))
    assert found.shape == (1, 3) and found.dtype == np.float64
    assert found.tolist() == [[10.0 + k if k < length else 0.0 for k in (0, 2, 5)]]


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("name", ["exp", "expm1"])
def test_infinity_less_infinity_is_no_number(name, executor, monkeypatch):
    """The last product of an exponential is not joined with what is added, where it would be finite."""
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    x = np.array([np.inf, 1.0, 89.0], np.float32)
    sd = SameDiff.create()
    p = sd.placeholder("p", DataType.FLOAT, 3)
    sd.math.sub("y", getattr(sd.math, name)(p), p * p)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(sd.output_single({"p": x}, "y"), getattr(np, name)(x) - x * x, rtol=1e-5)
