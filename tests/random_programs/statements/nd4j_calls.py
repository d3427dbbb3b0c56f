"""Functions of ``Nd4j`` and ``Transforms``, in the notation of ``numpy_calls``; "!" marks what compiled functions do step by step."""

CREATING = """
Nd4j.create([[1.0, 2.0], [3.0, 4.0]]) + s ; Nd4j.create(2, 3) + 1 ; Nd4j.create([1, 2, 3, 4], (2, 2)) ; Nd4j.create([1.0, 2.0, 3.0]) * n
Nd4j.createFromArray(1.0, 2.0, 3.0) ; Nd4j.create_from_array(1, 2) + a.sum() ; Nd4j.createUninitialized(2, 3).assign(s)
Nd4j.zeros(2, 3) + s ; Nd4j.zeros(3) ; Nd4j.zeros(DataType.DOUBLE, 2, 2) ; Nd4j.ones(2, 3) * s ; Nd4j.ones(DataType.INT, 3)
Nd4j.zerosLike(a) ; Nd4j.onesLike(a) + a ; Nd4j.valueArrayOf(3, 2.0) + a.sum() ; Nd4j.valueArrayOf((2, 2), 5.0) ; Nd4j.scalar(2.5) * a
Nd4j.scalar(DataType.DOUBLE, 3) + a ; Nd4j.scalar(3) * a ; Nd4j.eye(3) + mat(a) ; Nd4j.diag(a) ; Nd4j.diag(vec(a))
Nd4j.linspace(0, 1, 4) + a.mean() ; Nd4j.linspace(DataType.DOUBLE, 1, 0.5, 3) ; Nd4j.arange(5) * s ; Nd4j.arange(1, 4) + vec(a)
Nd4j.tri(3, 3) * mat(a) ; Nd4j.tri(2) ; Nd4j.triu(a, 0) ; Nd4j.triu(mat(a), 1) ; Nd4j.meshgrid(vec(a), vec(b))[0]
Nd4j.meshgrid(vec(a), vec(b))[1] ; Nd4j.empty(DataType.FLOAT).sum() + a ; Nd4j.createUninitializedDetached(2).assign(1)
"""

JOINING = """
Nd4j.concat(k, a, b) ; Nd4j.concat(0, a, a) ; Nd4j.concat(-1, a, a, b) ; Nd4j.hstack(a, b) ; Nd4j.hstack(a, a) ; Nd4j.vstack(a, b)
Nd4j.vstack(a, a) ; Nd4j.stack(k, a, a) ; Nd4j.stack(0, a, b) ; Nd4j.pile(a, a) ; Nd4j.pile([a, b]) ; Nd4j.toFlattened(a, b)
Nd4j.toFlattened("f", a) ; Nd4j.tear(a, k)[0] ; Nd4j.tile(a, 2, 1) ; Nd4j.tile(a, 1, n) ; Nd4j.repeat(a, 2) ; Nd4j.repeat(vec(a), n)
Nd4j.pad(a, 1) ; Nd4j.pad(a, ((1, 0),) * a.ndim) ; Nd4j.append(a, 1, s) ; Nd4j.pad(a, 1, "REFLECT", 0.0) ; Nd4j.append(a, n, 2.0, k)
Nd4j.prepend(a, 1, s, k) ; Nd4j.appendBias(a) ; Nd4j.append_bias(vec(a)) ; Nd4j.accumulate(a, a) ; Nd4j.accumulate(a, b)
? changed(a, lambda x: Nd4j.averageAndPropagate(x, b.dup())) ; ? changed(a, lambda x: Nd4j.averageAndPropagate([x, x]))
Nd4j.specialConcat(0, a, b) ; Nd4j.specialConcat(0, a, a)
"""

