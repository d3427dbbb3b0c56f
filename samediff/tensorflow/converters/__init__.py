"""Converters of TensorFlow's operators, by family; importing this package fills the table."""
from . import elementwise, flow, images, linear, lists, movement, reductions  # noqa: F401
