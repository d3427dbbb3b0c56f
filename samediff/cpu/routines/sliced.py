"""Compiled functions over planes or examples that do not depend on each other: as calls, and as instructions of which parts take slices."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.spec import TensorSpec
from ...ir.op import Kernel
from ..code.fused import joined
from ..threads import parts

if TYPE_CHECKING:
    from ..native.instruction import Instruction, Number

#: Nanoseconds of a cell that is copied, compared or added.
CELL = 0.25


@dataclass(frozen=True)
class SlicedKernel:
    """``function(*arrays, *shared, *numbers)``, a hand-written kernel.

    Attributes
    ----------
    arrays : dense ones with as many planes or examples, of which parts take their slices
    shared : dense arrays that every part reads
    numbers : or tuples of them
    work : nanoseconds that it takes; by default as long as it takes to look at every cell
    """

    function: Callable[..., Any]
    arrays: Sequence[Any]
    shared: Sequence[Any] = ()
    numbers: Sequence[Number] = ()
    work: float = 0.0

    def run(self) -> None:
        """Do all of it here."""
        self.function(*self.arrays, *self.shared, *self.numbers)

    def instruction(self) -> Instruction | None:
        """The same in a native program."""
        from ..native.instruction import instruction
        axes = [0] * len(self.arrays) + [None] * len(self.shared)
        work = self.work or CELL * sum(a.size for a in self.arrays)
        return instruction(self.function, (*self.arrays, *self.shared), self.numbers, work=work, axes=axes, most=parts())


def kernel_of(build: Callable[..., Iterable[SlicedKernel]], workspace: tuple[TensorSpec, ...] = ()) -> Kernel:
    """The kernel that does one after the other; ``build`` makes them for its arrays."""
    def call(*arrays: Any) -> None:
        for made in build(*arrays):
            made.run()

    def native(*arrays: Any) -> list[Instruction] | None:
        return joined(*(made.instruction() for made in build(*arrays))) if are_dense(arrays) else None
    return Kernel(call, workspace, native=native)


def are_dense(arrays: Iterable[Any]) -> bool:
    """Whether views of another shape need no copies."""
    return all(a is None or a.flags.c_contiguous for a in arrays)


def dense(x: Any, *shape: int) -> Any:
    """An array as a dense one of another shape."""
    return np.ascontiguousarray(x).reshape(shape)
