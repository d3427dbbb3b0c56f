from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, LossReduce, SameDiff
from dl4py.samediff.errors import DataTypeError, GraphError, ShapeError
from tests.helpers.gradcheck import check_gradients
from tests.helpers.randomgraphs import agree

LABELS = np.array([[1.0, 0, 1], [0, 1, 1]])
PREDICTIONS = np.array([[0.3, 0.6, 0.9], [0.2, 0.75, 0.45]])
WEIGHTS = np.array([[0.5, 2, 1], [0, 1.5, 3]])

TERMS = {
    "absolute_difference": lambda p, y: np.abs(p - y),
    "mean_squared_error": lambda p, y: (p - y) ** 2,
    "hinge_loss": lambda p, y: np.maximum(0, 1 - (2 * y - 1) * p),
    "log_loss": lambda p, y: -(y * np.log(p) + (1 - y) * np.log(1 - p)),
    "log_poisson": lambda p, y: np.exp(p) - y * p,
    "sigmoid_cross_entropy": lambda p, y: np.log1p(np.exp(p)) - p * y,
    "huber_loss": lambda p, y: np.where(np.abs(p - y) <= 1, 0.5 * (p - y) ** 2, np.abs(p - y) - 0.5),
}
REDUCTIONS = {
    LossReduce.NONE: lambda terms, w: terms * w,
    LossReduce.SUM: lambda terms, w: (terms * w).sum(),
    LossReduce.MEAN_BY_WEIGHT: lambda terms, w: (terms * w).sum() / w.sum(),
    LossReduce.MEAN_BY_NONZERO_WEIGHT_COUNT: lambda terms, w: (terms * w).sum() / (w != 0).sum(),
}


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize("reduce", LossReduce)
def test_formula_and_reduction(name: str, reduce: LossReduce) -> None:
    sd = SameDiff.create()
    label, predictions, weights = sd.constant(LABELS), sd.constant(PREDICTIONS), sd.constant(WEIGHTS)
    loss = getattr(sd.loss, name)(label, predictions, weights, reduce)
    np.testing.assert_allclose(loss.eval(), REDUCTIONS[reduce](TERMS[name](PREDICTIONS, LABELS), WEIGHTS), rtol=1e-12)
    assert sd.get_loss_variables() == [loss.name()]


@pytest.mark.sampled(18)
@pytest.mark.parametrize("name", ["mean_squared_error", "log_loss", "sigmoid_cross_entropy", "softmax_cross_entropy"])
@pytest.mark.parametrize("reduce", LossReduce)
def test_gradients_to_second_order(name: str, reduce: LossReduce) -> None:
    weights = WEIGHTS if name != "softmax_cross_entropy" else np.array([0.5, 2.0])

    def build(sd: SameDiff, label: object, predictions: object, weights: object) -> object:
        return getattr(sd.loss, name)(label, predictions, weights, reduce)

    weights = np.where(weights == 0, 0.25, weights)     # 0 hides an element, whatever it is, and a step away from 0 shows it
    check_gradients(build, {"label": LABELS * 0.8 + 0.1, "predictions": PREDICTIONS, "weights": weights}, rtol=1e-5)


