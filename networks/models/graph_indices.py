"""Inputs and vertices of a graph by number."""
from __future__ import annotations

from dataclasses import dataclass

from ...samediff.base.javanames import JavaSpelling
from ..structure.configuration import ComputationGraphConfiguration


@dataclass(frozen=True)
class GraphIndicesMixin(JavaSpelling):
    """DL4J's numbers of inputs and vertices: inputs first, then vertices as configured."""

    topological_sort_order: tuple[int, ...]
    name_to_idx: dict[str, int]
    idx_to_name: dict[int, str]

    @classmethod
    def of(cls, configuration: ComputationGraphConfiguration) -> GraphIndicesMixin:
        """The indices of a configuration's inputs and vertices."""
        names = dict.fromkeys([*configuration.network_inputs, *configuration.vertices])
        numbers = {name: i for i, name in enumerate(names)}
        return cls(tuple(numbers[n] for n in configuration.order()), numbers, dict(enumerate(names)))
