"""NumPy's functions in a scope and compiled: those that are recorded give what NumPy gives, the others say why not."""
from __future__ import annotations

import warnings

import numpy as np
import pytest

from dl4py import GraphScope, INDArray, compiled
from dl4py.samediff.errors import GraphScopeError

#: ``a``, ``b`` matrices, ``s`` square, ``p`` positive definite, ``v`` a vector, ``z`` sorted, ``t`` of rank 3, ``n`` with NaN,
#: ``i`` whole numbers, ``k`` positions, ``m`` truth values.
RECORDED = """
np.insert(a, 0, 7) | np.insert(i, 1, 9, axis=1) | np.append(a, 5) | np.append(v, [7, 8]) | np.hstack([v, 3])
np.vstack([v, v * 2]) | np.block([a, b * 1.5]) | np.select([m], [m], 0.5) | np.vecdot(m, m) | np.tanh(m) | np.fabs(i)
np.logaddexp2(m, m) | np.degrees(m) | m ** 2 | np.tile(v, (2, 1)) | np.resize(v[:0], (2, 2)) | np.apply_over_axes(np.sum, t, [0, 2])
np.unravel_index(k, (2, 3))[1] | np.extract([True, False], v) | np.ravel_multi_index((k % 2, k % 3), (2, 3))
np.ones_like(np.empty_like(a)) | np.isreal(a) | np.iscomplex(a) | np.linalg.tensorinv(p, 1)
np.linalg.tensorsolve(p, s[0]) | v[[]] | np.lexsort((v[0], v[1])) | np.max(m, initial=1) | np.min(m, axis=0, initial=0, where=m)
np.trapezoid(m) | np.delete(v[:1], 0) | np.add(m, m, dtype=np.float64) | np.less(a, 0.5, dtype=np.bool_)
np.max(a[:, :0], axis=1, initial=1) | np.min(a[:0], axis=(0,), keepdims=True, initial=2) | np.max(a[:0], initial=3)
np.einsum("ij,kj->ik", a, b[:, :1]) | np.einsum("i...,i...->...", a[:1], a) | np.einsum("ij,jk->k", a[:, :1], s)
np.take(v, -1) | np.take(a, -1, axis=0) | np.take(a, -2, 1) | a[range(2)] | a[:, range(1, 3)] | np.tile(v, 2) | np.expand_dims(a, (0, 2))
a[:0][np.ones(0, bool)] | a[np.zeros(a.shape, bool)] | t[:0][np.zeros((0, 3), bool)]
np.reciprocal(i + 7)
np.diff(a, n=2) | np.diff(v, prepend=0.0, append=1) | np.diff(m) | np.ediff1d(a) | np.gradient(v) | np.gradient(a, axis=0)
np.gradient(a)[1] | np.gradient(v, 2.0) | np.trapezoid(v) | np.trapezoid(a, dx=0.5, axis=0) | np.trapezoid(v, z) | np.unwrap(4 * v)
np.cumulative_sum(v) | np.cumulative_prod(v, include_initial=True) | np.maximum.accumulate(v) | np.minimum.accumulate(a, axis=1)
np.add.accumulate(i) | np.logical_or.accumulate(m, axis=0) | np.convolve(v, v[:3]) | np.convolve(v[:2], v, "same")
np.convolve(i[0], i[1], "valid") | np.correlate(v, v[:2], "full") | np.correlate(v[:2], v, "same") | np.correlate(v, v)
np.correlate(v[:3], v) | np.polyval([1.0, 2, 3], v) | np.vander(v) | np.vander(v, 3, increasing=True) | np.quantile(a, 0.3)
np.quantile(a, [0.1, 0.9], axis=1, keepdims=True) | np.quantile(t, 0.25, axis=(0, 2)) | np.percentile(n, 40, axis=0)
np.quantile(a, 0.3, method="nearest") | np.quantile(a, 0.3, method="lower") | np.quantile(a, 0.3, method="higher") | np.median(n)
np.quantile(a, 0.3, method="midpoint") | np.quantile(a, 0.3, method="hazen") | np.quantile(a, 0.99, method="weibull")
np.quantile(i, 0.4, method="lower") | np.quantile(m, 0.6, axis=0, method="higher") | np.percentile(i, [20, 70], method="nearest")
np.nanquantile(i, 0.4, method="lower", axis=1, keepdims=True) | np.quantile(i, 0.3, method="midpoint") | np.isclose(m, m.T[:1].T)
np.isclose(i, i * 1.000001) | np.isclose(m, 1) | np.isclose(i, v[:4]) | np.allclose(m, True) | np.histogram_bin_edges(v[:0], 3)
np.histogram(v[:0], 4)[0] | np.linalg.norm(v[:0], np.inf) | np.linalg.norm(a[:0], np.inf) | np.linalg.norm(a[:, :0], 1)
np.linalg.norm(a[:0], np.inf, axis=0) | np.linalg.norm(a[:, :0], 2) | np.linalg.norm(a[:, :0], -np.inf)
np.median(a[:, :0], axis=0) | np.quantile(t[:, :0], [0.2, 0.4], axis=2, keepdims=True) | np.median(a[:0, :0], axis=0)
np.nanquantile(n, 0.3, axis=1) | np.nanpercentile(n, [30, 60]) | np.nanmedian(n, axis=0) | np.nansum(n, axis=0, keepdims=True)
np.nanmean(n) | np.nanmax(n, axis=1) | np.nanmin(n) | np.nanvar(n, ddof=1) | np.nanstd(n, axis=0) | np.nanprod(n) | np.nanargmax(n)
np.nanargmin(n, axis=0) | np.nancumsum(n) | np.nancumprod(n, axis=1) | np.average(a, axis=0, weights=[1.0, 2, 3])
np.average(a, weights=b * b, returned=True)[1] | np.cov(a) | np.cov(v, v * v) | np.cov(a, rowvar=False, bias=True) | np.corrcoef(a)
np.corrcoef(v, v * v)[0, 1] | np.ptp(a, axis=0, keepdims=True) | np.histogram(v)[0] | np.histogram(v, bins=4)[1]
np.histogram(a, bins=[-1, 0, 0.5, 2])[0] | np.histogram(v, 5, (-1, 1), density=True)[0] | np.histogram(v, 3, weights=v * v)[0]
np.histogram(i, bins=4)[0] | np.searchsorted(z, v) | np.searchsorted(z, a, side="right") | np.searchsorted(z, z, "right")
np.searchsorted(np.sort(n[0]), n) | np.digitize(v, z) | np.digitize(v, z[::-1], right=True) | np.interp(a, z, v)
np.interp(a, z, v, left=-9.0, right=9) | np.isin(i, k) | np.isin(i, [1, 5], invert=True)
np.take_along_axis(a, np.argsort(a, axis=0, kind="stable"), axis=0) | np.take_along_axis(t, t.astype(np.int64) % 3, 1)
np.take_along_axis(a[:, :0], np.argsort(a[:, :0], axis=1, kind="stable"), axis=1) | np.sort(a[:0], axis=0) | np.isin(a, v[:0])
np.take_along_axis(t[:, :0], i[None, :0] % 3, 1) | np.argsort(a[:0], axis=None) | np.isin(v, v[:0], invert=True) | t.mT
np.lexsort((k, k[::-1])) | np.lexsort((v[:5], k % 2)) | np.partition(v, 2)[2] | np.choose(k % 2, [v[:5], z[:5]])
np.compress([True, False, True], a, axis=0) | np.select([a > 1, a > 0], [a, b], 7)
np.piecewise(v, [v < 0, v >= 1], [lambda x: -x, 3, lambda x: x * x]) | np.linalg.solve(p, s) | np.linalg.solve(p, s[0])
np.linalg.qr(a).R | np.linalg.qr(s, mode="r") | np.linalg.svd(a, compute_uv=False) | abs(np.linalg.svd(a, full_matrices=False).Vh)
np.linalg.pinv(a) | np.linalg.slogdet(s)[0] | np.linalg.slogdet(np.stack([s, -p])).logabsdet | np.linalg.matrix_power(s, 5)
np.linalg.matrix_power(p, -2) | np.linalg.matrix_power(s, 0) | np.linalg.multi_dot([v[:3], a, s]) | np.linalg.matrix_rank(a)
np.linalg.cond(p) | np.linalg.cond(p, 1) | np.linalg.norm(v, 1) | np.linalg.norm(v, -np.inf) | np.linalg.norm(v, 0) | np.linalg.norm(v, 3)
np.linalg.norm(a, 2) | np.linalg.norm(a, "nuc") | np.linalg.norm(a, -1) | np.linalg.norm(t, np.inf, axis=(2, 0))
np.linalg.norm(t, axis=(0, 1), keepdims=True) | np.linalg.norm(t) | np.linalg.norm(a, axis=1, ord=1, keepdims=True) | np.linalg.trace(t)
np.linalg.vecdot(a, b) | np.linalg.cross(t[0, :, :3], a[:, 1:]) | np.cross(t[:, :, 0], t[:, :, 1], axis=1) | np.trace(t, 1, 1, 2)
np.inner(a, b) | np.matvec(s, a) | np.vecmat(a, s) | np.vecdot(t, a) | np.einsum("ii", s) | np.einsum("ii->i", s)
np.einsum("iji->j", np.stack([a, b], 2)[[0, 1]]) | np.einsum(a, [0, 1], b, [0, 2], [2, 1]) | np.einsum(s, [0, 0]) | np.isclose(a, b)
np.isclose(n, n, equal_nan=True) | np.allclose(a, a) | np.array_equal(a, b) | np.array_equal(a, v) | np.divmod(a, b)[1] | np.modf(-a)[0]
np.sinc(v) | np.degrees(v) | np.radians(i) | np.conj(a) | np.real(a) | np.imag(a) | np.angle(a) | np.isneginf(-1 / (a * 0))
np.ldexp(a, 3) | np.clip(a, min=-1, max=1) | np.clip(a, a_min=0, a_max=None) | np.clip(a, None, b) | np.round(17 * i, -1)
np.take(v, [9, -9], mode="clip") | np.take(v, k + 5, mode="wrap") | np.sum(a, where=m) | np.mean(a, axis=0, where=a > -9)
np.max(a, axis=1, initial=0.5) | np.min(a, where=m, initial=9) | np.prod(i, initial=2) | np.any(a, where=m) | np.all(a, axis=0, where=~m)
np.sum(i, axis=0, initial=3) | np.concatenate([a, t], axis=None) | a.flatten("F") | np.meshgrid(v, z)[0]
np.meshgrid(v, z, i[0], indexing="ij")[2] | np.meshgrid(v, z, sparse=True)[1] | np.broadcast_arrays(a, v[:4])[1]
np.unstack(t, axis=1)[2] | np.atleast_3d(a) | np.atleast_3d(v) | np.atleast_2d(v, a)[0] | np.size(a, 1) | np.linspace(a[0], 3, 5, axis=1)
np.linspace(v[0], v[1], 4, endpoint=False) | np.pad(a, ((1, 0), (0, 2)), constant_values=3) | np.matrix_transpose(t) | a[:, k % 4]
a[k % 3, 1:] | t[:, k % 3] | t[..., k % 4] | t[0, :, k % 4] | t[k % 2, :, k % 4] | t[:, k % 3, k % 4] | t[None, 1, k % 3]
a[k % 3, None, k % 4] | a.argsort() | v.searchsorted(0.5) | a.conj() | changed(a, lambda x: x.sort(0)) | changed(a, lambda x: x.fill(3))
(a > 0).conj() | (i > 0).conjugate() | changed(v, lambda x: np.put(x, k % 5, [7, 8])) | changed(a, lambda x: np.put(x, [0, -1], b))
changed(s, lambda x: np.fill_diagonal(x, v[:2])) | changed(a, lambda x: np.putmask(x, m, b))
changed(a, lambda x: np.copyto(x, 5, where=m)) | changed(a, lambda x: np.place(x, x > 0, 2))
changed(v, lambda x: np.add.at(x, k % 5, 1.5)) | changed(a, lambda x: np.put_along_axis(x, np.argmax(x, 1, keepdims=True), 9, 1))
changed(a, lambda x: x.__setitem__((slice(None), k % 4), 1)) | changed(t, lambda x: x.__setitem__((0, k % 3), b[0]))
changed(v, lambda x: np.maximum.at(x, k % 5, 0.25)) | np.einsum("i,i->", v[:1], m.ravel()) | np.einsum("ij,kj->i", i.astype(np.int8), a)
np.average(i.astype(np.int8), weights=(i * 20).astype(np.uint8)) | np.average(m, axis=1, weights=a[:1] + [[0], [1], [2]])
np.average(i, axis=0, weights=i[:, 0]) | np.average(a, weights=i, axis=1) | [1, 2, 3, 4] - a | a * ((1,), (2,), (3,)) | m & [True] * 4
np.maximum(v, [0] * 7) | a > [0.1, 0.2, 0.3, 0.4] | np.where(m, a, [[1], [2], [3]]) | a + [v[0], v[1], v[2], v[0]]
"""

