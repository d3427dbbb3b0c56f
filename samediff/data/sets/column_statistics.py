"""Statistics of features per column or channel, and the affine maps that follow from them."""
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from ...base.datatype import is_floating
from ...errors import ConfigurationError, ShapeError
from ...expressions.arrays import require_numbers
from .affine import affine
from .dataset_arrays import Array

CHUNK = 1 << 17     # values of one step of the statistics
SMALLEST = 1e-5     # ND4J's floor of deviations and ranges: constant columns are not divided by zero


def rows(array: Array, mask: Array | None, what: str) -> Array:
    """The values as float64 rows of one column per feature (axis 1); masked time steps are left out."""
    if array.ndim < 2:
        raise ShapeError(f"normalizers need {what} of rank 2 or more, got shape {array.shape}")
    moved = np.moveaxis(np.asarray(require_numbers(array, f"normalizing {what}")), 1, -1)
    if array.ndim == 3 and mask is not None:
        moved = moved[np.asarray(mask).reshape(moved.shape[:2]) > 0]
    return moved.reshape(-1, array.shape[1]).astype(np.float64)


def check_widths(batches: list[tuple[Array, Array | None]], what: str) -> None:
    """ShapeError for batches of different numbers of columns."""
    widths = {0 if array is None else array.shape[1] for array, _ in batches if array is None or array.ndim > 1}
    if len(widths) > 1 or 0 in widths:
        raise ShapeError(f"all batches need {what} of the same number of columns, got {sorted(widths)}")


