"""Penalties that regularization adds to a score."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.locks import rlock
from ...cpu.code.loops import Loops, NativeLoops
from ...device import devices
from ...device.device_memory import to_host
from ...device.devices import Device
from ...expressions import expression as ex
from .device_program import DeviceProgram
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
        self._lock = rlock()
        numbers = {array.dtype: np.zeros(len(self.terms), array.dtype) for array, _ in self.terms}
        self.sums = [numbers[array.dtype][k:k + 1] for k, (array, _) in enumerate(self.terms)]
        self._elsewhere: dict[Device, DeviceProgram] = {}
        self._run: Any = None
        self._sums: dict[int, Any] = {}         # by the number of a term, where the native call leaves its sum
        if not reference:
            self._compile()

    def _compile(self) -> None:
        from ...cpu.native.program import Program
        found = self.made_by(NativeLoops())
        if found:
            self._run = Program(list(found.values()))
            self._sums = {k: self.sums[k] for k in found}

    def made_by(self, loops: Loops) -> dict[int, Any]:
        """What sums terms on the device of ``loops``, into :attr:`sums`, by the number of the term; NumPy does those that are left out."""
        made = {k: self._made(loops, array, term, self.sums[k]) for k, (array, term) in enumerate(self.terms)}
        return {k: m for k, m in made.items() if m is not None}

    def _made(self, loops: Loops, array: Any, term: Regularization, out: Any) -> Any:
        if not array.size or array.dtype.itemsize < 4 or type(term).penalty is Regularization.penalty:
            return None
        return loops.total(ex.trace(term.penalty, [array.dtype]), [array], out)

    def values(self, iteration: int, epoch: int) -> list[float]:
        """Each term at that iteration."""
        with self._lock:
            sums = self._summed()
            found = []
            for k, (array, term) in enumerate(self.terms):
                strength, out = term.coefficient(iteration, epoch), sums.get(k)
                found.append(float(term.score(np, array.astype(np.float64), strength)) if out is None else strength * to_host(out).item())
            return found

    def _summed(self) -> dict[int, Any]:
        """The sums that compiled code makes, by the number of the term."""
        if devices.active and not devices.current_device().on_host:
            return self._summed_on(devices.current_device())
        for array, _ in self.terms:
            to_host(array)
        if self._run is not None:
            self._run()
        return self._sums

    def _summed_on(self, where: Device) -> dict[int, Any]:
        program = self._elsewhere.get(where)
        if program is None:
            program = self._elsewhere[where] = DeviceProgram(where, self.made_by)
        program()
        for k, (array, _) in enumerate(self.terms):
            if k not in program.made:
                to_host(array)
        return {k: self.sums[k] for k in program.made}
