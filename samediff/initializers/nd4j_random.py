"""ND4J's own random generator: equal seeds give DL4J's numbers.

The generator is counter based: number ``i`` of an operation is a function of two 64-bit words (root and node state)
and of ``i`` alone, so whole arrays are drawn without a loop. After each operation the node state moves on.
"""
from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.datatype import DataType
from ..errors import DataTypeError

_MASK = 0xFFFF_FFFF_FFFF_FFFF
_NODE_KEY = 0xFFFF_FFFF_DEAD_BEEF
_SCALAR_STEP = 0xDEAD_BEEF              # array operations step by their length, scalar ones by this
_CHUNK = 1 << 16                        # indices handled at a time: the temporaries stay in the cache
_SMALLEST = np.float32(1.17549435e-38)  # what a twice rejected truncated normal adds to the mean
_LOW = 1e-5                             # Box-Muller draws from [1e-5, 1)

Order = Literal["c", "f"]
Shape = int | Sequence[int]


class Nd4jRandom:
    """ND4J's native generator (``Nd4j.getRandom()`` of the CPU backend).

    Arrays are filled in their linear order, ``order`` "c" or "f". Uniform numbers have 23 random bits, in float64 too.

    Parameters
    ----------
    seed : the 64-bit seed; 0 takes the current time in milliseconds, as ND4J does; None asks the operating system.

    Examples
    --------
    >>> rng = Nd4jRandom(42)
    >>> rng.uniform((3,))
    array([0.19913864, 0.3783244 , 0.93401515], dtype=float32)
    >>> rng.set_seed(42)
    >>> rng.next_int()
    1624890951
    """

    def __init__(self, seed: int | None = None) -> None:
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) | 1
        self.set_seed(seed)

    def set_seed(self, seed: int) -> None:
        """Start again from ``seed``."""
        self._seed = int(seed)
        self._root = (self._seed or time.time_ns() // 1_000_000) & _MASK
        self._node = (self._seed & _MASK) ^ _NODE_KEY
        self._second_gaussian: float | None = None

    def get_seed(self) -> int:
        """Return the seed that was set last."""
        return self._seed

    def root_state(self) -> int:
        """Return the root state as a signed 64-bit number."""
        return _signed(self._root)

    def node_state(self) -> int:
        """Return the node state, which each operation changes, as a signed 64-bit number."""
        return _signed(self._node)

    def __repr__(self) -> str:
        return f"Nd4jRandom(seed={self._seed}, node_state={self.node_state()})"

    # arrays

    def uniform(self, shape: Shape, a: float = 0.0, b: float = 1.0, dtype: Any = DataType.FLOAT,
                order: Order = "c") -> NDArray[Any]:
        """Draw from U(a, b): ``a + u * (b - a)`` with u in [0, 1)."""
        def draw(n: int, kind: np.dtype[Any]) -> NDArray[Any]:
            u = self._unit(0, n)
            if (a, b) == (0, 1):
                return u
            low = kind.type(a)          # the range in the array's own precision, then one rounding
            return np.float64(low) + u.astype(np.float64) * np.float64(kind.type(b) - low)
        return self._array(shape, dtype, order, draw)

    def normal(self, shape: Shape, mean: float = 0.0, std: float = 1.0, dtype: Any = DataType.FLOAT,
               order: Order = "c") -> NDArray[Any]:
        """Draw from N(mean, std^2) by the Box-Muller transform."""
        return self._array(shape, dtype, order, lambda n, kind: self._normal(n, kind, mean, std))

    def truncated_normal(self, shape: Shape, mean: float = 0.0, std: float = 1.0, dtype: Any = DataType.FLOAT,
                         order: Order = "c") -> NDArray[Any]:
        """Draw from N(mean, std^2) cut at two deviations.

        As in ND4J a rejected value is drawn once more; where that is outside too, and in the whole first half of the
        array (where the second draw repeats the first), the mean takes its place.
        """
        def draw(n: int, kind: np.dtype[Any]) -> NDArray[Any]:
            z = self._normal(n, kind, mean, std)
            half = (n + 1) // 2
            outside = np.flatnonzero(np.abs(z - kind.type(mean)) > 2 * kind.type(std))
            radius, angle = self._polar(self._at(outside), self._at(outside + half), kind)
            again = radius * np.cos(angle) * kind.type(std) + kind.type(mean)
            centre = kind.type(kind.type(mean) + _SMALLEST)
            z[outside] = np.where(np.abs(again - kind.type(mean)) > 2 * kind.type(std), centre, again)
            return z
        return self._array(shape, dtype, order, draw)

    def log_normal(self, shape: Shape, mean: float = 0.0, std: float = 1.0, dtype: Any = DataType.FLOAT,
                   order: Order = "c") -> NDArray[Any]:
        """Draw exp(x) with x from N(mean, std^2)."""
        return self._array(shape, dtype, order, lambda n, kind: np.exp(self._normal(n, kind, mean, std)))

    def bernoulli(self, shape: Shape, p: float = 0.5, dtype: Any = DataType.FLOAT, order: Order = "c") -> NDArray[Any]:
        """Draw 1 with probability p, else 0."""
        return self._array(shape, dtype, order, lambda n, kind: self._unit(0, n) <= np.float32(p))

    def binomial(self, shape: Shape, trials: int, p: float = 0.5, dtype: Any = DataType.FLOAT,
                 order: Order = "c") -> NDArray[Any]:
        """Draw the number of successes in ``trials`` trials of probability p."""
        def draw(n: int, kind: np.dtype[Any]) -> NDArray[Any]:
            index = np.arange(1, n + 1, dtype=np.uint64)
            count = np.zeros(n)
            for k in range(1, int(trials) + 1):
                count += self._at(index * np.uint64(k)) < np.float32(p)
            return count
        return self._array(shape, dtype, order, draw)

    def exponential(self, shape: Shape, rate: float = 1.0, dtype: Any = DataType.FLOAT,
                    order: Order = "c") -> NDArray[Any]:
        """Draw from the exponential distribution, ``-ln(u) / rate``. As in ND4J the state stays where it is."""
        def draw(n: int, kind: np.dtype[Any]) -> NDArray[Any]:
            with np.errstate(divide="ignore"):
                drawn: NDArray[Any] = -np.log(self._unit(0, n).astype(kind)) / kind.type(rate)
            return drawn
        return self._array(shape, dtype, order, draw, advance=False)

    def choice(self, source: ArrayLike, probabilities: ArrayLike, shape: Shape, order: Order = "c") -> NDArray[Any]:
        """Draw elements of ``source`` with the given probabilities."""
        values, cumulative = np.asarray(source), np.cumsum(np.asarray(probabilities))

        def draw(n: int, kind: np.dtype[Any]) -> NDArray[Any]:
            index = np.searchsorted(cumulative, self._unit(0, n).astype(cumulative.dtype), side="left")
            picked: NDArray[Any] = values[np.minimum(index, len(values) - 1)]
            return picked
        return self._array(shape, values.dtype, order, draw)

    # scalars

    def next_int(self, low: int | None = None, high: int | None = None) -> int:
        """Return an int in [0, 2^31 - 1), in [0, low) with one argument, in [low, high) with two."""
        if low is None:
            value = int(self._bits(np.array([1], np.uint64))[0])
            self._advance(_SCALAR_STEP)
            return value if value <= 0x7FFF_FFFF else value % 0x7FFF_FFFF
        if high is not None:
            return int(low) + self.next_int(int(high) - int(low))
        bound = int(low)
        if bound <= 0:
            raise ValueError(f"next_int(bound): expected bound > 0, got {bound}")
        value = self.next_int()
        if bound & (bound - 1) == 0:
            return (bound * value) >> 31
        while value - value % bound + (bound - 1) > 0x7FFF_FFFF:    # the incomplete last stretch: draw again
            value = self.next_int()
        return value % bound

    def next_long(self) -> int:
        """Return an int in [0, 2^63 - 1)."""
        high, low = (int(v) for v in self._bits(np.array([1, 1 << 32], np.uint64)))
        self._advance(_SCALAR_STEP)
        value = ((high << 32) + low) & _MASK
        largest = (1 << 63) - 1
        return value if value <= largest else value % largest

    def next_double(self) -> float:
        """Return a float in [0, 1) with 23 random bits."""
        value = float(self._unit(1, 1)[0])
        self._advance(_SCALAR_STEP)
        return value

    def next_float(self) -> float:
        """Return the same as :meth:`next_double`."""
        return self.next_double()

    def next_boolean(self) -> bool:
        """Return True for an even :meth:`next_int`."""
        return self.next_int() % 2 == 0

    def next_gaussian(self) -> float:
        """Return a number from N(0, 1); numbers come in pairs, the second one costs no draw."""
        if self._second_gaussian is not None:
            value, self._second_gaussian = self._second_gaussian, None
            return value
        first = self.next_double()
        while first <= 1e-7:
            first = self.next_double()
        radius, angle = math.sqrt(-2.0 * math.log(first)), 2.0 * math.pi * self.next_double()
        self._second_gaussian = radius * math.sin(angle)
        return radius * math.cos(angle)

    # the generator itself

    def _bits(self, index: NDArray[np.uint64]) -> NDArray[np.uint32]:
        """The 32 random bits of each index, for the present state."""
        step = index + np.uint64(2)
        first = np.uint64(self._root) | step * np.uint64((self._node + 24243287) & _MASK)
        second = np.uint64(self._node) ^ step * (first + np.uint64(723829))
        v: NDArray[np.uint32] = (first ^ second).astype(np.uint32) * np.uint32(0x9E37_79BB)
        v = (v << np.uint32(5)) | (v >> np.uint32(27))
        v *= np.uint32(5)
        return v

    def _at(self, index: NDArray[Any]) -> NDArray[np.float32]:
        mantissa = (self._bits(index.astype(np.uint64)) >> np.uint32(9)) | np.uint32(0x3F80_0000)
        unit: NDArray[np.float32] = mantissa.view(np.float32) - np.float32(1)
        return unit

    def _unit(self, start: int, count: int) -> NDArray[np.float32]:
        """u(start) … u(start + count - 1) in [0, 1)."""
        out = np.empty(count, np.float32)
        for at in range(0, count, _CHUNK):
            stop = min(at + _CHUNK, count)
            out[at:stop] = self._at(np.arange(start + at, start + stop, dtype=np.uint64))
        return out

    def _polar(self, first: NDArray[Any], second: NDArray[Any],
               kind: np.dtype[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        real = kind.type
        span = real(1) - real(_LOW)
        r0, r1 = (real(_LOW) + u.astype(kind) * span for u in (first, second))
        return np.sqrt(real(-2) * np.log(r0)), real(2 * math.pi) * r1

    def _normal(self, n: int, kind: np.dtype[Any], mean: float, std: float) -> NDArray[Any]:
        half = (n + 1) // 2
        radius, angle = self._polar(self._unit(0, half), self._unit(half, half), kind)
        radius *= kind.type(std)
        z = np.concatenate([radius * np.cos(angle), (radius * np.sin(angle))[:n - half]])
        z += kind.type(mean)
        return z

    def _array(self, shape: Shape, dtype: Any, order: Order, draw: Callable[[int, np.dtype[Any]], NDArray[Any]],
               advance: bool = True) -> NDArray[Any]:
        kind = DataType.of(dtype)
        if not kind.is_numeric:
            raise DataTypeError(f"random arrays need a numeric data type, got {kind!r}")
        dims = (shape,) if isinstance(shape, (int, np.integer)) else tuple(int(d) for d in shape)
        n = math.prod(dims)
        work = np.dtype(np.float64 if kind is DataType.DOUBLE else np.float32)
        flat = draw(n, work)
        if advance:
            self._advance(n)
        return flat.astype(kind.numpy, copy=False).reshape(dims, order="F" if order == "f" else "C")

    def _advance(self, steps: int) -> None:
        low, high = self._node & 0xFFFF_FFFF, self._node >> 32
        high ^= low
        low = _rotate(low, 26) ^ high ^ ((high << 9) & 0xFFFF_FFFF)
        self._node = ((_rotate(high, 13) << 32) | low) ^ (steps ^ _SCALAR_STEP)


def _rotate(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (32 - bits))) & 0xFFFF_FFFF


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


@cache
def get_random() -> Nd4jRandom:
    """Return the process-wide generator (``Nd4j.getRandom()``); its seed is random until ``set_seed``."""
    return Nd4jRandom()
