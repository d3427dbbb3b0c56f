"""Operators and functions of NumPy. ``a``, ``b``, ``c`` are arrays, ``k`` an axis of ``a``, ``n`` a small count, ``s`` a number, ``i`` and
``j`` positions of the first and last axis; "?" marks what scopes may refuse, as it needs values or memory of its own."""

OPERATORS = """
a + b ; a - b ; a * b ; a / (1 + abs(b)) ; a // (1 + abs(b)) ; a % (1 + abs(b)) ; a ** 2 ; abs(a) ** 0.5 ; -a ; +a ; abs(a) ; ~(a > 0)
a + s ; s - a ; a * s ; s / (1 + abs(a)) ; a / 2 ; a // 2 ; a % 3 ; 7 // (1 + abs(a)) ; 7 % (1 + abs(a)) ; 2 ** np.clip(a, -2, 2) ; a > s
a == b ; a != b ; a < b ; a <= b ; a > b ; a >= b ; a == 0 ; a != s ; s <= a ; s < a ; (a > 0) & (b > 0) ; (a > 0) | (b > 0) ^ (a > 0)
whole(a) & whole(b) ; whole(a) | 3 ; whole(a) ^ whole(b) ; whole(a) << 2 ; whole(a) >> 1 ; ~whole(a) ; divmod(a, 2)[0] ; a @ b ; a @ a.T
a.T @ b ; np.float32(2) * a ; np.float64(2) * a ; np.int64(3) + a ; np.bool_(True) * a ; True + a ; a * np.array([2.0]) ; a.T ; a[None]
a[..., None] ; abs(a - b) ; (a - b) ** 2 ; 1 / (1 + np.exp(-a)) ; a - a.mean() ; a * (a > 0)
"""

SINGLE = """
np.tanh(a) ; np.exp(-abs(a)) ; np.sqrt(abs(a)) ; np.log(abs(a) + 0.5) ; np.log2(abs(a) + 1) ; np.log10(abs(a) + 1) ; np.log1p(abs(a))
np.sin(a) ; np.cos(a) ; np.tan(np.clip(a, -1, 1)) ; np.arcsin(np.clip(a, -0.9, 0.9)) ; np.arccos(np.clip(a, -0.9, 0.9)) ; np.arctan(a)
np.sinh(np.clip(a, -3, 3)) ; np.cosh(np.clip(a, -3, 3)) ; np.arcsinh(a) ; np.arccosh(1 + abs(a)) ; np.arctanh(np.clip(a, -0.9, 0.9))
np.floor(a) ; np.ceil(a) ; np.trunc(a) ; np.rint(a) ; np.round(a) ; np.round(a, n) ; np.around(a, -1) ; np.fix(a) ; np.sign(a)
np.square(a) ; np.cbrt(a) ; np.exp2(np.clip(a, -5, 5)) ; np.expm1(-abs(a)) ; np.reciprocal(1.0 + abs(a)) ; np.negative(a) ; np.positive(a)
np.abs(a) ; np.absolute(a) ; np.fabs(a) ; np.degrees(a) ; np.radians(a) ; np.deg2rad(a) ; np.rad2deg(a) ; np.conj(a) ; np.conjugate(a)
np.sinc(a) ; np.isfinite(a) ; np.isnan(a) ; np.isinf(a) ; np.signbit(a) ; np.logical_not(a) ; np.isposinf(a) ; np.isneginf(a) ; np.real(a)
np.imag(a) ; np.nan_to_num(a) ; np.nan_to_num(np.log(a)) ; np.nan_to_num(1 / a, nan=1.0, posinf=2.0, neginf=-2.0) ; np.clip(a, -1, 1)
np.clip(a, min=0) ; np.clip(a, None, s) ; np.clip(a, b, 3) ; np.heaviside(a, 0.5) ; ? np.i0(np.clip(a, -3, 3)) ; ? np.spacing(a)
np.angle(a) ; np.isreal(a) ; np.iscomplex(a) ; np.real_if_close(a) ; np.bitwise_count(whole(a)) ; np.invert(whole(a))
np.bitwise_not(whole(a)) ; np.bitwise_invert(a > 0) ; ? np.frexp(a)[0] ; ? np.frexp(a)[1] ; np.modf(a)[0] ; np.modf(a)[1] ; np.ldexp(a, 2)
np.acos(np.clip(a, -0.9, 0.9)) ; np.asinh(a) ; np.atan(a) ; np.asin(np.clip(a, -0.9, 0.9)) ; np.acosh(1 + abs(a))
np.atanh(np.clip(a, -0.9, 0.9)) ; np.piecewise(a, [a > 0], [1, 0]) ; np.astype(a, np.float64) ; a.astype(np.float32)
a.astype(np.float64) ; np.clip(a, -9, 9).astype(np.int32) ; a.astype(bool) ; a.astype("int64")
"""

