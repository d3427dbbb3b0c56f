"""What DL4J's data sets know of the memory of their arrays."""
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any


class InMemory:
    """Base of data sets: the memory of arrays belongs to them alone, there are no workspaces that take it back."""

    @abstractmethod
    def all_arrays(self) -> Iterable[Any]:
        """Features, labels and masks; None where there are none."""

    def get_memory_footprint(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in self.all_arrays() if array is not None)

    def detach(self) -> None:
        """Nothing is to be done: in DL4J this takes the arrays out of a workspace."""

    def migrate(self) -> None:
        """Nothing is to be done: in DL4J this takes the arrays into the workspace at hand."""
