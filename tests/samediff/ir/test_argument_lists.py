"""The lists of arguments of ops in DL4J's form: what is added is counted and given back."""
from __future__ import annotations

import pytest

from dl4py.samediff import DataType
from dl4py.samediff.nd4j import DynamicCustomOp


@pytest.mark.parametrize(("add", "get", "count", "values"), [
    ("add_i_argument", "get_i_argument", "num_i_arguments", (3, -1)),
    ("add_t_argument", "get_t_argument", "num_t_arguments", (0.5, 2.0)),
    ("add_b_argument", "get_b_argument", "num_b_arguments", (True, False)),
    ("add_d_argument", "get_d_argument", "num_d_arguments", (DataType.INT, DataType.HALF)),
    ("add_s_argument", "get_s_argument", "num_s_arguments", ("a", "b")),
])
def test_what_is_added_is_given_back(add, get, count, values):
    lists = DynamicCustomOp("reshape")
    getattr(lists, add)(*values)
    assert getattr(lists, count)() == 2
    assert tuple(getattr(lists, get)(i) for i in (0, 1)) == values
