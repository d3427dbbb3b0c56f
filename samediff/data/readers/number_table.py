"""Files of delimited numbers, parsed by a compiled loop: exact, and ten times as fast as NumPy's reader."""
from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...codecs.regular import open_regular
from ...cpu.cache.sources import jit
from ...cpu.threads import parts_of, run_parts

Bytes: TypeAlias = NDArray[np.uint8]

BLOCK = 2 << 20         # bytes that are read at once: they stay in the cache until they are parsed
SMALL = 1 << 16         # bytes up to which a file is not worth loading the compiled loop
_BEHIND = 16            # bytes that the loop may read behind the last line
_OPEN = 1 << 15         # fields of one part that may be left to Python
_LF = 10
_SIGNATURE = ("boolean(uint8[::1], int64, int64, uint8, uint64[::1], float64[::1], uint64[:, ::1], float64[:, ::1], int64[:, ::1], "
              "int64[::1])")


@functools.cache
def _loop() -> tuple[Callable[..., bool], tuple[Any, ...]]:
    """The compiled loop and its tables."""
    from ...cpu.kernels import decimals
    fives = [_power_of_five(q) for q in range(decimals.LEAST, decimals.MOST + 1)]
    tables = (np.array([10**i for i in range(20)], np.uint64), np.array([10.0**i for i in range(23)]),
              np.array([(v >> 64, v & (2**64 - 1)) for v in fives], np.uint64))
    return jit(decimals.parse, _SIGNATURE, nogil=True, error_model="numpy"), tables


def _power_of_five(exponent: int) -> int:
    """The first 128 bits of a power of five; reciprocals that matter for ties are rounded up (Lemire, section 5)."""
    power: int = 5 ** abs(exponent)
    bits = power.bit_length()
    if exponent >= 0:
        return power << (128 - bits) if bits <= 128 else power >> (bits - 128)
    return (1 << (bits + 127)) // power + (exponent >= -27)


def read_numbers(path: Path, delimiter: str, skip: int) -> NDArray[np.float64] | None:
    """The table of a file of numbers, without its first lines; None where the file is small or needs a reader that knows more.

    That is: values that are no plain numbers (quoted ones too), rows of different length, lines that end with a
    carriage return only, unusual delimiters.
    """
    if not delimiter.isascii() or delimiter.isalnum() or delimiter in "+-._\r\n" or path.stat().st_size < SMALL:
        return None
    with open_regular(path) as file:
        for _ in range(skip):
            if b"\r" in file.readline().rstrip(b"\r\n"):
                return None
        return _Reading(file, ord(delimiter), path.stat().st_size - file.tell()).table()


class _Reading:
    """One file: blocks of whole lines, each parsed by as many threads as pay."""

    def __init__(self, file: BinaryIO, delimiter: int, size: int) -> None:
        self._file, self._delimiter, self._left = file, delimiter, size
        self._text: Bytes = np.empty(BLOCK + _BEHIND + 1, np.uint8)
        self._open: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._table = np.empty((0, 0))
        self._rows = 0

    def table(self) -> NDArray[np.float64] | None:
        kept = 0
        while True:
            got = self._file.readinto(self._text[kept:BLOCK].data)  # type: ignore[attr-defined]
            filled = kept + got
            if not got and not kept:
                return self._table[:self._rows] if self._rows else None
            if not got and self._text[filled - 1] != _LF:       # the last line of the file
                self._text[filled] = _LF
                filled += 1
            end = _line_end(self._text, filled)
            if not end or not self._block(end):     # a line longer than a block, or not for this loop
                return None
            self._left -= end
            kept = filled - end
            self._text[:kept] = self._text[end:filled].copy()

    def _block(self, end: int) -> bool:
        """Parse ``text[:end]``, whole lines."""
        if not self._table.shape[1]:
            first = bytes(self._text[:end]).lstrip(b"\r\n").partition(b"\n")[0]
            if not first:
                return True
            self._table = np.empty((0, first.count(self._delimiter) + 1))
        edges = [0, *(_line_end(self._text, high << 10) for _, high in parts_of(end >> 10, 8 * end)[:-1]), end]
        lines = [int(np.count_nonzero(self._text[a:b] == _LF)) for a, b in itertools.pairwise(edges)]
        self._make_room(sum(lines), end)
        starts = np.cumsum([self._rows, *lines]).tolist()
        self._open += [(np.empty((_OPEN, 3), np.int64), np.empty(2, np.int64)) for _ in lines[len(self._open):]]
        parse, tables = _loop()
        done = [False] * len(lines)

        def part(k: int, low: int, high: int) -> None:
            done[k] = parse(self._text, low, high, self._delimiter, *tables, self._table[starts[k]:starts[k + 1]], *self._open[k])
        run_parts(part, list(itertools.pairwise(edges)))
        return all(done) and all(self._take(k, start) for k, start in enumerate(starts[:-1]))

    def _make_room(self, lines: int, size: int) -> None:
        wanted = self._rows + lines
        if wanted > len(self._table):       # as many as there are when the rest of the file is like this block
            grown = np.empty((wanted + max(0, lines * (self._left - size) // size) * 17 // 16, self._table.shape[1]))
            grown[:self._rows] = self._table[:self._rows]
            self._table = grown

    def _take(self, k: int, start: int) -> bool:
        """Convert what a part left open, and close the gap that empty lines left."""
        fields, (rows, count) = self._open[k]
        flat = self._table[start:].reshape(-1)
        for low, high, place in fields[:count].tolist():
            raw = bytes(self._text[low:high])
            if b"_" in raw or not raw.isascii():        # Python reads more as numbers than NumPy
                return False
            try:
                flat[place] = float(raw)
            except ValueError:
                return False
        if start != self._rows:
            self._table[self._rows:self._rows + rows] = self._table[start:start + rows]
        self._rows += int(rows)
        return True


def _line_end(text: Bytes, stop: int) -> int:
    """The end of the last line that ends before ``stop``; 0 for none."""
    step = 1 << 12
    while stop > 0:
        found = np.flatnonzero(text[max(0, stop - step):stop] == _LF)
        if found.size:
            return max(0, stop - step) + int(found[-1]) + 1
        stop -= step
    return 0
