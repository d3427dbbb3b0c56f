"""Embedding tables that start from given vectors."""
from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...samediff.base.datatype import DataType
from ...samediff.base.user_code.abstract_methods import unwritten
from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.errors import ConfigurationError
from ...samediff.expressions.arrays import to_numbers
from ...samediff.initializers.nd4j_random import Nd4jRandom, Order
from ..types.java_names import ArrayEmbeddingInitializerNames, EmbeddingInitializerNames, WeightInitEmbeddingNames
from .weight_init import IWeightInit

__all__ = ["ArrayEmbeddingInitializer", "WeightInitEmbedding"]

_JAVA = "org.deeplearning4j.nn.weights."


@configuration()
class EmbeddingInitializer(Configuration, EmbeddingInitializerNames):
    """Source of embedding vectors: override ``vectors``."""

    @unwritten(when_called=True)
    def vectors(self) -> NDArray[Any]:
        """Return the vectors. Shapes: (vocabulary, vector size)."""
        raise NotImplementedError

    def get_weight_init_function(self) -> WeightInitEmbedding:
        """Return the initialiser that copies the vectors."""
        return WeightInitEmbedding(self)

    @classmethod
    def of(cls, value: Any) -> Self:
        if isinstance(value, (np.ndarray, list, tuple)):
            value = ArrayEmbeddingInitializer(to_numbers(value, "an embedding"))
        return super().of(value)


@configuration(_JAVA + "embeddings.ArrayEmbeddingInitializer")
class ArrayEmbeddingInitializer(EmbeddingInitializer, ArrayEmbeddingInitializerNames):
    """Embedding vectors given as an array. Shapes: embeddings (vocabulary, vector size).

    Parameters
    ----------
    embeddings : array (vocabulary, vector size)
        A row for each index.
    """

    embeddings: Convertible[np.ndarray]

    def validate(self) -> None:
        if self.embeddings.ndim != 2:
            raise ConfigurationError("embeddings: expected shape (vocabulary, vector size), got "
                                     f"{self.embeddings.shape}")

    def vectors(self) -> NDArray[Any]:
        return self.embeddings


@configuration(_JAVA + "embeddings.WeightInitEmbedding")
class WeightInitEmbedding(IWeightInit, WeightInitEmbeddingNames):
    """The vectors of an :class:`EmbeddingInitializer`; draws nothing.

    Parameters
    ----------
    serializable_init, non_serializable_init : EmbeddingInitializer, optional
        The source of the vectors: one that files keep, or one that they do not.
    """

    serializable_init: Convertible[EmbeddingInitializer | None] = None
    non_serializable_init: Convertible[EmbeddingInitializer | None] = None

    def init(self, rng: Nd4jRandom, fan_in: float, fan_out: float, shape: tuple[int, ...], order: Order = "f",
             dtype: Any = DataType.FLOAT) -> NDArray[Any]:
        source = self.serializable_init or self.non_serializable_init
        if source is None:
            raise ConfigurationError("WeightInitEmbedding has no vectors: the file it comes from did not keep them")
        vectors = to_numbers(source.vectors(), "an embedding")
        if vectors.shape != tuple(shape):
            raise ConfigurationError(f"embedding vectors of shape {vectors.shape} do not fit weights of shape "
                                     f"{tuple(shape)}: set n_in to the vocabulary and n_out to the vector size")
        return vectors.astype(DataType.of(dtype).numpy)
