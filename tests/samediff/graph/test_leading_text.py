"""A text before the arguments is a name, unless only an argument makes the call one."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import GraphError


@pytest.fixture
def x():
    return SameDiff.create().constant("x", np.array([1.5, 2.5]))


@pytest.mark.parametrize("method", ["cast_to", "castTo", "cast"])
def test_types_as_text(x, method):
    assert getattr(x, method)("INT").dtype is DataType.INT
    named = getattr(x, method)("INT", "LONG")
    assert (named.name(), named.dtype) == ("INT", DataType.LONG)
    assert getattr(x, method)("y", DataType.INT).name() == "y"


def test_texts_that_are_neither_are_told_what_is_expected(x):
    with pytest.raises(GraphError, match=r"expected a data type.*'INTEGR'"):
        x.cast_to("INTEGR")
    assert x.sum("total").name() == "total"
