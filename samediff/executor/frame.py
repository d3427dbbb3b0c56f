"""What one run of a plan needs of its own: an arena, the arrays in it, and the function bound to them."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..spec import TensorSpec
from .fused import viewer

if TYPE_CHECKING:
    from .plan import Plan, Step

_ALIGN = 64


class Frame:
    """Arrays of one run. A plan keeps a pool of frames, one for each run that is under way."""

    def __init__(self, plan: Plan) -> None:
        raw = np.empty(plan.arena + _ALIGN, np.uint8)
        start = -raw.ctypes.data % _ALIGN
        self._arena = raw[start:start + plan.arena]
        bound: dict[str, Any] = {**plan.stored, **plan.pinned}
        for name, offset in plan.offsets.items():
            if ":work" not in name:
                bound[name] = self._array(plan.specs[name], offset)
        layouts = dict(bound)                       # stand-ins for locals: same shape, type and strides
        for name in plan.feeds:
            layouts[name] = _stand_in(plan.specs[name])
        calls: list[Any] = []
        for i, step in enumerate(plan.steps):
            self._bind(step, plan, bound, layouts)
            work = [self._array(s, plan.offsets[f"{i}:work{k}"]) for k, s in enumerate(step.workspace)]
            calls.append(self._fused(step, plan, bound, layouts) if step.kind == "fused" else (step.call, *work))
        self.call = plan.code(bound, calls)

    def _array(self, spec: TensorSpec, offset: int) -> Any:
        dtype, shape = spec.dtype.numpy, spec.shape or ()
        count = int(np.prod(shape, dtype=np.int64))
        return self._arena[offset:offset + count * dtype.itemsize].view(dtype).reshape(shape)

    @staticmethod
    def _bind(step: Step, plan: Plan, bound: dict[str, Any], layouts: dict[str, Any]) -> None:
        """Work out views now; give locals a stand-in."""
        if step.kind == "view" and all(n is None or n in layouts for n in step.inputs):
            results = step.call(*[None if n is None else layouts[n] for n in step.inputs])
            layouts.update(zip(step.outputs, results))
            if all(n is None or n in bound for n in step.inputs):
                bound.update(zip(step.outputs, results))
            return
        for name in step.outputs:
            if name not in layouts and plan.specs[name].is_static:
                layouts[name] = _stand_in(plan.specs[name])

    @staticmethod
    def _fused(step: Step, plan: Plan, bound: dict[str, Any], layouts: dict[str, Any]) -> tuple[Any, ...]:
        """The kernel, its fixed operands, and for each operand that is a local what makes the kernel's view of it."""
        names = [n for n in (*step.inputs, *step.outputs) if n is not None]
        arrays = [layouts[n] for n in names]
        call, views = step.call(arrays[:-len(step.outputs)], arrays[-len(step.outputs):], plan.symbolic)
        return (call, *(v if n in bound else viewer(layouts[n], v) for n, v in zip(names, views)))


def _stand_in(spec: TensorSpec) -> Any:
    return np.empty(spec.shape or (), spec.dtype.numpy)
