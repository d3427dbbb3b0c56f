"""Penalties that regularization adds to a score."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.locks import rlock
from ...device.device_memory import to_host
from ...expressions import expression as ex
from ...plans.backend import CompiledLoops, present_backend
from ...plans.loops import Loops
from .regularization import Regularization


class Penalties:
    """Terms of the score that depend on parameters alone, summed by one program of the back end.

    Parameters
    ----------
    terms : pairs of a flat array, which changes in place, and what its entries are penalized by
    reference : whether NumPy does all of it, where the parameters are on the host

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
        self._lock = rlock()
        numbers = {array.dtype: np.zeros(len(self.terms), array.dtype) for array, _ in self.terms}
        self.sums = [numbers[array.dtype][k:k + 1] for k, (array, _) in enumerate(self.terms)]
        self._reference = reference
        self._programs = CompiledLoops()

    def compile_for(self, loops: Loops) -> dict[int, Any]:
        """The loops that sum terms on a device into :attr:`sums`, by the number of the term; NumPy sums those that are None."""
        return {k: self._made(loops, array, term, self.sums[k]) for k, (array, term) in enumerate(self.terms)}

    def _made(self, loops: Loops, array: Any, term: Regularization, out: Any) -> Any:
        if not array.size or array.dtype.itemsize < 4 or type(term).penalty is Regularization.penalty:
            return None
        return loops.total(ex.trace(term.penalty, [array.dtype]), [array], out)

    def values(self, iteration: int, epoch: int) -> list[float]:
        """The value of each term at an iteration."""
        with self._lock:
            sums = self._summed()
            found = []
            for k, (array, term) in enumerate(self.terms):
                strength, out = term.coefficient(iteration, epoch), sums.get(k)
                found.append(float(term.score(np, array.astype(np.float64), strength)) if out is None else strength * to_host(out).item())
            return found

    def _summed(self) -> dict[int, Any]:
        """The sums that compiled code makes, by the number of the term."""
        backend = present_backend()
        program = None if self._reference and backend.on_host else self._programs.of(backend, self.compile_for)
        made = {} if program is None else program.made
        for k, (array, _) in enumerate(self.terms):
            if k not in made:
                to_host(array)
        if program is not None and made:
            program()
        return {k: self.sums[k] for k in made}
