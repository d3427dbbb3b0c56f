"""Programs of PyTorch as graphs: what ``torch.export`` recorded, and the table of its ops. ``dl4py.from_torch`` uses them;
:func:`torch_converter` makes further ops known.
"""
from . import converters as _converters  # noqa: F401 - fills the table
from .converters.table import torch_converter

__all__ = ["torch_converter"]
