"""The data type of arrays that are made without one, in the whole process: FLOAT unless ``Nd4j.setDefaultDataTypes`` says otherwise."""
from __future__ import annotations

from ..base.datatype import DataType


class _Types:
    default = DataType.FLOAT


def default_type() -> DataType:
    """The data type of arrays that are made without one, and of means of whole numbers."""
    return _Types.default


def set_default_type(data_type: DataType) -> None:
    """Set it, in the whole process."""
    _Types.default = data_type
