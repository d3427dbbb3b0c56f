"""The bit masks of strided slices against NumPy's own indexing."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from dl4py.samediff import SameDiff

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