PAIRS = """
np.add(a, b) ; np.subtract(a, b) ; np.multiply(a, b) ; np.divide(a, 1 + abs(b)) ; np.true_divide(a, 2) ; np.floor_divide(a, 1 + abs(b))
np.mod(a, 1 + abs(b)) ; np.remainder(a, 3) ; np.fmod(a, 1 + abs(b)) ; np.divmod(a, 1 + abs(b))[0] ; np.divmod(a, 2)[1]
np.power(abs(a) + 0.5, np.clip(b, -2, 2)) ; np.pow(abs(a), 2) ; np.float_power(abs(a) + 0.5, 1.5) ; np.maximum(a, b) ; np.minimum(a, b)
np.fmax(a, b) ; np.fmin(a, b) ; np.hypot(a, b) ; np.arctan2(a, b) ; np.atan2(a, 1) ; np.logaddexp(a, b) ; np.logaddexp2(a, b)
np.copysign(a, b) ; ? np.nextafter(a, b) ; np.equal(a, b) ; np.not_equal(a, b) ; np.less(a, b) ; np.less_equal(a, b) ; np.greater(a, b)
np.greater_equal(a, b) ; np.logical_and(a, b) ; np.logical_or(a, b) ; np.logical_xor(a, b) ; np.bitwise_and(whole(a), whole(b))
np.bitwise_or(whole(a), whole(b)) ; np.bitwise_xor(whole(a), 5) ; np.left_shift(whole(a), 1) ; np.right_shift(whole(a), 1)
np.bitwise_left_shift(whole(a), n) ; np.bitwise_right_shift(whole(a), n) ; ? np.gcd(whole(a), whole(b)) ; ? np.lcm(whole(a), 6)
np.isclose(a, b) ; np.isclose(a, 1, atol=0.5) ; np.allclose(a, b) ; np.array_equal(a, b) ; np.array_equiv(a, a) ; np.where(a > b, a, b)
np.where(a > 0, b, 0.0) ; np.where(a > 0, a, 0) ; np.where(a > 0, 1.0, 0.0) ; np.where(a, 1, b) ; np.select([a > 1, a < 0], [a, b], s)
np.select([a > 0], [a], 0) ; np.choose(whole(abs(a)) % 2, [a, b]) ; np.heaviside(a, b) ; np.add.outer(a, b) ; np.multiply.outer(a, b)
np.subtract.outer(a, b) ; np.maximum.outer(a, b) ; np.greater.outer(a, b) ; np.add.reduce(a) ; np.add.reduce(a, axis=k, keepdims=True)
np.multiply.reduce(np.tanh(a), axis=k) ; np.maximum.reduce(a, axis=k) ; np.minimum.reduce(a) ; np.logical_and.reduce(a, axis=k)
np.logical_or.reduce(a) ; np.add.accumulate(a, axis=k) ; np.multiply.accumulate(np.tanh(a), axis=k) ; np.maximum.accumulate(a, axis=k)
np.minimum.accumulate(a, axis=k) ; ? np.add.reduceat(a, [0]) ; np.add(a, b, dtype=np.float64) ; np.multiply(a, 2.0, dtype=np.float32)
? np.add(a, b, where=True)
"""