def test_one_element_has_no_pairs() -> None:
    sd = SameDiff.create()
    label, predictions = (sd.placeholder(n, DataType.DOUBLE, -1, 1) for n in ("label", "predictions"))
    sd.loss.mean_pairwise_squared_error("loss", label, predictions, sd.constant(np.ones((2, 1))), LossReduce.SUM)
    gradient = sd.gradients(sd.get_variable("loss"), [predictions])[0]
    found = agree(sd, {"label": np.array([[1.0], [3.0]]), "predictions": np.array([[0.5], [0.25]])}, "loss", gradient.name())
    assert not any(value.any() for value in found.values())


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 2)])
def test_pairwise_error_gradients(rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    check_gradients(lambda sd, label, predictions: sd.loss.mean_pairwise_squared_error(label, predictions, None, LossReduce.NONE),
                    {"label": rng.normal(size=shape), "predictions": rng.normal(size=shape)})


def test_sparse_and_dense_cross_entropy_agree(rng: np.random.Generator) -> None:
    logits, classes = rng.normal(size=(5, 3)) * 50, np.array([0, 2, 1, 1, 0])
    sd = SameDiff.create()
    sparse = sd.loss.sparse_softmax_cross_entropy(sd.constant(logits), sd.constant(classes))
    dense = sd.loss.softmax_cross_entropy(sd.constant(np.eye(3)[classes]), sd.constant(logits), None, LossReduce.NONE)
    np.testing.assert_allclose(sparse.eval(), dense.eval(), rtol=1e-12)
    check_gradients(lambda sd, logits, labels: sd.loss.sparse_softmax_cross_entropy(logits, labels),
                    {"logits": rng.normal(size=(4, 3)), "labels": classes[:4]})


@pytest.mark.sampled(2)
@pytest.mark.parametrize("reduce", LossReduce)
def test_cross_entropy_of_probabilities(rng: np.random.Generator, reduce: LossReduce) -> None:
    p, y, w = rng.dirichlet(np.ones(3), size=4), np.eye(3)[[0, 2, 2, 1]], np.array([1.0, 0.5, 2.0, 3.0])
    sd = SameDiff.create()
    found = sd.loss.crossEntropy(sd.constant(p), sd.constant(y), sd.constant(w), reduce)
    np.testing.assert_allclose(found.eval(), REDUCTIONS[reduce](-(y * np.log(p)).sum(-1), w), rtol=1e-12)
    assert sd.get_loss_variables() == [found.name()]
    check_gradients(lambda sd, p, y, w: sd.loss.cross_entropy(p, y, w, reduce), {"p": p, "y": y * 0.8 + 0.1, "w": w}, rtol=1e-5)


def test_cross_entropy_of_softmax_is_that_of_logits(rng: np.random.Generator) -> None:
    sd = SameDiff.create()
    z, y = sd.var("z", rng.normal(size=(5, 3))), sd.constant(np.eye(3)[[0, 2, 1, 1, 0]])
    one, other = sd.loss.cross_entropy(sd.nn.softmax(z), y), sd.loss.softmax_cross_entropy(y, z)
    np.testing.assert_allclose(one.eval(), other.eval(), rtol=1e-12)
    first, second = (sd.gradients(loss, z)[0].eval() for loss in (one, other))
    np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-12)
    impossible = sd.loss.cross_entropy(sd.constant(np.array([[0.0, 1.0]])), sd.constant(np.array([[1.0, 0.0]])))
    np.testing.assert_allclose(impossible.eval(), -np.log(1e-10))
    with pytest.raises(ShapeError, match="axis of classes"):
        sd.loss.cross_entropy(sd.constant(1.0), sd.constant(1.0))


def test_cross_entropy_of_far_logits_is_finite() -> None:
    sd = SameDiff.create()
    logits = sd.var("z", np.array([[1000.0, -1000.0]], np.float32))
    loss = sd.loss.softmax_cross_entropy(sd.constant(np.array([[0.0, 1.0]], np.float32)), logits)
    assert loss.eval() == 2000.0
    np.testing.assert_array_equal(sd.calculate_gradients({}, "z")["z"], [[1, -1]])


def test_upstream_factor_reaches_the_gradient() -> None:
    sd = SameDiff.create()
    x = sd.var("x", np.array([1.0, 2.0]))
    sd.set_loss_variables(sd.loss.mean_squared_error(sd.constant(np.zeros(2)), x) * 3.0)
    np.testing.assert_allclose(sd.calculate_gradients({}, "x")["x"], [3, 6])


def test_ctc_sums_over_all_alignments(rng: np.random.Generator) -> None:
    logits = np.log(rng.dirichlet(np.ones(3), size=(1, 3)))
    p = np.exp(logits[0])
    paths = [(1, 1, 2), (1, 2, 2), (0, 1, 2), (1, 0, 2), (1, 2, 0)]
    likelihood = sum(p[0, a] * p[1, b] * p[2, c] for a, b, c in paths)
    lengths = {"n": np.array([2]), "t": np.array([3])}

    def build(sd: SameDiff, logits: object, n: object, t: object) -> object:
        return sd.loss.ctc_loss(sd.constant(np.array([[1, 2]])), logits, n, t)

    sd = SameDiff.create()
    loss = build(sd, sd.constant(logits), sd.constant(lengths["n"]), sd.constant(lengths["t"]))
    np.testing.assert_allclose(loss.eval(), [-np.log(likelihood)])
    check_gradients(build, {"logits": logits, **lengths}, order=1)


def test_bad_inputs_are_named() -> None:
    sd = SameDiff.create()
    with pytest.raises(ShapeError, match="same shape"):
        sd.loss.mean_squared_error(sd.constant(np.zeros((2, 3))), sd.constant(np.zeros((2, 4))))
    with pytest.raises(ShapeError, match="one weight per example"):
        sd.loss.mean_squared_error(sd.constant(LABELS), sd.constant(PREDICTIONS), sd.constant(np.zeros(5)))
    with pytest.raises(GraphError, match="must not be negative, got -1.0"):
        sd.loss.huber_loss(sd.constant(LABELS), sd.constant(PREDICTIONS), None, delta=-1.0)
    with pytest.raises(DataTypeError, match="floating"):
        sd.loss.hinge_loss(sd.constant(np.ones((2, 3), int)), sd.constant(np.ones((2, 3), int)))
    with pytest.raises(DataTypeError, match="one-hot"):
        sd.loss.sparse_softmax_cross_entropy(sd.constant(np.zeros((2, 3))), sd.constant(np.zeros(2)))
    with pytest.raises(ShapeError, match="label 3 is out of range for a number of classes of 3"):
        sd.loss.sparse_softmax_cross_entropy(sd.constant(np.zeros((2, 3))), sd.constant(np.array([0, 3]))).eval()
    assert not sd.get_loss_variables() or len(sd.get_loss_variables()) == 1


