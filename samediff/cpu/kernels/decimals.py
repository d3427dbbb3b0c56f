# mypy: ignore-errors
# ruff: noqa: SIM109 - comparisons with single bytes compile into fewer instructions
"""Numbers written in decimal, as the nearest float64: rows of delimited text into a table.

Eight bytes are looked at together (digits counted and converted by arithmetic within one word), so that fields of
different lengths cost no mispredicted branches. Short numbers are exact as ``digits * 10**exponent`` or its quotient
(W. D. Clinger, "How to read floating point numbers accurately"); the others go by a product with 128 bits of a power
of five (D. Lemire, "Number parsing at a gigabyte per second"). What neither decides is left to the caller.
"""
from __future__ import annotations

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

LEAST, MOST = -342, 308         # exponents of ten between zero and infinity, for up to 19 digits

_U = np.uint64
_SPACE, _TAB, _LF, _CR, _PLUS, _MINUS, _DOT, _E = (np.uint8(ord(c)) for c in " \t\n\r+-.e")
_ONE, _ALL, _HALF = _U(1), _U(2**64 - 1), _U(2**32 - 1)


@intrinsic
def _word(context, address):
    """Eight bytes at an address, the first one lowest."""
    def load(c, builder, s, args):
        made = builder.load(builder.inttoptr(args[0], ir.IntType(64).as_pointer()))
        made.align = 1
        return made
    return types.uint64(types.uintp), load


@intrinsic
def _zeros_below(context, bits):
    """Number of zero bits below the lowest one; 64 for none."""
    return types.uint64(types.uint64), lambda c, builder, s, args: builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))


@intrinsic
def _zeros_above(context, bits):
    """Number of zero bits above the highest one."""
    return types.uint64(types.uint64), lambda c, builder, s, args: builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))


@intrinsic
def _float_of(context, bits):
    """The float64 of these bits."""
    return types.float64(types.uint64), lambda c, builder, s, args: builder.bitcast(args[0], ir.DoubleType())


@numba.njit(inline="always")
def _digits(address):
    """How many digits begin there (8: perhaps more follow), and their value."""
    word = _word(address) ^ _U(0x3030303030303030)
    other = ((word + _U(0x7676767676767676)) | word) & _U(0x8080808080808080)
    count = _zeros_below(other) >> _U(3)
    half = _U(32) - (count << _U(2))
    word = (word << half) << half           # zeros before the digits; twice, for a shift by 64 is none
    word = (word * _U(10) + (word >> _U(8))) & _U(0x00FF00FF00FF00FF)
    word = (word * _U(100) + (word >> _U(16))) & _U(0x0000FFFF0000FFFF)
    return count, (word * _U(10000) + (word >> _U(32))) & _HALF


@numba.njit(inline="always")
def _more_digits(base, at, number, tens):
    """Reads digits behind those of ``number``: where they end, the longer number, whether it still fits."""
    fits = True
    while True:
        count, value = _digits(np.uintp(base + at))
        fits &= number < tens[19 - np.int64(count)]
        number = number * tens[count] + value
        at += np.int64(count)
        if count != _U(8):
            return at, number, fits


@numba.njit(inline="always")
def _times(a, b):
    """High and low half of a product."""
    a1, a0, b1, b0 = a >> _U(32), a & _HALF, b >> _U(32), b & _HALF
    middle = a1 * b0 + ((a0 * b0) >> _U(32))
    other = a0 * b1 + (middle & _HALF)
    return a1 * b1 + (middle >> _U(32)) + (other >> _U(32)), a * b


