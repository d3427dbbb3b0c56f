"""SameDiff: define-and-run graphs with automatic gradients, and all that trains and saves them."""
from __future__ import annotations

if __name__ == "samediff":
    raise ImportError("samediff/ is the source folder of dl4py.samediff: run `pip install -e .` once, then import dl4py.samediff")

from . import ops
from .choices import LossReduce, Mode, PadMode
from .datatype import DataType
from .graph import SameDiff
from .indexing import SDIndex
from .variable import SDVariable, VariableType

__all__ = ["DataType", "LossReduce", "Mode", "PadMode", "SDIndex", "SDVariable", "SameDiff", "VariableType", "ops"]
