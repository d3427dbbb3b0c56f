"""Files of Keras 1 and 2: old names of classes and options, old orders of weights."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import ActivationHardSigmoid, LossMCXENT
from dl4py.networks import KerasModelImport
from dl4py.networks.keras.training import LossyImportWarning
from dl4py.samediff.errors import UnsupportedVersionError
from dl4py.samediff.training.updaters.updaters import Adam
from tests.networks.keras.old_models import hdf5, layer, sequential

pytest.importorskip("h5py")
RNG = np.random.default_rng(2)


def imported(*args, **options):
    return KerasModelImport.import_keras_model_and_weights(hdf5(*args, **options))


def draw(*shape):
    return RNG.normal(size=shape).astype("float32") * 0.4


def sigmoid(x):
    return np.clip(0.2 * x + 0.5, 0, 1)


def test_dense_of_keras_1():
    w, b, x = draw(4, 3), draw(3), draw(5, 4)
    model = sequential(layer("Dense", "d", batch_input_shape=[None, 4], output_dim=3, activation="relu", init="glorot_uniform", bias=True,
                             W_regularizer={"name": "L1L2Regularizer", "l1": 0.0, "l2": 0.01}, b_regularizer=None), as_list=True)
    net = imported(model, {"d": [("d_W", w), ("d_b", b)]}, "1.2.2")
    np.testing.assert_allclose(net.output(x), np.maximum(x @ w + b, 0), atol=1e-5)
    assert net.get_layer_wise_configurations().layers[0].regularization[0].l2.value == pytest.approx(0.02)


@pytest.mark.parametrize(("ordering", "backend"), [("th", "theano"), ("th", "tensorflow"), ("tf", "tensorflow")])
def test_convolution_of_keras_1(ordering, backend):
    first = ordering == "th"
    kernel, x = draw(2, 3, 2, 4), draw(2, 5, 6, 2)           # rows, columns, channels, filters
    model = sequential(layer("Convolution2D", "c", batch_input_shape=[None, 2, 5, 6] if first else [None, 5, 6, 2], nb_filter=4, nb_row=2,
                             nb_col=3, border_mode="valid", subsample=[1, 1], dim_ordering=ordering, activation="linear", bias=False),
                       as_list=True)
    stored = kernel.transpose(3, 2, 0, 1) if first else kernel
    net = imported(model, {"c": [("c_W", stored)]}, "1.1.0", backend)
    used = kernel[::-1, ::-1] if backend == "theano" else kernel
    expected = sum(np.einsum("bijc,cf->bijf", x[:, r:r + 4, c:c + 4], used[r, c]) for r in range(2) for c in range(3))
    found = net.output(x.transpose(0, 3, 1, 2) if first else x)
    np.testing.assert_allclose(found.transpose(0, 2, 3, 1) if first else found, expected, atol=1e-5)


def gru(x, w, u, b):
    h = np.zeros((len(x), u.shape[0]))
    n = u.shape[0]
    for t in range(x.shape[1]):
        z = x[:, t] @ w + b
        update, reset = (sigmoid(z[:, k * n:(k + 1) * n] + h @ u[:, k * n:(k + 1) * n]) for k in (0, 1))
        h = update * h + (1 - update) * np.tanh(z[:, 2 * n:] + (reset * h) @ u[:, 2 * n:])
    return h


def test_gates_of_keras_1():
    x = draw(3, 4, 2)
    parts = [[draw(2, 3), draw(3, 3), draw(3)] for _ in range(3)]
    names = [f"g_{kind}_{gate}" for gate in "zrh" for kind in "WUb"]
    model = sequential(layer("GRU", "g", batch_input_shape=[None, 4, 2], output_dim=3, activation="tanh", inner_activation="hard_sigmoid",
                             return_sequences=False, go_backwards=False, stateful=False), as_list=True)
    net = imported(model, {"g": list(zip(names, [a for p in parts for a in p]))}, "1.2.2")
    w, u, b = (np.concatenate([p[k] for p in parts], -1) for k in range(3))
    np.testing.assert_allclose(net.output(x), gru(x, w, u, b), atol=1e-5)


def test_lstm_with_hard_gates_of_keras_2():
    model = sequential(layer("LSTM", "l", batch_input_shape=[None, 4, 2], units=3, activation="tanh", recurrent_activation="hard_sigmoid",
                             use_bias=True, unit_forget_bias=True, return_sequences=True))
    conf = KerasModelImport.import_keras_sequential_configuration(hdf5(model, {"l": []}, "2.2.4"))
    assert conf.layers[0].gate_activation == ActivationHardSigmoid()
    assert KerasModelImport.import_keras_sequential_configuration(hdf5(model, {"l": []}, "3.1.0")).layers[0].gate_activation \
        != ActivationHardSigmoid()


def test_cudnn_weights():
    x = draw(3, 4, 2)
    w, u, b = draw(2, 12), draw(3, 12), draw(24)
    common = {"batch_input_shape": [None, 4, 2], "units": 3, "return_sequences": False}
    cudnn = imported(sequential(layer("CuDNNLSTM", "l", **common)), {"l": [("l/kernel:0", w), ("l/recurrent:0", u), ("l/bias:0", b)]})
    plain = imported(sequential(layer("LSTM", "l", recurrent_activation="sigmoid", **common)),
                     {"l": [("l/kernel:0", w), ("l/recurrent:0", u), ("l/bias:0", b[:12] + b[12:])]})
    np.testing.assert_allclose(cudnn.output(x), plain.output(x), atol=1e-6)


def test_merge_of_keras_1():
    inputs = [{"class_name": "InputLayer", "config": {"name": n, "batch_input_shape": [None, 3]}, "name": n, "inbound_nodes": []}
              for n in "ab"]
    merged = {"class_name": "Merge", "config": {"name": "m", "mode": "concat", "concat_axis": -1}, "name": "m",
              "inbound_nodes": [[["a", 0, 0], ["b", 0, 0]]]}
    model = {"class_name": "Model", "config": {"name": "model", "layers": [*inputs, merged], "input_layers": [["a", 0, 0], ["b", 0, 0]],
                                               "output_layers": [["m", 0, 0]]}}
    a, b = draw(2, 3), draw(2, 3)
    (found,) = imported(model, {"m": []}, "1.2.2").output(a, b) if isinstance(imported(model, {"m": []}).output(a, b), list) \
        else [imported(model, {"m": []}, "1.2.2").output(a, b)]
    np.testing.assert_array_equal(found, np.concatenate([a, b], 1))


TRAINING = {"loss": "categorical_crossentropy", "optimizer_config": {"class_name": "Adam", "config": {
    "lr": 0.002, "beta_1": 0.8, "beta_2": 0.99, "epsilon": 1e-7, "decay": 0.0}}}
DENSE = sequential(layer("Dense", "d", batch_input_shape=[None, 4], units=3, activation="softmax", use_bias=True))
WEIGHTS = {"d": [("d/kernel:0", draw(4, 3)), ("d/bias:0", draw(3))]}


def test_training_configuration():
    layers = imported(DENSE, WEIGHTS, training=TRAINING).get_layer_wise_configurations().layers
    assert layers[1].loss_function == LossMCXENT()
    assert layers[0].updater == Adam(learning_rate=0.002, beta1=0.8, beta2=0.99, epsilon=1e-7)


def test_what_training_cannot_have_is_left_out_or_refused():
    training = {**TRAINING, "loss": "my_own_loss"}
    with pytest.warns(LossyImportWarning, match="my_own_loss"):
        assert len(imported(DENSE, WEIGHTS, training=training).layers) == 1
    with pytest.raises(UnsupportedVersionError, match="enforce_training_config=False"):
        KerasModelImport.importKerasModelAndWeights(hdf5(DENSE, WEIGHTS, training=training), True)
