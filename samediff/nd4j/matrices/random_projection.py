"""``RandomProjection``: fewer features that keep distances nearly."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arrays import INDArray
from ...base.datatype import DataType
from ...base.java_names import RandomProjectionNames
from ...errors import GraphError, ShapeError
from ...ir.translate_errors import refusing
from ..nd4j import Nd4j
from ..random_arrays import Random


@refusing("RandomProjection")
class RandomProjection(RandomProjectionNames):
    """A product with a matrix (features, components) of random numbers from N(0, 1 / features), drawn once for a number of features.

    Parameters
    ----------
    components : int or float
        How many; a float is the distortion eps of squared distances, between 0 and 1, which asks for as many components as
        :meth:`johnson_linden_strauss_min_dim` says.
    rng : Random, optional
        Whose numbers they are; by default ``Nd4j.getRandom()``.

    Raises
    ------
    GraphError
        A distortion that is not between 0 and 1, no example, or a distortion that asks for more components than there are features.
    ShapeError
        What is projected is no matrix of a floating type.

    Examples
    --------
    >>> from dl4py import Nd4j, RandomProjection
    >>> RandomProjection(3).project(Nd4j.rand(10, 20)).shape()
    (10, 3)
    >>> RandomProjection.johnson_linden_strauss_min_dim(100, 0.5)
    [221]
    """

    def __init__(self, components: float, rng: Random | None = None) -> None:
        self.components, self.rng = components, rng
        if isinstance(components, float):
            _checked(components)
        elif components < 1:
            raise GraphError(f"RandomProjection: at least 1 component is asked for; got {components}")
        self._matrix: Any = None

    @staticmethod
    def johnson_lindenstrauss_min_dim(n: int | Sequence[int], *eps: float) -> list[int]:
        """``4 log n / (eps^2 / 2 - eps^3 / 3)`` without its fraction, for each eps and each n: with so many components, squared distances
        between n examples change by a share of eps at most, as good as certainly."""
        counts = [n] if isinstance(n, int) else list(n)
        if not counts or min(counts) < 1:
            raise GraphError(f"RandomProjection: n, the number of examples, must be at least 1; got {n!r}")
        return [int(4 * math.log(count) / (_checked(e) ** 2 / 2 - e ** 3 / 3)) for e in eps for count in counts]

    johnson_linden_strauss_min_dim = johnson_lindenstrauss_min_dim

    @staticmethod
    def target_shape(data: Any, components: float) -> tuple[int, int]:
        """The shape of the matrix for these examples, (features, components)."""
        rows, features = _matrix(data).shape
        if isinstance(components, float):
            eps, components = components, RandomProjection.johnson_lindenstrauss_min_dim(rows, components)[0]
            if components > features:
                raise GraphError(f"RandomProjection: eps={eps} asks for {components} components, and there are {features} features: take "
                                 "a larger one")
        return features, components

    def project(self, data: Any, result: Any = None) -> INDArray:
        """The rows times the matrix, (rows, components); ``result`` is an array to put it in."""
        shape = self.target_shape(data, self.components)
        if self._matrix is None or self._matrix.shape != shape:
            self._matrix = self._drawn(shape)
        given = _matrix(data)
        found = (given @ self._matrix.astype(given.dtype)).astype(given.dtype)
        if result is None:
            return INDArray.of(found)
        if np.shape(result) != found.shape:
            raise ShapeError(f"RandomProjection: the result has the shape {found.shape}; an array {np.shape(result)} was given for it")
        result[...] = found
        return INDArray.of(result)

    def projecti(self, data: Any, result: Any = None) -> INDArray:
        """As :meth:`project`, into the rows themselves where no other result is given, which asks for as many components as features."""
        return self.project(data, data if result is None else result)

    def _drawn(self, shape: tuple[int, int]) -> Any:
        numbers = Nd4j.randn(list(shape), self.rng) if self.rng is not None else Nd4j.randn(*shape)
        return np.asarray(numbers) / np.sqrt(shape[0])


def _checked(eps: float) -> float:
    if not 0 < eps < 1:
        raise GraphError(f"RandomProjection: eps, the distortion, must be between 0 and 1; got {eps!r}")
    return eps


def _matrix(data: Any) -> Any:
    given = INDArray.of(data)
    if given.ndim != 2 or not DataType.of(given.dtype).is_floating:
        got = f"{DataType.of(given.dtype).name}{np.shape(given)}"
        raise ShapeError(f"RandomProjection takes examples in the rows of a matrix of a floating type; got {got}")
    return np.asarray(given)