REDUCING = """
a.sum() ; a.sum(axis=k) ; np.sum(a, axis=k, keepdims=True) ; np.sum(a) ; np.sum(a, axis=(0, -1)) ; np.sum(a, dtype=np.float64) ; a.mean()
a.mean(axis=k, keepdims=True) ; np.mean(a, axis=k) ; np.mean(a, axis=()) ; np.max(a, axis=k) ; a.min() ; np.min(a, axis=k, keepdims=True)
np.amax(a) ; np.amin(a, axis=k) ; np.prod(np.clip(a, -1, 1), axis=k) ; a.max(axis=k) ; a.prod(axis=k, keepdims=True)
np.argmax(a, axis=k) ; np.argmin(a) ; np.argmin(a, axis=k, keepdims=True) ; a.argmax() ; a.argmin(k) ; np.any(a, axis=k) ; np.all(a)
np.all(a, axis=k, keepdims=True) ; np.var(a, axis=k) ; np.var(a, axis=k, ddof=1, keepdims=True) ; np.std(a + 0.5) ; np.std(a, axis=k)
a.var(axis=k, ddof=0) ; a.std(axis=k) ; np.count_nonzero(a > 0) ; np.count_nonzero(a, axis=k) ; np.ptp(a, axis=k) ; np.average(a, axis=k)
np.average(a, weights=1 + abs(b)) ; np.median(a, axis=k) ; np.median(a) ; np.median(a, axis=k, keepdims=True)
np.quantile(a, 0.3, axis=k) ; np.percentile(a, 60) ; np.quantile(a, [0.1, 0.5], axis=k)
np.percentile(a, [10, 90], axis=k, keepdims=True) ; np.quantile(a, 0.4, method="lower") ; np.nansum(a) ; np.nanmean(a, axis=k)
np.nanmax(a, axis=k) ; np.nanmin(a) ; np.nanprod(np.tanh(a), axis=k) ; np.nanstd(a, axis=k) ; np.nanvar(a) ; np.nanmedian(a, axis=k)
np.nanquantile(a, 0.3, axis=k) ; np.nanpercentile(a, 30) ; np.nanargmax(a, axis=k) ; np.nanargmin(a, axis=k) ; np.nancumsum(a, axis=k)
np.nancumprod(np.tanh(a), axis=k) ; np.nansum(np.log(a)) ; np.nanmax(np.log(a), axis=k) ; np.sum(a, axis=k, where=a > 0)
np.mean(a, where=a > -9) ; ? np.max(a, axis=k, initial=1) ; np.sum(a, initial=2) ; np.any(a, where=a > 0)
np.min(a, axis=k, initial=0, where=a > 0) ; np.cumsum(a, axis=k) ; np.cumsum(a) ; np.cumprod(np.clip(a, -1, 1), axis=k) ; a.cumsum(axis=k)
np.cumulative_sum(a, axis=k) ; np.cumulative_prod(np.tanh(a), axis=k) ; np.cumulative_sum(a, axis=k, include_initial=True)
np.trapezoid(a, axis=k) ; np.trapezoid(a, dx=0.5) ; np.trapezoid(a, a + 1, axis=k) ; np.linalg.norm(a) ; np.linalg.norm(a, 1, axis=k)
np.linalg.norm(a, axis=k, keepdims=True) ; np.linalg.norm(a, np.inf, axis=k) ; np.linalg.norm(a, "fro") ; np.linalg.vector_norm(a, axis=k)
np.linalg.matrix_norm(a) ; np.corrcoef(a) ; np.cov(a) ; np.cov(a, rowvar=False) ; np.histogram(a, 4, (-3, 3))[0] ; np.histogram(a, 3)[0]
np.histogram(a, [-2.0, 0.0, 2.0])[0] ; np.histogram_bin_edges(a, 3) ; ? np.bincount(abs(whole(a)).ravel() % 4, minlength=4)
? np.apply_along_axis(np.sum, k, a) ; np.apply_over_axes(np.sum, a, [0]) ; np.digitize(a, [-1.0, 0.0, 1.0]) ; np.lexsort((a,))
"""

