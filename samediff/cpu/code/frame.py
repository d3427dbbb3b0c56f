"""What one run of a plan needs of its own: an arena, the arrays in it, and the function bound to them."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ...base.spec import TensorSpec
from ...expressions import expression as ex
from ...plans.reference import raise_explained
from .fused import fused_instruction
from .plan_source import Writer

if TYPE_CHECKING:
    from ...plans.plan import Plan, Step
    from ..native.entry import Instruction
    from ..native.program import Segment

_ALIGN = 64


class Frame:
    """Arrays of one run. A plan keeps a pool of frames, one for each run that is under way.

    Attributes
    ----------
    bound : arrays whose memory is known before the run
    locals : for those that differ from run to run (feeds, words of the context, results handed out, fresh results) a stand-in: same
        shape, type and strides, in memory of its own
    views : views of locals by the step that makes them, for code that needs the array
    copies : steps that make a view in name only
    segments : neighbouring native steps by the number of the first
    natives : for each native step its instructions
    calls : for each other step the function to call and its workspace
    layouts : every array whose shape is known: bound ones, stand-ins, and views of them
    """

    def __init__(self, plan: Plan) -> None:
        raw = np.empty(plan.arena + _ALIGN, np.uint8)
        start = -raw.ctypes.data % _ALIGN
        self._arena = raw[start:start + plan.arena]
        self.bound: dict[str, Any] = {**plan.stored, **plan.pinned}
        for name, offset in plan.offsets.items():
            if ":work" not in name:
                self.bound[name] = self._array(plan.specs[name], offset, plan.orders.get(name))
        self.locals: dict[str, Any] = {n: _stand_in(plan.specs[n]) for n in (*plan.feeds, plan.words)
                                       if n is not None and n not in self.bound}
        self.views: dict[str, int] = {}
        self.copies: set[int] = set()
        self.layouts = {**self.bound, **self.locals}
        self.natives: dict[int, Sequence[Instruction]] = {}
        self.calls: dict[int, tuple[Any, ...]] = {}
        for i, step in enumerate(plan.steps):
            if step.kind == "view":
                self._add_view(i, step, plan)
                if i in self.copies and (copied := self._copied(step)) is not None:
                    self.natives[i] = [copied]
                    self.copies.discard(i)
                continue
            for name in step.outputs:
                if name not in self.layouts and plan.specs[name].is_static:
                    self.layouts[name] = self.locals[name] = _stand_in(plan.specs[name])
            work = [self._array(s, plan.offsets[f"{i}:work{k}"]) for k, s in enumerate(step.workspace)]
            made = self._native(step, work, plan)
            if made is None:
                self.calls[i] = (step.call, *work)
            else:
                self.natives[i] = made
        self.segments = self._joined(len(plan.steps), self.natives)
        if plan.code is None:
            plan.code = Writer(plan, self).compile()
        views = {i: (step.call,) for i, step in enumerate(plan.steps) if step.kind == "view"}
        self.call = plan.code(self.bound, {**views, **self.calls}, {i: s.address for i, s in self.segments.items()})

    def _array(self, spec: TensorSpec, offset: int, order: Sequence[int] | None = None) -> Any:
        dtype, shape = spec.dtype.numpy, spec.shape or ()
        count = int(np.prod(shape, dtype=np.int64))
        flat = self._arena[offset:offset + count * dtype.itemsize].view(dtype)
        return flat.reshape(shape) if order is None else flat.reshape([shape[i] for i in order]).transpose(np.argsort(order))

    def _add_view(self, i: int, step: Step, plan: Plan) -> None:
        """Work out a view now; nothing is left to do at run time unless it is a copy."""
        try:
            results = step.call(*[None if n is None else self.layouts[n] for n in step.inputs])
        except Exception as error:
            _explain(error, step, plan)
        given = [n for n in step.inputs if n is not None]
        self.layouts.update(zip(step.outputs, results))
        if not all(r.size == 0 or any(np.may_share_memory(r, self.layouts[n]) for n in given) for r in results):
            self.copies.add(i)
        if all(n in self.bound for n in given):
            self.bound.update(zip(step.outputs, results))
        elif i in self.copies:
            self.locals.update(zip(step.outputs, results))
        else:
            self.views.update(dict.fromkeys(step.outputs, i))

    def _copied(self, step: Step) -> Instruction | None:
        """The instruction for what is a view in name only, where it keeps the order of the elements."""
        given = [n for n in step.inputs if n is not None]
        x, y = self.layouts[given[0]], self.layouts[step.outputs[0]]
        if len(step.outputs) > 1 or x.dtype != y.dtype or x.size != y.size or not y.flags.c_contiguous or x.dtype.kind not in "fiu":
            return None
        numbered = np.arange(x.size).reshape(x.shape)
        found = step.call(numbered, *[None if n is None else self.layouts[n] for n in step.inputs[1:]])[0]
        if step.inputs[0] is None or found.shape != y.shape or not np.array_equal(found.reshape(-1), numbered.reshape(-1)):
            return None
        return fused_instruction((ex.input_(0, x.dtype),), ("x", "y"), [x], [y.reshape(x.shape)], {})

    def _native(self, step: Step, work: list[Any], plan: Plan) -> Sequence[Instruction] | None:
        names = [n for n in (*step.inputs, *step.outputs) if n is not None]
        if step.native is None or not all(n in self.layouts for n in names) or any(self.layouts[n].size == 0 for n in step.outputs):
            return None
        inputs = [None if n is None else self.layouts[n] for n in step.inputs]
        try:
            made = step.native(*inputs, *[self.layouts[n] for n in step.outputs], *work)
        except Exception as error:
            _explain(error, step, plan)
        return made if made is None or isinstance(made, list) else [made]

    def _joined(self, steps: int, natives: dict[int, Sequence[Instruction]]) -> dict[int, Segment]:
        from ..native.program import Segment
        made: dict[int, Segment] = {}
        run: list[int] = []
        for i in range(steps + 1):
            if i in natives:
                run.append(i)
            elif run and (i in self.calls or i in self.copies or i == steps):
                made[run[0]] = Segment([i for k in run for i in natives[k]], self.locals)
                run = []
        return made


def _explain(error: Exception, step: Step, plan: Plan) -> NoReturn:
    node = step.nodes[-1]
    raise_explained(error, node, [None if n is None else plan.specs[n] for n in node.inputs])


def _stand_in(spec: TensorSpec) -> Any:
    return np.empty(spec.shape or (), spec.dtype.numpy)
