"""Principal components, against what they are defined by."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py import PCA, Nd4j
from dl4py.samediff.errors import GraphError, LinearAlgebraError, ShapeError


def rows(rng, dtype="DOUBLE"):
    return Nd4j.create(rng.normal(size=(50, 4)) * [3, 1, 0.5, 0.1] + [1, 2, 3, 4]).castTo(dtype)


@pytest.mark.parametrize("dtype", ["DOUBLE", "FLOAT"])
def test_components_are_uncorrelated_and_span_the_features(dtype, rng):
    x = rows(rng, dtype)
    pca, close = PCA(x), 1e-9 if dtype == "DOUBLE" else 1e-3
    found = pca.convertToComponents(x)
    assert found.dataType() is x.dataType()
    deviations = np.asarray(found, np.float64).std(0)
    np.testing.assert_allclose(deviations, np.asarray(pca.getEigenvalues(), np.float64) ** -0.5, close, close)
    np.testing.assert_allclose(np.cov(np.asarray(found, np.float64).T, bias=True), np.diag(deviations ** 2), close, close)
    assert (np.diff(deviations) < 0).all()
    np.testing.assert_allclose(pca.convertBackToFeatures(found), x, close, close)
    covariance, mean = PCA.covarianceMatrix(x)
    np.testing.assert_array_equal(covariance, pca.getCovarianceMatrix())
    np.testing.assert_array_equal(mean, pca.getMean())
    vectors = pca.getEigenvectors()
    np.testing.assert_allclose(covariance @ vectors * pca.getEigenvalues(), vectors, close, close)


def test_shares_of_deviations(rng):
    """The numbers of components are DL4J's."""
    x = rows(rng)
    pca = PCA(x)
    deviations = np.asarray(pca.getEigenvalues()) ** -0.5
    for count in range(1, 4):
        share = deviations[:count].sum() / deviations.sum()
        assert pca.reducedBasis(share - 1e-6).shape() == (4, count) and pca.reducedBasis(share + 1e-6).shape() == (4, count + 1)
        assert PCA.pca2(x, share - 1e-6).shape() == (4, count)
    assert pca.reducedBasis(1.0).shape() == (4, 4)
    squares = np.asarray(pca.convertToComponents(x))[3] ** 2
    assert pca.estimateVariance(x.getRow(3), 2) == pytest.approx(squares[:2].sum() / squares.sum())
    assert pca.estimateVariance(x.getRow(3), 4) == 1


def test_factors(rng):
    x = rows(rng)
    before = x.dup()
    values = np.linalg.svd(x, compute_uv=False)
    found = PCA.pca(x, 2, False)
    np.testing.assert_allclose(np.linalg.svd(found, compute_uv=False), values[:2])
    np.testing.assert_array_equal(x, before)
    shares = np.cumsum(np.sqrt(values)) / np.sqrt(values).sum()
    for count in (1, 2, 3):
        assert PCA.pca_factor(x, float(shares[count - 1] - 1e-6), False).shape() == (4, count)
    assert PCA.pca_factor(x, 1.0, False).shape() == (4, 4)
    found = PCA.pca(x, 2, True)
    np.testing.assert_allclose(x, before - np.asarray(before).mean(0))
    np.testing.assert_allclose(np.abs(found), np.abs(PCA(before).convertToComponents(before)[:, :2]), 1e-9, 1e-9)


def test_drawn_rows_have_the_covariance(rng):
    pca = PCA(rows(rng))
    Nd4j.getRandom().setSeed(5)
    drawn = pca.generateGaussianSamples(20000)
    assert drawn.shape() == (20000, 4)
    np.testing.assert_allclose(np.cov(np.asarray(drawn, np.float64).T, bias=True), pca.getCovarianceMatrix(), 0.05, 0.05)
    np.testing.assert_allclose(np.asarray(drawn, np.float64).mean(0), pca.getMean(), 0.1, 0.1)


@pytest.mark.parametrize("call, error, says", [
    (lambda x: PCA(x.getRow(0)), ShapeError, r"rows of a matrix.*DOUBLE\(4,\)"),
    (lambda x: PCA(x.castTo("INT")), ShapeError, r"floating type; got INT\(50, 4\)"),
    (lambda x: PCA(x * np.nan), LinearAlgebraError, "not finite"),
    (lambda x: PCA(x).convertToComponents(x[:, :3]), ShapeError, r"rows of 4 features are expected; got \(50, 3\)"),
    (lambda x: PCA(x).estimateVariance(x.getRow(0), 5), GraphError, "there are 4 components; 5 were asked for"),
    (lambda x: PCA.pca_factor(x, 5, False), GraphError, "there are 4 components; 5 were asked for"),
])
def test_what_is_refused(call, error, says, rng):
    with pytest.raises(error, match=says):
        call(rows(rng))
