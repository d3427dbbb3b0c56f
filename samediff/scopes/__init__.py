"""Calls on arrays that become graphs: :class:`GraphScope`, :class:`CompiledGraphFunction`, and branches and loops in them."""
from __future__ import annotations

from .compiled import CompiledGraphFunction as CompiledGraphFunction
from .compiled import compiled as compiled
from .graph_scope import GraphScope as GraphScope
from .lazy import LazyINDArray as LazyINDArray

__all__ = ["CompiledGraphFunction", "GraphScope", "LazyINDArray", "compiled"]
