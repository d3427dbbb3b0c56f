"""What shape rules, gradients and calls of user-defined ops ask of an op."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..samediff.families.elementwise import Elementwise


class CodeOp(Elementwise):
    """An op that is what the code of its user does."""

    raw_compute: ClassVar[Callable[..., Any]]

    @classmethod
    def has_cpu(cls) -> bool:
        """True when a kernel was written for it."""
        raise NotImplementedError

    @classmethod
    def has_infer(cls) -> bool:
        """True when a shape rule was written for it."""
        raise NotImplementedError

    @classmethod
    def ambiguous(cls, count: int) -> bool:
        """True when ``count`` inputs do not tell which optional ones are left out."""
        names = cls.inputs.split()
        return count < len(names) and sum(n.endswith("?") for n in names) > 1
