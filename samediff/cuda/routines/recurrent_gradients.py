"""Gradients that all recurrent ops share: products for the weights over all steps, and sums for the biases."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...plans.actions import Action, ArrayCopy, KernelLaunch, ZeroFill
from ..sources import source, type_name
from .products import swapped, times

#: Rows that one share of a sum has at least, and shares.
_ROWS, _SHARES = 256, 64

#: Units whose weights stay in registers: so many words of 4 bytes for each thread.
KEPT = 96

#: Rows of a batch from which a block takes several.
MANY = 512

Specs = tuple[TensorSpec | None, ...]


def fits(given: Specs, mask: TensorSpec | None = None) -> bool:
    """Static, of one floating type, and small enough to be counted by int32; ``mask`` may have another type."""
    specs = [s for s in given if s is not None]
    if not all(s.is_static and s.dtype is specs[0].dtype for s in specs) or not specs[0].dtype.is_floating:
        return False
    (count, batch, _), units = specs[0].shape or (0, 0, 0), max((s.shape or (0,))[-1] for s in specs)
    return count * batch * units < 2 ** 30 and (mask is None or (mask.is_static and mask.dtype.is_numeric))


def kept_rows(units: int, batch: int, dtype: DataType, most: int) -> int:
    """Rows per block for a kernel of all steps that keeps the weights, ``most`` for a large batch; 0 if the weights are too many."""
    words = 2 if dtype is DataType.DOUBLE else 1
    return 0 if units * words > KEPT else most if batch >= MANY else 1


def wide(dtype: DataType) -> DataType:
    """The type that numbers are added up in."""
    return dtype if dtype is DataType.DOUBLE else DataType.FLOAT


def shares_of(rows: int) -> int:
    """Number of shares in which so many rows are summed."""
    return max(1, min(-(-rows // _ROWS), _SHARES))


def shares_spec(rows: int, columns: int, dtype: DataType) -> TensorSpec:
    """Spec of the workspace of :func:`column_sums`."""
    return TensorSpec((shares_of(rows), columns), wide(dtype))


def column_sums(x: Any, out: Any, workspace: Any) -> list[Action]:
    """out (columns) = x (rows, columns) summed over its rows; ``workspace`` has a row for each share."""
    if not x.shape[1]:
        return []
    if workspace.shape[0] == 1:
        return [summed(x, out)]
    return [summed(x, workspace, workspace.shape[0]), summed(workspace, out)]


def summed(x: Any, out: Any, shares: int = 1) -> KernelLaunch:
    """Rows added up in so many shares, each of which is a row of ``out``."""
    text = source("column_sums", X=type_name(x.dtype), Y=type_name(out.dtype))
    return KernelLaunch(text, "column_sums", (-(-x.shape[1] // 32), shares, 1), (32, 8, 1),
                        (x, out, np.int32(x.shape[0]), np.int32(x.shape[1])))


def rows(x: Any) -> Any:
    """(steps, batch, columns) as (steps * batch, columns)."""
    return x.reshape(x.shape[0] * x.shape[1], x.shape[2])


def input_gradients(x: Any, w: Any, dz: Any, dx: Any, dw: Any) -> list[Action]:
    """Products for the gradients of the inputs (``dx`` None: not wanted) and of the input weights."""
    wanted = [] if dx is None else times(rows(dz), swapped(w), rows(dx))
    return [*wanted, *times(swapped(rows(x)), rows(dz), dw)]


def recurrent_gradient(h0: Any, states: Any, dz: Any, drw: Any, reverse: bool = False) -> list[Action]:
    """Products for the gradient of the recurrent weights: states of the step before, transposed, times dz."""
    count = len(states)
    if not count:
        return [ZeroFill(drw)] if drw.size else []
    before, behind, first = (states[1:], dz[:-1], dz[-1]) if reverse else (states[:-1], dz[1:], dz[0])
    actions = times(swapped(rows(before)), rows(behind), drw)
    return actions if h0 is None else [*actions, *times(swapped(h0), first, drw, 1.0)]


def ended(source: Any, target: Any) -> list[Action]:
    """A copy, or zeros where there is no source."""
    if not target.size:
        return []
    return [ZeroFill(target) if source is None else ArrayCopy(source, target)]


def flag(value: Any) -> Any:
    """A truth value as an argument of a kernel."""
    return np.int32(bool(value))


def step_grid(size: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Grid and block for the units of all rows: small blocks, as steps are short."""
    return (max(1, min(-(-size // 128), 1 << 14)), 1, 1), (128, 1, 1)


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Representative kernels for tests: label, source."""
    yield "column sums", source("column_sums", X="half_t", Y="float")
