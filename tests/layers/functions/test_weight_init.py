"""Initial parameters of DL4J's networks, redrawn for a net of two dense layers (5 -> 4 -> 3)."""
from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dl4py.layers.functions.distributions import Distribution, NormalDistribution, OrthogonalDistribution, UniformDistribution
from dl4py.layers.functions.embedding_init import ArrayEmbeddingInitializer, WeightInitEmbedding
from dl4py.layers.functions.weight_init import (
    IWeightInit,
    WeightInit,
    WeightInitConstant,
    WeightInitDistribution,
    WeightInitIdentity,
    WeightInitRelu,
)
from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.initializers.nd4j_random import Nd4jRandom

RECORDED = Path(__file__).parents[2] / "golden" / "init"
INFO = json.loads((RECORDED / "net_dense" / "case.json").read_text())
INITS = {i["name"]: i["json"] for i in INFO["inits"] if "error" not in i}


def dense_parameters(init, seed, dtype=DataType.FLOAT):
    rng = Nd4jRandom(seed)
    weights = [init.init(rng, n_in, n_out, (n_in, n_out), "f", dtype) for n_in, n_out in ((5, 4), (4, 3))]
    return np.concatenate([part for w in weights for part in (w.ravel("F"), np.zeros(w.shape[1], dtype.numpy))])


@pytest.mark.parametrize("name", [n for n in INITS if n != "dist_orthogonal"])
def test_dense_network_starts_as_dl4js(name):
    init = IWeightInit.from_json(INITS[name])
    with np.load(RECORDED / "net_dense" / "arrays.npz") as arrays:
        for seed in (12345, 42, 7):
            want = arrays[f"{name}__{seed}"]
            part = want[want != 0]
            tolerance = 4e-6 * max(float(part.std()), 1e-3) if part.size else 0
            np.testing.assert_allclose(dense_parameters(init, seed), want, rtol=0, atol=tolerance)


def test_double_network_starts_as_dl4js():
    with np.load(RECORDED / "double_dense" / "arrays.npz") as arrays:
        for key, want in arrays.items():
            name, seed = key.split("__")
            got = dense_parameters(WeightInit[name.upper()].get_weight_init_function(), int(seed), DataType.DOUBLE)
            np.testing.assert_allclose(got, want, rtol=0, atol=4e-6 * want.std())


@pytest.mark.parametrize("text", INITS.values())
def test_json_round_trip(text):
    assert IWeightInit.from_json(text).to_json() == text


@pytest.mark.parametrize("shape", [(5, 4), (4, 5), (4, 4), (2, 3, 4)])
def test_orthogonal(shape):
    matrix = OrthogonalDistribution(1.5).sample(Nd4jRandom(1), shape, dtype=DataType.DOUBLE).reshape(-1, shape[-1])
    product = matrix.T @ matrix if matrix.shape[0] >= matrix.shape[1] else matrix @ matrix.T
    np.testing.assert_allclose(product, 2.25 * np.eye(min(matrix.shape)), atol=1e-12)


def test_identity_kernels():
    kernel = WeightInitIdentity(2.0).init(Nd4jRandom(1), 0, 0, (3, 3, 3, 1), "c")
    assert kernel.sum() == 6 and (kernel[[0, 1, 2], [0, 1, 2], 1, 0] == 2).all()
    for shape, text in (((4, 5), "square"), ((2, 2, 2), "odd"), ((3,), "square")):
        with pytest.raises(ConfigurationError, match=text):
            WeightInitIdentity().init(Nd4jRandom(1), 1, 1, shape)


def test_what_a_weight_init_field_accepts():
    assert IWeightInit.of("relu") == WeightInitRelu() == IWeightInit.of(WeightInit.RELU)
    assert IWeightInit.of(NormalDistribution(0, 0.1)) == WeightInitDistribution(NormalDistribution(0, 0.1))
    assert IWeightInit.of(WeightInit.ONES) == WeightInitConstant(1)
    assert WeightInit.XAVIER.getWeightInitFunction() == IWeightInit.of("XAVIER")
    with pytest.raises(ConfigurationError, match="did you mean 'XAVIER'"):
        IWeightInit.of("xavir")
    with pytest.raises(ConfigurationError, match="needs a distribution"):
        WeightInit.DISTRIBUTION.get_weight_init_function()
    assert all(w.get_weight_init_function(UniformDistribution(0, 1)) for w in WeightInit)


def test_embedding_vectors():
    vectors = np.arange(6.0).reshape(3, 2)
    init = IWeightInit.of(ArrayEmbeddingInitializer(vectors))
    np.testing.assert_array_equal(init.init(Nd4jRandom(1), 3, 2, (3, 2)), vectors)
    assert IWeightInit.from_json(init.to_json()) == init
    with pytest.raises(ConfigurationError, match="do not fit"):
        init.init(Nd4jRandom(1), 3, 2, (2, 3))
    with pytest.raises(ConfigurationError, match="no vectors"):
        WeightInitEmbedding().init(Nd4jRandom(1), 3, 2, (2, 3))


def test_bad_arguments():
    with pytest.raises(ConfigurationError, match="n_in and n_out"):
        WeightInitRelu().init(Nd4jRandom(1), 0, 4, (0, 4))
    with pytest.raises(ConfigurationError, match="lower < upper"):
        UniformDistribution(1, 1)
    with pytest.raises(ConfigurationError, match="std >= 0"):
        Distribution.from_document({"type": NormalDistribution.java_name, "mean": 0, "std": -1})
