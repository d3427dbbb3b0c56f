"""What regularization adds to a score."""
from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import expression as ex
from .regularization import Regularization


class Penalties:
    """Terms of the score that depend on parameters alone, summed by one native call.

    Parameters
    ----------
    terms : pairs of a flat array, which changes in place, and what its entries are penalized by
    reference : whether NumPy does all of it

    Examples
    --------
    >>> from dl4py.samediff.training import L2Regularization
    >>> w = np.array([1.0, 2.0])
    >>> penalties = Penalties([(w, L2Regularization(0.1))])
    >>> penalties.values(0, 0)
    [0.25]
    """

    def __init__(self, terms: Sequence[tuple[Any, Regularization]], reference: bool = False) -> None:
        self.terms = list(terms)
        self._lock = threading.Lock()
        self._run: Any = None
        self._sums: dict[int, Any] = {}         # by the number of a term, where the native call leaves its sum
        if not reference:
            self._compile()

    def _compile(self) -> None:
        from ..executor.cpu.native.program import Segment
        found = {k: made for k, (array, term) in enumerate(self.terms) if (made := self._instruction(k, array, term)) is not None}
        if found:
            self._run = Segment(list(found.values()))

    def _instruction(self, k: int, array: Any, term: Regularization) -> Any:
        """The sum of a term over an array; None where NumPy has to do it."""
        from ..executor.cpu import Layout, elementwise_kernel
        from ..executor.layout import Reduction
        if not array.size or array.dtype.itemsize < 4 or type(term).penalty is Regularization.penalty:
            return None
        exprs = ex.trace(term.penalty, [array.dtype])
        kernel = elementwise_kernel(exprs, [Layout.same(1)], Reduction("sum"))
        if kernel is None:
            return None
        self._sums[k] = np.zeros(1, array.dtype)
        return kernel.instruction(kernel.views([array, self._sums[k]]))

    def values(self, iteration: int, epoch: int) -> list[float]:
        """Each term at that iteration."""
        with self._lock:
            if self._run is not None:
                self._run()
            found = []
            for k, (array, term) in enumerate(self.terms):
                strength, out = term.coefficient(iteration, epoch), self._sums.get(k)
                found.append(float(term.score(np, array.astype(np.float64), strength)) if out is None else strength * out.item())
            return found