#: What cannot be recorded, and the reason that is given.
REFUSED = {
    "np.unique(k)": "np.unique .*depends on values", "np.nonzero(a)": "np.nonzero .*depends on values",
    "np.where(a > 0)": "depends on values",
    "a[a > 0]": "truth values .*depends on values", "np.bincount(k)": "np.bincount .*depends on values",
    "np.compress(m[:, 0], a, axis=0)": "np.compress .*depends on values", "np.fft.hfft(v)": "np.fft.hfft has no graph node",
    "np.fft.fft(v)": "complex numbers, as np.fft gives them", "np.abs(np.fft.fft(v))": "complex numbers, as np.fft gives them",
    "np.linalg.eig(p)": "np.linalg.eig has no graph node", "np.histogram(v, bins='auto')": "bins='auto'", "a.tolist()": "values",
    "np.quantile(a, 0.3, method='inverted_cdf')": "inverted_cdf", "changed(a, lambda x: np.place(x, x > 0, [1, 2, 3]))": "np.place"}


def changed(x, change):
    """A copy, changed in place."""
    made = np.copy(x)
    change(made)
    return made


def given(dtype):
    rng = np.random.default_rng(5)
    a, b, s, v, t = (np.round(rng.normal(size=n), 2) for n in ((3, 4), (3, 4), (4, 4), 7, (2, 3, 4)))
    n = a.copy()
    n[0, 1] = n[2, 3] = n[1, 1] = np.nan
    arrays = {"a": a, "b": b, "s": s, "p": s @ s.T + 4 * np.eye(4), "v": v, "z": np.sort(v), "t": t, "n": n}
    whole = {"i": np.arange(12).reshape(3, 4) % 7, "k": np.array([3, 1, 2, 0, 3]), "m": a > 0}
    return {name: INDArray.of(np.asarray(x, dtype)) for name, x in arrays.items()} | {name: INDArray.of(x) for name, x in whole.items()}


