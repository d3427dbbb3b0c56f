"""Copies of objects with state: they share nothing with the original."""
from __future__ import annotations

import copy
from typing import Self


class CopiedWhole:
    """``copy.copy`` gives an independent object, as ``copy.deepcopy`` does: half of a count must not go on in another one.

    Examples
    --------
    >>> class Seen(CopiedWhole):
    ...     def __init__(self):
    ...         self.names = []
    >>> first = Seen()
    >>> copy.copy(first).names.append("x")
    >>> first.names
    []
    """

    def __copy__(self) -> Self:
        return copy.deepcopy(self)
