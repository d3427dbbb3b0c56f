"""Shapes that must agree by the names of their axes."""
from __future__ import annotations

import pytest

from dl4py.samediff import DataType
from dl4py.samediff.base.named_axes import agree
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.errors import ShapeError


def specs(*shapes):
    return [None if s is False else TensorSpec(s, DataType.FLOAT) for s in shapes]


def test_sizes_are_collected():
    assert agree("x T N I, w I 4U, b 4U", specs((5, -1, 3), (3, 8), (1, 8)), flat="b") == {"T": 5, "I": 3, "U": 2}


def test_unknown_and_missing_inputs_pass():
    assert agree("x T N, w N 3U, b 3U", specs(None, (-1, -1), False)) == {}


@pytest.mark.parametrize(("names", "shapes", "message"), [
    ("x T N, w N", [(2, 3), (4,)], r"w of shape \(4,\) needs axes \(N\) with N = 3, as in x of shape \(2, 3\)"),
    ("x T N", [(2, 3, 4)], "x needs axes"),
    ("w 4U", [(6,)], "a multiple of 4"),
    ("w U 4U", [(3, 8)], "with U = 3")])
def test_contradictions(names, shapes, message):
    with pytest.raises(ShapeError, match=message):
        agree(names, specs(*shapes))