def chunks(array: Array, mask: Array | None, what: str) -> Iterator[Array]:
    """The rows of a batch, a part that fits the cache at a time; empty parts are left out."""
    step = max(1, CHUNK * len(array) // max(1, array.size))
    for i in range(0, len(array), step):
        part = rows(array[i:i + step], None if mask is None else mask[i:i + step], what)
        if len(part):
            yield part


def mapped(array: Array, mask: Array | None, scale: Array, shift: Array) -> Array:
    """``array * scale + shift`` along axis 1; masked time steps become 0."""
    if array.ndim < 2 or array.shape[1] != scale.size:
        raise ShapeError(f"the normalizer was fitted to {scale.size} features, got shape {array.shape}")
    if array.ndim != 3 or mask is None:
        return affine(array, scale, shift)
    with np.errstate(over="ignore", invalid="ignore"):      # masked steps may hold anything
        out = affine(array, scale, shift)
    out[np.broadcast_to(np.asarray(mask).reshape(array.shape[0], 1, array.shape[2]) <= 0, out.shape)] = 0
    return out


@dataclass(eq=False)
class Statistics:
    """Two rows of numbers per feature, which do not change. Shapes: (1, features) each."""

    first: Array
    second: Array
    _maps: dict[Any, tuple[Array, Array]] = field(default_factory=dict, init=False, repr=False, compare=False)

    names: ClassVar[tuple[str, str]]

    def __post_init__(self) -> None:
        self.first, self.second = (np.array(v) for v in (self.first, self.second))
        for row in (self.first, self.second):
            row.flags.writeable = False         # the maps of all batches follow from them

    @classmethod
    def collect(cls, batches: list[tuple[Array, Array | None]], what: str) -> Self:
        """The statistics of all batches of (array, mask) together."""
        return cls.combined([cls.partial(batches, what)], what)

    @classmethod
    @abstractmethod
    def partial(cls, batches: list[tuple[Array, Array | None]], what: str) -> Partial | None:
        """The statistics of some of the batches, to be combined with those of others; None where nothing counts."""

    @classmethod
    @abstractmethod
    def combined(cls, partials: Iterable[Partial | None], what: str) -> Self:
        """The statistics of all batches from those of their parts."""

    @abstractmethod
    def affine(self, low: float, high: float) -> tuple[Array, Array]:
        """Scale and shift of the map."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and np.array_equal(self.first, other.first) and np.array_equal(self.second, other.second)

    __hash__ = None  # type: ignore[assignment]

    def map(self, low: float, high: float, inverse: bool = False) -> tuple[Array, Array]:
        """Scale and shift of the map or its inverse, computed once."""
        key = low, high, inverse
        found = self._maps.get(key)
        if found is None:
            scale, shift = self.affine(low, high)
            found = self._maps[key] = (1 / scale, -shift / scale) if inverse else (scale, shift)
        return found


class Partial(NamedTuple):
    """The statistics of some batches: number of rows, mean and sum of squared deviations, or smallest and largest values."""

    number: int
    first: Array
    second: Array
    dtype: Any


def _same_width(partials: Iterable[Partial | None], what: str) -> list[Partial]:
    """The partial statistics there are; an error for none, and for those of different numbers of columns."""
    parts = [p for p in partials if p is not None]
    if not parts:
        raise ConfigurationError(f"nothing to fit: no {what} that are not masked")
    widths = {p.first.size for p in parts}
    if len(widths) > 1:
        raise ShapeError(f"all batches need {what} of the same number of columns, got {sorted(widths)}")
    return parts


def _together(parts: Iterable[tuple[int, Array, Array]]) -> tuple[int, Array, Array]:
    """Moments of all parts by Chan's update: any number of parts gives the result of one."""
    count, mean, squares = 0, np.zeros(1), np.zeros(1)
    for size, own, own_squares in parts:
        difference, total = own - mean, count + size
        squares = squares + own_squares + difference**2 * (count * size / total)
        mean, count = mean + difference * (size / total), total
    return count, mean, squares


def _row(values: Array, dtype: Any) -> Array:
    return values.reshape(1, -1).astype(dtype if is_floating(dtype) else np.float32)


def _moments(batches: list[tuple[Array, Array | None]], what: str) -> Iterator[tuple[int, Array, Array]]:
    """Number of rows, means and sums of squared deviations of parts of the batches."""
    check_widths(batches, what)
    for array, mask in batches:
        for part in chunks(array, mask, what):
            own = part.mean(axis=0)
            part -= own
            rest = part.sum(axis=0)         # what rounding left of the mean
            yield len(part), own + rest / len(part), np.square(part, out=part).sum(axis=0) - rest * rest / len(part)


def _extremes(batches: list[tuple[Array, Array | None]], what: str) -> Iterator[tuple[Array, Array]]:
    """Smallest and largest values of parts of the batches."""
    check_widths(batches, what)
    for array, mask in batches:
        yield from ((part.min(axis=0), part.max(axis=0)) for part in chunks(array, mask, what))


class DistributionStats(Statistics):
    """Mean and population standard deviation, at least 1e-5."""

    names = ("mean", "std")

    @classmethod
    def partial(cls, batches: list[tuple[Array, Array | None]], what: str) -> Partial | None:
        count, mean, squares = _together(_moments(batches, what))
        return Partial(count, mean, squares, batches[0][0].dtype) if count else None

    @classmethod
    def combined(cls, partials: Iterable[Partial | None], what: str) -> Self:
        parts = _same_width(partials, what)
        count, mean, squares = _together((p.number, p.first, p.second) for p in parts)
        return cls(_row(mean, parts[0].dtype), _row(np.maximum(np.sqrt(squares / count), SMALLEST), parts[0].dtype))

    def affine(self, low: float, high: float) -> tuple[Array, Array]:
        mean, std = (np.asarray(v, np.float64).ravel() for v in (self.first, self.second))
        return 1 / std, -mean / std


class MinMaxStats(Statistics):
    """Smallest and largest value; the largest is at least 1e-5 above the smallest."""

    names = ("min", "max")

    @classmethod
    def partial(cls, batches: list[tuple[Array, Array | None]], what: str) -> Partial | None:
        ends = list(_extremes(batches, what))
        if not ends:
            return None
        least, most = np.array([low for low, _ in ends], np.float64), np.array([high for _, high in ends], np.float64)
        return Partial(len(ends), least.min(axis=0), most.max(axis=0), batches[0][0].dtype)

    @classmethod
    def combined(cls, partials: Iterable[Partial | None], what: str) -> Self:
        parts = _same_width(partials, what)
        least = np.array([p.first for p in parts]).min(axis=0)
        most = np.array([p.second for p in parts]).max(axis=0)
        return cls(_row(least, parts[0].dtype), _row(np.maximum(most, least + SMALLEST), parts[0].dtype))

    def affine(self, low: float, high: float) -> tuple[Array, Array]:
        least, most = (np.asarray(v, np.float64).ravel() for v in (self.first, self.second))
        scale = (high - low) / np.maximum(most - least, SMALLEST)
        return scale, low - least * scale
