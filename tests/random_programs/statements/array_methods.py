"""Methods of INDArray, in the notation of ``numpy_calls``."""

_PLAIN = """
a.{op}(b) ; a.{op}(s) ; a.{op}(2) ; changed(a, lambda x: x.{op}i(b)) ; changed(a, lambda x: x.{op}i(2)) ; a.{op}ColumnVector(a[:, 0])
a.{op}RowVector(a[0]) ; changed(a, lambda x: x.{op}iRowVector(x[0].dup())) ; changed(a, lambda x: x.{op}iColumnVector(a[:, :1].ravel()))
"""
ARITHMETIC = "\n".join(_PLAIN.format(op=op) for op in ("add", "sub", "mul", "div", "rsub", "rdiv")) + """
a.add_row_vector(vec(b)) ; a.mul_column_vector(b) ; a.fmod(b) ; a.fmod(2) ; a.remainder(2) ; a.remainder(b)
changed(a, lambda x: x.fmodi(2)) ; changed(a, lambda x: x.remainderi(3)) ; a.neg() ; changed(a, lambda x: x.negi()) ; a.div(3)
a.rdiv(1.0) ; a.add(whole(b)) ; a.mul(np.float32(2))
"""

COMPARING = """
a.eq(b) ; a.neq(b) ; a.gt(b) ; a.gte(b) ; a.lt(b) ; a.lte(b) ; a.eq(0) ; a.neq(s) ; a.gt(s) ; a.gte(1) ; a.lt(0) ; a.lte(s) ; a.eps(b)
a.eps(1) ; a.isNaN() ; a.is_nan() ; a.isInfinite() ; a.cond(C.greaterThan(s)) ; a.cond(C.lessThanOrEqual(0)) ; a.cond(C.equals(1))
a.cond(C.notEquals(1)) ; a.cond(C.isNan()) ; a.cond(C.absGreaterThan(1)) ; a.match(s, C.greaterThan(0)) ; a.match(b, C.lessThan(0))
? num(a.scan(C.greaterThan(0))) ; ? a.getWhere(1, C.greaterThan(0)).sum() ; changed(a, lambda x: x.replaceWhere(b, C.lessThan(0)))
changed(a, lambda x: x.replaceWhere(s, C.greaterThan(0))) ; changed(a, lambda x: x.assignIf(b, C.greaterThan(0)))
a.putWhere(b, a, C.greaterThan(0)) ; a.putWhere(1, 5, C.lessThan(0)) ; a.putWhereWithMask(a.gt(0), b) ; a.putWhereWithMask(b.gt(0), 2)
? num(a.none()) ; num(a.equalShapes(b)) ; ? num(a.equals(b)) ; ? num(a.equalsWithEps(a, 1e-3)) ; ? num(a.all()) ; ? num(a.any())
a.any(axis=k) ; a.all(axis=k) ; a.isMatrix() * a ; a.isSquare() * a ; a.isVector() * a ; a.isScalar() * a ; a.isRowVector() + a
a.isColumnVector() * a ; a.isEmpty() + a ; a.isR() * a ; a.isZ() * a ; a.isB() * a ; a.isVectorOrScalar() * a
a.isRowVectorOrScalar() * a ; a.isColumnVectorOrScalar() * a ; a.isS() + a ; a.isSparse() + a ; a.isCompressed() + a ; a.isAttached() + a
a.isInScope() * a ; a.wasClosed() + a ; ? a.closeable() * a
"""

