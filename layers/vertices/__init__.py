"""Vertices of computation graphs."""

# The rest is written by `python -m dl4py.samediff.tools.exports`: do not edit.
from .attention import AttentionVertex
from .base import GraphVertex, vertex
from .combine import ElementWiseOp, ElementWiseVertex, L2Vertex, MergeVertex, StackVertex, UnstackVertex
from .lambda_vertex import lambda_vertex
from .samediff_vertex import SameDiffLambdaVertex, SameDiffVertex, VertexInputs
from .shape import L2NormalizeVertex, PoolHelperVertex, ReshapeVertex, ScaleVertex, ShiftVertex, SubsetVertex
from .time_series import DuplicateToTimeSeriesVertex, LastTimeStepVertex, ReverseTimeSeriesVertex
from .wrapping import FrozenVertex, PreprocessorVertex

__all__ = [
    "AttentionVertex", "DuplicateToTimeSeriesVertex", "ElementWiseOp", "ElementWiseVertex", "FrozenVertex", "GraphVertex",
    "L2NormalizeVertex", "L2Vertex", "LastTimeStepVertex", "MergeVertex", "PoolHelperVertex", "PreprocessorVertex", "ReshapeVertex",
    "ReverseTimeSeriesVertex", "SameDiffLambdaVertex", "SameDiffVertex", "ScaleVertex", "ShiftVertex", "StackVertex", "SubsetVertex",
    "UnstackVertex", "VertexInputs", "lambda_vertex", "vertex",
]
