"""Loops besides the graph, on a device."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...device.device_memory import MirroredArray
from ...expressions import expression as ex
from ...plans.actions import Action
from ...plans.layout import OutputReduction
from ..drivers.driver import Driver
from .fused import fused_launch


class DeviceLoops:
    """As :class:`~dl4py.samediff.cpu.code.loops.Loops`: lists of actions on the copies of host arrays.

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
        """Actions, as ``Loops`` says."""
        made = fused_launch(exprs, [self._placed(a) for a in inputs], [self._placed(a, True) for a in outputs])
        return [] if made is None else [made]

    def total(self, exprs: Sequence[ex.Expr], inputs: Sequence[Any], output: Any) -> list[Action]:
        """Actions, as ``Loops`` says."""
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


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _within(array: Any, whole: Any) -> bool:
    return bool(_address(whole) <= _address(array) < _address(whole) + whole.nbytes)
