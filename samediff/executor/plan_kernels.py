"""The kernels of the nodes of one plan, each made once, when it is first asked for."""
from __future__ import annotations

from collections.abc import Sequence

from ..base.spec import TensorSpec
from ..ir.node import Node
from ..ir.op import Kernel, Op
from ..plans.backend import Backend
from ..plans.reference import raise_explained


class PlanKernels:
    """Kernels of a back end for nodes of static specs."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._made: dict[str, tuple[Op, Kernel | None]] = {}        # by the first output; pruning gives a node another op

    def of(self, node: Node, given: Sequence[TensorSpec | None], promised: Sequence[TensorSpec]) -> Kernel | None:
        """The kernel of a node for these specs, or None; errors that it raises are explained as those of ``compute``."""
        known = self._made.get(node.outputs[0])
        if known is None or known[0] is not node.op:
            known = self._made[node.outputs[0]] = node.op, self._make(node, given, promised)
        return known[1]

    def _make(self, node: Node, given: Sequence[TensorSpec | None], promised: Sequence[TensorSpec]) -> Kernel | None:
        if not all(s is None or (s.is_static and self.backend.takes(s)) for s in (*given, *promised)):
            return None
        try:
            return self.backend.kernel(node, given)
        except Exception as error:
            raise_explained(error, node, given)
