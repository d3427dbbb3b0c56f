"""Converters of TensorFlow's operators, by family; importing this package fills the table."""
from . import (  # noqa: F401
    branches,
    diagonals,
    elementwise,
    flow,
    images,
    linear,
    lists,
    movement,
    randomness,
    recurrent,
    reductions,
    windows,
)
