"""Work in phases: compiled functions one after the other, each shared by several threads.

A function takes its arrays, then its numbers, then the part that it shall do and the number of parts. Arrays are given to it as
kernels are compiled for them: writable, and dense where it says so. What has to be copied for that is remembered.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.spec import TensorSpec
from ...ir.op import Kernel
from ..blas.blas_threads import one_thread
from ..code.fused import stored, writable
from ..matrix.blas_products import row_major
from ..threads import run_parts

#: Nanoseconds that are worth parts; how many there may be is known from the sizes.
_LONG = 1e5


def phased(build: Callable[..., ParallelPhases], parts: list[tuple[int, int]], workspace: tuple[TensorSpec, ...]) -> Kernel:
    """The kernel of the phases that ``build`` makes for its arrays."""
    def call(*arrays: Any) -> None:
        build(*arrays).run(parts)

    def native(*arrays: Any) -> list[Any] | None:
        return build(*arrays).instructions(len(parts))
    return Kernel(call, workspace, native=native)


class ParallelPhases:
    """Phases for given arrays.

    Attributes
    ----------
    exact : whether the phases read nothing that was computed while they were built: they may run again when arrays have changed
    """

    def __init__(self, dtype: Any) -> None:
        self._dtype = dtype
        self._list: list[tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = []
        self.exact = True
        self._copied: list[tuple[Any, Any]] = []         # inputs, and dense arrays in their place
        self._results: list[tuple[Any, Any]] = []        # outputs, and the same

    def add(self, function: Callable[..., Any], arrays: tuple[Any, ...], *numbers: Any) -> None:
        """Append a phase."""
        self._list.append((function, arrays, numbers))

    def _same(self, given: Any, used: Any) -> Any:
        if given.size and not np.may_share_memory(given, used):
            self._copied.append((given, used))
        return used

    def input(self, array: Any, missing: tuple[int, ...] = (0, 0)) -> Any:
        """A dense input; zeros of the shape ``missing`` for one that is left out."""
        if array is None:
            return np.zeros(missing, self._dtype)
        return self._same(array, writable(np.ascontiguousarray(array, self._dtype)))

    def weight(self, array: Any) -> tuple[Any, bool]:
        """A weight or its transpose, whichever is dense, and whether it is the transpose."""
        found, transposed = row_major(array)
        return self._same(array, writable(found)), transposed

    def series(self, x: Any, room: Any) -> Any:
        """A dense series that is x, or becomes it in a phase of its own."""
        if x.flags.c_contiguous:
            return writable(x)
        from ..kernels.time_loops import copy_series
        self.add(copy_series, (writable(x.transpose(1, 0, 2)), room.transpose(1, 0, 2)))
        return room

    def output(self, array: Any) -> Any:
        """An output, or a dense one that takes its place until the end."""
        if array.flags.c_contiguous:
            return array
        self._results.append((array, np.empty(array.shape, array.dtype)))
        return self._results[-1][1]

    def weight_output(self, array: Any) -> tuple[Any, bool]:
        """The output or its transpose, and whether it is the transpose."""
        transposed = array.flags.f_contiguous and not array.flags.c_contiguous
        return (array.T, True) if transposed else (self.output(array), False)

    def instructions(self, most: int) -> list[Any] | None:
        """The phases as instructions of a native program in at most that many parts; None where there are none."""
        from ..native.instruction import instruction
        if not self.exact:
            return None
        made = [instruction(function, arrays, [n if isinstance(n, float) else int(n) for n in numbers], work=_LONG, parts=True,
                            products=True, most=most) for function, arrays, numbers in self._list]
        made = [*(stored(given, used) for given, used in self._copied), *made, *(stored(used, given) for given, used in self._results)]
        return None if None in made else made

    def run(self, parts: list[tuple[int, int]]) -> None:
        """Do the work on as many threads as there are parts, each with BLAS on one."""
        count = len(parts)

        def phase(function: Callable[..., Any], given: tuple[Any, ...]) -> None:
            if count == 1:
                function(*given, 0, 1)
            else:
                run_parts(lambda k, low, high: function(*given, k, count), parts)

        def everything() -> None:
            for function, arrays, numbers in self._list:
                phase(function, (*arrays, *numbers))
        one_thread(everything)()
        for array, result in self._results:
            array[...] = result