SHAPING = """
np.reshape(a, -1) ; a.reshape(a.shape[::-1]) ; np.reshape(a, (-1, 1)) ; np.reshape(a, a.shape, order="F") ; np.ravel(a, order="F")
a.ravel() ; np.expand_dims(a, 0) ; np.expand_dims(a, (0, -1)) ; np.squeeze(a) ; np.squeeze(a[None], axis=0) ; np.transpose(a)
np.transpose(a, range(a.ndim)) ; np.swapaxes(a, 0, -1) ; np.moveaxis(a, 0, -1) ; np.rollaxis(a, k) ; np.permute_dims(a)
np.matrix_transpose(a) ; a.flatten() ; np.ravel(a) ; np.broadcast_to(a, (2, *a.shape)) ; np.broadcast_arrays(a, b)[0]
np.stack([a, a], axis=k) ; np.stack([a, b]) ; np.concatenate([a, b], axis=k) ; np.concatenate([a, a], axis=None)
np.concat([a, b], axis=k) ; np.vstack([a, b]) ; np.hstack([a, a]) ; np.dstack([a, a]) ; np.column_stack([a, a]) ; np.block([a, b])
np.append(a, b) ; np.append(a, a, axis=k) ; np.atleast_1d(a) ; np.atleast_2d(a) ; np.atleast_3d(a) ; np.tile(a, 2) ; np.tile(a, (2, 1))
np.repeat(a, 2, axis=k) ; np.repeat(a, n) ; np.split(a, [1], axis=k)[0] ; np.array_split(a, 2, axis=k)[1] ; np.vsplit(a, 1)[0]
np.hsplit(a, 1)[0] ; np.dsplit(a, 1)[0] ; np.unstack(a, axis=k)[0] ; np.flip(a) ; np.flip(a, axis=k) ; np.fliplr(a) ; np.flipud(a)
np.rot90(a) ; np.rot90(a, n) ; np.roll(a, 1, axis=k) ; np.roll(a, -n) ; np.roll(a, (1, 2), axis=(0, -1)) ; np.diff(a, axis=k)
np.diff(a, 2, axis=k) ; np.diff(a, prepend=0) ; np.ediff1d(a) ; np.gradient(a, axis=k) ; np.gradient(a, 2.0, axis=k) ; np.pad(a, 1)
np.pad(a, 1, mode="edge") ; np.pad(a, 1, "constant", constant_values=s) ; np.pad(a, 1, "reflect")
np.pad(a, ((0, 1),) * a.ndim, "symmetric") ; np.pad(a, 1, "wrap") ; np.resize(a, (2, 3)) ; np.diag(a) ; np.diag(a, 1) ; np.diagflat(a)
np.diagonal(a) ; np.diagonal(a, -1) ; np.triu(a) ; np.triu(a, 1) ; np.tril(a) ; np.tril(a, -1) ; np.trace(a) ; np.trace(a, 1)
np.vander(np.tanh(a.ravel()), 3) ; np.meshgrid(a, b)[0] ; np.meshgrid(a, a, indexing="ij")[1] ; np.zeros_like(a) ; np.ones_like(a) + a
np.full_like(a, 2) ; np.full_like(a, s, dtype=np.float64) ; changed(np.empty_like(a), lambda x: x.fill(2)) ; np.copy(a) ; a.copy()
np.delete(a, 0, axis=k) ; np.insert(a, 0, 1, axis=k) ; np.delete(a, [0]) ; np.insert(a, 0, s) ; np.shape(a)[0] + a ; np.ndim(a) * a
np.size(a) + a ; np.linspace(a, 1, 3) ; np.linspace(0, a, 3, axis=-1) ; ? np.logspace(np.tanh(a), 1, 3)
? np.geomspace(1 + abs(a), 9.0, 3) ; np.ravel_multi_index((abs(whole(a)) % 2, abs(whole(a)) % 3), (2, 3))
np.unravel_index(abs(whole(a)) % 6, (2, 3))[1] ; np.sort(a, axis=k) ; np.sort(a, axis=None) ; np.argsort(a, axis=k, kind="stable")
np.partition(np.sort(a), 0) ; np.unwrap(a, axis=k) ; np.searchsorted(np.sort(a, axis=None), b)
np.searchsorted(np.sort(a, axis=None), a, side="right") ; np.interp(a, [-1.0, 0, 2], [3.0, 1, 2]) ; np.isin(a, [0, 1]) ; np.isin(a, b)
np.isin(a, b, invert=True) ; np.convolve(a.ravel(), [1, 2]) ; np.correlate(a.ravel(), [1, 2], "full")
np.convolve(a.ravel(), b.ravel(), "same") ; np.polyval([1.0, 2.0, 0.5], a) ; ? np.polyadd(a.ravel(), [1.0, 2.0])
? np.polymul(a.ravel(), [1.0, 2.0]) ; ? np.polysub(a.ravel(), [1.0, 2.0]) ; ? np.polyder(a.ravel()) ; ? np.polyint(a.ravel())
np.ix_([0], [0])[0] + a ; np.result_type(a, b).type(2) * a
"""

