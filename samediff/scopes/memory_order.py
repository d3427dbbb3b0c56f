"""In which order recorded arrays would stand in memory, had they been computed: of equal elements DL4J takes the first one there."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.orders import in_columns
from ..families.elementwise import Elementwise
from ..ir.variable import SDVariable


class MemoryOrders:
    """The variables of a recorded graph that stand for arrays in column order.

    Parameters
    ----------
    sd : the graph

    Attributes
    ----------
    assumed : arguments of a function that have to be in row order, as the code asked in which order something stands that is made of them
    """

    def __init__(self, sd: Any) -> None:
        self._sd = sd
        self._known: dict[str, bool] = {}
        self._leaders: dict[str, SDVariable] = {}
        self.assumed: set[str] = set()

    def note(self, variable: SDVariable, columns: bool) -> None:
        """Note what is known from outside: arrays that are read, copies in an order."""
        self._known[variable.name()] = columns

    def note_array(self, variable: SDVariable, array: Any) -> None:
        """Note the order of an array that is read."""
        self.note(variable, isinstance(array, np.ndarray) and bool(array.flags.f_contiguous) and in_columns(array))

    def follow(self, variable: SDVariable, other: SDVariable) -> None:
        """Note that a variable stands in the order of another one."""
        self._leaders[variable.name()] = other

    def are_alike(self, variable: SDVariable, other: SDVariable) -> bool:
        """Whether both stand in the same order for sure."""
        return len(variable.spec.shape or ()) < 2 or self._source(variable) == self._source(other)

    def in_columns(self, variable: Any, assuming: bool = False) -> bool:
        """Whether an array stands in column order: one from outside, a transposed one, or what was computed from it element by element.

        Arguments of functions are taken to be in row order; with ``assuming`` that is noted.
        """
        turned, source = self._source(variable)
        if assuming and source is not None and source not in self._known and len(variable.spec.shape or ()) > 1:
            self.assumed.add(source)
        return turned != (source is not None and self._known.get(source, False))

    def _source(self, variable: Any) -> tuple[bool, str | None]:
        """Whether axes are reversed, and beside what: the array from outside whose order it has, None where that is its own."""
        turned, x = False, variable
        while isinstance(x, SDVariable):
            if x.name() in self._known or x.is_place_holder():
                return turned, x.name()
            if x.name() in self._leaders:
                x = self._leaders[x.name()]
                continue
            node = self._sd.producer(x.name())
            given = [] if node is None else [self._sd.variable(n) for n in node.inputs if n is not None]
            if node is not None and _reverses(node.op, x.spec.shape):
                turned, x = not turned, given[0]
            elif node is not None and (isinstance(node.op, Elementwise) or node.op.id == "identity"):
                x = next((v for v in given if v.spec.shape == x.spec.shape), None)
            else:
                x = None
        return turned, None


def _reverses(op: Any, shape: Any) -> bool:
    """Whether an op puts all axes in the opposite order."""
    if op.id == "permute" and op.dimensions:
        return bool(op.order(len(op.dimensions), op.dimensions) == list(range(len(op.dimensions)))[::-1])
    return op.id in ("permute", "transpose") and shape is not None
