"""Scaling and normalization of a layer's gradients as loops over flat arrays."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...expressions import expression as ex
from ...plans.backend import CompiledLoops, host_backend
from ...plans.loops import Loops
from .gradient_normalization import GradientNormalization, gradient_factor


class NormalizeKernel:
    """Normalization of the gradients of one layer, in place, before regularization and updater.

    Parameters
    ----------
    mode : GradientNormalization
    threshold : float
    gradients : flat arrays, of float32 or float64, one for each parameter
    scaled : which of them are multiplied by the scale first
    """

    def __init__(self, mode: GradientNormalization, threshold: float, gradients: Sequence[Any], scaled: Sequence[bool]) -> None:
        self.mode, self.threshold = mode, threshold
        self._dtype = gradients[0].dtype
        self._scale, self._one = np.ones(1, self._dtype), np.ones(1, self._dtype)
        self._gradients = list(gradients)
        self._scales = [self._scale if s else self._one for s in scaled]
        self._squares = [np.zeros(1, np.float64) for _ in self._gradients]

    def set_scale(self, scale: float) -> None:
        """Set the factor by which gradients are multiplied."""
        self._scale[0] = scale

    @property
    def scale(self) -> Any:
        """The array of one number that :meth:`set_scale` sets."""
        return self._scale

    def compile_for(self, loops: Loops) -> list[Any]:
        """The loops of the normalization for a device, in order."""
        if self.mode is GradientNormalization.None_:
            return [self._each(loops, lambda xp, g, s: g * s, g, s) for g, s in zip(self._gradients, self._scales) if s is self._scale]
        if self.mode is GradientNormalization.ClipElementWiseAbsoluteValue:
            top = self.threshold
            return [self._each(loops, lambda xp, g, s: xp.minimum(xp.maximum(g * s, -top), top), g, s)
                    for g, s in zip(self._gradients, self._scales)]
        squared = ex.trace(_squared, [self._dtype] * 2)
        made = [loops.total(squared, [g, s], out) for g, s, out in zip(self._gradients, self._scales, self._squares)]
        together = self.mode.value.endswith("PerLayer")
        for k, (g, s) in enumerate(zip(self._gradients, self._scales)):
            made.append(self._each(loops, self._normalized, g, s, *(self._squares if together else self._squares[k:k + 1])))
        return made

    def _normalized(self, xp: Any, g: Any, s: Any, *squares: Any) -> Any:
        total = squares[0]
        for other in squares[1:]:
            total = total + other
        return g * s * gradient_factor(xp, self.mode, xp.sqrt(total), self.threshold).astype(g.dtype)

    def _each(self, loops: Loops, rule: Callable[..., Any], g: Any, *scalars: Any) -> Any:
        """A loop that replaces the entries of ``g`` by a rule."""
        return loops.each(ex.trace(rule, [a.dtype for a in (g, *scalars)]), [g, *scalars], [g])


def _squared(xp: Any, g: Any, s: Any) -> Any:
    wide = (g * s).astype(np.float64)
    return wide * wide


class Normalization:
    """The kernels of all layers as one program."""

    def __init__(self, kernels: Sequence[NormalizeKernel]) -> None:
        self.kernels = list(kernels)
        self._programs = CompiledLoops()

    @property
    def numbers(self) -> list[Any]:
        """The arrays of one number that :meth:`set_scale` sets."""
        return [kernel.scale for kernel in self.kernels]

    def set_scale(self, scale: float) -> None:
        """Set the factor by which gradients are multiplied."""
        for kernel in self.kernels:
            kernel.set_scale(scale)

    def compile_for(self, loops: Loops) -> list[Any]:
        """The loops of all layers' normalization for a device, in order."""
        return [part for kernel in self.kernels for part in kernel.compile_for(loops)]

    def __call__(self, scale: float) -> None:
        """Scale and normalize all gradients."""
        self.set_scale(scale)
        self._programs.of(host_backend(), lambda loops: dict(enumerate(self.compile_for(loops))))()
