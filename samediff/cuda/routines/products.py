"""Actions of matrix products on a device."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...base.spec import Shape, TensorSpec
from ...plans.actions import Action, MatrixProduct, ZeroFill


def served(*specs: TensorSpec) -> bool:
    """Whether shapes are known and all of one floating type."""
    return all(s.is_static and s.dtype is specs[0].dtype for s in specs) and specs[0].dtype.is_floating


def times(a: Any, b: Any, out: Any, beta: float = 0.0) -> list[Action]:
    """The actions of ``out = a @ b + beta * out``; ``out`` is contiguous, ``a`` and ``b`` may be transposed."""
    if not out.size or (beta == 1.0 and not a.shape[-1]):
        return []
    return [MatrixProduct(a, b, out, 1.0, beta)] if a.shape[-1] else [ZeroFill(out)]


def swapped(x: Any) -> Any:
    """The last two axes exchanged."""
    return x.swapaxes(-1, -2)


def repeated(x: Any, batch: Shape) -> Any:
    """Matrices as a batch of this shape."""
    return x if x.shape[:-2] == batch else np.broadcast_to(x, (*batch, *x.shape[-2:]))       # CuPy answers for its arrays
