"""Mathematical functions of float64 that become vector code.

Errors against the exact value, in units of the last place: exp 1.5, expm1 3.5, log 1, log1p 1.5, tanh 3.5, sigmoid 2.5. NaN,
infinities and zeros as in NumPy. Whole numbers have 32 bits on the way: vectors of 64-bit ones cannot be converted by every processor.
"""
# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from ..compiler.jit_functions import function
from .intrinsics import bits_of, copysign, fabs, float_of, fma, rint, vmax, vmin

F8, I4, I8 = np.float64, np.int32, np.int64
inline = function(forceinline=True, error_model="numpy", fastmath={"contract", "nsz"})

#: The logarithm of two, of which a whole number of times is exact, and what is missing of it.
LN2, LN2_REST = 0.6931471803691238, 1.9082149292705877e-10


@inline
def _power_of_two(k):
    return float_of(I8(I8(k + I4(1023)) << I8(52)))


@inline
def _reduced(x):
    """(n, e**r - 1) with x = n ln 2 + r (own fit)."""
    n = rint(x * 1.4426950408889634)
    r = fma(n, -LN2_REST, fma(n, -LN2, x))
    s = r * r
    low = fma(s, fma(r, 0.0013888888905881542, 0.008333333333332155), fma(r, 0.04166666666665136, 0.16666666666666666))
    high = fma(s, 2.5095554677111112e-08, fma(r, 2.761380686153829e-07, 2.755728006701698e-06))
    middle = fma(r, 2.4801536388690766e-05, 0.0001984126985433861)
    p = fma(s * s, fma(s, high, middle), low)
    return I4(n), fma(s * r, p, fma(0.5, s, r))


@function(forceinline=True, fastmath={"nsz"})
def _scaled(p, k):
    """p * 2**k by two factors, which reach infinity and denormals; not contracted with what is added: there infinity would be finite."""
    half = k >> I4(1)
    return p * _power_of_two(half) * _power_of_two(k - half)


@inline
def exp(x):
    """e**x."""
    k, p = _reduced(vmin(vmax(x, -746.0), 710.0))
    return _scaled(p + 1.0, k)


@inline
def expm1(x):
    """e**x - 1."""
    k, p = _reduced(vmin(vmax(x, -746.0), 710.0))
    half = k >> I4(1)
    s = _power_of_two(half) * _power_of_two(k - half)
    made = fma(p, s, s - 1.0) if k < I4(1000) else _scaled(p + 1.0, k)
    return made if x != 0.0 else x          # with its sign


@inline
def tanh(x):
    """Hyperbolic tangent, by e**2|x| - 1."""
    k, p = _reduced(2.0 * vmin(fabs(x), 20.0))
    s = _power_of_two(k)
    e = fma(p, s, s - 1.0)
    return copysign(e / (e + 2.0), x)


@inline
def sigmoid(x):
    """1 / (1 + e**-x)."""
    return 1.0 / (1.0 + exp(-x))


@inline
def log(x0):
    """Natural logarithm: that of 1 + f by the odd function of f / (2 + f) (own fit)."""
    tiny = x0 < 2.2250738585072014e-308
    x = x0 * 18014398509481984.0 if tiny else x0
    i = bits_of(x)
    k = I4(I4(I8(i >> I8(32))) - I4(0x3FE6A09E)) >> I4(20)
    f = float_of(I8(i - (I8(k) << I8(52)))) - 1.0
    n = F8(k) - (54.0 if tiny else 0.0)
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = fma(w, fma(w, fma(w, 0.14617807153462828, 0.18182892432537032), 0.28571428626253836), 0.666666666666667)
    odd = fma(w, fma(w, 0.15331611722050653, 0.22222211089379493), 0.3999999999989889)
    half = 0.5 * f * f
    r = n * LN2 - ((half - (s * (half + z * fma(z, odd, even)) + n * LN2_REST)) - f)
    r = r if x0 < np.inf else x0
    return r if x0 > 0.0 else (-np.inf if x0 == 0.0 else np.nan)


@inline
def log1p(x):
    """log(1 + x)."""
    u = x + 1.0
    r = log(u) + ((x - (u - 1.0)) / u if u != 0.0 else 0.0)
    return x if u == 1.0 or x == np.inf else r
