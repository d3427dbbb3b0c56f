"""Normalization and clipping of a layer's gradients, by their modes."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.java.java_enum import JavaEnum

__all__ = ["GradientNormalization", "normalize_gradients"]


class GradientNormalization(JavaEnum):
    """Modes of scaling or clipping a layer's gradient before regularization and updater."""

    None_ = "None"
    RenormalizeL2PerLayer = "RenormalizeL2PerLayer"
    RenormalizeL2PerParamType = "RenormalizeL2PerParamType"
    ClipElementWiseAbsoluteValue = "ClipElementWiseAbsoluteValue"
    ClipL2PerLayer = "ClipL2PerLayer"
    ClipL2PerParamType = "ClipL2PerParamType"


def normalize_gradients(xp: Any, mode: GradientNormalization | str | None, threshold: float,
                        gradients: Sequence[Any]) -> list[Any]:
    """Return the gradients of one layer's parameters, normalized together (PerLayer) or each alone.

    ``RenormalizeL2``: ``g / ||g||`` (a norm of 0 counts as 1e-5). ``ClipL2``: ``g * threshold / ||g||`` where the norm
    is above the threshold. ``ClipElementWiseAbsoluteValue``: into ``[-threshold, threshold]``. No branch looks at
    values, so the code can be traced.

    Parameters
    ----------
    xp : module
        NumPy, or what code is traced with.
    mode : GradientNormalization or str, optional
        None, as ``None_``, leaves them as they are.
    threshold : float
        The largest norm, or size of an element, that clipping leaves; without meaning for RenormalizeL2.
    gradients : sequence of array
        Those of all parameters of one layer.
    """
    mode = GradientNormalization(mode or "None") if not isinstance(mode, GradientNormalization) else mode
    if mode is GradientNormalization.None_ or not gradients:
        return list(gradients)
    if mode is GradientNormalization.ClipElementWiseAbsoluteValue:
        return [xp.minimum(xp.maximum(g, -threshold), threshold) for g in gradients]
    wide = [g.astype(np.float64) for g in gradients]            # whose range holds the squares of smaller types
    squares = [xp.sum(g * g) for g in wide]
    if mode.value.endswith("PerLayer"):
        total = squares[0]
        for s in squares[1:]:
            total = total + s
        squares = [total] * len(gradients)
    return [g * gradient_factor(xp, mode, xp.sqrt(s), threshold).astype(g.dtype) for g, s in zip(gradients, squares)]


def gradient_factor(xp: Any, mode: GradientNormalization, norm: Any, threshold: float) -> Any:
    """The factor for gradients of a given norm."""
    if mode.value.startswith("Renormalize"):
        return 1 / xp.where(norm == 0, norm + 1e-5, norm)
    return xp.where(norm > threshold, threshold / xp.where(norm > threshold, norm, norm * 0 + 1), norm * 0 + 1)
