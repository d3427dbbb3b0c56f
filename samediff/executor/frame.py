"""What one run of a plan needs of its own: an arena, the arrays in it, and the function bound to them."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..spec import TensorSpec
from .emit import Writer
from .fused import viewer
from .reference import raise_explained

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
        skipped = set()
        for i, step in enumerate(plan.steps):
            if step.kind == "view":
                try:
                    fixed = self._view(step, bound, layouts)
                except Exception as error:
                    raise_explained(error, step.nodes[-1], [None if n is None else plan.specs[n] for n in step.nodes[-1].inputs])
                if fixed:
                    skipped.add(i)
                continue
            for name in step.outputs:
                if name not in layouts and plan.specs[name].is_static:
                    layouts[name] = _stand_in(plan.specs[name])
        calls: list[Any] = []
        for i, step in enumerate(plan.steps):
            work = [self._array(s, plan.offsets[f"{i}:work{k}"]) for k, s in enumerate(step.workspace)]
            calls.append(self._fused(step, plan, bound, layouts) if step.kind == "fused" else (step.call, *work))
        if plan.code is None:
            plan.code = Writer(plan, set(bound), skipped).compile()
        self.call = plan.code(bound, calls)

    def _array(self, spec: TensorSpec, offset: int) -> Any:
        dtype, shape = spec.dtype.numpy, spec.shape or ()
        count = int(np.prod(shape, dtype=np.int64))
        return self._arena[offset:offset + count * dtype.itemsize].view(dtype).reshape(shape)

    @staticmethod
    def _view(step: Step, bound: dict[str, Any], layouts: dict[str, Any]) -> bool:
        """Work out a view now; True when its inputs are fixed and nothing is left to do at run time."""
        results = step.call(*[None if n is None else layouts[n] for n in step.inputs])
        layouts.update(zip(step.outputs, results))
        if not all(n is None or n in bound for n in step.inputs):
            return False
        bound.update(zip(step.outputs, results))
        return all(r.size == 0 or any(n is not None and np.may_share_memory(r, bound[n]) for n in step.inputs) for r in results)

    @staticmethod
    def _fused(step: Step, plan: Plan, bound: dict[str, Any], layouts: dict[str, Any]) -> tuple[Any, ...]:
        """The kernel, its fixed operands, and for each operand that is a local what makes the kernel's view of it."""
        names = [n for n in (*step.inputs, *step.outputs) if n is not None]
        arrays = [layouts[n] for n in names]
        call, views = step.call(arrays[:-len(step.outputs)], arrays[-len(step.outputs):], plan.symbolic)
        return (call, *(v if n in bound else viewer(layouts[n], v) for n, v in zip(names, views)))


def _stand_in(spec: TensorSpec) -> Any:
    return np.empty(spec.shape or (), spec.dtype.numpy)