REDUCING = """
a.sum() ; a.sum(0) ; a.sum(k) ; a.sum(True, k) ; a.sum(0, -1) ; a.mean() ; a.mean(k) ; a.mean(True, k) ; a.max(k) ; a.max()
a.min(True, 0) ; a.min(k) ; a.prod(k) ; np.tanh(a).prod() ; a.std() ; a.std(k) ; a.std(False, k) ; a.std(True, 0) ; a.var() ; a.var(k)
a.var(False, 0) ; a.norm1() ; a.norm1(k) ; a.norm2() ; a.norm2(k) ; a.norm2(True, k) ; a.normmax() ; a.normmax(k) ; a.amax(k) ; a.amax()
a.amin(k) ; a.amin() ; a.amean(k) ; a.amean() ; a.median() ; a.median(k) ; a.percentile(40) ; a.percentile(60, k) ; a.entropy(k)
abs(a).entropy() ; abs(a).logEntropy(k) ; abs(a).shannonEntropy(k) ; a.argMax(k) ; a.argMax() ; a.arg_max(0) ; a.cumsum(0) ; a.cumsum(k)
changed(a, lambda x: x.cumsumi(k)) ; ? a.squaredDistance(b) + a ; ? num(a.sumNumber()) ; ? num(a.meanNumber()) ; ? num(a.maxNumber())
? num(a.minNumber()) ; ? num(a.stdNumber()) ; ? num(a.varNumber()) ; ? num(a.prodNumber()) ; ? num(a.norm1Number())
? num(a.norm2Number()) ; ? num(a.normmaxNumber()) ; ? num(a.amaxNumber()) ; ? num(a.aminNumber()) ; ? num(a.ameanNumber())
? num(a.medianNumber()) ; ? num(a.percentileNumber(30)) ; ? num(a.entropyNumber()) ; ? num(abs(a).logEntropyNumber())
? num(abs(a).shannonEntropyNumber()) ; ? num(a.distance1(b)) ; ? num(a.distance2(b)) ; ? num(a.squaredDistance(a)) ; ? num(a.trace())
a.trace() ; a.argmax(axis=k) ; a.argmin(axis=k) ; a.dot(b) ; a.round() ; a.round(1) ; a.clip(-1, 1) ; a.cumprod(axis=k)
np.sort(a, axis=None).searchsorted(b)
"""

SHAPING = """
a.reshape(-1, 1) ; a.reshape("f", -1) ; a.reshape("c", *a.shape[::-1]) ; a.reshape("f", *a.shape[::-1]) ; a.permute(*range(a.ndim)[::-1])
a.permute(*range(a.ndim)) ; a.transpose() ; a.transpose(*range(a.ndim)[::-1]) ; a.swapAxes(0, k) ; a.swapaxes(0, -1) ; a.ravel()
a.ravel("f") ; a.ravel("c") ; a.repeat(0, 2) ; a.repeat(k, n) ; a.repeat(2) ; a.repmat(2, 1) ; a.repmat(1, n) ; a.broadcast(2, *a.shape)
a.castTo(DataType.DOUBLE) ; a.castTo(DataType.FLOAT) ; a.castTo(DataType.INT) ; a.castTo(DataType.BOOL) ; a.cast_to(DataType.LONG)
a.dup() ; a.dup("f") ; a.like() ; a.ulike() * 0 ; a.dimShuffle([1, 0]) ; a.dimShuffle(["x", 0]) ; a.squeeze() ; a[None].squeeze(0)
a.flatten() ; a.flatten("F") ; a.diagonal() ; a.copy() ; a.conj() ; changed(a, lambda x: x.permutei(*range(x.ndim)[::-1]))
changed(a, lambda x: x.transposei()) ; a.detach() ; a.migrate() ; a.leverage() ; a.conjugate() ; a.unsafeDuplication() ; a.rank() * a
a.length() + a ; a.rows() * a ; a.columns() + a ; a.size(0) * a ; a.size(-1) + a ; a.slices() * a ; a.real + 0
a.argsort(axis=k, kind="stable") ; a.argpartition(0) * 0 ; a.choose([a, a]) ; ? a.byteswap() * 0 ; ? a.view() ; a.imag + 1
? a.T.flat[0] + a
"""

