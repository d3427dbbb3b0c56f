"""Converters of PyTorch's ops, by family; importing this package fills the table."""
from . import attention, elementwise, indexing, products, recurrent, reductions, shapes, windows  # noqa: F401
