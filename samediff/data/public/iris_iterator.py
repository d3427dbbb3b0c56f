"""Fisher's irises, which need no download."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import iris_table
from .labelled_examples import LabelledExamples

__all__ = ["IrisDataSetIterator"]


class IrisDataSetIterator(LabelledExamples):
    """150 irises: four lengths in centimetres and one of three species, in the order of the table.

    Shapes: features (batch, 4), labels (batch, 3).

    Parameters
    ----------
    batch : int, default 150
        Number of examples of a batch, at least 1.
    num_examples : int, default 150
        Only the first ones. The order is by species: shuffle before splitting.

    Notes
    -----
    Source: DL4J's ``IrisDataSetIterator``.

    Examples
    --------
    >>> data = IrisDataSetIterator().next()
    >>> data.num_examples(), data.get_features()[0].tolist(), data.get_labels().sum(axis=0).tolist()
    (150, [5.099999904632568, 3.5, 1.399999976158142, 0.20000000298023224], [50.0, 50.0, 50.0])
    """

    def __init__(self, batch: int = 150, num_examples: int = 150) -> None:
        self._table = iris_table.measurements()
        super().__init__(iris_table.species(), 3, batch, iris_table.SPECIES, num_examples=num_examples)

    def features_of(self, examples: NDArray[np.int64]) -> NDArray[np.float32]:
        return self._table[examples]