PARTS = """
a.get(I.point(0)) ; a.get(I.point(i)) ; a.get(I.all(), I.point(j)) ; a.get(I.interval(0, 2)) ; a.get(I.interval(0, 2, len(a)))
a.get(I.all(), I.interval(0, 1)) ; a.get(I.interval(0, 1, True)) ; a.get(I.indices(0, i)) ; a.get(I.all(), I.indices(j, 0))
a.get(I.indices(0, i), I.indices(0)) ; a.get(I.newAxis(), I.all()) ; a.get(I.all(), I.newAxis()) ; a.get(I.point(-1), I.all())
a.getRow(0) ; a.getRow(i, True) ; a.getColumn(0) ; a.getColumn(j, True) ; a.getRows(0, i) ; a.getColumns(0, j) ; a.slice(i)
a.slice(0, k) ; a.tensorAlongDimension(0, k) ; a.vectorAlongDimension(0, k) ; a.tensorsAlongDimension(k) * a
a.vectorsAlongDimension(k) + a ; a.getScalar(0) ; a.getScalar(*(0,) * a.ndim) ; ? num(a.getDouble(0)) ; ? num(a.getFloat(0))
? num(a.getInt(0)) ; ? num(a.getLong(0)) ; ? num(a.getNumber(0)) ; ? num(a.element()) ; ? num(a.sum().item())
? num(a.sum().getDouble(0)) ; ? num(sum(a.ravel().tolist())) ; ? np.asarray(a.toDoubleVector()) + 0 ; ? np.asarray(a.toFloatMatrix()) + 0
? np.asarray(a.toIntVector()) ; ? np.asarray(a.toLongMatrix()) ; changed(a, lambda x: x.putScalar(0, s))
changed(a, lambda x: x.putScalar(*(0,) * x.ndim, 2)) ; changed(a, lambda x: x.putRow(0, b))
changed(a, lambda x: x.putRow(i, x[0].dup())) ; changed(a, lambda x: x.putColumn(j, a[:, 0]))
changed(a, lambda x: x.putiRowVector(a[0])) ; changed(a, lambda x: x.putiColumnVector(a[:, 0]))
? changed(a, lambda x: x.putSlice(i, a[0])) ; changed(a, lambda x: x.put([I.point(0)], b))
changed(a, lambda x: x.put([I.all(), I.point(j)], 1)) ; changed(a, lambda x: x.put([I.all(), I.indices(0, j)], s))
changed(a, lambda x: x.put([I.interval(0, 1)], a[-1:])) ; changed(a, lambda x: x.put([0, 0], 4)) ; changed(a, lambda x: x.assign(b))
changed(a, lambda x: x.assign(s)) ; changed(a, lambda x: x.assign(a[-1])) ; ? changed(a, lambda x: x.getRow(0).assign(0))
? changed(a, lambda x: x.getColumn(j).muli(2)) ; ? changed(a, lambda x: x.slice(i).addi(1))
? changed(a, lambda x: x.tensorAlongDimension(0, k).negi()) ; ? changed(a, lambda x: x.get(I.interval(0, 1)).assign(b))
? changed(a, lambda x: x[0].addi(1)) ; ? changed(a, lambda x: x.reshape(-1).addi(1))
"""

PRODUCTS = """
a.mmul(b) ; a.mmul(a.T) ; a.transpose().mmul(a) ; mat(a).mmul(mat(b)) ; mat(a).mmul(vec(b).reshape(3, 1))
changed(mat(a), lambda x: x.mmuli(mat(b))) ; vec(a).mmul(mat(b)) ; a.dot(b) ; a.dot(a) ; mat(a).dot(vec(b))
np.stack([mat(a), mat(b)]).mmul(np.stack([mat(b), mat(a)]))
"""

TABLES = {"arithmetic": ARITHMETIC, "comparing": COMPARING, "reducing by methods": REDUCING, "shaping by methods": SHAPING, "parts": PARTS,
          "products by methods": PRODUCTS}
