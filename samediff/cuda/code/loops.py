"""Loops over whole arrays that are no part of a graph, on a device."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...device.device_memory import MirroredArray
from ...expressions import expression as ex
from ...plans.actions import Action
from ...plans.layout import OutputReduction
from ...plans.loops import MakeLoops
from ..drivers.driver import Driver
from .fused import fused_launch


class DeviceLoops:
    """As :class:`~dl4py.samediff.plans.loops.Loops`: lists of actions on the copies of host arrays.

    Parameters
    ----------
    driver : of the device
    numbers, places : host arrays that every run brings along, and where they are then

    Attributes
    ----------
    blocks : of the other arrays
    written : those of them that are written
    """

    def __init__(self, driver: Driver, numbers: Sequence[Any] = (), places: Sequence[Any] = ()) -> None:
        self._driver, self._numbers, self._places = driver, list(numbers), list(places)
        self.blocks: list[MirroredArray] = []
        self.written: list[MirroredArray] = []

    def each(self, exprs: Sequence[ex.Expr], inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Action]:
        """Launches that evaluate expressions for each element."""
        made = fused_launch(exprs, [self._placed(a) for a in inputs], [self._placed(a, True) for a in outputs])
        return [] if made is None else [made]

    def total(self, exprs: Sequence[ex.Expr], inputs: Sequence[Any], output: Any) -> list[Action]:
        """Launches that sum an expression over all elements."""
        from .reduce import reduce_launches, reduce_workspace
        given, total = [self._placed(a) for a in inputs], [OutputReduction("sum")]
        work = [self._driver.empty(w.shape or (), w.dtype.numpy) for w in reduce_workspace(exprs, given, total)]
        return list(reduce_launches(exprs, given, [self._placed(output, True)], total, work))

    def _placed(self, array: Any, is_written: bool = False) -> Any:
        for numbers, place in zip(self._numbers, self._places):
            if _within(array, numbers):
                start = _address(array) - _address(numbers)
                return place[start // array.itemsize:start // array.itemsize + array.size]
        block = MirroredArray.of(array)
        if block not in self.blocks:
            self.blocks.append(block)
        if is_written and block not in self.written:
            self.written.append(block)
        return block.view(self._driver, array)


class DeviceLoopProgram:
    """A :class:`~dl4py.samediff.plans.loops.LoopProgram` on the copies that a device has of host arrays.

    Parameters
    ----------
    driver : of the device
    make : gives the loops, as lists of actions
    counter : array of one number on the host, to which each run adds 1
    """

    is_one_call = False

    def __init__(self, driver: Driver, make: MakeLoops, counter: Any = None) -> None:
        self._driver, self._stream = driver, driver.stream()
        self._counter = np.zeros(1, np.int64) if counter is None else counter
        loops = DeviceLoops(driver)
        self.made = {k: m for k, m in make(loops).items() if m is not None}
        self._blocks, self._written = loops.blocks, loops.written
        self._run = driver.prepare([action for part in self.made.values() for action in part])

    def __call__(self) -> None:
        """Do the work; it is done on return, so that queues of others need not wait for it."""
        with self._stream:
            for block in self._blocks:
                block.on_device(self._driver)
            self._run()
            self._driver.synchronize()
        for block in self._written:
            block.changed_on(self._driver)
        np.add(self._counter, 1, self._counter)


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _within(array: Any, whole: Any) -> bool:
    return bool(_address(whole) <= _address(array) < _address(whole) + whole.nbytes)
