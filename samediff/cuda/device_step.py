"""Forward, backward and update on a device, as one CUDA graph."""
from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..device.device_memory import MirroredArray
from ..ir.run_context import RunContext
from ..plans.training_step import ParameterUpdate
from .code.loops import DeviceLoops
from .frame import DeviceFrame
from .plan import DevicePlan

if TYPE_CHECKING:
    from ..plans.actions import Action
    from ..plans.plan_data import Value


class DeviceStep:
    """A :class:`~dl4py.samediff.plans.training_step.CompiledStep` of a device.

    Parameters
    ----------
    plan : forward and backward
    update : what follows it
    """

    #: Steps of one :meth:`run_many`, at most: an interrupt waits for its end.
    most = 64

    def __init__(self, plan: DevicePlan, update: ParameterUpdate) -> None:
        self.plan, self.update, self._gate = plan, update, update.gate
        self.numbers = update.numbers
        self._counter = np.zeros(1, np.int64) if update.counter is None else update.counter
        self._count = partial(np.add, self._counter, 1, self._counter)
        self._besides: list[MirroredArray] = []         # copies of arrays of updaters and normalization
        self._written: list[MirroredArray] = []
        self._frame = DeviceFrame(plan, plan.driver, self)
        self._sources = plan.sources[:update.outputs]

    def actions(self, frame: DeviceFrame) -> list[Action]:
        """Actions of gradient normalization and update, for a frame."""
        loops = DeviceLoops(frame.driver, self.numbers, frame.numbers)
        made = [action for part in self.update.compile_for(loops) for action in part]
        self._besides, self._written = loops.blocks, loops.written
        return made

    def __call__(self, feeds: Sequence[Any], iteration: int, epoch: int, scale: float, seed: int) -> Sequence[Any]:
        """Take one step; feeds are in the order of the plan, results are arrays on the host."""
        with self._gate, self._frame.stream:
            return self._results(self._step(feeds, iteration, epoch, scale, seed))

    def run_many(self, batches: Sequence[Sequence[Any]], iteration: int, epoch: int, scale: float, seed: int) -> Sequence[Any]:
        """The steps for several lists of feeds, one after the other, without waiting in between; gives the results of the last one."""
        with self._gate, self._frame.stream:
            for k, feeds in enumerate(batches):
                host_values = self._step(feeds, iteration + k, epoch, scale, seed)
            return self._results(host_values)

    def _step(self, feeds: Sequence[Any], iteration: int, epoch: int, scale: float, seed: int) -> dict[Value, Any]:
        self.update.set_numbers(iteration, epoch, scale)
        frame, context = self._frame, RunContext(True, seed, iteration, epoch=epoch)
        for block in self._besides:
            block.on_device(frame.driver)
        for block in self._written:         # all of it is read too: until the launch these are the values of the host
            block.changed_on(frame.driver)
        if frame.is_one_call:
            return frame.go(feeds, context, self._count)
        undo, done = [block.kept(frame.driver) for block in self._written], self._counter.item()
        try:
            host_values = frame.go(feeds, context)
            self._count()
        except BaseException:
            if self._counter.item() == done:
                for put_back in undo:
                    put_back()
            raise
        return host_values

    def _results(self, host_values: dict[Value, Any]) -> list[Any]:
        return [self._frame.result(s, host_values) for s in self._sources]
