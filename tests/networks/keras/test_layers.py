"""Single layers: what they become, and values that can be computed here."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.networks import KerasModelImport
from tests.networks.keras.old_models import hdf5, json_text, layer, sequential

pytest.importorskip("h5py")
RNG = np.random.default_rng(6)


def configured(*layers):
    return KerasModelImport.import_keras_sequential_configuration(json_text(sequential(*layers)))


def imported(shape, *layers, **weights):
    first = {**layers[0], "config": {**layers[0]["config"], "batch_input_shape": [None, *shape]}}
    stored = {name: [(f"{name}/{i}:0", a) for i, a in enumerate(arrays)] for name, arrays in weights.items()}
    return KerasModelImport.import_keras_sequential_model_and_weights(hdf5(sequential(first, *layers[1:]), stored))


def draw(*shape):
    return RNG.normal(size=shape).astype("float32")


def test_channels_are_dropped_as_a_whole():
    net = imported((50, 8), layer("SpatialDropout1D", "s", rate=0.5))
    x = np.ones((4, 50, 8), "float32")
    found = np.asarray(net.output(x, True))
    assert {tuple(np.unique(channel)) for example in found for channel in example.T} == {(0.0,), (2.0,)}
    np.testing.assert_array_equal(net.output(x), x)


@pytest.mark.parametrize("first", [False, True])
def test_flatten_keeps_the_order_of_keras(first):
    x = draw(2, 3, 4, 5)
    net = imported((3, 4, 5), layer("Flatten", "f", data_format="channels_first" if first else "channels_last"))
    np.testing.assert_array_equal(net.output(x), (x.transpose(0, 2, 3, 1) if first else x).reshape(2, -1))


@pytest.mark.parametrize(("kind", "expected"), [("MaxPooling2D", "max"), ("AveragePooling2D", "mean")])
@pytest.mark.parametrize("first", [False, True])
def test_pooling(kind, expected, first):
    x = draw(2, 4, 6, 3)
    net = imported((3, 4, 6) if first else (4, 6, 3), layer(kind, "p", pool_size=[2, 3], strides=None, padding="valid",
                                                          data_format="channels_first" if first else "channels_last"))
    wanted = getattr(x.reshape(2, 2, 2, 2, 3, 3), expected)((2, 4))
    found = net.output(x.transpose(0, 3, 1, 2) if first else x)
    np.testing.assert_allclose(found.transpose(0, 2, 3, 1) if first else found, wanted, atol=1e-6)


def test_open_sizes():
    net = imported((None, 2), layer("Conv1D", "c", filters=3, kernel_size=[2], padding="same", activation="linear", use_bias=False),
                   layer("LSTM", "l", units=2, return_sequences=True, recurrent_activation="sigmoid"),
                   layer("Reshape", "r", target_shape=[-1, 1, 2]), c=[draw(2, 2, 3)], l=[draw(3, 8), draw(2, 8), draw(8)])
    assert net.output(draw(2, 5, 2)).shape == (2, 5, 1, 2)
    assert net.output(draw(3, 7, 2)).shape == (3, 7, 1, 2)


def test_masked_steps_keep_the_state():
    weights = {"g": [draw(2, 9), draw(3, 9), draw(2, 9)]}
    gru = layer("GRU", "g", units=3, reset_after=True, recurrent_activation="sigmoid", return_sequences=True)
    masked, plain = imported((5, 2), layer("Masking", "m", mask_value=0.0), gru, **weights), imported((3, 2), gru, **weights)
    x = draw(2, 5, 2)
    x[:, [1, 4]] = 0
    found, seen = masked.output(x), plain.output(x[:, [0, 2, 3]])
    np.testing.assert_allclose(found, seen[:, [0, 0, 1, 2, 2]], atol=1e-6)


@pytest.mark.parametrize(("kind", "options", "sizes"), [
    ("UpSampling2D", {"size": [2, 3], "interpolation": "bilinear"}, (6, 12)), ("Resizing", {"height": 2, "width": 5}, (2, 5)),
    ("Resizing", {"height": 6, "width": 3, "interpolation": "nearest"}, (6, 3))])
@pytest.mark.parametrize("first", [False, True])
def test_pictures_of_another_size(kind, options, sizes, first):
    """Between the centres of pixels: what lies outside of the outermost ones is like these."""
    x = draw(2, 3, 4, 2)
    axes = "channels_first" if first else "channels_last"
    net = imported((2, 3, 4) if first else (3, 4, 2), layer(kind, "u", data_format=axes, **options))
    wanted = x
    for axis, (old, new) in enumerate(zip((3, 4), sizes), 1):
        at = np.clip((np.arange(new) + 0.5) * old / new - 0.5, 0, old - 1)
        if options.get("interpolation") == "nearest":
            wanted = wanted.take(np.floor((np.arange(new) + 0.5) * old / new).astype(int), axis)
            continue
        low = np.floor(at).astype(int)
        share = (at - low).reshape([-1 if i == axis else 1 for i in range(4)])
        wanted = wanted.take(low, axis) * (1 - share) + wanted.take(np.minimum(low + 1, old - 1), axis) * share
    found = net.output(x.transpose(0, 3, 1, 2) if first else x)
    np.testing.assert_allclose(found.transpose(0, 2, 3, 1) if first else found, wanted, atol=1e-5)


@pytest.mark.parametrize(("padding", "all_steps"), [("same", True), ("valid", False)])
def test_an_lstm_of_pictures(padding, all_steps):
    w, rw, b, x = draw(2, 3, 2, 12), draw(2, 3, 3, 12), draw(12), draw(2, 3, 4, 5, 2)
    net = imported((3, 4, 5, 2), layer("ConvLSTM2D", "c", filters=3, kernel_size=[2, 3], padding=padding, return_sequences=all_steps,
                                       activation="tanh", recurrent_activation="sigmoid"), c=[w, rw, b])

    def convolved(v, kernel, same):
        v = np.pad(v, ((0, 0), (0, 1), (1, 1), (0, 0))) if same else v
        return np.einsum("bijcuv,uvco->bijo", np.lib.stride_tricks.sliding_window_view(v, (2, 3), (1, 2)), kernel)

    steps, h, c = [], 0, 0
    for t in range(3):
        z = convolved(x[:, t], w, padding == "same") + b
        z = z + (convolved(h, rw, True) if t else 0)
        i, f, g, o = np.split(z, 4, -1)
        i, f, o = (1 / (1 + np.exp(-v)) for v in (i, f, o))
        c = f * c + i * np.tanh(g)
        h = o * np.tanh(c)
        steps.append(h)
    np.testing.assert_allclose(net.output(x), np.stack(steps, 1) if all_steps else h, atol=1e-5)


def test_normalization_of_inputs():
    x = draw(3, 4)
    net = imported((4,), layer("Normalization", "n", axis=-1), n=[np.arange(4.0), np.full(4, 4.0), np.array(7)])
    np.testing.assert_allclose(net.output(x), (x - np.arange(4)) / 2, atol=1e-6)
    adapted = imported((4,), layer("Normalization", "n", axis=-1, mean=[1.0, 2.0, 3.0, 4.0], variance=[4.0] * 4))
    np.testing.assert_allclose(adapted.output(x), (x - np.arange(1, 5)) / 2, atol=1e-6)


def test_frozen_layers():
    layers = configured(layer("Dense", "d", batch_input_shape=[None, 3], units=2, trainable=False), layer("Dense", "e", units=2)).layers
    assert [type(one).__name__ for one in layers] == ["FrozenLayerWithBackprop", "DenseLayer"]


def test_double_precision():
    net = imported((3,), layer("Dense", "d", units=2, use_bias=False), d=[draw(3, 2).astype("float64")])
    assert net.output(draw(1, 3).astype("float64")).dtype == np.float64


def test_layers_that_do_nothing_alone():
    x = draw(2, 3)
    np.testing.assert_array_equal(imported((3,), layer("Dropout", "d", rate=0.0)).output(x), x)


def test_constraints_and_first_values():
    one, = configured(layer("Conv2D", "c", batch_input_shape=[None, 5, 5, 2], filters=3, kernel_size=[2, 2], bias_initializer="ones",
                            kernel_constraint={"class_name": "MaxNorm", "config": {"max_value": 2.0, "axis": [0, 1, 2]}},
                            kernel_initializer={"class_name": "HeNormal", "config": {}})).layers
    assert (one.constraints[0].max_norm, one.constraints[0].dimensions, one.bias_init) == (2.0, (1, 2, 3), 1.0)
    assert type(one.weight_init).__name__ == "WeightInitRelu"
