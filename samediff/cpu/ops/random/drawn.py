"""CPU kernels of the op of :mod:`dl4py.samediff.ops.random.drawn`: uniform and normal numbers; others are NumPy's."""
from __future__ import annotations

import math
from typing import Any

from ....base.spec import TensorSpec
from ....families.sizes import worked_out
from ....ir.op import Kernel
from ....ir.run_context import stream_of
from ....ops.random.drawn import Drawn
from ...kernel_table import kernel_for
from ...kernels.random_numbers import normal, normal_single, uniform, uniform_single
from ...native.instruction import instruction
from ...routines.normal_strips import normal_strips

#: Nanoseconds of a number.
_COST, _NORMAL_COST = 1.5, 10.0


@kernel_for(Drawn)
def _(op: Drawn, *specs: TensorSpec) -> Kernel | None:
    kinds = [(name, args, dict(options).get("dtype", "float64")) for name, args, options, _ in op.calls]
    shapes = [s.shape for s in specs]
    counts = [math.prod(worked_out(n, shapes) for n in sizes) for *_, sizes in op.calls]
    if all(k == ("random", (), "float64") for k in kinds):
        function, numbers = uniform, [stream_of(op.of), sum(counts[:-1])]
    elif kinds == [("random", (), "float32")]:
        function, numbers = uniform_single, [stream_of(op.of)]
    elif len(kinds) == 1 and kinds[0][:2] == ("standard_normal", ()):
        return _normal(stream_of(op.of), kinds[0][2], counts[0])
    else:
        return None

    def call(words: Any, *given: Any) -> None:
        function(words, given[-1].reshape(-1), *numbers, 0, 1)

    def native(words: Any, *given: Any) -> Any:
        return instruction(function, [words, given[-1].reshape(-1)], numbers, work=20 + _COST * counts[-1], parts=True)
    return Kernel(call, native=native)


def _normal(stream: int, dtype: str, count: int) -> Kernel | None:
    """Normal numbers, which are drawn one after the other."""
    strips = normal_strips(dtype)
    if strips is None:
        return None
    function = normal if dtype == "float64" else normal_single

    def call(words: Any, *given: Any) -> None:
        function(words, given[-1].reshape(-1), *strips, stream)

    def native(words: Any, *given: Any) -> Any:
        return instruction(function, [words, given[-1].reshape(-1), *strips], [stream], work=20 + _NORMAL_COST * count)
    return Kernel(call, native=native)