PRODUCTS = """
np.dot(a, b) ; np.matmul(a, b) ; np.inner(a, b) ; np.outer(a, b) ; np.vdot(a, b) ; np.kron(a, b) ; np.tensordot(a, b, 1)
np.tensordot(a, b, 0) ; np.tensordot(a, a, axes=([k], [k])) ; np.einsum("...i->...", a) ; np.einsum("i...,i...->...", a, b)
np.einsum("ij,kj->ik", a, b) ; np.einsum("ij->ji", a) ; np.einsum("ii->i", mat(a)) ; np.einsum("ij,jk", mat(a), mat(b))
np.einsum(mat(a), [0, 1], mat(b), [1, 2], [0, 2]) ; np.vecdot(a, a) ; np.matvec(mat(a), vec(a)) ; np.vecmat(vec(a), mat(b))
np.cross(vec(a), vec(b)) ; np.linalg.cross(vec(a), vec(b)) ; np.linalg.det(spd(a)) ; np.linalg.inv(spd(a))
np.linalg.solve(spd(a), mat(b)) ; np.linalg.solve(spd(a), vec(b)) ; np.linalg.cholesky(spd(a)) ; np.linalg.slogdet(spd(a))[1]
np.linalg.slogdet(spd(a))[0] ; ? np.linalg.eigvalsh(spd(a)) ; ? np.linalg.eigh(spd(a))[0] ; np.linalg.svd(spd(a))[1]
np.linalg.svdvals(spd(a)) ; abs(np.linalg.qr(spd(a))[1]) ; ? np.linalg.lstsq(spd(a), vec(b))[0] ; np.linalg.pinv(spd(a))
np.linalg.matrix_power(mat(a), n) ; np.linalg.matrix_power(spd(a), -1) ; np.linalg.matrix_rank(spd(a))
np.linalg.multi_dot([mat(a), mat(b), vec(a)]) ; np.linalg.cond(spd(a)) ; np.linalg.outer(vec(a), vec(b)) ; np.linalg.trace(mat(a))
np.linalg.matmul(mat(a), mat(b)) ; np.linalg.vecdot(a, a) ; np.linalg.tensordot(a, b, 1) ; np.linalg.matrix_transpose(mat(a))
np.linalg.diagonal(mat(a)) ; np.linalg.norm(mat(a), 2) ; np.linalg.norm(mat(a), "nuc") ; np.linalg.tensorinv(spd(a), 1)
np.linalg.tensorsolve(spd(a), vec(b)) ; np.linalg.inv(np.stack([spd(a), spd(b)])) ; np.linalg.det(np.stack([spd(a), spd(b)]))
? np.linalg.eigvalsh(spd(a) + 0)
"""

