"""Layout of the operands of an elementwise kernel over its index space."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..errors import GraphError, ShapeError

REDUCTIONS = ("sum", "mean", "max", "min", "prod")


@dataclass(frozen=True)
class OperandLayout:
    """Along which dimensions of the index space an operand varies, and which neighbours lie in one run of memory.

    Attributes
    ----------
    varies : tuple of bool
        One entry for each dimension of the index space; False where the operand is broadcast.
    joins : tuple of bool or None
        For each dimension but the last, whether it and the next one have one common stride; None: C-contiguous.
    """

    varies: tuple[bool, ...]
    joins: tuple[bool, ...] | None = None

    @property
    def dense(self) -> bool:
        """True for a C-contiguous operand."""
        return self.joins is None

    @staticmethod
    def same(ndim: int) -> OperandLayout:
        """An operand of the shape of the index space."""
        return OperandLayout((True,) * ndim)

    @staticmethod
    def scalar(ndim: int) -> OperandLayout:
        """The layout of an array of one element, which is read for every index."""
        return OperandLayout((False,) * ndim)

    @staticmethod
    def of(shape: Sequence[int], space: Sequence[int]) -> OperandLayout:
        """A contiguous operand of ``shape`` broadcast to ``space`` (NumPy's rule; -1 is a size not known yet).

        Examples
        --------
        >>> OperandLayout.of((4,), (-1, 4)).varies
        (False, True)
        """
        missing = len(space) - len(shape)
        if missing < 0:
            raise ShapeError(f"an operand of shape {tuple(shape)} does not fit an index space of shape {tuple(space)}")
        for a, b in zip(shape, space[missing:]):
            if a not in (1, -1) and b not in (a, -1):
                raise ShapeError(f"an operand of shape {tuple(shape)} does not broadcast to {tuple(space)}")
        return OperandLayout((False,) * missing + tuple(a != 1 or b == 1 for a, b in zip(shape, space[missing:])))

    @staticmethod
    def strided(shape: Sequence[int], strides: Sequence[int], space: Sequence[int]) -> OperandLayout:
        """A view of ``shape`` and ``strides`` (in bytes, or any unit) broadcast to ``space``."""
        varies = OperandLayout.of(shape, space).varies
        missing = len(space) - len(shape)
        joins = tuple(i >= missing and strides[i - missing] == strides[i + 1 - missing] * shape[i + 1 - missing]
                      for i in range(len(space) - 1))
        return OperandLayout(varies, joins)


@dataclass(frozen=True)
class OutputReduction:
    """The reduction of an output: its sum, mean, max, min or product over axes of the index space (None: all)."""

    kind: Literal["sum", "mean", "max", "min", "prod"]
    axes: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.kind not in REDUCTIONS:
            raise GraphError(f"expected a reduction of {', '.join(REDUCTIONS)}; got {self.kind!r}")

    def kept(self, ndim: int) -> tuple[bool, ...]:
        """For each dimension, whether the result still has it after the reduction."""
        gone = set(range(ndim)) if self.axes is None else {a % ndim for a in self.axes}
        return tuple(i not in gone for i in range(ndim))


def collapse(ndim: int, layouts: Sequence[OperandLayout]) -> list[tuple[int, int]]:
    """Ranges of dimensions that one loop can run over, because all operands treat them alike."""
    ranges: list[tuple[int, int]] = []
    for i in range(ndim):
        joined = i > 0 and all(l.varies[i] == l.varies[i - 1] and (l.joins is None or l.joins[i - 1] or not l.varies[i])
                               for l in layouts)
        if joined:
            ranges[-1] = (ranges[-1][0], i + 1)
        else:
            ranges.append((i, i + 1))
    return ranges
