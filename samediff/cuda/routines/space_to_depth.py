"""Blocks of space against the batch on the GPU: copies between views."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.spec import TensorSpec
from ...plans.actions import Action, ArrayCopy, CudaKernel, ZeroFill


def space_to_batch(sides: Sequence[int], x: TensorSpec, edges: TensorSpec) -> CudaKernel | None:
    """Inputs x (N, *S, ...) and edges (k, 2), where these are known."""
    if edges.value is None or x.shape is None:
        return None
    sizes, pairs = list(sides), np.asarray(edges.value).reshape(-1, 2).tolist()
    padded = (x.shape[0], *(n + a + b for n, (a, b) in zip(x.shape[1:], pairs)), *x.shape[1 + len(sizes):])
    whole = not np.any(edges.value)

    def actions(x: Any, *arrays: Any) -> Sequence[Action]:
        y = arrays[-1] if whole else arrays[-2]
        if not y.size:
            return ()
        work = x if whole else arrays[-1]
        moved = ArrayCopy(*_batch(work, y, sizes))
        return (moved,) if whole else (ZeroFill(work), ArrayCopy(x, work[_inside(padded, pairs)]), moved)
    return CudaKernel(actions, () if whole else (TensorSpec(padded, x.dtype),))


def batch_to_space(sides: Sequence[int], x: TensorSpec, edges: TensorSpec) -> CudaKernel | None:
    """The inverse, edges cut off: inputs x and edges."""
    if edges.value is None or x.shape is None:
        return None
    sizes, pairs = list(sides), np.asarray(edges.value).reshape(-1, 2).tolist()
    count = int(np.prod(sizes, dtype=np.int64))
    padded = (x.shape[0] // count, *(n * s for n, s in zip(x.shape[1:], sizes)), *x.shape[1 + len(sizes):])
    whole = not np.any(edges.value)

    def actions(x: Any, *arrays: Any) -> Sequence[Action]:
        y = arrays[-1] if whole else arrays[-2]
        if not y.size:
            return ()
        work = y if whole else arrays[-1]
        target, source = _batch(work, x, sizes)
        return (ArrayCopy(source, target),) if whole else (ArrayCopy(source, target), ArrayCopy(work[_inside(padded, pairs)], y))
    return CudaKernel(actions, () if whole else (TensorSpec(padded, x.dtype),))


def _inside(padded: Sequence[int], pairs: Sequence[Sequence[int]]) -> tuple[slice, ...]:
    return (slice(None), *(slice(a, n - b) for n, (a, b) in zip(padded[1:], pairs)))


def _batch(wide: Any, many: Any, sizes: Sequence[int]) -> tuple[Any, Any]:
    """Both as (*blocks, N, *(S / blocks), ...)."""
    k, (n, *space) = len(sizes), wide.shape[:1 + len(sizes)]
    rest = wide.shape[1 + k:]
    split = wide.reshape(n, *(m for s, b in zip(space, sizes) for m in (s // b, b)), *rest)
    order = [*range(2, 2 * k + 1, 2), 0, *range(1, 2 * k + 1, 2), *range(2 * k + 1, split.ndim)]
    return split.transpose(order), many.reshape(*sizes, n, *(s // b for s, b in zip(space, sizes)), *rest)
