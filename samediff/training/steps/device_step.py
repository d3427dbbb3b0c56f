"""Forward, backward and update on a device, as one CUDA graph."""
from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...device.device_memory import MirroredArray
from ...ir.run_context import RunContext
from ..updaters.kernel import UpdateKernel
from ..updaters.normalization import Normalization

if TYPE_CHECKING:
    from ...cuda.frame import DeviceFrame
    from ...plans.actions import Action
    from ...plans.plan import Plan
    from ...plans.plan_data import Value


class DeviceStep:
    """As :class:`WholeStep`, for a plan of a device.

    Parameters
    ----------
    plan : forward and backward
    kernels : the updaters
    outputs : how many of the first results are wanted
    gate : lock that is held while parameters change
    normalization : what happens to gradients before the updaters, if anything does
    counter : array of one number, to which each step adds 1
    """

    #: Steps of one :meth:`series`, at most: an interrupt waits for its end.
    most = 64

    def __init__(self, plan: Plan, kernels: Sequence[UpdateKernel], outputs: int, gate: Any,
                 normalization: Normalization | None = None, counter: Any = None) -> None:
        from ...cuda.frame import DeviceFrame
        from ...cuda.plan import DevicePlan
        assert isinstance(plan, DevicePlan)
        self.plan, self.kernels, self._gate, self._normalization = plan, kernels, gate, normalization
        self.numbers = [*(k.numbers for k in kernels), *([] if normalization is None else normalization.numbers)]
        self._counter = np.zeros(1, np.int64) if counter is None else counter
        self._count = partial(np.add, self._counter, 1, self._counter)
        self._besides: list[MirroredArray] = []         # of arrays of updaters and normalization
        self._written: list[MirroredArray] = []
        self._frame = DeviceFrame(plan, plan.driver, self)
        self._sources = plan.sources[:outputs]

    @staticmethod
    def of(plan: Plan, kernels: Sequence[UpdateKernel], outputs: int, gate: Any, normalization: Normalization | None = None,
           counter: Any = None) -> DeviceStep:
        """The step of a plan whose first ``outputs`` results are wanted."""
        return DeviceStep(plan, kernels, outputs, gate, normalization, counter)

    def actions(self, frame: DeviceFrame) -> list[Action]:
        """Normalization and update."""
        from ...cuda.code.loops import DeviceLoops
        loops = DeviceLoops(frame.driver, self.numbers, frame.numbers)
        made = [] if self._normalization is None else [a for part in self._normalization.made_by(loops) for a in part]
        made += [a for k in self.kernels for a in k.made_by(loops)]
        self._besides, self._written = loops.blocks, loops.written
        return made

    def __call__(self, feeds: Sequence[Any], iteration: int, epoch: int, scale: float, seed: int) -> Sequence[Any]:
        """One step for feeds in the order of the plan: the results on the host."""
        with self._gate, self._frame.stream:
            return self._results(self._step(feeds, iteration, epoch, scale, seed))

    def series(self, batches: Sequence[Sequence[Any]], iteration: int, epoch: int, scale: float, seed: int) -> Sequence[Any]:
        """The steps for several lists of feeds, one after the other, without waiting in between; gives the results of the last one."""
        with self._gate, self._frame.stream:
            for k, feeds in enumerate(batches):
                loose = self._step(feeds, iteration + k, epoch, scale, seed)
            return self._results(loose)

    def _step(self, feeds: Sequence[Any], iteration: int, epoch: int, scale: float, seed: int) -> dict[Value, Any]:
        if self._normalization is not None:
            self._normalization.set_scale(scale)
            scale = 1.0
        for kernel in self.kernels:
            kernel.set_rates(iteration, epoch, scale)
        frame, context = self._frame, RunContext(True, seed, iteration, epoch=epoch)
        for block in self._besides:
            block.on_device(frame.driver)
        for block in self._written:         # all of it is read too: until the launch these are the values of the host
            block.changed_on(frame.driver)
        if frame.is_one_call:
            return frame.go(feeds, context, self._count)
        undo, done = [block.kept(frame.driver) for block in self._written], self._counter.item()
        try:
            loose = frame.go(feeds, context)
            self._count()
        except BaseException:
            if self._counter.item() == done:
                for put_back in undo:
                    put_back()
            raise
        return loose

    def _results(self, loose: dict[Value, Any]) -> list[Any]:
        return [self._frame.result(s, loose) for s in self._sources]