INDEXING = """
a[0] ; a[i] ; a[-1:] ; a[1:] ; a[::2] ; a[::-1] ; a[i:] ; a[:i] ; a[i::-1] ; a[..., 0] ; a[..., j] ; a[..., ::-1] ; a[:, ::2] ; a[:, None]
a[...] ; a[i, ...] ; a[:, -1] ; a[::-1, ::-1] ; a[-2:None:-1] ; a[5:] + 1 ; a[0:0].sum() ; a[None, :, None] ; a[[0, 0]] ; a[[i, 0]]
a[[[0], [i]]] ; a[..., [0, j]] ; a[[0], ...] ; a[np.array([i, 0])] ; a[[i, 0], [0, 0]] ; a[:, [0, -1]] ; a[0:1, [0]] ; a[[0], None]
a[[0], :, [0]] ; a[abs(whole(b)) % len(a)] ; a[..., abs(whole(b)) % a.shape[-1]] ; a[-1 - abs(whole(b)) % len(a)]
a[abs(whole(a)) % len(a), 0] ; np.take(a, [0, 0], axis=k) ; np.take(a, abs(whole(b)) % len(a), axis=0) ; np.take(a, 0, axis=k)
a.take([0], axis=k) ; np.take(a, [9], mode="clip") ; np.take(a, [-7, 8], mode="wrap") ; np.take(a, whole(b), mode="clip")
np.take_along_axis(a, np.argsort(a, axis=k, kind="stable"), axis=k) ; np.compress([True], a, axis=k) ; np.extract([True], a)
a.compress([True], axis=k) ; a[np.ones(len(a), bool)] ; a[np.arange(len(a)) % 2 == 0] ; ? a[a > 0].sum() ; ? a[a.nonzero()].sum()
? np.unique(a) ; ? np.flatnonzero(a) ; ? np.argwhere(a > 0) ; ? np.nonzero(a)[0] ; ? np.where(a > 0)[0] ; ? np.union1d(a, b)
? np.intersect1d(a, b) ; ? np.setdiff1d(a, b) ; ? np.trim_zeros(a.ravel()) ; ? np.unique_values(a) ; ? np.extract(a > 0, a)
a[np.int64(0)] ; a[np.newaxis] ; a[(0,)] ; a[()] ; a[slice(None, None, -2)] ; a[i] * a[0] ; a[0] + a[-1] ; a.T[0]
a[..., 0:1] @ a[..., 0:1].T
"""

