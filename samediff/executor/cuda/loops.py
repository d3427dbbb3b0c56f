"""Loops besides the graph, on a device."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import expression as ex
from ...residence import Block
from .actions import Action
from .driver import Driver
from .fused import fused_launch, reduce_launches


class DeviceLoops:
    """As :class:`~dl4py.samediff.executor.loops.Loops`: lists of actions on the copies of host arrays.

    Parameters
    ----------
    driver : of the device
    numbers, places : host arrays that every run brings along, and where they are then

    Attributes
    ----------
    blocks : of the other arrays
    """

    def __init__(self, driver: Driver, numbers: Sequence[Any] = (), places: Sequence[Any] = ()) -> None:
        self._driver, self._numbers, self._places = driver, list(numbers), list(places)
        self.blocks: list[Block] = []

    def each(self, exprs: Sequence[ex.Expr], inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Action]:
        """Actions, as ``Loops`` says."""
        return [fused_launch(exprs, [self._placed(a) for a in inputs], [self._placed(a) for a in outputs])]

    def total(self, exprs: Sequence[ex.Expr], inputs: Sequence[Any], output: Any) -> list[Action]:
        """Actions, as ``Loops`` says."""
        return list(reduce_launches(exprs, [self._placed(a) for a in inputs], [self._placed(output)], ["sum"], self._driver))

    def _placed(self, array: Any) -> Any:
        for numbers, place in zip(self._numbers, self._places):
            if _within(array, numbers):
                start = _address(array) - _address(numbers)
                return place[start // array.itemsize:start // array.itemsize + array.size]
        block = Block.of(array)
        if block not in self.blocks:
            self.blocks.append(block)
        return block.view(self._driver, array)


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _within(array: Any, whole: Any) -> bool:
    return bool(_address(whole) <= _address(array) < _address(whole) + whole.nbytes)
