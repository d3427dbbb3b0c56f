"""Mathematical functions that become vector code: those of float32, and which of them or of :mod:`.double_functions` a type takes.

Errors in float32 against the exact value, in units of the last place: exp 1, expm1 1.5, log 1, log1p 1.5,
tanh 5, sigmoid 2.5, erf 2.  NaN, infinities and zeros as in NumPy.

The functions are compiled with their own flags: reordering sums would destroy the two-part logarithm of two.
"""
# mypy: ignore-errors
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..compiler.jit_functions import TypeDispatch, function
from . import double_functions as double
from .intrinsics import bits_of, fabs, float_of, fma, rint, vmax, vmin

F4, I4 = np.float32, np.int32
OPTIONS: dict[str, Any] = {"forceinline": True, "error_model": "numpy", "fastmath": {"contract", "nsz"}}
inline = function(**OPTIONS)


@function(forceinline=True, fastmath={"reassoc", "nsz", "contract"})
def radd(a, b):
    """Sum that may be reordered, so that a loop over it becomes vector code."""
    return a + b


@inline
def _power_of_two(k):
    return float_of(I4((k + I4(127)) << I4(23)))


@inline
def _reduced(x):
    """(n, e**r - 1) with x = n ln 2 + r."""
    n = rint(x * F4(1.44269504))
    r = fma(n, F4(2.12194440e-4), fma(n, F4(-0.693359375), x))
    p = fma(F4(1.9875691500e-4), r, F4(1.3981999507e-3))
    p = fma(p, r, F4(8.3334519073e-3))
    p = fma(p, r, F4(4.1665795894e-2))
    p = fma(p, r, F4(1.6666665459e-1))
    p = fma(p, r, F4(5.0000001201e-1))
    return I4(n), fma(p, r * r, r)


@function(forceinline=True, fastmath={"nsz"})
def _scaled(p, k):
    """p * 2**k by two factors, which reach infinity and denormals; not contracted with what is added: there infinity would be finite."""
    half = k >> I4(1)
    return p * _power_of_two(half) * _power_of_two(k - half)


@inline
def fexp(x):
    """e**x in float32."""
    k, p = _reduced(vmin(vmax(x, F4(-104)), F4(89)))
    return _scaled(p + F4(1), k)


@inline
def fexpm1(x):
    """e**x - 1 in float32."""
    k, p = _reduced(vmin(vmax(x, F4(-104)), F4(89)))
    half = k >> I4(1)
    s = _power_of_two(half) * _power_of_two(k - half)
    return fma(p, s, s - F4(1)) if k < I4(120) else _scaled(p + F4(1), k)


@inline
def ftanh(x):
    """Hyperbolic tangent in float32: x times a rational function of its square, which is 1 at 0 (own minimax fit).

    The coefficients are fitted as float32 numbers: rounding them one by one leaves a bias, which shows where many steps add up.
    The halves of both polynomials do not wait for each other: where results are inputs again, the time is that of the longest chain.
    """
    x = vmin(vmax(x, F4(-8.1832418)), F4(8.1832418))        # where it is 1 as rounded, and never above before
    s = x * x
    s2 = s * s
    p = fma(s2, fma(s2, F4(1.3384221731e-08), fma(s, F4(2.0635798137e-05), F4(3.4974559676e-03))), fma(s, F4(1.3382685184e-01), F4(1)))
    q = fma(s2, fma(s2, F4(7.7902353723e-07), fma(s, F4(3.2885145629e-04), F4(2.5884354487e-02))), fma(s, F4(4.6716004610e-01), F4(1)))
    return vmin(x * (p / q), F4(1))        # rounded, whatever is added to it


