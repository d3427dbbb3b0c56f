"""Ops that leave out what nobody reads."""
from __future__ import annotations

from collections.abc import Sequence

from ..ir.op import Op


class Partial(Op):
    """An op of several outputs that is cheaper where some of them are not read."""

    def when_read(self, read: Sequence[bool]) -> Op:
        """The op that takes its place where only these outputs are read; what it makes of the others means nothing."""
        raise NotImplementedError(f"{type(self).__name__} must implement when_read(self, read)")
