"""Normalizers: preprocessors that are fitted, and go both ways."""
from __future__ import annotations

from typing import Any

from ...base.user_code.abstract_methods import unwritten
from ..iterators.iterator import DataSetPreProcessor

__all__ = ["DataNormalization", "MultiDataNormalization", "Normalizer"]


class Normalizer(DataSetPreProcessor):
    """Maps data, and maps it back; sub-classes define `fit`, `transform` and `revert`."""

    @unwritten(when_called=True)
    def fit(self, data: Any) -> None:
        """Take what is needed from a data set, or from all batches of an iterator."""
        raise NotImplementedError

    @unwritten(when_called=True)
    def transform(self, data: Any) -> Any:
        """Map a data set in place."""
        raise NotImplementedError

    @unwritten(when_called=True)
    def revert(self, data: Any) -> Any:
        """The inverse of `transform`."""
        raise NotImplementedError

    def pre_process(self, data: Any) -> None:
        """`transform`, as a preprocessor of an iterator."""
        self.transform(data)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash(type(self))


class DataNormalization(Normalizer):
    """Normalizer of data sets."""


class MultiDataNormalization(Normalizer):
    """Normalizer of data sets with several inputs and outputs."""
