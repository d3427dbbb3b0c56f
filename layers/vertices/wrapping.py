"""Vertices around a preprocessor or another vertex."""
from __future__ import annotations

from ..input_type import InputType
from ..preprocessors import InputPreProcessor
from .base import GraphVertex, vertex


@vertex("PreprocessorVertex")
class PreprocessorVertex(GraphVertex):
    """A preprocessor as a vertex of its own."""

    pre_processor: InputPreProcessor

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        return self.pre_processor.output_type(input_types[0])


@vertex("FrozenVertex")
class FrozenVertex(GraphVertex):
    """A vertex whose parameters do not train."""

    underlying: GraphVertex

    def output_type(self, *input_types: InputType) -> InputType:
        return self.underlying.get_output_type(0, *input_types)

    def check_count(self, n: int) -> None:
        self.underlying.check_count(n)

    def with_input_types(self, *input_types: InputType) -> GraphVertex:
        return self.replace(underlying=self.underlying.with_input_types(*input_types))
