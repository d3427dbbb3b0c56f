"""Indexing of variables does what NumPy does."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff, SDIndex
from dl4py.samediff.errors import DL4PyError, GraphError, ShapeError
from tests.helpers.gradcheck import check_gradients
from tests.helpers.randomgraphs import agree, same

ARRAY = np.arange(60.0).reshape(3, 4, 5)
INDICES = [np.s_[1], np.s_[-1], np.s_[1:], np.s_[:, ::2], np.s_[..., 0], np.s_[0, ..., 1], np.s_[:, None, 1:3], np.s_[::-1],
           np.s_[:, 3:0:-2], np.s_[2, 3, 4], np.s_[None], np.s_[...], np.s_[-2:, -3:-1], np.s_[:, :100], np.s_[5:]]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_values(index):
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.DOUBLE, -1, 4, 5)
    fixed = sd.constant("fixed", ARRAY)
    names = [x[index].rename("y").name(), fixed[index].rename("z").name(), (sd.math.neg(x)[index] * 2.0).rename("t").name()]
    found = agree(sd, {"x": ARRAY}, *names)
    for name, factor in zip(names, (1, 1, -2)):
        same(found[name], ARRAY[index] * factor)
    assert fixed[index].get_shape() == ARRAY[index].shape


@pytest.mark.parametrize("index", INDICES[:9], ids=str)
def test_gradients(index):
    check_gradients(lambda sd, x: sd.math.square(x[index]), {"x": ARRAY[:, :, :2] if str(index) == "0" else ARRAY / 60}, order=1)


def test_sdindex():
    sd = SameDiff.create()
    x = sd.constant("x", ARRAY)
    pairs = [((SDIndex.point(1),), ARRAY[1]), ((SDIndex.point(1, True),), ARRAY[1:2]),
             ((SDIndex.all(), SDIndex.interval(1, 3)), ARRAY[:, 1:3]),
             ((SDIndex.all(), SDIndex.all(), SDIndex.interval(0, 2, 5)), ARRAY[:, :, 0:5:2])]
    for index, wanted in pairs:
        same(x.get(*index).eval(), wanted)
    i = sd.constant("i", np.array([2, 0], np.int32))
    same(x[i].eval(), ARRAY[[2, 0]])


@pytest.mark.parametrize(("index", "error"), [(np.s_[0, 0, 0, 0], ShapeError), (np.s_[3], DL4PyError), (np.s_["a"], GraphError),
                                              (np.s_[0.5], GraphError),
                                              (np.s_[0, ..., ...], DL4PyError), (np.s_[::0], DL4PyError)], ids=str)
def test_refused(index, error):
    sd = SameDiff.create()
    x = sd.constant("x", ARRAY)
    count = len(sd.variables())
    with pytest.raises(error):
        x[index]
    assert len(sd.variables()) == count


@pytest.mark.parametrize("bad", [1.5, float("nan"), float("inf"), "a", [1], True, None, np.array([1.5])])
def test_positions_are_whole_numbers(bad):
    x = SameDiff.create().var("x", np.zeros((3, 4)))
    with pytest.raises(DL4PyError, match="position must be a whole number; got"):
        SDIndex.point(bad)
    for made in (lambda: SDIndex.interval(0, bad), lambda: SDIndex.interval(bad, 2), lambda: SDIndex.interval(0, bad, 2),
                 lambda: SDIndex.interval(0, 1, bad, inclusive=True), lambda: x[0:bad], lambda: x[bad:], lambda: x[::bad],
                 lambda: x[[1.5] if bad == [1] else bad]):          # a list of whole numbers is an index, as in NumPy
        if bad is not None:
            with pytest.raises(DL4PyError, match="whole number|cannot index with"):
                made()


@pytest.mark.parametrize("executor", ["plan", "reference"])
@pytest.mark.parametrize(("op", "whole", "rows"), [("argmax", 1, [1, 0]), ("argmin", 0, [0, 0]), ("iamax", None, [1, 0]),
                                                   ("iamin", None, [0, 0])])
def test_positions_of_truth_values(op, whole, rows, executor, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    x = sd.constant("x", np.array([[False, True, True], [False, False, False]]))
    found = getattr(sd.math, op)(x, False, 1).eval()
    assert found.tolist() == rows and found.dtype == np.int64
    assert whole is None or getattr(sd.math, op)(x).eval() == whole
