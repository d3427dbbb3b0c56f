"""Masks of dropouts, from NumPy's stream of random numbers."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...plans.actions import Action, CudaKernel, KernelLaunch
from ..sources import source
from .gather import flat


def keep(stream: int, limit: int) -> CudaKernel:
    """``call(words, kept)``: True where a number of 24 bits is below ``limit``."""
    text = source("dropout_mask")

    def actions(words: Any, kept: Any) -> list[Action]:
        args = words, kept, np.int64(kept.size), np.uint64(stream), np.uint32(limit)
        return [KernelLaunch(text, "keep", *flat(-(-kept.size // 8)), args)] if kept.size else []
    return CudaKernel(actions)


def sample_kernels() -> Iterator[tuple[str, str]]:
    """The kernel for tests: label, source."""
    yield "keep", source("dropout_mask")
