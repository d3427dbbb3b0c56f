"""java.util.Random, and the order in which ND4J shuffles with it."""
from __future__ import annotations

import math
import secrets
from collections.abc import MutableSequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ConfigurationError

__all__ = ["JavaRandom"]

_MULTIPLIER, _INCREMENT, _MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


class JavaRandom:
    """The 48-bit linear congruential generator of ``java.util.Random``: equal seeds give equal numbers.

    ``state = (state * 0x5DEECE66D + 11) mod 2**48``; a draw of ``b`` bits are the highest ``b`` bits of the state.

    Parameters
    ----------
    seed : int, optional
        Any 64-bit integer; another one each time without it.

    Examples
    --------
    >>> JavaRandom(42).next_int(), JavaRandom(42).next_long()
    (-1170105035, -5025562857975149833)
    """

    def __init__(self, seed: int | None = None) -> None:
        self.set_seed(secrets.randbits(64) if seed is None else seed)

    def set_seed(self, seed: int) -> None:
        """Start again as a new generator of that seed."""
        self._state = (seed ^ _MULTIPLIER) & _MASK
        self._second: float | None = None

    def get_state(self) -> int:
        """The 48 bits from which all further numbers follow."""
        return self._state

    def set_state(self, state: int) -> None:
        """Go on as the generator that was in this state."""
        self._state = state & _MASK
        self._second = None

    def next_bits(self, bits: int) -> int:
        """The next ``bits`` (1 to 32) random bits as a signed number."""
        self._state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        return _signed(self._state >> (48 - bits), 32)

    def next_int(self, bound: int | None = None) -> int:
        """A signed 32-bit integer, or one in ``[0, bound)``."""
        if bound is None:
            return self.next_bits(32)
        if bound <= 0:
            raise ConfigurationError(f"next_int needs a positive bound, got {bound}")
        if bound & (bound - 1) == 0:
            return (bound * self.next_bits(31)) >> 31
        while True:
            bits = self.next_bits(31)
            value = bits % bound
            if bits - value + bound - 1 < 1 << 31:      # else the draw lies in the incomplete last run of remainders
                return value

    def next_long(self) -> int:
        """A signed 64-bit integer."""
        return _signed((self.next_bits(32) << 32) + self.next_bits(32), 64)

    def next_boolean(self) -> bool:
        """True or False with equal probability."""
        return self.next_bits(1) != 0

    def next_float(self) -> float:
        """A number in [0, 1) with 24 random bits."""
        return self.next_bits(24) / (1 << 24)

    def next_double(self) -> float:
        """A number in [0, 1) with 53 random bits."""
        return ((self.next_bits(26) << 27) + self.next_bits(27)) / (1 << 53)

    def next_gaussian(self) -> float:
        """A normal number of mean 0 and deviation 1, by the polar method: they come in pairs."""
        if self._second is not None:
            found, self._second = self._second, None
            return found
        while True:
            a, b = 2 * self.next_double() - 1, 2 * self.next_double() - 1
            square = a * a + b * b
            if 0 < square < 1:
                factor = math.sqrt(-2 * math.log(square) / square)
                self._second = b * factor
                return a * factor

    nextGaussian = next_gaussian
    setSeed, getState, setState, nextBits = set_seed, get_state, set_state, next_bits
    nextInt, nextLong, nextBoolean, nextFloat, nextDouble = next_int, next_long, next_boolean, next_float, next_double

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Permute in place as ``java.util.Collections.shuffle`` does."""
        for i in range(len(items) - 1, 0, -1):
            j = self.next_int(i + 1)
            items[i], items[j] = items[j], items[i]


def shuffled_order(n: int, seed: int) -> NDArray[np.int64]:
    """The order in which ND4J puts ``n`` examples when it shuffles with a seed.

    The odd positions are shuffled, then every even position is exchanged with one of them; with an odd ``n`` the last
    example takes the partner of a random one, which stays. Shuffling twice with one seed gives the first order back.

    Examples
    --------
    >>> shuffled_order(10, 42).tolist()
    [3, 8, 5, 0, 7, 2, 9, 4, 1, 6]
    """
    return next_order(n, JavaRandom(seed))


def next_order(n: int, rng: JavaRandom) -> NDArray[np.int64]:
    """The same, drawn from a generator."""
    even, odd = list(range(0, n - 1, 2)), list(range(1, n, 2))
    rng.shuffle(odd)
    if n % 2 and odd:
        even[rng.next_int(len(odd))] = n - 1
    order = np.arange(n)
    order[even], order[odd] = odd, even
    return order