ARRANGING = """
Nd4j.sort(a.dup(), True) ; Nd4j.sort(a.dup(), k, True) ; Nd4j.sort(a.dup(), k, False) ; Nd4j.sortWithIndices(a.dup(), k, True)[0]
Nd4j.sortWithIndices(a.dup(), k, False)[1] ; Nd4j.sortRows(a, 0, True) ; Nd4j.sortColumns(a, 0, False) ; Nd4j.reverse(a.dup())
Nd4j.rollAxis(a, k) ; changed(a, lambda x: Nd4j.rot90(x)) ; Nd4j.roll_axis(a, -1, 0) ; Nd4j.expandDims(a, 0) ; Nd4j.expandDims(a, -1)
Nd4j.squeeze(a[None], 0) ; Nd4j.stripOnes(a) ; Nd4j.squeeze(a[:1], 0) ; Nd4j.pullRows(a, 1, [0, i]) ; Nd4j.pullRows(a, 1, 0)
Nd4j.where(a.gt(0), a, b)[0] ; Nd4j.where(a > 0, a, 0)[0] ; Nd4j.shape(a)[0] * a ; ? Nd4j.where(a > 0)[0]
changed(a, lambda x: Nd4j.copy(b, x)) ; changed(a, lambda x: Nd4j.clearNans(x)) ; Nd4j.order(2) * 0 + a.sum() ; Nd4j.sum(a)
Nd4j.sum(a, k) ; Nd4j.mean(a, k) ; Nd4j.mean(a) ; Nd4j.max(a, k) ; Nd4j.min(a) ; Nd4j.prod(np.tanh(a), k) ; Nd4j.std(a, k)
Nd4j.var(a, k) ; Nd4j.norm1(a, k) ; Nd4j.norm2(a, k) ; Nd4j.norm2(a) ; Nd4j.normmax(a, k) ; Nd4j.argMax(a, k) ; Nd4j.argMin(a, k)
Nd4j.argMax(a) ; Nd4j.cumsum(a, k) ; Nd4j.cumsum(a) ; Nd4j.var(a) ; Nd4j.std(a) ; Nd4j.norm1(a) ; Nd4j.matmul(a, b)
Nd4j.matmul(mat(a), mat(b)) ; Nd4j.matmul(mat(a), mat(b), True, False, True) ; Nd4j.gemm(mat(a), mat(b), True, False)
Nd4j.gemm(mat(a), mat(b), False, True, 2.0, 0.0) ; Nd4j.tensorMmul(mat(a), mat(b), [[1], [0]]) ; Nd4j.dot(vec(a), vec(b)) ; Nd4j.dot(a, a)
Nd4j.getStrides([2, 3], "c")[0] * a ; Nd4j.sizeOfDataType(DataType.FLOAT) * a
changed(a, lambda x: Nd4j.shuffle(x, Nd4j.getRandom(), 0) if False else x)
Nd4j.scatterUpdate("ADD", a.dup(), [0, 0], np.concatenate([a[:1], a[:1]]), *range(1, a.ndim))
"""

FLOW = """
Nd4j.if_cond(a.sum() > 0, lambda: a * 2, lambda: -a)
Nd4j.if_cond(lambda: np.any(a > 0), lambda: np.tanh(a), lambda: np.tanh(a) * 0.5)
Nd4j.while_loop(a * 1.0, lambda x: abs(x).max() > 1.5, lambda x: x * 0.5)
Nd4j.while_loop((a * 1.0, 0), lambda v: v[1] < 3, lambda v: (v[0] + 1, v[1] + 1))[0]
Nd4j.scan(lambda c, x: (c + x, c * 0.5), a[0] * 0.0, a * 1.0)[1] ; Nd4j.scan(lambda c, x: (np.tanh(c + x), c), a[0] * 1.0, a * 1.0)[0]
Nd4j.if_cond(a.sum() > s, lambda: (a, a + a), lambda: (a + a, a))[1]
Nd4j.while_loop({"x": a, "y": a.sum() * 1.0}, lambda v: abs(v["y"]) > 1, lambda v: {"x": v["x"] + v["x"], "y": v["y"] / 2})["x"]
Nd4j.if_cond(True, lambda: a, lambda: a) ; ! seeded(lambda: Nd4j.rand(2, 3)) ; ! seeded(lambda: Nd4j.randn(2, 2))
! seeded(lambda: Nd4j.randint(0, 5, 3)) ; ! seeded(lambda: Nd4j.nrand(2, 2)) ; ! seeded(lambda: Nd4j.randomBernoulli(0.5, 2, 2))
! seeded(lambda: Nd4j.randomBinomial(3, 0.5, 4)) ; ! seeded(lambda: Nd4j.randomExponential(1.5, 3))
! seeded(lambda: Nd4j.rand(DataType.DOUBLE, 4)) ; ! seeded(lambda: Nd4j.choice(vec(a), Nd4j.createFromArray(0.2, 0.3, 0.5), 4))
! seeded(lambda: changed(a, lambda x: Nd4j.shuffle(x, 0)))
Nd4j.exec(DynamicCustomOp.builder("softmax").addInputs(a.castTo(DataType.FLOAT)).build())[0] ; Nd4j.exec(AddOp(a, b))[0]
Nd4j.exec(DynamicCustomOp.builder("tanh").addInputs(a + 0.0).build())[0] ; compiled(lambda x: x * 2 + 1)(a)
compiled(lambda x: (x * x).sum())(a + 0.5) ; compiled(lambda x: (np.tanh(x) ** 2).sum()).gradient()(a * 1.0)
Nd4j.compile(1, lambda v: v[0] + 1).execute(a)[0]
"""

