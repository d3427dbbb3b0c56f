from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import CNN2DFormat, OCNNOutputLayer, Yolo2OutputLayer
from dl4py.layers.types.parameters import LayerScope
from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import ConfigurationError, ShapeError
from dl4py.samediff.families.gradient import gradients

RNG = np.random.default_rng(11)
PRIORS = np.array([[1.0, 1.5], [2.0, 0.7]])
N, CLASSES, SIZE = 2, 3, 3


def run(layer, feeds, parameters, wrt):
    """Scores, activations and gradients of the summed scores."""
    sd = SameDiff.create()
    places = {k: sd.placeholder(k, DataType.DOUBLE, *[-1] * v.ndim) for k, v in feeds.items()}
    scope = LayerScope("layer", {n: sd.var(n, np.asarray(a)) for n, a in parameters.items()})
    out = layer.define_layer(sd, places["x"], scope, None)
    scores = layer.define_loss(sd, places["x"], places.get("labels"), scope, places.get("mask"))
    found = gradients(sd, [scores], [sd.variable(n) for n in wrt])
    names = [scores.name(), out.name(), *(found[n].name() for n in wrt)]
    values = sd.output(feeds, names)
    return [values[n] for n in names]


def labels():
    y = np.zeros((N, 4 + CLASSES, SIZE, SIZE))
    for n, (row, column) in enumerate([(1, 2), (0, 1)]):
        center = np.array([column + 0.4, row + 0.6])
        size = np.array([1.3, 0.9])
        y[n, :4, row, column] = [*(center - size / 2), *(center + size / 2)]
        y[n, 4 + n, row, column] = 1
    return y


@pytest.mark.slow
def test_yolo_gradient_is_the_derivative():
    layer = Yolo2OutputLayer(bounding_boxes=PRIORS, lambda_no_obj=0.3)
    x, y = RNG.normal(size=(N, 2 * (5 + CLASSES), SIZE, SIZE)), labels()
    _, _, gradient = run(layer, {"x": x, "labels": y}, {}, ["x"])
    h = 1e-6
    for i in [tuple(RNG.integers(n) for n in x.shape) for _ in range(20)] + [(0, k, 1, 2) for k in range(16)]:
        step = np.zeros_like(x)
        step[i] = h
        high, low = (run(layer, {"x": x + s, "labels": y}, {}, [])[0].sum() for s in (step, -step))
        assert gradient[i] == pytest.approx((high - low) / (2 * h), abs=1e-6)


def test_yolo_activations_and_formats():
    layer = Yolo2OutputLayer(bounding_boxes=PRIORS)
    x, y = RNG.normal(size=(N, 2 * (5 + CLASSES), SIZE, SIZE)), labels()
    scores, out = run(layer, {"x": x, "labels": y}, {}, [])
    boxes = out.reshape(N, 2, 5 + CLASSES, SIZE, SIZE)
    assert boxes[:, :, 5:].sum(2) == pytest.approx(np.ones((N, 2, SIZE, SIZE)))
    assert boxes[:, 1, 2] == pytest.approx(2.0 * np.exp(x[:, 10]))
    last = run(layer.replace(format=CNN2DFormat.NHWC), {"x": x.transpose(0, 2, 3, 1), "labels": y.transpose(0, 2, 3, 1)}, {}, [])
    assert last[0] == pytest.approx(scores)
    assert last[1].transpose(0, 3, 1, 2) == pytest.approx(out)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("exponent", [-300.0, 90.0, 300.0, np.nan])
def test_boxes_that_answer_for_no_object_may_have_any_size(exponent, dtype):
    layer, y = Yolo2OutputLayer(bounding_boxes=PRIORS), labels()
    x = RNG.normal(size=(N, 2, 5 + CLASSES, SIZE, SIZE))
    wild = x.copy()
    free = y[:, 4:].sum(1) == 0
    x[:, :, 2:4] = np.where(free[:, None, None], 0, x[:, :, 2:4])
    wild[:, :, 2:4] = np.where(free[:, None, None], exponent, x[:, :, 2:4])
    feeds = [{"x": a.reshape(N, -1, SIZE, SIZE).astype(dtype), "labels": y.astype(dtype)} for a in (x, wild)]
    (scores, _, slope), (other, _, found) = (run(layer, f, {}, ["x"]) for f in feeds)
    assert other == pytest.approx(scores, rel=1e-6)
    assert found == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_cells_and_examples_that_a_mask_takes_away_reach_no_yolo_score():
    layer = Yolo2OutputLayer(bounding_boxes=PRIORS, lambda_no_obj=0.3)
    x, y = RNG.normal(size=(N, 2 * (5 + CLASSES), SIZE, SIZE)), labels()
    scores, _, slope = run(layer, {"x": x, "labels": y}, {}, ["x"])
    rows, _, found = run(layer, {"x": x, "labels": y, "mask": np.array([[1.0], [0.0]])}, {}, ["x"])
    assert rows == pytest.approx([scores[0], 0])
    assert found == pytest.approx(np.stack([slope[0], np.zeros_like(slope[1])]))
    cells, none = np.ones((N, 1, SIZE, SIZE)), np.zeros((N, 1, SIZE, SIZE))
    cells[0, :, 1] = none[0, :, 2] = none[0, :, 0] = 0
    none[0, :, 1] = none[1] = 1
    upper, _, found = run(layer, {"x": x, "labels": y, "mask": cells}, {}, ["x"])
    lower = run(layer, {"x": x, "labels": y, "mask": none}, {}, [])[0]
    assert upper[0] + lower[0] == pytest.approx(scores[0])
    assert found == pytest.approx(slope * cells)


def test_yolo_refusals():
    x = np.zeros((1, 15, 2, 2))
    with pytest.raises(ShapeError, match="2 bounding boxes"):
        sd = SameDiff.create()
        Yolo2OutputLayer(bounding_boxes=PRIORS).define_layer(sd, sd.placeholder("x", DataType.DOUBLE, *x.shape), LayerScope("y", {}), None)
    with pytest.raises(ConfigurationError, match="bounding_boxes"):
        run(Yolo2OutputLayer(), {"x": x, "labels": x}, {}, [])


def test_one_class_score():
    layer = OCNNOutputLayer(n_in=4, hidden_size=3, nu=0.1, activation="sigmoid")
    p = {"w": RNG.normal(size=(1, 3)), "v": RNG.normal(size=(4, 3)), "r": np.array(0.4)}
    x = RNG.normal(size=(5, 4))
    scores, out, dr = run(layer, {"x": x}, p, ["r"])
    s = (1 / (1 + np.exp(-x @ p["v"])) * p["w"]).sum(1)
    assert out == pytest.approx(s)
    missing = np.maximum(0.4 - s, 0).mean() / 0.1
    assert scores.sum() == pytest.approx(0.5 * (p["w"] ** 2).sum() + 0.5 * (p["v"] ** 2).sum() + missing - 0.4)
    assert dr == pytest.approx((s < 0.4).mean() / 0.1 - 1)
    assert [(q.name, q.shape) for q in layer.parameter_table()] == [("w", (1, 3)), ("v", (4, 3)), ("r", ())]