@numba.njit
def _nearest(digits, exponent, fives):
    """The float64 nearest to ``digits * 10**exponent``, and whether it is certain; subnormal and huge ones are not."""
    if digits == _U(0):
        return 0.0, True
    if exponent < LEAST or exponent > MOST:
        return 0.0, False
    shift = _zeros_above(digits)
    normal = digits << shift
    high, low = _times(normal, fives[exponent - LEAST, 0])
    if (high & _U(0x1FF)) == _U(0x1FF):         # the other half of the power may carry into the bits that are kept
        more, _ = _times(normal, fives[exponent - LEAST, 1])
        low += more
        high += _U(low < more)
        if low == _ALL and (exponent < -27 or exponent > 55):
            return 0.0, False
    top = high >> _U(63)
    kept = high >> (top + _U(9))                # 53 bits and one to round by
    power = ((217706 * exponent) >> 16) + 1086 + np.int64(top) - np.int64(shift)
    if power <= 0:
        return 0.0, False
    if low <= _ONE and -4 <= exponent <= 23 and (kept & _U(3)) == _ONE and (kept << (top + _U(9))) == high:
        kept -= _ONE                            # half way: to the even one
    kept = (kept + (kept & _ONE)) >> _ONE
    if kept >> _U(53):
        kept >>= _ONE
        power += 1
    if power >= 2047:
        return 0.0, False
    return _float_of((kept & _U(2**52 - 1)) | (_U(power) << _U(52))), True


def parse(text, start, stop, delimiter, tens, exact, fives, table, hard, counts):
    """Rows of ``text[start:stop]``, which ends with a line feed and has 16 bytes behind it, into ``table``.

    ``tens`` and ``exact`` are powers of ten as integers and floats, ``fives`` as 128 bits each. ``counts`` becomes the
    number of rows and that of fields left open, whose begin, end and place in the table stand in ``hard``. Returns
    False for rows of another length, and when ``hard`` is full. Empty lines are left out.
    """
    columns, flat, base = table.shape[1], table.reshape(-1), text.ctypes.data
    at, row, column, opened = start, 0, 0, 0
    while at < stop:
        c = text[at]
        if column == 0 and (c == _LF or (c == _CR and text[at + 1] == _LF)):
            at += 1 if c == _LF else 2
            continue
        begin = at
        while (c == _SPACE or c == _TAB) and c != delimiter:
            at += 1
            c = text[at]
        negative = c == _MINUS
        at += np.int64(negative or c == _PLUS)
        first, point = at, 0
        at, digits, certain = _more_digits(base, at, _U(0), tens)
        exponent = 0
        if text[at] == _DOT:
            at += 1
            point, exponent = 1, at
            at, digits, fits = _more_digits(base, at, digits, tens)
            exponent -= at
            certain &= fits
        certain &= at - first > point
        c = text[at]
        if (c | np.uint8(32)) == _E and c != delimiter:
            at += 1
            below = text[at] == _MINUS
            at += np.int64(below or text[at] == _PLUS)
            count, value = _digits(np.uintp(base + at))
            certain &= _U(0) < count < _U(8)
            at += np.int64(count)
            exponent += -np.int64(value) if below else np.int64(value)
            c = text[at]
        while (c == _SPACE or c == _TAB) and c != delimiter:
            at += 1
            c = text[at]
        certain &= c == delimiter or c == _LF or (c == _CR and text[at + 1] == _LF)
        number = 0.0
        if certain and digits <= _U(2**53) and -22 <= exponent <= 22:
            number = np.float64(digits)
            number = number / exact[-exponent] if exponent < 0 else number * exact[exponent]
        elif certain:
            number, certain = _nearest(digits, exponent, fives)
        if not certain:
            at = begin
            while text[at] != delimiter and text[at] != _LF:
                at += 1
            if opened == hard.shape[0]:
                return False
            hard[opened, 0], hard[opened, 1], hard[opened, 2] = begin, at, row * columns + column
            opened += 1
        if column == columns:
            return False
        flat[row * columns + column] = -number if negative else number
        column += 1
        if text[at] == delimiter:
            at += 1
            continue
        if column != columns:
            return False
        at += 1 if text[at] == _LF else 2
        row, column = row + 1, 0
    counts[0], counts[1] = row, opened
    return column == 0
