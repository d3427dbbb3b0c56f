"""Loops over whole arrays that are no part of a graph: updates, normalizations, penalties. They are said once, and every back end
compiles them in its own way."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ..device.device_memory import to_host
from ..expressions import expression as ex
from ..expressions.arrays import sum_over, xp


class Loops(Protocol):
    """Compiler of elementwise loops for one device, over arrays on the host and their copies on the device.

    Inputs of one element count for every element; outputs may be inputs. None where there is no compiled form.
    """

    def each(self, exprs: Sequence[ex.Expr], inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """A loop that evaluates expressions for each element of flat arrays."""

    def total(self, exprs: Sequence[ex.Expr], inputs: Sequence[Any], output: Any) -> Any:
        """A loop that sums an expression over all elements into an array of one element."""


#: A function that makes loops, by name or number.
MakeLoops = Callable[[Loops], Mapping[Any, Any]]


class LoopProgram(Protocol):
    """Loops that run one after the other on the newest values of their arrays."""

    @property
    def made(self) -> Mapping[Any, Any]:
        """The loops, without those that have no compiled form."""

    @property
    def is_one_call(self) -> bool:
        """Whether a run is one native call, which no Python signal handler interrupts."""

    def __call__(self) -> None:
        """Run all loops once."""


class ArrayLoops:
    """Loops as array code of NumPy; a sub-class says where arrays of another memory are read and written."""

    def read(self, array: Any) -> Any:
        """The newest values of an array, on the host."""
        return to_host(array)

    def write(self, array: Any, value: Any) -> None:
        """Replace the values of an array."""
        np.copyto(to_host(array), value, casting="unsafe")

    def each(self, exprs: Sequence[ex.Expr], inputs: Sequence[Any], outputs: Sequence[Any]) -> Callable[[], None]:
        """A Python function that does the work of :meth:`Loops.each` by NumPy."""
        def run() -> None:
            for out, value in zip(outputs, ex.evaluate(exprs, xp, list(map(self.read, inputs)))):
                self.write(out, value)
        return run

    def total(self, exprs: Sequence[ex.Expr], inputs: Sequence[Any], output: Any) -> Callable[[], None]:
        """A Python function that does the work of :meth:`Loops.total` by NumPy."""
        def run() -> None:
            value, = ex.evaluate(exprs, xp, list(map(self.read, inputs)))
            self.write(output, sum_over(np.broadcast_to(value, max(a.size for a in inputs))))
        return run


class FunctionProgram:
    """A :class:`LoopProgram` of functions; ``counter``, an array of one number, rises by 1 in the end."""

    is_one_call = False

    def __init__(self, made: Mapping[Any, Callable[[], None] | None], counter: Any = None) -> None:
        self.made = {k: m for k, m in made.items() if m is not None}
        self._counter = counter

    def __call__(self) -> None:
        """Run all functions in order, then count the run."""
        for run in self.made.values():
            run()
        if self._counter is not None:
            self._counter += 1
