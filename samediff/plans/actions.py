"""Actions of a step on a device: launches of CUDA functions, matrix products, copies."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..base.spec import TensorSpec

Triple = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class KernelLaunch:
    """One call of a CUDA function.

    Parameters
    ----------
    source : CUDA C text (:func:`.sources.source`); the prelude goes before it
    name : of an ``extern "C" __global__`` function in it
    grid, block : numbers of blocks and of threads in a block
    args : arrays of the device, which the function takes as pointers to their first element, and NumPy scalars of exactly the
        types that it declares (``np.int64`` for ``long long``)
    shared : bytes of dynamic shared memory
    """

    source: str
    name: str
    grid: Triple
    block: Triple
    args: tuple[Any, ...]
    shared: int = 0


@dataclass(frozen=True, eq=False)
class MatrixProduct:
    """``out = alpha * a @ b + beta * out`` of arrays (*B, m, k), (*B, k, n) and (*B, m, n) of one floating type.

    ``a`` and ``b`` may be transposed views; leading axes are those of a batch, of stride 0 where a matrix is repeated.
    """

    a: Any
    b: Any
    out: Any
    alpha: float = 1.0
    beta: float = 0.0


@dataclass(frozen=True, eq=False)
class ArrayCopy:
    """``target[...] = source`` between arrays of one type and shape on the device; either may be any view."""

    source: Any
    target: Any


@dataclass(frozen=True, eq=False)
class ZeroFill:
    """Fill a contiguous array with zero bytes."""

    target: Any


Action = KernelLaunch | MatrixProduct | ArrayCopy | ZeroFill


@dataclass(frozen=True)
class CudaKernel:
    """The kernel of an op on a device.

    ``actions(*inputs, *outputs, *workspace)`` is given arrays of the device in their final layout: all are C-contiguous
    (the executor copies what is not). Left-out inputs are None. ``workspace`` lists arrays that are needed besides. Nothing may be
    allocated and no value looked at: the same actions run again and again on other values, possibly as one CUDA graph.
    """

    actions: Callable[..., Sequence[Action]]
    workspace: tuple[TensorSpec, ...] = ()
