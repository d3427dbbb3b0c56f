"""Every built-in op, one file per topic; importing the package registers them."""
from . import arithmetic, reduce, shape_info

__all__ = ["arithmetic", "reduce", "shape_info"]
