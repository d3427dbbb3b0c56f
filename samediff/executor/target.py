"""How steps do their work: on the CPU, unless another device takes its place."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import expression as ex
from ..arrays import ArrayNamespace, xp
from ..node import Node
from ..op import Kernel, Op
from ..spec import TensorSpec
from .context import RunContext
from .cpu.blas_threads import one_thread
from .fused import evaluated, fused_instruction
from .plan import Plan
from .reference import compute, plain, promised

if TYPE_CHECKING:
    from .cpu.native.entry import Instruction

Call = Callable[..., Any]


class Target:
    """The CPU.

    Attributes
    ----------
    name : of the device
    xp : the namespace of its arrays
    hands_out : whether steps make results that the caller keeps; else these have places in the arena, as all others
    """

    name = "cpu"
    xp: ArrayNamespace = xp
    hands_out = True

    def plan(self, *parts: Any) -> Plan:
        """A plan for this device; ``parts`` are the fields of :class:`Plan`."""
        return Plan(*parts)

    def fused(self, exprs: Sequence[ex.Expr], names: Sequence[str], count: int, symbolic: Mapping[str, Any]) -> tuple[Call, Call]:
        """What computes expressions of ``count`` inputs: array code, and what makes native instructions for final arrays."""
        def native(*arrays: Any) -> Instruction | None:
            return fused_instruction(exprs, names, arrays[:count], arrays[count:], symbolic)
        return evaluated(exprs, count), native

    def takes(self, spec: TensorSpec) -> bool:
        """Whether kernels may be given arrays of a type."""
        return spec.dtype.is_numeric

    def fuses(self, op: Op) -> bool:
        """Whether an op that can be traced becomes part of a loop with its neighbours."""
        return True

    def kernel(self, node: Node, given: Sequence[TensorSpec | None]) -> Kernel | None:
        """The kernel of an op for static inputs; None: its ``compute`` is run."""
        found = node.op.cpu(*given)  # type: ignore[arg-type]
        if found is None or not found.one_thread:
            return found
        return replace(found, call=one_thread(found.call))

    def python(self, node: Node, specs: Sequence[TensorSpec]) -> Call:
        """The ``compute`` of an op, as ``call(context, *inputs)``."""
        def call(context: RunContext, *inputs: Any) -> tuple[Any, ...]:
            return tuple(map(plain, promised(compute(node.op, inputs, context, node.name), specs)))
        return call


CPU = Target()
