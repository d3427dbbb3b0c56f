"""``PCA``: principal components of rows of features."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import INDArray
from ...base.datatype import DataType
from ...base.java_names import PCANames
from ...errors import GraphError, LinearAlgebraError, ShapeError
from ...ir.translate_errors import refusing
from ..nd4j import Nd4j


@refusing("PCA")
class PCA(PCANames):
    """Principal components of examples, (rows, features); computed in 64 bits and given in their type.

    The components are the eigenvectors v of the covariance ``C = sum (x - m)(x - m)^T / rows`` around the mean m, of length 1, those of
    the largest variance first. The eigenvalues are DL4J's, ``v = lambda C v``: ``lambda ** -0.5`` is the standard deviation along v.
    Signs of components are not determined.

    Parameters
    ----------
    dataset : matrix
        Examples in rows.

    Raises
    ------
    ShapeError
        An argument is no matrix of a floating type, or its rows have another length.
    GraphError
        More components are asked for than there are.
    LinearAlgebraError
        The rows hold entries that are not finite.

    Examples
    --------
    >>> from dl4py import Nd4j, PCA
    >>> rows = Nd4j.create([[1.0, 0.1], [2.0, -0.1], [3.0, -0.1], [4.0, 0.1]])
    >>> pca = PCA(rows)
    >>> [round(float(d), 4) for d in pca.get_eigenvalues() ** -0.5]
    [1.118, 0.1]
    >>> pca.reduced_basis(0.8).shape()
    (2, 1)
    """

    def __init__(self, dataset: Any) -> None:
        given = _matrix(dataset)
        self._dtype = given.dtype
        self._covariance, self._mean = _statistics(given)
        variances, vectors = np.linalg.eigh(self._covariance)
        self._deviations, self._vectors = np.sqrt(np.maximum(variances[::-1], 0)), vectors[:, ::-1]

    def get_covariance_matrix(self) -> INDArray:
        """C, (features, features)."""
        return self._typed(self._covariance)

    def get_mean(self) -> INDArray:
        """m, (features,)."""
        return self._typed(self._mean)

    def get_eigenvectors(self) -> INDArray:
        """V, (features, components)."""
        return self._typed(self._vectors)

    def get_eigenvalues(self) -> INDArray:
        """One divided by the variance along each component, (components,)."""
        with np.errstate(divide="ignore"):
            return self._typed(self._deviations ** -2)

    def reduced_basis(self, variance: float) -> INDArray:
        """The first components whose standard deviations make more than this share of the sum of all, (features, components)."""
        shares = np.cumsum(self._deviations) / self._deviations.sum()
        return self._typed(self._vectors[:, :int((shares <= variance).sum()) + 1])

    def convert_to_components(self, data: Any) -> INDArray:
        """Rows of features as rows of components: ``(data - m) V``."""
        return self._typed((self._rows(data, "features") - self._mean) @ self._vectors)

    def convert_back_to_features(self, data: Any) -> INDArray:
        """Rows of components as rows of features: ``data V^T + m``."""
        return self._typed(self._rows(data, "components") @ self._vectors.T + self._mean)

    def estimate_variance(self, data: Any, ndims: int) -> float:
        """The share that the first ``ndims`` components have in the squares of all components of one example."""
        squares = ((self._rows(np.reshape(data, (1, -1)), "features")[0] - self._mean) @ self._vectors) ** 2
        return float(squares[:_count(ndims, len(squares))].sum() / squares.sum())

    def generate_gaussian_samples(self, count: int) -> INDArray:
        """Rows of features, (count, features), of components that are Gaussian with the deviations found; from ``Nd4j.getRandom()``."""
        drawn = np.asarray(Nd4j.randn(count, len(self._mean)), np.float64)
        return self.convert_back_to_features(drawn * self._deviations)

    @staticmethod
    def pca_factor(array: Any, components: float, normalize: bool) -> INDArray:
        """Right singular vectors of the rows, (features, components), those of the largest singular values.

        An int says how many, a float which share of the sum of the square roots of all singular values they have. With ``normalize`` the
        mean is taken off the array itself.
        """
        given = _matrix(array).astype(np.float64)
        if normalize:
            given -= given.mean(0)
            array[...] = given
        _, values, vectors = np.linalg.svd(given)
        if isinstance(components, float):
            roots = np.cumsum(np.sqrt(values))
            components = min(int((roots < components * roots[-1]).sum()) + 1, len(roots))
        return INDArray.of(vectors[:_count(components, len(vectors))].T.astype(_matrix(array).dtype))

    @staticmethod
    def pca(array: Any, components: float, normalize: bool) -> INDArray:
        """The rows times :meth:`pca_factor`, (rows, components)."""
        factor = PCA.pca_factor(array, components, normalize)
        return INDArray.of(np.asarray(array) @ np.asarray(factor))

    @staticmethod
    def pca2(array: Any, variance: float) -> INDArray:
        """:meth:`reduced_basis` of the rows."""
        return PCA(array).reduced_basis(variance)

    @staticmethod
    def covariance_matrix(array: Any) -> list[INDArray]:
        """C, (features, features), and m, (features,), of the rows."""
        return [INDArray.of(a.astype(_matrix(array).dtype)) for a in _statistics(_matrix(array))]

    def _rows(self, data: Any, of: str) -> Any:
        given = _matrix(data)
        if given.shape[1] != len(self._mean):
            raise ShapeError(f"PCA: rows of {len(self._mean)} {of} are expected; got {given.shape}")
        return given.astype(np.float64)

    def _typed(self, found: Any) -> INDArray:
        return INDArray.of(found.astype(self._dtype))


def _matrix(data: Any) -> Any:
    given = INDArray.of(data)
    if given.ndim != 2 or not given.size or not DataType.of(given.dtype).is_floating:
        got = f"{DataType.of(given.dtype).name}{np.shape(given)}"
        raise ShapeError(f"PCA takes examples in the rows of a matrix of a floating type; got {got}")
    if not np.isfinite(given).all():
        raise LinearAlgebraError("PCA: the rows hold entries that are not finite")
    return np.asarray(given)


def _statistics(rows: Any) -> tuple[Any, Any]:
    """Covariance and mean."""
    wide = rows.astype(np.float64)
    mean = wide.mean(0)
    return (wide - mean).T @ (wide - mean) / len(wide), mean


def _count(wanted: Any, there: int) -> int:
    if not 1 <= wanted <= there:
        raise GraphError(f"PCA: there are {there} components; {wanted} were asked for")
    return int(wanted)
