"""Plans for a device."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..device.devices import placement
from ..ir.run_context import RunContext
from ..plans.plan import Plan
from .drivers.driver import Driver
from .frame import DeviceFrame


class DevicePlan(Plan):
    """A plan whose arena, parameters and results live on a device; frames as on the CPU, each with a queue of its own."""

    driver: Driver

    def run(self, feeds: Sequence[Any], context: RunContext | None) -> tuple[Any, ...]:
        """As :meth:`Plan.run`; results are NumPy arrays unless the caller wants them to stay."""
        frame = self.acquire_device()
        results = frame.run(feeds, context, placement().stays)
        self.release(frame)  # type: ignore[arg-type]  # the pool holds frames of devices only
        return results

    def acquire_device(self) -> DeviceFrame:
        """A frame for one run, from the pool or new; no other run uses it until it is released."""
        try:
            return self._pool.pop()  # type: ignore[return-value]  # as above
        except IndexError:
            return DeviceFrame(self, self.driver)
