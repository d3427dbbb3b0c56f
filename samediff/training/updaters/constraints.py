"""Constraints on parameters after an update, as functions of one array.

``dimensions`` are the axes that a norm runs over: (1,) is a row of a dense weight matrix, (1, 2, 3) a filter of a
convolution. The norm constraints divide by ``norm + epsilon``, as DL4J does, so that a vector within the limits still
shrinks by about one part in a million.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import ConfigurationError, ShapeError

__all__ = ["max_norm", "min_max_norm", "non_negative", "unit_norm"]

EPSILON = 1e-6


def max_norm(xp: Any, param: Any, limit: float, dimensions: Sequence[int], epsilon: float = EPSILON) -> Any:
    """Return ``w * min(norm, limit) / (norm + epsilon)``.

    Parameters
    ----------
    xp : module
        NumPy, or what stands for it while code is traced.
    param : array
        The parameter; a new array is returned.
    limit : float
        The largest norm.
    dimensions : tuple of int
        Those that a norm runs over.
    epsilon : float
        Added to norms before they divide.
    """
    norm = vector_norm(xp, param, dimensions)
    return param * (xp.minimum(norm, limit) / (norm + epsilon))


def min_max_norm(xp: Any, param: Any, low: float, high: float, rate: float, dimensions: Sequence[int],
                 epsilon: float = EPSILON) -> Any:
    """Return ``w * (rate * clip(norm, low, high) / (norm + epsilon) + (1 - rate) * (norm + epsilon))``, DL4J's factor.

    With ``rate = 1`` that is the clipped norm; below 1 one would expect ``(1 - rate)`` alone as the second term.

    Parameters
    ----------
    xp : module
        NumPy, or what stands for it while code is traced.
    param : array
        The parameter; a new array is returned.
    low, high : float
        Smallest and largest norm.
    rate : float
        Share of the clipped norm; 1 takes it alone.
    dimensions : tuple of int
        Those that a norm runs over.
    epsilon : float
        Added to norms before they divide.
    """
    if low > high:
        raise ConfigurationError(f"min_max_norm: min={low} is above max={high}")
    norm = vector_norm(xp, param, dimensions)
    factor = xp.minimum(xp.maximum(norm, low), high) / (norm + epsilon)
    return param * (factor if rate == 1 else rate * factor + (1 - rate) * (norm + epsilon))


def unit_norm(xp: Any, param: Any, dimensions: Sequence[int]) -> Any:
    """Return ``w / norm``; a vector of zeros, which has no direction, stays.

    Parameters
    ----------
    xp : module
        NumPy, or what stands for it while code is traced.
    param : array
        The parameter; a new array is returned.
    dimensions : tuple of int
        Those that a norm runs over.
    """
    norm = vector_norm(xp, param, dimensions)
    return param / xp.where(norm == 0, 1, norm).astype(param.dtype)


def non_negative(xp: Any, param: Any) -> Any:
    """Return ``max(w, 0)``.

    Parameters
    ----------
    xp : module
        NumPy, or what stands for it while code is traced.
    param : array
        The parameter; a new array is returned.
    """
    return xp.maximum(param, 0)


def vector_norm(xp: Any, param: Any, dimensions: Sequence[int]) -> Any:
    """Return the Euclidean norm over the axes, which stay with length 1."""
    axes = tuple(dimensions)
    for axis in axes:
        if not -param.ndim <= axis < param.ndim:
            raise ShapeError(f"a norm constraint over dimension {axis} does not fit a parameter of shape "
                             f"{tuple(param.shape)}: its dimensions are 0 to {param.ndim - 1}")
    largest = xp.max(abs(param), axis=axes, keepdims=True)
    scale = xp.where((largest > 0) & (largest < xp.inf), largest, 1).astype(param.dtype)      # their squares stay in the range
    shares = (param / scale).astype(np.result_type(param.dtype, np.float32))        # sums of 16 bits would stop growing
    return scale * xp.sqrt(xp.sum(shares * shares, axis=axes, keepdims=True)).astype(param.dtype)
