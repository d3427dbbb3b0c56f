from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import DataTypeError, GraphError

SHAPE = (100, 100)
DISTRIBUTIONS = {
    "uniform": ((-1.0, 3.0), stats.uniform(-1, 4)),
    "normal": ((1.0, 2.0), stats.norm(1, 2)),
    "log_normal": ((0.5, 0.25), stats.lognorm(0.25, scale=np.exp(0.5))),
    "normal_truncated": ((1.0, 2.0), stats.truncnorm(-2, 2, 1, 2)),
    "exponential": ((4.0,), stats.expon(scale=0.25)),
}


def graph(seed: int = 3) -> SameDiff:
    sd = SameDiff.create()
    sd.seed = seed
    return sd


@pytest.mark.parametrize("dtype", [DataType.FLOAT, DataType.DOUBLE])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distribution(name: str, dtype: DataType) -> None:
    parameters, expected = DISTRIBUTIONS[name]
    x = getattr(graph().random, name)(*parameters, dtype, *SHAPE).eval()
    assert x.shape == SHAPE and x.dtype == dtype.numpy
    assert stats.kstest(x.ravel().astype(float), expected.cdf).pvalue > 1e-3
    assert abs(x.mean() - expected.mean()) < 5 * expected.std() / 100


def test_counts() -> None:
    sd = graph()
    ones, counts = sd.random.bernoulli(0.3, DataType.FLOAT, *SHAPE).eval(), sd.random.binomial(5, 0.4, DataType.FLOAT, *SHAPE).eval()
    assert set(np.unique(ones)) == {0, 1} and abs(ones.mean() - 0.3) < 0.025
    assert set(np.unique(counts)) == set(range(6)) and abs(counts.mean() - 2) < 0.06 and abs(counts.var() - 1.2) < 0.1


def test_seed_and_name_decide() -> None:
    first, again, other = (graph(s).random.normal("n", 0.0, 1.0, DataType.FLOAT, 5).eval() for s in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert (first != other).all()
    sd = graph()
    assert (sd.random.normal(0.0, 1.0, DataType.FLOAT, 5).eval() != sd.random.normal(0.0, 1.0, DataType.FLOAT, 5).eval()).all()


def test_shape_from_a_variable() -> None:
    sd = graph()
    shape = sd.placeholder("shape", DataType.LONG, 2)
    x = sd.random.uniform("x", 0.0, 1.0, DataType.DOUBLE, shape)
    assert x.get_shape() == (-1, -1)
    assert sd.output({"shape": np.array([2, 7])}, "x")["x"].shape == (2, 7)
    assert sd.random.uniform(0.0, 1.0, DataType.FLOAT, sd.constant(np.array([4, 1]))).get_shape() == (4, 1)


def test_bad_parameters_are_refused() -> None:
    sd = graph()
    with pytest.raises(DataTypeError, match="floating"):
        sd.random.normal(0.0, 1.0, DataType.INT, 3)
    with pytest.raises(GraphError, match="positive"):
        sd.random.exponential(0.0, DataType.FLOAT, 3)
    with pytest.raises(GraphError, match="between 0 and 1"):
        sd.random.bernoulli(1.5, DataType.FLOAT, 3)
