"""NumPy's ``fft`` as nodes: products with cosines and sines; complex numbers are pairs of real arrays, which no graph has otherwise."""
from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base.spec import normalize_axis
from ..families.array_code.symbolic_size import NotInGraphError

#: Longer transforms would need matrices that take more memory than they are worth.
_LONGEST = 1024


class ComplexArray:
    """Real and imaginary part of the results of ``fft``, with the operators and functions that signals need.

    An op gives real arrays: ``xp.abs(z)``, ``z.real``, ``z.imag``, ``xp.angle(z)``, ``xp.fft.irfft(z)``.
    """

    __array_ufunc__ = None

    def __init__(self, xp: Any, real: Any, imag: Any) -> None:
        self.xp, self.real, self.imag = xp, real, imag

    @property
    def shape(self) -> tuple[Any, ...]:
        """Sizes."""
        return self.real.shape  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def T(self) -> ComplexArray:
        """The axes reversed."""
        return self._each(lambda a: a.T)

    def conj(self) -> ComplexArray:
        """With the opposite imaginary part."""
        return ComplexArray(self.xp, self.real, -self.imag)

    conjugate = conj

    def sum(self, axis: Any = None, keepdims: bool = False) -> ComplexArray:
        """The sum over axes."""
        return self._each(lambda a: a.sum(axis=axis, keepdims=keepdims))

    def mean(self, axis: Any = None, keepdims: bool = False) -> ComplexArray:
        """The mean over axes."""
        return self._each(lambda a: a.mean(axis=axis, keepdims=keepdims))

    def reshape(self, *shape: Any) -> ComplexArray:
        """Another shape."""
        return self._each(lambda a: a.reshape(*shape))

    def __getitem__(self, index: Any) -> ComplexArray:
        return self._each(lambda a: a[index])

    def __abs__(self) -> Any:
        return self.xp.hypot(self.real, self.imag)

    def __neg__(self) -> ComplexArray:
        return self._each(operator.neg)

    def __add__(self, other: Any) -> ComplexArray:
        real, imag = _parts(other)
        return ComplexArray(self.xp, self.real + real, self.imag + imag)

    def __sub__(self, other: Any) -> ComplexArray:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> ComplexArray:
        return self.__neg__().__add__(other)

    def __mul__(self, other: Any) -> ComplexArray:
        if not isinstance(other, (ComplexArray, complex)):
            return self._each(lambda a: a * other)
        real, imag = _parts(other)
        return ComplexArray(self.xp, self.real * real - self.imag * imag, self.real * imag + self.imag * real)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Any) -> ComplexArray:
        if not isinstance(other, (ComplexArray, complex)):
            return self._each(lambda a: a / other)
        real, imag = _parts(other)
        return self.__mul__(ComplexArray(self.xp, real, -imag)).__truediv__(real * real + imag * imag)

    def _each(self, function: Callable[[Any], Any]) -> ComplexArray:
        return ComplexArray(self.xp, function(self.real), function(self.imag))


def _parts(value: Any) -> tuple[Any, Any]:
    return (value.real, value.imag) if isinstance(value, (ComplexArray, complex)) else (value, 0.0)


#: Functions of NumPy that take complex pairs.
_OF_PAIRS: dict[Any, Callable[..., Any]] = {
    np.absolute: abs, np.real: lambda z: z.real, np.imag: lambda z: z.imag, np.conjugate: ComplexArray.conj,
    np.angle: lambda z: z.xp.arctan2(z.imag, z.real), np.sum: ComplexArray.sum, np.mean: ComplexArray.mean,
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul, np.true_divide: operator.truediv,
    np.negative: operator.neg}


