"""Arrays that compute at once: :class:`INDArray`, and the ops of graphs on arrays (:class:`EagerOps`)."""
from __future__ import annotations

from .eager import EagerOps as EagerOps
from .indarray import INDArray as INDArray
from .memory import DataBuffer as DataBuffer
from .nd_array_index import NDArrayIndex as NDArrayIndex
from .nd_array_index import SpecifiedIndex as SpecifiedIndex

__all__ = ["DataBuffer", "EagerOps", "INDArray", "NDArrayIndex", "SpecifiedIndex"]