def test_unknown_batch_size(rng: np.random.Generator) -> None:
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.DOUBLE, -1, 3), sd.placeholder("y", DataType.DOUBLE, -1, 3)
    w = sd.var("w", np.eye(3))
    sd.loss.softmax_cross_entropy("loss", y, x.mmul(w), None, LossReduce.MEAN_BY_WEIGHT, 0.1)
    for n in (2, 5):
        feed = {"x": rng.normal(size=(n, 3)), "y": np.eye(3)[rng.integers(0, 3, n)]}
        labels = feed["y"] * 0.9 + 0.1 / 3
        p = np.exp(feed["x"]) / np.exp(feed["x"]).sum(1, keepdims=True)
        np.testing.assert_allclose(sd.output(feed, "loss")["loss"], -(labels * np.log(p)).sum() / n)
        np.testing.assert_allclose(sd.calculate_gradients(feed, "w")["w"], feed["x"].T @ (p - labels) / n, atol=1e-12)


def test_ctc_of_a_sequence_that_nothing_gives_has_no_slopes(rng: np.random.Generator) -> None:
    sd = SameDiff.create()
    logits = sd.var("logits", rng.normal(size=(2, 2, 3)))
    lengths = [sd.constant(np.array(v, np.int32)) for v in ([2, 1], [2, 2])]
    loss = sd.loss.ctc_loss(sd.constant(np.array([[1, 1], [2, 0]], np.int32)), logits, *lengths)       # two equal labels need three steps
    (first,) = sd.gradients(loss, [logits])
    (second,) = sd.gradients(first * first, [logits])
    assert np.isinf(loss.eval()).tolist() == [True, False]
    for found in (first.eval(), second.eval()):
        assert np.isfinite(found).all()
        assert not found[0].any()
        assert found[1].any()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", [*TERMS, "softmax_cross_entropy"])
@pytest.mark.parametrize("reduce", [r for r in LossReduce if r is not LossReduce.NONE])
@pytest.mark.parametrize("dtype", [DataType.FLOAT, DataType.DOUBLE])
def test_weights_that_are_all_zero_give_no_loss(name: str, reduce: LossReduce, dtype: DataType) -> None:
    sd = SameDiff.create()
    label, predictions, weights = (sd.placeholder(n, dtype, *shape) for n, shape in (
        ("label", (-1, 3)), ("predictions", (-1, 3)), ("weights", (-1,) if name == "softmax_cross_entropy" else (-1, 3))))
    getattr(sd.loss, name)("loss", label, predictions, weights, reduce)
    gradient = sd.gradients(sd.get_variable("loss"), [predictions])[0]
    given = np.zeros(2 if name == "softmax_cross_entropy" else (2, 3))
    found = agree(sd, {"label": LABELS, "predictions": PREDICTIONS, "weights": given}, "loss", gradient.name())
    assert found["loss"] == 0
    assert not found[gradient.name()].any()


def test_a_margin_that_is_just_kept_has_no_gradient() -> None:
    sd = SameDiff.create()
    p = sd.var("p", np.array([1.0, 0.5, -1.0, 2.0]))
    sd.loss.hinge_loss(sd.constant(np.array([1.0, 1.0, 0.0, 1.0])), p, None, LossReduce.SUM).mark_as_loss()
    np.testing.assert_array_equal(sd.calculate_gradients({}, "p")["p"], [0, -1, 0, 0])


@pytest.mark.parametrize("executor", ["plan", "reference"])
def test_an_infinite_loss_makes_the_mean_infinite(executor, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    sd.loss.absolute_difference("loss", sd.constant(np.array([[1.0], [np.inf]])), sd.placeholder("p", DataType.DOUBLE, 2, 1),
                                sd.constant(np.array([[1.0], [2.0]])), LossReduce.MEAN_BY_WEIGHT)
    assert sd.output_single({"p": np.zeros((2, 1))}, "loss") == np.inf


@pytest.mark.parametrize("executor", ["plan", "reference"])
def test_a_large_loss_of_little_weight(executor, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    label, weights = np.array([[1.0], [1e6]], np.float32), np.array([[1e6], [1.0]], np.float32)
    sd = SameDiff.create()
    sd.loss.absolute_difference("loss", sd.constant(label), sd.placeholder("p", DataType.FLOAT, 2, 1), sd.constant(weights),
                                LossReduce.MEAN_BY_WEIGHT)
    found = sd.output_single({"p": np.zeros((2, 1), np.float32)}, "loss")
    np.testing.assert_allclose(found, (label * weights).sum(dtype=float) / weights.sum(dtype=float), rtol=1e-6)
