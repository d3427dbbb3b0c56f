"""SameDiff's initialisation schemes: spread, order, types, and the generator that they draw from."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.errors import ConfigurationError, ShapeError
from dl4py.samediff.initializers import schemes as schemes
from dl4py.samediff.initializers.nd4j_random import Nd4jRandom, get_random

SHAPE = (60, 50)
NORMAL = {
    schemes.XavierInitScheme("c", 60, 50): 2 / 110, schemes.XavierFanInInitScheme("c", 60): 1 / 60,
    schemes.ReluInitScheme("c", 60): 2 / 60, schemes.VarScalingNormalFanInInitScheme("c", 60): 1 / 60,
    schemes.VarScalingNormalFanOutInitScheme("c", 50): 1 / 50,
    schemes.VarScalingNormalFanAvgInitScheme("c", 60, 50): 2 / 110,
}
UNIFORM = {
    schemes.XavierUniformInitScheme("c", 60, 50): 6 / 110, schemes.SigmoidUniformInitScheme("c", 60, 50): 96 / 110,
    schemes.UniformInitScheme("c", 60): 1 / 60, schemes.ReluUniformInitScheme("c", 60): 6 / 60,
    schemes.LecunUniformInitScheme("c", 60): 9 / 60, schemes.VarScalingNormalUniformFanInInitScheme("c", 60): 9 / 60,
    schemes.VarScalingNormalUniformFanOutInitScheme("c", 50): 9 / 50,
    schemes.VarScalingUniformFanAvgInitScheme("c", 60, 50): 9 / 55,
}


@pytest.mark.parametrize("scheme", [*NORMAL, *UNIFORM], ids=lambda s: type(s).__name__)
def test_spread(scheme):
    values = scheme.create(DataType.DOUBLE, SHAPE, Nd4jRandom(4))
    assert values.shape == SHAPE and values.dtype == np.float64
    if scheme in NORMAL:
        np.testing.assert_allclose(values.var(), NORMAL[scheme], rtol=0.08)
    else:
        limit = np.sqrt(UNIFORM[scheme])
        assert 0.99 * limit < np.abs(values).max() <= limit * (1 + 1e-7)


def test_order_is_the_order_of_drawing():
    c, f = (schemes.ReluInitScheme(order, 4).create(DataType.FLOAT, (4, 3), Nd4jRandom(1)) for order in "cf")
    np.testing.assert_array_equal(c.ravel("C"), f.ravel("F"))
    assert f.flags.f_contiguous
    with pytest.raises(ConfigurationError, match="order"):
        schemes.ZeroInitScheme("x").create(DataType.FLOAT, (2,))


def test_fixed_values():
    assert schemes.ZeroInitScheme().create(DataType.INT, (2, 2)).dtype == np.int32
    assert schemes.OneInitScheme("f").create(DataType.HALF, (2, 2)).sum() == 4
    assert (schemes.ConstantInitScheme("c", 0.5).create(DataType.FLOAT, (3,)) == 0.5).all()
    np.testing.assert_array_equal(schemes.IdentityInitScheme("c").create(DataType.FLOAT, (3, 3)), np.eye(3))
    given = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(schemes.NDArraySupplierInitScheme(given).create(DataType.LONG, (2, 3)), given)
    with pytest.raises(ShapeError, match="supplied array"):
        schemes.NDArraySupplierInitScheme(lambda: given).create(DataType.LONG, (3, 2))


def test_a_number_is_no_distribution():
    with pytest.raises(ConfigurationError, match="takes the order, then a distribution.*got 784"):
        schemes.DistributionInitScheme("c", 784)


def test_the_process_wide_generator_serves_when_none_is_given():
    get_random().set_seed(77)
    first = schemes.XavierInitScheme("c", 4, 3).create(DataType.FLOAT, (4, 3))
    second = schemes.XavierInitScheme("c", 4, 3).create(DataType.FLOAT, (4, 3))
    get_random().set_seed(77)
    np.testing.assert_array_equal(schemes.XavierInitScheme("c", 4, 3).create(DataType.FLOAT, (4, 3)), first)
    assert (first != second).any()
    with pytest.raises(ConfigurationError, match="positive fans"):
        schemes.XavierInitScheme("c", 0, 0).create(DataType.FLOAT, (4, 3))
