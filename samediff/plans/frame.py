"""Frame of one run of a plan: an arena, the arrays in it, and the function bound to them."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from ..base.spec import TensorSpec
from .plan_data import PlanData, PlanStep, StepKind, Value, Workspace
from .reference import raise_explained

_ALIGN = 64


class Frame:
    """Arrays of one run. A plan keeps a pool of frames, one for each run that is under way.

    A back end whose steps can do without Python has a sub-class that makes their instructions.

    Attributes
    ----------
    bound : arrays whose memory is known before the run
    locals : for those that differ from run to run (feeds, random state, results handed out, fresh results) a stand-in: same
        shape, type and strides, in memory of its own
    views : views of locals by the step that makes them, for code that needs the array
    copies : steps that make a view in name only
    natives : for each native step its instructions, which are the back end's own
    runs : native steps with nothing to do for Python between them, by the number of the first
    calls : for each other step the function to call and its workspace
    call : the function that runs the plan in this frame (see :meth:`bind`)
    layouts : every array whose shape is known: bound ones, stand-ins, and views of them
    """

    def __init__(self, plan: PlanData) -> None:
        raw = np.empty(plan.arena + _ALIGN, np.uint8)
        start = -raw.ctypes.data % _ALIGN
        self._arena = raw[start:start + plan.arena]
        self.bound: dict[Value, Any] = dict(plan.stored)
        self.bound.update(plan.pinned)
        for name, offset in plan.offsets.items():
            self.bound[name] = self._array(plan.specs[name], offset, plan.orders.get(name))
        self.locals: dict[Value, Any] = {n: _empty(plan.specs[n]) for n in plan.given if n not in self.bound}
        self.views: dict[Value, int] = {}
        self.copies: set[int] = set()
        self.layouts = {**self.bound, **self.locals}
        self.natives: dict[int, Sequence[Any]] = {}
        self.calls: dict[int, tuple[Any, ...]] = {}
        self._functions: dict[int, tuple[Any, ...]] = {}        # call of every step, also of those that a run seldom calls
        for i, step in enumerate(plan.steps):
            if step.kind is StepKind.VIEW:
                self._functions[i] = (step.call,)
                self._add_view(i, step, plan)
                if i in self.copies and (made := self.copied(step)) is not None:
                    self.natives[i] = made
                    self.copies.discard(i)
                continue
            for name in step.outputs:
                if name not in self.layouts and plan.specs[name].is_static:
                    self.layouts[name] = self.locals[name] = _empty(plan.specs[name])
            work = [self._array(s, plan.workspaces[Workspace(i, k)]) for k, s in enumerate(step.workspace)]
            made = self.instructions(step, work, plan)
            self._functions[i] = (step.call, *work)
            if made is None:
                self.calls[i] = self._functions[i]
            else:
                self.natives[i] = made
        self.runs = self._neighbours(len(plan.steps))
        self.call: Any = None

    def bind(self, code: Callable[..., Any]) -> None:
        """Use the code that a :class:`~.plan_source.PlanWriter` wrote as the function that runs in this frame."""
        self.call = code(self.bound, self._functions, self.addresses())

    def addresses(self) -> dict[int, int]:
        """Addresses of the native code of joined steps, by the number of their first step."""
        return {}

    def _neighbours(self, steps: int) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        run: list[int] = []
        for i in range(steps):
            if i in self.natives:
                run.append(i)
                found.setdefault(run[0], run)
            elif i in self.calls or i in self.copies:
                run = []
        return found

    def _array(self, spec: TensorSpec, offset: int, order: Sequence[int] | None = None) -> Any:
        dtype, shape = spec.dtype.numpy, spec.shape or ()
        count = int(np.prod(shape, dtype=np.int64))
        flat = self._arena[offset:offset + count * dtype.itemsize].view(dtype)
        return flat.reshape(shape) if order is None else flat.reshape([shape[i] for i in order]).transpose(np.argsort(order))

    def _add_view(self, i: int, step: PlanStep, plan: PlanData) -> None:
        """Work out a view now; nothing is left to do at run time unless it is a copy."""
        try:
            results = step.call(*[None if n is None else self.layouts[n] for n in step.inputs])
        except Exception as error:
            raise_of_step(error, step, plan)
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

    def copied(self, step: PlanStep) -> Sequence[Any] | None:
        """Native instructions that copy, for a view op whose result needs memory of its own; None: Python copies."""
        return None

    def instructions(self, step: PlanStep, work: list[Any], plan: PlanData) -> Sequence[Any] | None:
        """Instructions for a step; None: the run calls it."""
        return None


def raise_of_step(error: Exception, step: PlanStep, plan: PlanData) -> NoReturn:
    """Raise what a step raised, with its op, inputs and line of the user."""
    node = step.nodes[-1]
    raise_explained(error, node, [None if n is None else plan.specs[n] for n in node.inputs])


def _empty(spec: TensorSpec) -> Any:
    return np.empty(spec.shape or (), spec.dtype.numpy)