IN_PLACE = """
changed(a, lambda x: np.add(x, 1, out=x)) ; changed(a, lambda x: np.multiply(x, x, out=x)) ; changed(a, lambda x: np.tanh(x, out=x))
changed(a, lambda x: x.__imul__(2)) ; changed(a, lambda x: x.__iadd__(b)) ; changed(a, lambda x: x.__isub__(x))
changed(a, lambda x: x.__ipow__(2)) ; changed(a, lambda x: x.__itruediv__(2)) ; changed(a, lambda x: x.__ifloordiv__(2))
changed(a, lambda x: x.__imod__(3)) ; changed(a > 0, lambda x: x.__iand__(True)) ; changed(a > 0, lambda x: x.__ixor__(a > 1))
changed(a > 0, lambda x: x.__ior__(a > 1)) ; changed(a, lambda x: x.__setitem__(0, 1))
changed(a, lambda x: x.__setitem__(slice(None, None, 2), s)) ; changed(a, lambda x: x.__setitem__(..., b))
changed(a, lambda x: x.__setitem__((..., 0), 5)) ; changed(a, lambda x: x.__setitem__([0, i], 3))
? changed(a, lambda x: x.__setitem__(-1, x[0])) ; changed(a, lambda x: x.__setitem__(slice(None, None, -1), a))
? changed(a, lambda x: x.__setitem__((slice(None), 0), x[:, -1])) ; changed(a, lambda x: x.__setitem__(abs(whole(b)) % len(x), s))
changed(a, lambda x: x.__setitem__(a > 0, 0)) ; changed(a, lambda x: x.__setitem__(a < s, s)) ; changed(a, lambda x: x.sort())
changed(a, lambda x: x.sort(axis=k)) ; changed(a, lambda x: x.fill(s)) ; changed(a, lambda x: np.fill_diagonal(x, 1))
changed(a, lambda x: np.put_along_axis(x, np.argmax(x, k, keepdims=True), 1, k)) ; changed(a, lambda x: np.copyto(x, b))
changed(a, lambda x: np.copyto(x, 0, where=x > 0)) ; ? changed(a, lambda x: np.put(x, [0, -1], [7, 8]))
changed(a, lambda x: np.putmask(x, x > 0, 2)) ; changed(a, lambda x: np.place(x, x > 0, [3]))
changed(a, lambda x: np.add.at(x, [0, 0], np.copy(x[0]))) ; changed(a, lambda x: np.maximum.at(x, [0], 2))
changed(a, lambda x: np.multiply.at(x, [0, i], 2)) ; changed(a, lambda x: np.subtract.at(x, [i], 1))
changed(a, lambda x: np.minimum.at(x, [0], -1)) ; changed(a, lambda x: np.maximum(x, 0, out=x))
changed(a, lambda x: np.cumsum(x, axis=k, out=x)) ; changed(a, lambda x: np.clip(x, -1, 1, out=x))
changed(a, lambda x: np.negative(x, out=x)) ; changed(a, lambda x: np.sqrt(abs(x), out=x)) ; changed(a, lambda x: np.where(x > 0, x, 0))
? directly(a, lambda x: x.__iadd__(1)) ; ? directly(a, lambda x: x.__setitem__(0, s)) ; ? directly(a, lambda x: np.exp(-abs(x), out=x))
? directly(a, lambda x: x.muli(2)) ; ? directly(a, lambda x: x.sort()) ; ? directly(a, lambda x: x.assign(b))
? directly(a, lambda x: x.fill(1)) ; ? part(a, lambda x: x[0], lambda y: y.__iadd__(1)) ; ? part(a, lambda x: x.T, lambda y: y.muli(2))
? part(a, lambda x: x.ravel(), lambda y: y.addi(1)) ; ? part(a, lambda x: x[::2], lambda y: y.fill(s))
? part(a, lambda x: x.flatten(), lambda y: y.fill(s)) ; ? part(a, lambda x: x.reshape(-1), lambda y: y.negi())
? part(a, lambda x: x[..., None], lambda y: y.__imul__(3)) ; ? part(a, lambda x: x + 0, lambda y: y.fill(9))
? part(a, lambda x: x.dup(), lambda y: y.fill(9)) ; ? seen(a, lambda x: x[0:], lambda x: x.muli(2))
? seen(a, lambda x: x.T, lambda x: x.fill(s)) ; ? seen(a, lambda x: x.copy(), lambda x: x.fill(s))
? seen(a, lambda x: np.ravel(x), lambda x: x.addi(1)) ; ? seen(a, lambda x: x * 1, lambda x: x.addi(1))
? seen(a, lambda x: np.squeeze(x), lambda x: x.addi(1))
"""

TABLES = {"operators": OPERATORS, "single": SINGLE, "pairs": PAIRS, "reducing": REDUCING, "shaping": SHAPING, "products": PRODUCTS,
          "indexing": INDEXING, "in place": IN_PLACE}
