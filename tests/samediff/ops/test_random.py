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


def drawn(op_id: str, *inputs: object, seed: int = 3, **attributes: object) -> np.ndarray:
    """Numbers of an op that takes the shape as an input."""
    sd = graph(seed)
    return sd.op(op_id, *(sd.constant(np.asarray(a)) for a in inputs), **attributes).eval()


KERNELS = {
    "random_normal": ({"mean": 1.0, "stddev": 2.0}, (), stats.norm(1, 2)),
    "randomuniform": ({"min": -1.0, "max": 3.0}, (), stats.uniform(-1, 4)),
    "randomuniform of inputs": ({}, (np.float64(2), np.float64(5)), stats.uniform(2, 3)),
    "random_gamma": ({}, (np.float64(2.5), np.float64(4)), stats.gamma(2.5, scale=0.25)),
    "random_gamma of rate 1": ({}, (np.float64(0.5),), stats.gamma(0.5)),
}


@pytest.mark.parametrize("name", KERNELS)
def test_distribution_of_a_kernel(name: str) -> None:
    attributes, inputs, expected = KERNELS[name]
    x = drawn(name.split()[0], np.array(SHAPE), *inputs, **attributes)
    assert x.shape == SHAPE and x.dtype == (np.float64 if inputs else np.float32)
    assert stats.kstest(x.ravel().astype(float), expected.cdf).pvalue > 1e-3
    assert abs(x.mean() - expected.mean()) < 5 * expected.std() / 100
    assert (x == drawn(name.split()[0], np.array(SHAPE), *inputs, **attributes)).all()
    assert (x != drawn(name.split()[0], np.array(SHAPE), *inputs, seed=4, **attributes)).mean() > 0.99


def test_parameters_of_kernels_are_broadcast() -> None:
    x = drawn("random_gamma", np.array([4000]), np.array([1.0, 100.0]), np.array([[1.0], [10.0]]))
    assert x.shape == (4000, 2, 2)
    np.testing.assert_allclose(x.mean(0), [[1, 100], [0.1, 10]], rtol=0.08)
    counts = drawn("random_poisson", np.array([4000]), np.array([0.5, 20.0], np.float32))
    assert counts.dtype == np.float32 and (counts == np.round(counts)).all()
    np.testing.assert_allclose(counts.mean(0), [0.5, 20], rtol=0.08)
    np.testing.assert_allclose(counts.var(0), [0.5, 20], rtol=0.12)


def test_integers_and_classes() -> None:
    whole = drawn("randomuniform", np.array([10000]), min=-1.0, max=4.0, data_type=DataType.INT)
    values, counts = np.unique(whole, return_counts=True)
    assert whole.dtype == np.int32 and values.tolist() == [-1, 0, 1, 2, 3] and stats.chisquare(counts).pvalue > 1e-3
    ones = drawn("random_bernoulli", np.array([10000]), p=0.3)
    assert set(np.unique(ones)) == {0, 1} and abs(ones.mean() - 0.3) < 0.025
    p = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 1e-30]])
    for batch, logits in ((0, np.log(p)), (1, np.log(p).T)):
        classes = drawn("random_multinomial", logits, np.int32(5000), dimension=batch)
        classes = classes if batch == 0 else classes.T
        assert classes.shape == (2, 5000) and classes.dtype == np.int64 and set(classes[1]) == {0, 1}
        assert stats.chisquare(np.bincount(classes[0]), 5000 * p[0]).pvalue > 1e-3


def test_shuffle_gives_every_order_equally_often() -> None:
    x = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    orders = [tuple(drawn("random_shuffle", x, seed=s)[:, 0]) for s in range(600)]
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert len(counts) == 6 and stats.chisquare(counts).pvalue > 1e-3
    assert all(sorted(o) == [1, 3, 5] for o in orders)


def test_bad_parameters_of_kernels_are_refused() -> None:
    with pytest.raises(GraphError, match="ascend"):
        drawn("randomuniform", np.array([3]), min=2.0, max=2.0)
    with pytest.raises(GraphError, match="negative"):
        drawn("random_poisson", np.array([3]), np.array([-1.0]))
    with pytest.raises(GraphError, match="positive"):
        drawn("random_gamma", np.array([3]), np.array([1.0]), np.array([0.0]))
    with pytest.raises(DataTypeError, match="floating"):
        drawn("random_normal", np.array([3]), data_type=DataType.INT)
