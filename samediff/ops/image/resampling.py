"""Weights with which the pixels of a resized axis are made from those of the old one: matrices (new, old)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def _triangle(x: Array) -> Array:
    share: Array = np.maximum(0, 1 - abs(x))
    return share


def _cubic(b: float, c: float) -> Callable[[Array], Array]:
    """The family of Mitchell and Netravali (1988); b = 0 gives the one of Keys (1981) with a = -c."""
    def kernel(x: Array) -> Array:
        x = abs(x)
        near = (12 - 9 * b - 6 * c) * x**3 + (-18 + 12 * b + 6 * c) * x**2 + 6 - 2 * b
        far = (-b - 6 * c) * x**3 + (6 * b + 30 * c) * x**2 + (-12 * b - 48 * c) * x + 8 * b + 24 * c
        return np.where(x < 1, near, np.where(x < 2, far, 0)) / 6
    return kernel


def _lanczos(radius: float) -> Callable[[Array], Array]:
    return lambda x: np.where(abs(x) < radius, np.sinc(x) * np.sinc(x / radius), 0)


def _gaussian(x: Array) -> Array:
    return np.where(abs(x) < 1.5, np.exp(-2 * x * x), 0)


#: Kernels by method name.
KERNELS: dict[str, Callable[[Array], Array]] = {
    "ResizeBilinear": _triangle, "ResizeBicubic": _cubic(0, 0.5), "ResizeGaussian": _gaussian, "ResizeLanczos3": _lanczos(3),
    "ResizeLanczos5": _lanczos(5), "ResizeMitchellcubic": _cubic(1 / 3, 1 / 3),
}


def by_kernel(old: int, new: int, kernel: Callable[[Array], Array], antialias: bool) -> Array:
    """Samples at half-pixel centres; weights normalized to sum 1."""
    step = old / new
    width = max(step, 1.0) if antialias else 1.0
    distance = np.arange(old)[None, :] + 0.5 - (np.arange(new)[:, None] + 0.5) * step
    return normalized(kernel(distance / width))


def normalized(weights: Array) -> Array:
    """The weights with rows scaled to sum 1."""
    total = weights.sum(axis=1, keepdims=True)
    return weights / np.where(total == 0, 1, total)


def nearest(old: int, new: int) -> Array:
    """Weights that pick the old pixel under each new pixel's centre."""
    return picked(np.minimum(np.floor((np.arange(new) + 0.5) * old / new), old - 1), old)


def picked(index: Array, old: int) -> Array:
    """Weights that pick one old pixel for each new one."""
    return np.eye(old)[index.astype(np.int64)]


def area(old: int, new: int) -> Array:
    """Weights that average the old pixels a new one covers."""
    edges = np.arange(new + 1) * old / new
    low, high = np.maximum(edges[:-1, None], np.arange(old)), np.minimum(edges[1:, None], np.arange(1, old + 1))
    return normalized(np.maximum(high - low, 0))


def positions(old: int, new: int, align_corners: bool, half_pixel: bool) -> Array:
    """Coordinates of the new pixels in the old axis."""
    i = np.arange(new)
    if half_pixel:
        return (i + 0.5) * old / new - 0.5
    return i * ((old - 1) / (new - 1) if align_corners and new > 1 else old / new)


def linear_at(where: Array, old: int) -> Array:
    """Linear interpolation at positions, which are moved into the axis."""
    return _triangle(np.arange(old) - np.clip(where, 0, old - 1)[:, None])


#: Cubic weights are those of positions rounded to this part of a pixel, as in DL4J's and TensorFlow's tables.
STEPS = 1024


def cubic_at(where: Array, old: int, a: float, clamped: bool) -> Array:
    """Cubic interpolation (Keys 1981) at positions; beyond the border its pixel counts again, or none with ``clamped`` False."""
    kernel, weights = _cubic(0, -a), np.zeros((len(where), old))
    first = np.floor(where).astype(np.int64)
    where = first + np.rint((where - first) * STEPS) / STEPS
    for k in range(-1, 3):
        share = kernel(where - (first + k))
        inside = (first + k >= 0) & (first + k < old)
        np.add.at(weights, (np.arange(len(where)), np.clip(first + k, 0, old - 1)), share if clamped else np.where(inside, share, 0))
    return weights if clamped else normalized(weights)


def _between(old: int, new: int, low: float, high: float) -> tuple[Array, Array]:
    """Positions from end to end, the middle for one; and which lie in the axis."""
    where = np.linspace(low, high, new) if new > 1 else np.full(new, 0.5 * (low + high))
    where = where * (old - 1)
    return where, (where >= 0) & (where <= old - 1)


def crop(old: int, new: int, low: float, high: float) -> Array:
    """Linear interpolation of a part between relative ends; rows of positions outside are 0."""
    where, inside = _between(old, new, low, high)
    return linear_at(where, old) * inside[:, None]


def nearest_crop(old: int, new: int, low: float, high: float) -> Array:
    """The nearest pixel of a part between relative ends; rows of positions outside are 0."""
    where, inside = _between(old, new, low, high)
    return picked(np.clip(np.floor(where + 0.5), 0, old - 1), old) * inside[:, None]
