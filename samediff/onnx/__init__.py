"""ONNX models in and out: the tables of operators and of ops, and how to add to them.

``SameDiff.import_onnx(path)`` reads a model, ``sd.export_onnx(path)`` writes one; :func:`onnx_converter` and :func:`onnx_exporter` make
further operators and ops known.
"""
from __future__ import annotations

from . import converters as _converters  # noqa: F401 - fills the table
from .export_table import Exporter, known_exporters, onnx_exporter
from .node import OnnxNode
from .registry import Converter, known_converters, onnx_converter

__all__ = ["Converter", "Exporter", "OnnxNode", "known_converters", "known_exporters", "onnx_converter", "onnx_exporter"]