_ONE = ("abs", "acos", "asin", "atan", "atanh", "ceil", "ceiling", "cos", "cosh", "elu", "eluDerivative", "exp", "expm1",
        "floor", "hardSigmoid", "hardTanh", "hardTanhDerivative", "identity", "log", "log1p", "neg", "relu", "relu6",
        "round", "sigmoid", "sigmoidDerivative", "sign", "sin", "sinh", "softPlus", "softmax", "softsign",
        "softsignDerivative", "sqrt", "step", "tan", "tanh", "timesOneMinus", "leakyRelu", "leakyReluDerivative",
        "not_")
TRANSFORMS = " ; ".join(f"T.{name}(a)" for name in _ONE) + "\n" + " ; ".join(f"T.{name}(np.tanh(a) * 0.9)" for name in _ONE[:20]) + """
T.relu(a, 0.5) ; T.isMax(a.dup()) ; T.unitVec(a.dup()) ; T.normalizeZeroMeanAndUnitVariance(a.dup()) ; T.reverse(a)
T.isMax(a.dup(), DataType.DOUBLE) ; T.pow(a, 2) ; T.pow(abs(a), 1.5) ; T.pow(abs(a), b) ; T.leakyRelu(a, 0.2) ; T.max(a, b)
T.max(a, 0.5) ; T.min(a, b) ; T.min(a, s) ; T.and_(a, b) ; T.or_(a, b) ; T.xor(a, b) ; T.atan2(a, b) ; T.dot(vec(a), vec(b))
T.cross(vec(a), vec(b)) ; T.eps(a, b) ; T.mpow(mat(a), 2) ; T.stabilize(a, 1.0) ; T.greaterThanOrEqual(a, b) ; T.lessThanOrEqual(a, b)
? num(T.cosineSim(a, b)) ; ? num(T.cosineDistance(a, b)) ; ? num(T.euclideanDistance(a, b)) ; ? num(T.manhattanDistance(a, b))
? num(T.hammingDistance(a, b)) ; ? num(T.jaccardDistance(abs(a), abs(b))) ; T.allEuclideanDistances(mat(a), mat(b), 1)
T.allManhattanDistances(mat(a), mat(b), 1) ; T.allCosineSimilarities(mat(a), mat(b), 1) ; T.allCosineDistances(mat(a), mat(b), 1)
changed(a, lambda x: T.tanh(x, False)) ; changed(a, lambda x: T.sigmoid(x, False)) ; changed(a, lambda x: T.abs(x, False))
changed(a, lambda x: T.max(x, 0.0, False)) ; changed(a, lambda x: T.pow(x, 2, False))
"""

TABLES = {"creating": CREATING, "joining": JOINING, "arranging": ARRANGING, "flow": FLOW, "transforms": TRANSFORMS}
