"""The bit masks of strided slices against NumPy's own indexing."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff

X = np.arange(2.0 * 3 * 4 * 5).reshape(2, 3, 4, 5)
KINDS = ("slice", "from", "to", "point", "new", "rest")
BEGIN, END, STRIDES = (0, 1, 0), (2, 3, 2), (1, 1, 2)
MASKS = {"from": "begin_mask", "to": "end_mask", "point": "shrink_axis_mask", "new": "new_axis_mask", "rest": "ellipsis_mask"}


def index(kinds):
    """What the kinds mean for NumPy, entry by entry."""
    return tuple({"slice": slice(b, e, s), "from": slice(None, e, s), "to": slice(b, None, s), "point": b, "new": None, "rest": ...}[kind]
                 for kind, b, e, s in zip(kinds, BEGIN, END, STRIDES))


@pytest.mark.parametrize("kinds", [k for k in itertools.product(KINDS, repeat=3) if k.count("rest") <= 1], ids="-".join)
def test_masks(kinds, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    sd = SameDiff.create()
    masks = {MASKS[k]: sum(1 << i for i, found in enumerate(kinds) if found == k) for k in set(kinds) if k in MASKS}
    found = sd.strided_slice(sd.constant(X), list(BEGIN), list(END), list(STRIDES), **masks)
    np.testing.assert_array_equal(found.eval(), X[index(kinds)])
    assert tuple(found.get_shape()) == X[index(kinds)].shape


@pytest.mark.parametrize("new", range(4))
@pytest.mark.parametrize("points", range(4))
@pytest.mark.parametrize("rest", [0, 1])
def test_ranks_while_the_numbers_are_unknown(new, points, rest, monkeypatch):
    """An axis is new or a point by the first of the masks that has its bit; bits beyond the numbers say nothing."""
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    sd = SameDiff.create()
    given = {"begin": np.array([0, 0]), "end": np.array([1, 1]), "steps": np.array([1, 1])}
    masks = {"ellipsis_mask": rest, "new_axis_mask": new | 8, "shrink_axis_mask": points | 16}
    found = sd.strided_slice(sd.constant(X), *(sd.placeholder(n, DataType.LONG, 2) for n in given), 0, 0, *masks.values())
    same = sd.strided_slice(sd.constant(X), *([int(v) for v in a] for a in given.values()), 0, 0, *masks.values())
    assert len(found.spec.shape) == len(same.spec.shape)
    np.testing.assert_array_equal(sd.output_single(given, found), same.eval())
    of_any_count = sd.strided_slice(sd.constant(X), *(sd.placeholder(n + "s", DataType.LONG, -1) for n in given), 0, 0, *masks.values())
    assert of_any_count.spec.shape is None
