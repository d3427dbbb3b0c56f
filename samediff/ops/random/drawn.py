"""Random numbers that the code of a node draws, as a node of their own."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import Shape, TensorSpec
from ...families.sizes import SizeExpr, worked_out
from ...ir.op import Op, Specs, op
from ...ir.run_context import RunContext

#: Method of a generator, its arguments, its options, and the formulas of the sizes.
Call = tuple[str, tuple[Any, ...], tuple[tuple[str, Any], ...], tuple[SizeExpr, ...]]


def drawn(generator: np.random.Generator, call: Call, shapes: list[Shape | None]) -> Any:
    """The random array that one recorded call of a generator returns."""
    name, args, options, sizes = call
    return getattr(generator, name)(*args, size=tuple(worked_out(n, shapes) for n in sizes), **dict(options))


@functools.lru_cache(maxsize=256)
def _type(call: Call) -> DataType:
    return DataType.of(drawn(np.random.default_rng(0), (*call[:3], (1,)), []))


@op("drawn", inputs="*others", stateful=True, gradient="zero")
class Drawn(Op):
    """The last of some draws, one after the other, from the random numbers of node ``of`` (made from array code).

    Inputs are arrays whose sizes occur in those of the draws.
    """

    flops_per_element = 0
    shape_inputs = tuple(range(33))
    is_shared = True
    of: str
    calls: tuple[Call, ...]

    def infer(self, *specs: TensorSpec) -> Specs:
        """The sizes of the last call, in the type that NumPy gives."""
        shapes = [s.shape for s in specs]
        return TensorSpec(tuple(worked_out(n, shapes) for n in self.calls[-1][3]), _type(self.calls[-1]))

    def compute(self, xp: Any, *others: Any, context: RunContext) -> Any:  # type: ignore[override]  # stateful ops get the context
        """The array of the last call; earlier calls advance the generator."""
        generator, shapes = context.at(self.of).random(), [o.shape for o in others]
        return xp.asarray([drawn(generator, call, shapes) for call in self.calls][-1])