@inline
def flog(x0):
    """Natural logarithm in float32."""
    tiny = x0 < F4(1.17549435e-38)
    x = x0 * F4(8388608) if tiny else x0
    i = bits_of(x)
    e = I4((i - I4(0x3F3504F3)) >> I4(23))
    m = float_of(I4(i - (e << I4(23)))) - F4(1)
    n = F4(e) - (F4(23) if tiny else F4(0))
    z = m * m
    p = fma(F4(7.0376836292e-2), m, F4(-1.1514610310e-1))
    p = fma(p, m, F4(1.1676998740e-1))
    p = fma(p, m, F4(-1.2420140846e-1))
    p = fma(p, m, F4(1.4249322787e-1))
    p = fma(p, m, F4(-1.6668057665e-1))
    p = fma(p, m, F4(2.0000714765e-1))
    p = fma(p, m, F4(-2.4999993993e-1))
    p = fma(p, m, F4(3.3333331174e-1))
    r = (m + fma(F4(-0.5), z, fma(n, F4(-2.12194440e-4), m * z * p))) + n * F4(0.693359375)
    r = r if x0 < F4(np.inf) else x0
    return r if x0 > F4(0) else (F4(-np.inf) if x0 == F4(0) else F4(np.nan))


@inline
def flog1p(x):
    """log(1 + x) in float32."""
    u = x + F4(1)
    r = flog(u) + ((x - (u - F4(1))) / u if u != F4(0) else F4(0))
    return x if u == F4(1) or x == F4(np.inf) else r


@inline
def fsigmoid(x):
    """1 / (1 + e**-x) in float32."""
    return F4(1) / (F4(1) + fexp(-x))


@inline
def ferf(x):
    """Error function in float32: an odd polynomial below 0.9, 1 - e**-p(|x|) above (own minimax fits)."""
    s = x * x
    p = fma(F4(8.538831752957776e-05), s, F4(-0.0008181926095858216))
    p = fma(p, s, F4(0.005204435903578997))
    p = fma(p, s, F4(-0.026860753074288368))
    p = fma(p, s, F4(0.11283719539642334))
    p = fma(p, s, F4(-0.37612634897232056))
    p = fma(p, s, F4(0.12837916612625122))
    small = fma(p, x, x)
    t = vmin(fabs(x), F4(4))
    q = fma(F4(-0.0001982241665245965), t, F4(0.003065531374886632))
    q = fma(q, t, F4(-0.022315366193652153))
    q = fma(q, t, F4(0.10411397367715836))
    q = fma(q, t, F4(0.6369757652282715))
    q = fma(q, t, F4(1.1277973651885986))
    q = fma(q, t, F4(0.00016640899411868304))
    large = F4(1) - fexp(-q)
    return (small if fabs(x) < F4(0.9) else (large if x > F4(0) else -large)) if x == x else x


@inline
def _erf(x):
    return math.erf(x)


# For float32 and float64 in compiled code.
exp, expm1 = TypeDispatch("exp", fexp, double.exp), TypeDispatch("expm1", fexpm1, double.expm1)
log, log1p = TypeDispatch("log", flog, double.log), TypeDispatch("log1p", flog1p, double.log1p)
tanh, sigmoid = TypeDispatch("tanh", ftanh, double.tanh), TypeDispatch("sigmoid", fsigmoid, double.sigmoid)
erf = TypeDispatch("erf", ferf, _erf)


@inline
def logaddexp(a, b):
    """log(e**a + e**b)."""
    top = vmax(a, b)
    return top if top != top or fabs(top) == np.inf else top + log1p(exp(-fabs(a - b)))


@inline
def remainder(a, b):
    """Remainder with the sign of the divisor, as np.remainder."""
    m = np.fmod(a, b)
    return m + b if m != 0 and (b < 0) != (m < 0) else m


@inline
def floor_divide(a, b):
    """Largest whole number that is not above a / b, as np.floor_divide."""
    if b == 0:
        return a / b
    m = np.fmod(a, b)
    q = (a - m) / b
    return rint(q - b / b if m != 0 and (b < 0) != (m < 0) else q)