def run(call, arrays):
    return eval(call, {"np": np, "changed": changed, **arrays})


def same(found, wanted):
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    single = wanted.dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=1e-4 if single else 1e-9, atol=1e-5 if single else 1e-10)


CALLS = [c.strip() for line in RECORDED.strip().splitlines() for c in line.split(" | ")
         if all(hasattr(np, n) for n in ("trapezoid", "cumulative_sum", "unstack", "vecdot", "matvec", "vecmat") if f"np.{n}(" in c)]


@pytest.mark.sampled(50)
@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.slow)])
@pytest.mark.parametrize("call", CALLS)
def test_recorded(call, dtype):
    arrays = given(dtype)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = run(call, {n: np.asarray(a) for n, a in arrays.items()})
        with GraphScope():
            found = run(call, {n: np.copy(a) for n, a in arrays.items()})
        same(found, wanted)
        warnings.simplefilter("error")
        function = compiled(lambda given: run(call, given))
        for _ in range(2):
            same(function(arrays), wanted)


@pytest.mark.parametrize("call", [
    lambda x: x.round(), lambda x: x.round(1), lambda x: x.round(decimals=-1), lambda x: np.round(x, 2),
lambda x: np.nanmedian(x, 0), lambda x: x.clip(0, 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_functions_of_arrays_from_outside(call, dtype):
    outside = given(np.float32)["a"].astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compiled(lambda x: (call(outside), x))(np.float32(1))[0]
    same(found, call(outside))


@pytest.mark.parametrize("call", REFUSED)
def test_refused_with_a_reason(call):
    arrays = given(np.float64)
    with pytest.raises(GraphScopeError, match=REFUSED[call]), GraphScope():
        run(call, {n: np.copy(a) for n, a in arrays.items()})
    function = compiled(lambda given: run(call, given))
    with pytest.warns(UserWarning, match=f"step by step.*{REFUSED[call]}") as said:
        for _ in range(3):
            function(arrays)
    assert len(said) == 1


@pytest.mark.sampled(14)
@pytest.mark.parametrize("name, call", [
    ("a", "np.quantile(a, 0.3)"), ("a", "np.linalg.norm(a, axis=1)"), ("n", "np.nanmean(n)"), ("v", "np.interp(b, z, v * v)"),
    ("v", "np.cumsum(v) / np.average(v, weights=v * v)"), ("a", "np.take_along_axis(a, np.argmax(a, 1, keepdims=True), 1)"),
    ("t", "t[0, :, k % 4]"), ("p", "np.linalg.slogdet(p)[1]"), ("a", "np.linalg.svd(a, full_matrices=False).S"),
    ("v", "np.maximum.accumulate(v)"), ("v", "np.convolve(v, v)"), ("p", "np.einsum('ii', p)"),
    ("v", "np.cov(v, z)"), ("a", "np.gradient(a, axis=0)")])
def test_gradients(name, call):
    arrays = given(np.float64)
    x = np.asarray(arrays[name])

    def total(value):
        made = run(call, arrays | {name: value})
        return (made * np.cos(np.arange(made.size).reshape(made.shape))).sum()
    found = np.asarray(compiled(total).gradient()(INDArray.of(x)))
    direction = np.random.default_rng(2).normal(size=x.shape)
    step = 1e-6 * direction
    wanted = (float(total(INDArray.of(x + step))) - float(total(INDArray.of(x - step)))) / 2e-6
    assert abs((np.where(np.isnan(found), 0, found) * direction).sum() - wanted) < 1e-5 * max(abs(wanted), 1)