def of_pairs(xp: Any, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The result of a function of NumPy for complex pairs."""
    if function in _OF_PAIRS:
        return _OF_PAIRS[function](*args, **kwargs)
    if function in (np.fft.ifft, np.fft.irfft, np.fft.fft):
        return {np.fft.ifft: ifft, np.fft.irfft: irfft, np.fft.fft: fft}[function](xp, *args, **kwargs)
    raise NotInGraphError(f"np.{function.__name__} of complex numbers has no graph node: xp.abs, z.real, z.imag, xp.angle and xp.fft.irfft "
                          "make real arrays of them")


# Transforms

def fft(xp: Any, a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> ComplexArray:
    """The discrete Fourier transform along an axis."""
    return _transformed(xp, a, n, axis, norm, False, None)


def ifft(xp: Any, a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> ComplexArray:
    """The inverse of :func:`fft`."""
    return _transformed(xp, a, n, axis, norm, True, None)


def rfft(xp: Any, a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> ComplexArray:
    """The first half of the transform of real numbers, of which the other half follows."""
    axis, n = _along(a, n, axis)
    return _transformed(xp, a, n, axis, norm, False, n // 2 + 1)


def irfft(xp: Any, a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """The real numbers whose first half of the transform these are."""
    axis = normalize_axis(axis, a.ndim)
    n = 2 * (int(a.shape[axis]) - 1) if n is None else n
    real, imag = (_cut(xp, xp.floating(v), n // 2 + 1, axis) for v in (_parts(a) if isinstance(a, ComplexArray) else (a, xp.zeros_like(a))))
    k, t = np.arange(n // 2 + 1), np.arange(n)
    twice = np.where((k == 0) | (2 * k == n), 1.0, 2.0)[:, None] * _scale(n, norm, True)
    angle = 2 * np.pi * np.outer(k, t) / n
    return _product(xp, real, twice * np.cos(angle), axis) - _product(xp, imag, twice * np.sin(angle), axis)


def _transformed(xp: Any, a: Any, n: int | None, axis: int, norm: str | None, back: bool, count: int | None) -> ComplexArray:
    axis, n = _along(a, n, axis)
    angle = (2 if back else -2) * np.pi * np.outer(np.arange(n), np.arange(n if count is None else count)) / n
    cos, sin = (f(angle) * _scale(n, norm, back) for f in (np.cos, np.sin))
    if not isinstance(a, ComplexArray):
        x = _cut(xp, xp.floating(a), n, axis)
        return ComplexArray(xp, _product(xp, x, cos, axis), _product(xp, x, sin, axis))
    real, imag = _cut(xp, a.real, n, axis), _cut(xp, a.imag, n, axis)
    return ComplexArray(xp, _product(xp, real, cos, axis) - _product(xp, imag, sin, axis),
                        _product(xp, real, sin, axis) + _product(xp, imag, cos, axis))


def _along(a: Any, n: int | None, axis: int) -> tuple[int, int]:
    axis = normalize_axis(axis, a.ndim)
    n = int(a.shape[axis]) if n is None else n
    if n > _LONGEST:
        raise NotInGraphError(f"np.fft of {n} numbers has no graph node, of up to {_LONGEST} it has: write grad")
    return axis, n


def _scale(n: int, norm: str | None, back: bool) -> float:
    return float({"ortho": n ** -0.5, "forward": 1.0 if back else 1 / n}.get(norm or "", 1 / n if back else 1.0))


def _cut(xp: Any, x: Any, n: int, axis: int) -> Any:
    """So many elements along an axis, zeros where there are fewer."""
    before = (slice(None),) * axis
    have = x.shape[axis]
    if have < n:
        x = xp.call(np.pad, (x, [(0, n - have if i == axis else 0) for i in range(x.ndim)]), {})
    return x[(*before, slice(0, n))] if have > n else x


def _product(xp: Any, x: Any, matrix: np.ndarray[Any, Any], axis: int) -> Any:
    return xp.moveaxis(xp.matmul(xp.moveaxis(x, axis, -1), matrix.astype(x.dtype)), -1, axis)


#: Functions of this module by the names that they have in NumPy.
FOURIER: dict[str, Callable[..., Any]] = {"fft.fft": fft, "fft.ifft": ifft, "fft.rfft": rfft, "fft.irfft": irfft}
