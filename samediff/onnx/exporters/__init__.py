"""Exporters of ops, by family; importing this package fills the table."""
from . import (  # noqa: F401
    activations,
    control,
    convolution,
    indexing,
    layer_ops,
    parts,
    products,
    recurrent,
    reductions,
    scalar,
    shapes,
    statistics,
    windows,
)
