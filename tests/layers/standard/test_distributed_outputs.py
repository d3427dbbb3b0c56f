from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import CNN2DFormat, Cnn3DLossLayer, CnnLossLayer, RNNFormat, RnnLossLayer, RnnOutputLayer
from dl4py.layers.types.parameters import LayerScope
from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import ShapeError

RNG = np.random.default_rng(7)
N, C, T = 3, 4, 5
SERIES, LABELS = RNG.normal(size=(N, C, T)), np.eye(2)[RNG.integers(2, size=(N, T))].transpose(0, 2, 1)
MASK = (RNG.random((N, T)) < 0.6).astype(float)


def run(layer, x, labels, mask=None):
    sd = SameDiff.create()
    rng = np.random.default_rng(0)
    scope = LayerScope("layer", {p.name: sd.var(p.name, rng.normal(size=p.shape)) for p in layer.parameter_table()})
    feeds = {"x": x, "labels": labels} | ({} if mask is None else {"mask": mask})
    places = {k: sd.placeholder(k, DataType.DOUBLE, *[-1] * v.ndim) for k, v in feeds.items()}
    names = [layer.define_layer(sd, places["x"], scope, places.get("mask")).name(),
             layer.define_loss(sd, places["x"], places["labels"], scope, places.get("mask")).name()]
    found = sd.output(feeds, names)
    return [found[n] for n in names]


def test_series_equal_their_steps():
    layer = RnnOutputLayer(n_in=C, n_out=2, bias_init=0.0)
    out, scores = run(layer, SERIES, LABELS, MASK)
    steps = [run(layer, SERIES[:, :, t:t + 1], LABELS[:, :, t:t + 1], MASK[:, t:t + 1]) for t in range(T)]
    assert out == pytest.approx(np.concatenate([s[0] for s in steps], axis=2))
    assert scores == pytest.approx(sum(s[1] for s in steps))
    assert (out.transpose(0, 2, 1)[MASK == 0] == 0).all()


def test_formats_agree():
    layer = RnnOutputLayer(n_in=C, n_out=2, bias_init=0.0)
    out, scores = run(layer, SERIES, LABELS, MASK)
    last, same = run(layer.replace(rnn_data_format=RNNFormat.NWC), SERIES.transpose(0, 2, 1), LABELS.transpose(0, 2, 1), MASK)
    assert last.transpose(0, 2, 1) == pytest.approx(out)
    assert same == pytest.approx(scores)


def test_masks_per_output():
    layer = RnnLossLayer(loss_function="mse", activation="identity")
    mask = (RNG.random((N, C, T)) < 0.5).astype(float)
    labels = RNG.normal(size=SERIES.shape)
    _, scores = run(layer, SERIES, labels, mask)
    assert scores == pytest.approx(((labels - SERIES) ** 2 * mask).sum((1, 2)) / C)


@pytest.mark.parametrize("form", list(CNN2DFormat))
def test_images(form):
    x, labels = RNG.normal(size=(2, 3, 4, 5)), np.eye(3)[RNG.integers(3, size=(2, 4, 5))]
    p = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    want = -(labels.transpose(0, 3, 1, 2) * np.log(p)).sum((1, 2, 3))
    last = form is CNN2DFormat.NHWC
    out, scores = run(CnnLossLayer(activation="softmax", format=form), x.transpose(0, 2, 3, 1) if last else x,
                      labels if last else labels.transpose(0, 3, 1, 2))
    assert (out.transpose(0, 3, 1, 2) if last else out) == pytest.approx(p)
    assert scores == pytest.approx(want)


@pytest.mark.parametrize("form", ["NCDHW", "NDHWC"])
@pytest.mark.parametrize("shape", [(2, 1, 1, 1, 1), (2, 1, 3, 1, 1), (2, 4, 1, 1, 1), (1, 1, 1, 1, 1)])
def test_masks_spread_over_volumes(form, shape):
    """As in DL4J a mask may have size 1 along any axis."""
    x, labels = RNG.normal(size=(2, 2, 4, 3, 2, 2))
    shape = shape if form == "NCDHW" else (*shape[:1], *shape[2:], shape[1])
    x, labels = (a if form == "NCDHW" else np.moveaxis(a, 1, -1) for a in (x, labels))
    mask = RNG.random(shape)
    _, scores = run(Cnn3DLossLayer(loss_function="l1", activation="identity", data_format=form), x, labels, mask)
    assert scores == pytest.approx((abs(labels - x) * mask).sum((1, 2, 3, 4)))


def test_masks_of_series_and_images_do_not_spread():
    with pytest.raises(ShapeError, match="needs shape"):
        run(RnnLossLayer(loss_function="mse", activation="identity"), SERIES, RNG.normal(size=SERIES.shape), MASK[:, :1])
    with pytest.raises(ShapeError, match="needs shape"):
        run(CnnLossLayer(loss_function="mse"), *RNG.normal(size=(2, 3, 4, 5, 5)), np.ones((3, 1, 5, 1)))
