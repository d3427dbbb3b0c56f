"""Converters of TensorFlow's operators, by family; importing this package fills the table."""
from . import branches, elementwise, flow, images, linear, lists, movement, reductions  # noqa: F401
