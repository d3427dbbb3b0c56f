"""The class of whole graphs, for ops that make some: it stands above all ops, and makes itself known here."""
from __future__ import annotations

from .protocols import Graph

_known: list[type[Graph]] = []


def is_graph_class(cls: type[Graph]) -> None:
    """Class decorator: register the class of which new graphs are made."""
    _known[:] = [cls]


def graph_class() -> type[Graph]:
    """The class of new graphs."""
    return _known[0]
