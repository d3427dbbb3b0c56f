"""Methods that answer with a number, and what Java's numbers can be asked for."""
import json
import pickle

import numpy as np
import pytest

from dl4py import DataType, INDArray

VALUES = [[0.1, 0.25], [0.5, 0.7]]
ASKED = sorted(name for name in dir(INDArray) if name.endswith("_number") and name not in ("get_number", "percentile_number"))


@pytest.mark.parametrize("name", [*ASKED, "percentile_number", "get_number"])
@pytest.mark.parametrize("kind", [DataType.DOUBLE, DataType.FLOAT, DataType.INT])
def test_numbers_have_javas_methods(name, kind):
    array = INDArray.of([[1, 2], [5, 7]] if kind is DataType.INT else VALUES, kind)
    arguments = {"percentile_number": (50,), "get_number": (1, 1)}.get(name, ())
    found = getattr(array, name)(*arguments)
    assert isinstance(found, (int, float))
    np.testing.assert_equal([found.doubleValue(), found.double_value()], [float(found)] * 2)
    np.testing.assert_equal(found.floatValue(), float(np.float32(found)))
    assert type(found.double_value()) is float
    assert np.isnan(found) or found.intValue() == found.long_value() == int(found)


def test_there_are_many():
    assert {"sum_number", "mean_number", "norm2_number", "std_number"} <= set(ASKED)


def test_they_are_pythons_numbers_besides():
    found = INDArray.of([1.5, 2.25]).sumNumber()
    assert json.dumps([found]) == "[3.75]" and repr(found) == "3.75" and f"{found:.1f}" == "3.8" and found / 2 == 1.875
    assert pickle.loads(pickle.dumps(found)).intValue() == 3
    assert INDArray.of([2, 3]).getNumber(1) == 3 and [0, 1, 2, 3][INDArray.of([2, 3]).getNumber(1)] == 3
