"""Import of ONNX models: the table of operators, and how to add to it.

``SameDiff.import_onnx(path)`` reads a model; :func:`onnx_converter` makes further operators known.
"""
from __future__ import annotations

from . import converters as _converters  # noqa: F401 - fills the table
from .node import OnnxNode
from .registry import Converter, known_converters, onnx_converter

__all__ = ["Converter", "OnnxNode", "known_converters", "onnx_converter"]
