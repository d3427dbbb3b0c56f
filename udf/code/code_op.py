"""Protocol of an op as shape rules, gradients and calls of user-defined ops use it."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar

from ...samediff.errors import GraphError
from ...samediff.families.elementwise import Elementwise
from ...samediff.ir.run_context import RunContext


class CodeOp(Elementwise):
    """An op that is what the code of its user does."""

    raw_compute: ClassVar[Callable[..., Any]]
    numba_gradient: ClassVar[Any] = None
    cuda_gradient: ClassVar[str | None] = None
    saved: ClassVar[int] = 0
    #: ``grad`` as it was written: array code, or nodes where kernels take its place.
    array_gradient: ClassVar[Any] = None
    node_gradient: ClassVar[Any] = None
    gradient_takes_training: ClassVar[bool] = False

    @classmethod
    def has_cpu(cls) -> bool:
        """True when a kernel was written for it."""
        raise NotImplementedError

    @classmethod
    def has_coded_gradient(cls) -> bool:
        """True when its gradient is array code or a kernel."""
        return cls.array_gradient is not None or cls.numba_gradient is not None or cls.cuda_gradient is not None

    def seen(self, results: Any) -> Any:
        """The results that others see: one, or several."""
        kept = results[:max(len(results) - self.saved, 0)] if isinstance(results, (list, tuple)) else ()
        if not kept:
            raise GraphError(f"op {self.id!r}: saved={self.saved} keeps its last outputs for the gradient; it has to return more")
        return kept[0] if len(kept) == 1 else kept

    def on_trial(self) -> Callable[..., Any]:
        """The code as a function of the namespace and arrays, also where it is stateful."""
        return functools.partial(self.raw_compute, context=RunContext(True, 0, 0).at("trial")) if self.stateful else self.raw_compute

    @classmethod
    def has_infer(cls) -> bool:
        """True when a shape rule was written for it."""
        raise NotImplementedError

    @classmethod
    def ambiguous(cls, count: int) -> bool:
        """True when ``count`` inputs do not tell which optional ones are left out."""
        names = cls.inputs.split()
        return count < len(names) and sum(n.endswith("?") for n in names) > 1
