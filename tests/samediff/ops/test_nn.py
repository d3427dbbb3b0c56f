from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, PadMode, SameDiff
from dl4py.samediff.errors import GraphError, ShapeError
from tests.helpers.gradcheck import check_gradients

RNG = np.random.default_rng(5)
X = RNG.normal(size=(2, 3, 2))

COMPOSED = {
    "softmax": (lambda sd, x: sd.nn.softmax(x, 1), {"x": X}),
    "log_softmax": (lambda sd, x: sd.nn.log_softmax(x, -1), {"x": X}),
    "softmax_derivative": (lambda sd, x, g: sd.nn.softmax_derivative(x, g, 1), {"x": X, "g": RNG.normal(size=X.shape)}),
    "linear": (lambda sd, x, w, b: sd.nn.linear(x, w, b), {"x": X[0], "w": X[1].T, "b": np.ones(3)}),
    "bias_add": (lambda sd, x, b: sd.nn.bias_add(x, b, True), {"x": X, "b": np.ones(3)}),
    "layer_norm": (lambda sd, x, g, b: sd.nn.layer_norm(x, g, b, True, 1, 2), {"x": X, "g": np.array([1.0, 2, -1]), "b": np.ones(3)}),
    "batch_norm": (lambda sd, x, m, v, g, b: sd.nn.batch_norm(x, m, v, g, b, 0.1, 1),
                   {"x": X, "m": X.mean((0, 2)), "v": X.var((0, 2)), "g": np.array([1.0, 2, -1]), "b": np.ones(3)}),
    "attention": (lambda sd, q, k, v: sd.nn.dot_product_attention(q, k, v, None, True, True),
                  {"q": RNG.normal(size=(1, 2, 2)), "k": RNG.normal(size=(1, 2, 3)), "v": RNG.normal(size=(1, 2, 3))}),
    "top_k": (lambda sd, x: sd.nn.top_k(x, 1, True)[0], {"x": X}),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", COMPOSED)
def test_gradients_to_second_order(name: str) -> None:
    build, arrays = COMPOSED[name]
    check_gradients(build, arrays, rtol=1e-5)


def test_multi_head_attention_gradients() -> None:
    def weights(*shape: int) -> np.ndarray:
        return RNG.normal(size=shape)
    arrays = {"q": weights(2, 2, 1), "k": weights(2, 2, 3), "v": weights(2, 2, 3), "a": weights(2, 2, 2), "b": weights(2, 2, 2),
              "c": weights(2, 1, 2), "d": weights(2, 2)}
    check_gradients(lambda sd, q, k, v, a, b, c, d: sd.nn.multi_head_dot_product_attention(q, k, v, a, b, c, d, None, True),
                    arrays, rtol=1e-5)


@pytest.mark.parametrize("mode", PadMode)
def test_padding_as_numpy_and_its_gradient(mode: PadMode) -> None:
    width = np.array([[1, 0], [2, 1], [0, 1]])
    sd = SameDiff.create()
    out = sd.nn.pad(sd.constant(X), sd.constant(width), mode, 0.5).eval()
    how = {"constant_values": 0.5} if mode is PadMode.CONSTANT else {}
    np.testing.assert_array_equal(out, np.pad(X, width, mode=mode.name.lower(), **how))
    check_gradients(lambda sd, x: sd.nn.pad(x, sd.constant(width), mode, 0.0), {"x": X})


def test_padding_further_than_the_axis_is_refused() -> None:
    sd = SameDiff.create()
    with pytest.raises(ShapeError, match="REFLECT"):
        sd.nn.pad(sd.constant(np.zeros(2)), sd.constant(np.array([[2, 0]])), PadMode.REFLECT, 0.0)


@pytest.mark.parametrize("executor", ["reference", "compiled"])
def test_softmax_of_far_values(executor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    x = sd.constant(np.array([[1e4, 0], [-np.inf, 1]], np.float32))
    np.testing.assert_array_equal(sd.nn.softmax(x).eval(), [[1, 0], [0, 1]])
    np.testing.assert_array_equal(sd.nn.log_softmax(x).eval(), [[0, -1e4], [-np.inf, 0]])


@pytest.mark.parametrize("executor", ["reference", "compiled"])
def test_layer_norm_of_a_constant_row_is_the_bias(executor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd = SameDiff.create()
    rows, bias = np.full((1, 7), 0.1, np.float32), np.arange(7, dtype=np.float32)
    y = sd.nn.layer_norm(sd.var("x", rows), sd.constant(np.ones(7, np.float32)), sd.constant(bias), False, 1)
    np.testing.assert_array_equal(y.eval(), [bias])


def test_top_k_orders_ties_by_index() -> None:
    sd = SameDiff.create()
    values, indices = sd.nn.top_k(sd.constant(np.array([[1.0, 3, 3, 2]])), 3, True)
    assert values.eval().tolist() == [[3, 3, 2]] and indices.eval().tolist() == [[1, 2, 3]]
    assert sd.nn.top_k(sd.constant(np.array([[1.0, 3, 2]])), 2, False)[1].eval().tolist() == [[1, 2]]


def test_dropout_is_quiet_outside_training_and_its_gradient_uses_the_same_mask() -> None:
    sd = SameDiff.create()
    x = sd.var("x", np.ones((50, 40), np.float32))
    y = sd.nn.dropout_inverted("y", x, 0.8)
    sd.set_loss_variables((y * y).sum())
    np.testing.assert_array_equal(y.eval(), np.ones((50, 40)))
    outputs, gradients = sd.calculate_gradients_and_outputs({}, ["y"], ["x"])
    kept = outputs["y"] != 0
    assert abs(kept.mean() - 0.8) < 0.05
    np.testing.assert_allclose(outputs["y"][kept], 1.25)
    np.testing.assert_allclose(gradients["x"], 2 * outputs["y"] * kept * 1.25, rtol=1e-6)


def test_dropout_keeps_the_mean_outside_training() -> None:
    sd = SameDiff.create()
    np.testing.assert_allclose(sd.nn.dropout(sd.constant(np.ones(3, np.float32)), 0.8).eval(), 0.8)
    with pytest.raises(GraphError, match="probability"):
        sd.nn.dropout(sd.constant(np.ones(3, np.float32)), 0.0)


@pytest.mark.slow
def test_unknown_sizes(rng: np.random.Generator) -> None:
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.DOUBLE, -1, 3, -1)
    sd.set_loss_variables((sd.nn.dot_product_attention(x, x, x, None, True) * sd.nn.layer_norm(
        x, sd.var("g", np.ones(3)), True, 1, 2)).sum())
    for shape in ((2, 3, 4), (1, 3, 2)):
        assert sd.calculate_gradients({"x": rng.normal(size=shape)}, "g")["g"].shape == (3,)


def test_precise_gelu_cubes_the_product_as_dl4j_does() -> None:
    sd = SameDiff.create()
    x = sd.var("x", np.array([-5.0, -3, -1, 0.5, 2, 5, 8]))
    expected = [-0.0016823261, -0.024703368, -0.1685537743, 0.3447628021, 1.9211157324, 4.9983176739, 7.9999787629]
    np.testing.assert_allclose(sd.nn.precise_gelu(x).eval(), expected, rtol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_relu_has_no_slope_up_to_its_cutoff(dtype: type) -> None:
    sd = SameDiff.create()
    x = sd.var("x", np.array([-1, 0.05, 0.1, np.nextafter(dtype(0.1), dtype(1)), 3, np.nan, np.inf], dtype))
    (sd.nn.relu(x, 0.1) * 2).sum("loss").mark_as_loss()
    np.testing.assert_array_equal(sd.calculate_gradients({}, "x")["x"], [0, 0, 0, 2, 2, 2, 2])


def test_prelu_needs_a_shared_axis() -> None:
    sd = SameDiff.create()
    with pytest.raises(ShapeError, match="at least one shared axis"):
        sd.nn.prelu(sd.constant(np.ones((2, 3))), sd.constant(np.ones(3)))
