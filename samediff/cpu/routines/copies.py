"""Ops that only move elements."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.op import Copies, Kernel
from ..code.fused import stored


def copied(found: Copies, inputs: int) -> Kernel:
    """The kernel of an op with so many inputs."""
    def call(*arrays: Any) -> None:
        for out in arrays[inputs:] if found.clears else ():
            out.fill(0)
        for source, target in found.pairs(*arrays):
            np.copyto(target, source)

    def native(*arrays: Any) -> Any:
        zeros = [stored(np.zeros((), out.dtype), out) for out in arrays[inputs:] if out.size] if found.clears else []
        made = [*zeros, *(stored(source, target) for source, target in found.pairs(*arrays) if target.size)]
        return None if None in made or not made else made
    return Kernel(call, native=native)
