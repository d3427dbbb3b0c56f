"""Values of single operators, each against NumPy, SciPy or by hand."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from dl4py.samediff import SameDiff
from dl4py.samediff.errors import GraphError
from tests.samediff.tensorflow.graphs import const, graph, node, placeholder

F32, I32, I64 = np.float32, np.int32, np.int64
RNG = np.random.default_rng(12)
X = RNG.standard_normal((4, 3)).astype(F32)
U = np.abs(X) + F32(0.5)
CUBE = RNG.standard_normal((2, 4, 3)).astype(F32)
SQUARE = (X.T @ X).astype(F32)


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")


def computed(operator, *inputs, out=0, **attributes):
    """The result of an operator: floating inputs are given by placeholders, all others are constants."""
    feed, nodes = {}, []
    for i, value in enumerate(map(np.asarray, inputs)):
        if value.dtype.kind == "f" and value.ndim and value.size:
            feed[f"i{i}"] = value
            nodes.append(placeholder(f"i{i}", value.shape, value.dtype))
        else:
            nodes.append(const(f"i{i}", value))
    name = "y" if not out else f"y:{out}"
    last = node("z", "Identity", name)
    sd = SameDiff.import_frozen_tf(graph(*nodes, node("y", operator, *(f"i{i}" for i in range(len(inputs))), **attributes), last))
    return sd.output_single(feed, "z")


def logaddexp(x, exclusive=False, reverse=False):
    x = x[::-1] if reverse else x
    made = np.logaddexp.accumulate(x, 0)
    made = np.concatenate([np.full_like(x[:1], -np.inf), made[:-1]]) if exclusive else made
    return made[::-1] if reverse else made


ZERO = F32([0, 2, 0, 1])
BAND = F32([[1, 2, 3, 4], [5, 6, 7, 8], [9, 8, 7, 6]])
LABELS = I32([2, 0, 1, 1])
SHARES = np.exp(X) / np.exp(X).sum(1, keepdims=True)
ROWS = {
    "x log y": ("Xlogy", (ZERO, F32([0, 3, 1, 5])), {}, special.xlogy(ZERO, [0, 3, 1, 5])),
    "x log 1 + y": ("Xlog1py", (ZERO, F32([-1, 3, 1, 5])), {}, special.xlog1py(ZERO, [-1, 3, 1, 5])),
    "x by y": ("Xdivy", (ZERO, F32([0, 4, 1, 5])), {}, F32([0, 0.5, 0, 0.2])),
    "infinity times 0": ("MulNoNan", (F32([np.inf, 2, 3, 4]), ZERO), {}, F32([0, 4, 0, 4])),
    "truncated": ("TruncateDiv", (I32([7, -7]), I32([2, 2])), {}, I32([3, -3])),
    "about equal": ("ApproximateEqual", (F32([1, 1]), F32([1.05, 1.2])), {"tolerance": 0.1}, np.array([True, False])),
    "half square": ("L2Loss", (X,), {}, (X * X).sum() / 2),
    "norm": ("EuclideanNorm", (X, I32([1])), {"keep_dims": True}, np.linalg.norm(X, axis=1, keepdims=True)),
    "cross entropy of classes": ("SparseSoftmaxCrossEntropyWithLogits", (X, LABELS), {}, -np.log(SHARES[range(4), LABELS])),
    "its gradient": ("SparseSoftmaxCrossEntropyWithLogits", (X, LABELS), {"out": 1}, SHARES - np.eye(3, dtype=F32)[LABELS]),
    "few numbers": ("FakeQuantWithMinMaxVars", (F32([-2, -0.6, 0.1, 0.8, 3]), F32(-1), F32(1)), {"num_bits": 2},
                    F32([-4, -2, 0, 2, 2]) / 3),
    "few numbers in each channel": ("FakeQuantWithMinMaxVarsPerChannel", (F32([[0.3, 0.3]]), F32([0, 0]), F32([1, 3])), {"num_bits": 2},
                                    F32([[1 / 3, 0]])),
    "quantized and back": ("QuantizeAndDequantizeV3", (F32([-0.5, 0.3, 0.5]), F32(-0.5), F32(0.5), I32(3)),
                           {"range_given": True, "signed_input": True}, F32([-3, 2, 3]) / 6),
    "quantized by its values": ("QuantizeAndDequantizeV2", (F32([0, 0.4, 1.5]), F32(0), F32(0)), {"num_bits": 2, "signed_input": False},
                                F32([0, 0.5, 1.5])),
    "running sums of exponentials": ("CumulativeLogsumexp", (X, I32(0)), {}, logaddexp(X)),
    "the same from behind": ("CumulativeLogsumexp", (X, I32(0)), {"exclusive": True, "reverse": True}, logaddexp(X, True, True)),
    "chosen rows of segments": ("SparseSegmentMean", (X, I32([3, 0, 1]), I32([0, 0, 1])), {}, np.stack([(X[3] + X[0]) / 2, X[1]])),
    "before equal ones": ("LowerBound", (F32([[1, 2, 2, 5]]), F32([[2, 6, 0]])), {}, I32([[1, 4, 0]])),
    "behind equal ones": ("UpperBound", (F32([[1, 2, 2, 5]]), F32([[2, 6, 0]])), {"out_type": I64}, I64([[3, 4, 0]])),
    "largest, the old way": ("TopK", (X,), {"k": 2}, -np.sort(-X, 1)[:, :2]),
    "among the largest": ("InTopK", (X, LABELS), {"k": 1}, X.argmax(1) == LABELS),
    "difference": ("ListDiff", (I32([1, 2, 3, 4]), I32([3, 1])), {}, I32([2, 4])),
    "places of the difference": ("ListDiff", (I32([1, 2, 3, 4]), I32([3, 1])), {"out": 1, "out_idx": I64}, I64([1, 3])),
    "distinct": ("UniqueV2", (I32([3, 1, 3]), I32([0])), {}, I32([3, 1])),
    "counts of rows": ("DenseBincount", (I32([[0, 1, 1], [2, 5, 0]]), I32(3), F32([])), {}, F32([[1, 2, 0], [1, 0, 1]])),
    "numbers of rows": ("DenseBincount", (I32([[0, 1, 1], [2, 5, 0]]), I32(3), F32([])), {"binary_output": True},
                        F32([[1, 1, 0], [1, 0, 1]])),
    "einsum": ("Einsum", (CUBE, X), {"equation": "bij,kj->bik"}, CUBE @ X.T),
    "products of batches": ("BatchMatMulV3", (CUBE, CUBE), {"adj_x": False, "adj_y": True}, CUBE @ CUBE.swapaxes(1, 2)),
    "vector product": ("Cross", (X, U), {}, np.cross(X, U)),
    "eigenvalues": ("SelfAdjointEigV2", (SQUARE,), {}, np.linalg.eigvalsh(SQUARE)),
    "best solution": ("MatrixSolveLs", (X, X[:, :1], np.float64(0)), {}, np.linalg.lstsq(X, X[:, :1], rcond=None)[0]),
    "upper diagonal": ("MatrixDiagPartV3", (BAND, I32(1), F32(0)), {}, F32([2, 7, 6])),
    "diagonals on both sides": ("MatrixDiagPartV3", (BAND, I32([-1, 2]), F32(-1)), {},
                                F32([[-1, 3, 8], [2, 7, 6], [1, 6, 7], [5, 8, -1]])),
    "diagonals on the left": ("MatrixDiagPartV2", (BAND, I32([-2, 1]), F32(0)), {}, F32([[2, 7, 6], [1, 6, 7], [5, 8, 0], [9, 0, 0]])),
    "main diagonals": ("MatrixDiagPart", (CUBE,), {}, np.diagonal(CUBE, 0, 1, 2)),
    "a matrix of its diagonal": ("MatrixDiagV3", (F32([1, 2]), I32(-1), I32(-1), I32(-1), F32(9)), {},
                                 F32([[9, 9, 9], [1, 9, 9], [9, 2, 9]])),
    "a matrix of its diagonals": ("MatrixDiagV3", (F32([[0, 1, 2], [3, 4, 5]]), I32([0, 1]), I32(3), I32(3), F32(0)), {},
                                  F32([[3, 1, 0], [0, 4, 2], [0, 0, 5]])),
    "matrices of diagonals": ("MatrixDiag", (X,), {}, X[:, :, None] * np.eye(3, dtype=F32)),
    "another diagonal": ("MatrixSetDiagV3", (BAND, F32([1, 1, 1]), I32(1)), {}, F32([[1, 1, 3, 4], [5, 6, 1, 8], [9, 8, 7, 1]])),
    "other diagonals": ("MatrixSetDiagV3", (BAND, F32([[0, 1, 1], [0, 0, 0]]), I32([1, 2])), {"align": "LEFT_RIGHT"},
                        F32([[1, 0, 0, 4], [5, 6, 0, 1], [9, 8, 7, 0]])),
    "joined, the old way": ("Concat", (I32(1), X, U), {}, np.concatenate([X, U], 1)),
    "beginnings of parts": ("ConcatOffset", (I32(1), I32([2, 3]), I32([2, 5])), {"out": 1}, I32([0, 3])),
    "rows of batches": ("GatherV2", (CUBE, I32([[2, 0], [1, 1]]), I32(1)), {"batch_dims": 1},
                        np.take_along_axis(CUBE, I64([[2, 0], [1, 1]])[:, :, None], 1)),
    "columns of batches": ("GatherV2", (CUBE, I32([[2, 0], [1, 1]]), I32(2)), {"batch_dims": 1},
                           np.stack([CUBE[0][:, [2, 0]], CUBE[1][:, [1, 1]]])),
    "rows": ("ResourceGather", (X, I32([[2, 0]])), {}, X[[[2, 0]]]),
    "largest of rows": ("TensorScatterMax", (X, I32([[1]]), F32([[0, 0, 0]])), {}, np.maximum(X, F32([[-9], [0], [-9], [-9]]))),
    "sparse": ("SparseToDense", (I64([[0, 1], [1, 0]]), I64([2, 2]), F32([5, 6]), F32(1)), {}, F32([[1, 5], [6, 1]])),
    "sparse product": ("SparseTensorDenseMatMul", (I64([[0, 1], [1, 3]]), F32([5, 6]), I64([2, 4]), X), {}, np.stack([5 * X[1], 6 * X[3]])),
    "sparse product, turned": ("SparseTensorDenseMatMul", (I64([[1, 0], [3, 1]]), F32([5, 6]), I64([4, 2]), X), {"adjoint_a": True},
                               np.stack([5 * X[1], 6 * X[3]])),
    "scaled channels": ("BatchNormWithGlobalNormalization", (X, F32([1, 2, 3]), F32([1, 4, 9]), F32([0, 1, 0]), F32([2, 2, 2])),
                        {"variance_epsilon": 0.0, "scale_after_normalization": True}, (X - [1, 2, 3]) / [1, 2, 3] * 2 + [0, 1, 0]),
}


@pytest.mark.parametrize("name", ROWS)
def test_values(name):
    operator, inputs, attributes, expected = ROWS[name]
    found = computed(operator, *inputs, **attributes)
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found, expected, 1e-4, 1e-5)


def test_factors():
    """Q R is the matrix; Q has orthonormal columns."""
    q, r = (computed("Qr", X, out=i) for i in range(2))
    np.testing.assert_allclose(q @ r, X, 1e-4, 1e-5)
    np.testing.assert_allclose(q.T @ q, np.eye(3), atol=1e-5)


def test_blocks_of_old_operators():
    x = np.arange(16, dtype=F32).reshape(1, 4, 4, 1)
    made = computed("SpaceToBatch", x, I32([[0, 0], [0, 0]]), block_size=2)
    np.testing.assert_array_equal(made[1, :, :, 0], x[0, ::2, 1::2, 0])
    np.testing.assert_array_equal(computed("BatchToSpace", made, I32([[0, 0], [0, 0]]), block_size=2), x)


BOXES = F32([[0, 0, 1, 1], [0, 0, 1, 1.1], [0, 2, 1, 3], [4, 4, 5, 5]])
SCORES = F32([0.9, 0.8, 0.3, 0.7])


@pytest.mark.parametrize("operator, inputs, attributes, expected", [
    ("NonMaxSuppression", (I32(4),), {"iou_threshold": 0.5}, [[0, 3, 2]]),
    ("NonMaxSuppressionV4", (I32(4), F32(0.5), F32(0.5)), {}, [[0, 3], 2]),
    ("NonMaxSuppressionV4", (I32(4), F32(0.5), F32(0.5)), {"pad_to_max_output_size": True}, [[0, 3, 0, 0], 2]),
    ("NonMaxSuppressionV5", (I32(4), F32(0.5), F32(0.5), F32(0)), {}, [[0, 3], [0.9, 0.7], 2])])
def test_boxes_that_overlap(operator, inputs, attributes, expected):
    for i, one in enumerate(expected):
        np.testing.assert_allclose(computed(operator, BOXES, SCORES, *inputs, out=i, **attributes), one, 1e-6)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, cell, last, w, peep, b, forget, clip, v2=False):
    i, g, f, o = np.split(np.concatenate([x, last], 1) @ w + b, 4, 1)
    if v2:
        g, f = f, g
    i, f = sigmoid(i + cell * peep[0]), sigmoid(f + forget + cell * peep[1])
    state = np.tanh(g) * i + cell * f
    state = np.clip(state, -clip, clip) if clip > 0 else state
    o = sigmoid(o + state * peep[2])
    return i, state, f, o, np.tanh(g), np.tanh(state), np.tanh(state) * o


def made(*shape):
    return RNG.standard_normal(shape).astype(F32)


def test_recurrent_cells():
    x, cell, last, w, b, peep = made(4, 3), made(4, 2), made(4, 2), made(5, 8), made(8), [made(2) for _ in range(3)]
    options = {"forget_bias": 0.5, "cell_clip": 0.7, "use_peephole": True}
    for k, expected in enumerate(lstm(x, cell, last, w, peep, b, 0.5, 0.7)):
        np.testing.assert_allclose(computed("LSTMBlockCell", x, cell, last, w, *peep, b, out=k, **options), expected, 1e-4, 1e-5)
    gates, gates_b, c, c_b = made(5, 4), made(4), made(5, 2), made(2)
    r, u = np.split(sigmoid(np.concatenate([x, last], 1) @ gates + gates_b), 2, 1)
    new = np.tanh(np.concatenate([x, last * r], 1) @ c + c_b)
    np.testing.assert_allclose(computed("GRUBlockCell", x, last, gates, c, gates_b, c_b, out=3), u * last + (1 - u) * new, 1e-4, 1e-5)


@pytest.mark.parametrize("operator, steps", [("BlockLSTM", 3), ("BlockLSTMV2", 2)])
def test_recurrent_networks(operator, steps):
    x, cell, last, w, b, none = made(3, 4, 3), made(4, 2), made(4, 2), made(5, 8), made(8), np.zeros(2, F32)
    v2 = operator.endswith("V2")
    states, outputs, c, h = np.zeros((3, 4, 2), F32), np.zeros((3, 4, 2), F32), cell, last
    for t in range(steps):
        _, c, *_, h = lstm(x[t], c, h, w, [none] * 3, b, 0 if v2 else 1, 0 if v2 else 3, v2)
        states[t], outputs[t] = c, h
    options = {"cell_clip": 0.0} if v2 else {"cell_clip": 3.0, "forget_bias": 1.0}
    for k, expected in ((1, states), (6, outputs)):
        found = computed(operator, np.int64(steps), x, cell, last, w, none, none, none, b, out=k, use_peephole=False, **options)
        np.testing.assert_allclose(found, expected, 1e-4, 1e-5)


@pytest.mark.parametrize("operator, inputs, attributes, shape, kind, low, high", [
    ("RandomUniform", (I32([40, 50]),), {"dtype": F32}, (40, 50), F32, 0, 1),
    ("StatelessRandomUniform", (I32([40, 50]), I32([1, 2])), {"dtype": F32}, (40, 50), F32, 0, 1),
    ("RandomStandardNormal", (I32([40, 50]),), {"dtype": np.float64}, (40, 50), np.float64, -9, 9),
    ("TruncatedNormal", (I32([40, 50]),), {"dtype": F32}, (40, 50), F32, -2, 2),
    ("RandomUniformInt", (I32([40, 50]), I32(3), I32(6)), {}, (40, 50), I32, 3, 5),
    ("RandomGamma", (I32([40]), F32([2, 3])), {}, (40, 2), F32, 0, 99),
    ("RandomPoissonV2", (I32([40]), F32([2, 3])), {"dtype": I64}, (40, 2), I64, 0, 99),
    ("Multinomial", (X, I32(50)), {"output_dtype": I64}, (4, 50), I64, 0, 2)])
def test_random_numbers(operator, inputs, attributes, shape, kind, low, high):
    found = computed(operator, *inputs, **attributes)
    assert found.shape == shape and found.dtype == kind and found.min() >= low and found.max() <= high and len(np.unique(found)) > 2


def test_shuffled_rows():
    found = computed("RandomShuffle", X)
    np.testing.assert_array_equal(np.sort(found, 0), np.sort(X, 0))


@pytest.mark.parametrize("begin, end, masks, expected", [
    ([0, "n"], [0, 0], {"begin_mask": 1, "end_mask": 1, "shrink_axis_mask": 2}, lambda x, n: x[:, n]),
    ([0, 0], [0, "n"], {"begin_mask": 3, "end_mask": 1}, lambda x, n: x[:, :n]),
    (["n"], [3], {"end_mask": 0}, lambda x, n: x[n:3]),
    (["n", 1], [0, 3], {"shrink_axis_mask": 1}, lambda x, n: x[n, 1:3])])
def test_slices_whose_limits_are_computed(begin, end, masks, expected):
    """As ``x[:, t]`` of a loop."""
    def packed(name, values):
        names = [n if n == "n" else f"{name}{i}" for i, n in enumerate(values)]
        return [*(const(n, I32(v)) for n, v in zip(names, values) if v != "n"), node(name, "Pack", *names, axis=0)]
    nodes = [*packed("b", begin), *packed("e", end), const("s", np.ones(len(begin), I32)),
             node("y", "StridedSlice", "x", "b", "e", "s", **masks)]
    sd = SameDiff.import_frozen_tf(graph(placeholder("x"), placeholder("n", (), I32), *nodes))
    for n in (1, 2, -1):
        np.testing.assert_array_equal(sd.output_single({"x": X, "n": I32(n)}, "y"), expected(X, n))


def test_ranges_and_shapes_that_are_computed():
    sd = SameDiff.import_frozen_tf(graph(placeholder("x"), placeholder("n", (), I32), const("a", I32(0)), const("d", I32(2)),
                                         node("r", "Range", "a", "n", "d"), placeholder("s", (2,), I32), const("v", F32([[1], [2]])),
                                         node("w", "BroadcastTo", "v", "s")))
    assert sd.output_single({"n": I32(5)}, "r").tolist() == [0, 2, 4]
    np.testing.assert_array_equal(sd.output_single({"s": I32([2, 3])}, "w"), [[1, 1, 1], [2, 2, 2]])


def test_what_is_refused():
    with pytest.raises(GraphError, match="distinct elements of one axis"):
        computed("UniqueV2", X, I32([0]))
    with pytest.raises(GraphError, match="soft_nms_sigma"):
        computed("NonMaxSuppressionV5", BOXES, SCORES, I32(4), F32(0.5), F32(0.5), F32(0.5))
    with pytest.raises(GraphError, match="have 3 elements, not 2"):
        computed("MatrixDiagV3", F32([1, 2]), I32(0), I32(3), I32(3), F32(0))
