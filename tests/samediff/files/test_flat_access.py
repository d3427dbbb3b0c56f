"""What a graph file holds, and ops by their arguments in files."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.errors import GraphError, UnknownNameError

A = np.arange(6.0).reshape(2, 3)


def test_tables_and_text():
    sd = SameDiff.create()
    sd.sum("total", sd.constant("a", A), 1)
    flat = sd.asFlatGraph()
    assert [v.name for v in flat.variables] == ["a", "total"] and len(flat.nodes) == 1
    text = sd.as_flat_print()
    assert "1 nodes" in text and "a: SDVariable" in text and "-> ['total']" in text and "axes=[1]" in text


@pytest.mark.parametrize(("name", "arguments", "expected"), [
    ("permute", {"i_args": [1, 0]}, A.T),
    ("reduce_sum", {}, A.sum()),
    ("expand_dims", {"i_args": [0]}, A[None]),
    ("neg", {}, -A),
    ("cast", {"i_args": [9], "d_args": ["INT"]}, A.astype(np.int32)),
])
def test_an_op_of_argument_vectors(name, arguments, expected):
    sd = SameDiff.create()
    (made,) = sd.dynamic(name, [sd.constant(A)], **arguments)
    got = made.eval()
    assert np.array_equal(got, expected) and got.dtype == np.asarray(expected).dtype


def test_bad_calls():
    sd = SameDiff.create()
    a = sd.constant("a", A)
    with pytest.raises(UnknownNameError, match="permute"):
        sd.dynamic("permut", [a])
    with pytest.raises(GraphError, match="inputs"):
        sd.dynamic("permute", [a, a, a])
    assert sd.variable_names() == ["a"]
