"""The spread of initial weights as a function of the fans: one table for layers and graphs.

``fan_in`` and ``fan_out`` are the numbers of inputs and outputs that one weight's unit sees; ``scale`` is the factor of
the variance-scaling family (1 where none is given).
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigurationError

Spread = Callable[[float, float, float], float]

NORMAL_STD: dict[str, Spread] = {       # standard deviation of N(0, std^2)
    "xavier": lambda i, o, s: math.sqrt(2.0 / (i + o)),
    "fan_in": lambda i, o, s: math.sqrt(s / i),
    "fan_out": lambda i, o, s: math.sqrt(s / o),
    "fan_avg": lambda i, o, s: math.sqrt(2.0 * s / (i + o)),
    "relu": lambda i, o, s: math.sqrt(2.0 / i),
}

UNIFORM_LIMIT: dict[str, Spread] = {    # a of U(-a, a)
    "xavier": lambda i, o, s: math.sqrt(6.0 / (i + o)),
    "relu": lambda i, o, s: math.sqrt(6.0 / i),
    "sigmoid": lambda i, o, s: 4.0 * math.sqrt(6.0 / (i + o)),
    "plain": lambda i, o, s: 1.0 / math.sqrt(i),
    "fan_in": lambda i, o, s: s * 3.0 / math.sqrt(i),
    "fan_out": lambda i, o, s: s * 3.0 / math.sqrt(o),
    "fan_avg": lambda i, o, s: s * 3.0 / math.sqrt((i + o) / 2.0),
}


def spread(table: dict[str, Spread], rule: str, fan_in: float, fan_out: float, scale: float | None = None) -> float:
    """Return the spread of ``rule``; fans that are not positive raise :class:`ConfigurationError`."""
    try:
        return table[rule](fan_in, fan_out, 1.0 if scale is None else scale)
    except (ZeroDivisionError, ValueError):
        raise ConfigurationError(f"weight initialisation needs positive fans and scale; got fan_in={fan_in}, "
                                 f"fan_out={fan_out}, scale={scale}: are n_in and n_out set?") from None


def identity(shape: tuple[int, ...], scale: float = 1.0) -> NDArray[np.float64]:
    """Return ``scale`` times the identity: a matrix, or convolution kernels whose centre taps are the identity.

    Shapes: (n, n), or (n, n, *kernel) with odd kernel sizes.
    """
    if len(shape) < 2 or shape[0] != shape[1]:
        raise ConfigurationError("IDENTITY initialisation needs a square matrix, or kernels with as many outputs as "
                                 f"inputs; got shape {list(shape)}")
    if any(k % 2 == 0 for k in shape[2:]):
        raise ConfigurationError(f"IDENTITY initialisation needs odd kernel sizes; got shape {list(shape)}")
    out = np.zeros(shape)
    index: list[Any] = [np.arange(shape[0])] * 2 + [k // 2 for k in shape[2:]]
    out[tuple(index)] = scale
    return out
