"""Ops that leave out what nobody reads."""
from __future__ import annotations

from collections.abc import Sequence

from ..ir.op import Op


class PrunableOutputs(Op):
    """An op of several outputs that is cheaper where some of them are not read."""

    def with_live_outputs(self, read: Sequence[bool]) -> Op:
        """The op that takes its place where only these outputs are read; its other outputs mean nothing."""
        raise NotImplementedError(f"{type(self).__name__} must implement with_live_outputs(self, read)")
