"""Requests to a graph."""
from __future__ import annotations

from dataclasses import dataclass

from ..ir.node import Node


@dataclass(frozen=True)
class RunRequest:
    """Nodes and placeholders that some outputs of one version of a graph need."""

    outputs: tuple[str, ...]
    training: bool
    nodes: tuple[Node, ...]
    names: frozenset[str]                 # names of the outputs and of everything that the nodes read
    placeholders: tuple[str, ...]
    stored: tuple[str, ...]
