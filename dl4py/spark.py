"""Training and inference on Apache Spark: another name of :mod:`dl4py.networks.spark`."""
from .networks.spark import *  # noqa: F403
from .networks.spark import __all__ as __all__
