"""Forward, backward and update as one native call."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..device import devices
from ..ir.run_context import RunContext
from ..plans.frame import Frame
from ..plans.plan import Plan
from ..plans.reference import as_carray
from ..plans.training_step import ParameterUpdate
from .code.fused import stored
from .code.loops import NativeLoops, counted

if TYPE_CHECKING:
    from .native.instruction import Instruction

#: Nanoseconds that a series of steps takes at most, about: an interrupt waits for its end. And how many steps it has at most.
LONGEST, MOST = 4e6, 256


class _Program:
    """Instructions of a plan's frame, and where in them the feeds go.

    Attributes
    ----------
    address : of the instructions
    columns : the feeds that they read
    indices : the numbers of these among their locals
    """

    def __init__(self, plan: Plan, frame: Frame, instructions: Sequence[Instruction], locate: Callable[[Any], int]) -> None:
        from .native.interpreter import place
        from .native.program import Program
        self._segment = Program(instructions, frame.locals)
        self.address, order = self._segment.address, {n: k for k, n in enumerate(self._segment.locals)}
        for name, k in order.items():
            if name not in plan.feeds:
                place(self.address, k, locate(frame.locals[name]))
        self.columns = [i for i, n in enumerate(plan.feeds) if n in order]
        self.indices = np.array([order[plan.feeds[i]] for i in self.columns], np.int64)


class FusedStep:
    """A plan of native instructions only, with those of the updaters behind them.

    It has a frame of its own, and its results keep their place: one thread at a time may call it.

    Parameters
    ----------
    plan : forward and backward; see :meth:`of`
    frame : its arrays
    behind : what happens after the plan, up to the counter
    results : the arrays in which the outputs of the plan are after a run
    update : what ``behind`` was made of

    Attributes
    ----------
    most : steps of one :meth:`run_many`, at most
    """

    def __init__(self, plan: Plan, frame: Frame, behind: Sequence[Instruction], results: Sequence[Any], update: ParameterUpdate) -> None:
        from .native.array_address import locator
        from .native.interpreter import GIVEN, launch, place
        self.plan, self.update, self.updaters, self._results = plan, update, update.updaters, results
        self._launch, self._place, self._locate = launch, place, locator()
        every, wanted = ([*(i for k in steps for i in frame.natives.get(k, ())), *behind]
                         for steps in (range(len(plan.steps)), plan.steps_for(plan.sources[len(results):])))
        self._frame, self._program = frame, _Program(plan, frame, every, self._locate)
        self._silent = self._program if len(wanted) == len(every) else _Program(plan, frame, wanted, self._locate)
        self._words = None if plan.rng_state is None else frame.locals[plan.rng_state]
        whole = LONGEST // sum(i.work for i in every)
        self.most = 1 if self._words is not None else int(min(MOST, max(1, whole)))
        self._gate = update.gate
        self._feeds: list[tuple[int, int]] = []             # number of a feed, number of the local
        self._given: list[int | None] = [None] * GIVEN      # for what a call takes itself: number of the feed
        for i, k in zip(self._program.columns, self._program.indices.tolist()):
            if k < GIVEN:
                self._given[k] = i
            else:
                self._feeds.append((i, k))
        numbers = [u.numbers for u in self.updaters]
        self._places = np.array([n.ctypes.data + j * n.itemsize for n in numbers for j in range(n.size)], np.int64)

    @staticmethod
    def of(plan: Plan, update: ParameterUpdate) -> FusedStep | None:
        """The step of a plan; None where Python has something left to do."""
        updates = update.compile_for(NativeLoops())
        if any(made is None for made in updates):
            return None
        frame = plan.acquire()
        made = {n: None if s in plan.feeds else frame.bound.get(s, frame.locals.get(s)) for n, s in zip(plan.outputs, plan.sources)}
        found = [made[n] for n in plan.outputs[:update.outputs]]
        apart = [n for n, s in zip(plan.outputs, plan.sources) if n in plan.handed_in and plan.handed_in[n] is not plan.pinned.get(s)]
        copies = [None if made[n] is None else stored(made[n], plan.handed_in[n]) for n in apart]
        if frame.calls or frame.copies or any(r is None for r in (*found, *copies)):
            plan.release(frame)
            return None
        behind = [*copies, *updates, *([] if update.counter is None else [counted(update.counter)])]
        return FusedStep(plan, frame, behind, found, update)  # type: ignore[arg-type]  # none is None

    def __call__(self, feeds: Sequence[Any], iteration: int, epoch: int, scale: float, seed: int) -> Sequence[Any]:
        """One step for feeds in the order of the plan; the results are valid until the next one."""
        if devices.active:
            self._copy_to_host()
        if self._words is not None:
            RunContext(True, seed, iteration).put_words(self._words)
        feeds = [a if a.flags.carray else as_carray(a) for a in feeds]
        self.update.set_numbers(iteration, epoch, scale)
        address, locate = self._program.address, self._locate
        for k, local in self._feeds:
            self._place(address, local, locate(feeds[k]))
        given = [0 if k is None else locate(feeds[k]) for k in self._given]
        with self._gate:
            refused = self._launch(address, *given)
        if refused:
            self._explain(feeds, iteration, seed)
        return self._results

    def run_many(self, batches: Sequence[Sequence[Any]], iteration: int, epoch: int, scale: float, seed: int) -> Sequence[Any]:
        """The steps for several lists of feeds, one after the other; gives the results of the last one. Others have none. The seed is of
        no use: steps that draw random numbers are taken one by one (:attr:`most`)."""
        from .native.multi_step import launch_many
        if devices.active:
            self._copy_to_host()
        scale = self.update.set_scale(scale)
        count = len(batches)
        names = list(map(id, batches))
        kept = {n: [a if a.flags.carray else as_carray(a) for a in feeds] for n, feeds in dict(zip(names, batches)).items()}
        found = {n: list(map(self._locate, feeds)) for n, feeds in kept.items()}         # once for those that come again
        places = np.array([found[n] for n in names], np.int64)
        numbers = np.hstack([u.rates(range(iteration, iteration + count), epoch, scale) for u in self.updaters])
        numbers = np.ascontiguousarray(numbers, self.updaters[0].numbers.dtype)
        for p, first, end in ((self._silent, 0, count - 1), (self._program, count - 1, count)):
            table = np.ascontiguousarray(places[first:end, p.columns])
            with self._gate:
                refused = launch_many(p.address, p.indices, table, self._places, numbers[first:end])
            if refused:
                self._explain(kept[names[first + refused - 1]], iteration + first + refused - 1, seed)
        return self._results

    def _explain(self, feeds: Sequence[Any], iteration: int, seed: int) -> NoReturn:
        """Raise the error in feeds that an instruction refused, before the updaters, by running the plan alone."""
        self.plan.run(feeds, RunContext(True, seed, iteration))
        raise AssertionError("a native step refused what its plan accepts")

    def _copy_to_host(self) -> None:
        self.plan.copy_to_host()
        for updater in self.updaters:
            updater.copy_to_host()
