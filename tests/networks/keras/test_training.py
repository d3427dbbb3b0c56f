"""Losses, optimizers and what is left out."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.networks import KerasModelImport, MultiLayerNetwork
from dl4py.networks.keras.own.updaters import Momentum
from dl4py.networks.keras.training import LossyImportWarning
from dl4py.samediff.errors import UnsupportedVersionError
from dl4py.samediff.training.updaters import schedules as s
from dl4py.samediff.training.updaters import updaters as u
from tests.networks.keras.old_models import hdf5, layer, sequential

pytest.importorskip("h5py")
W = np.array([[1.0, -1.0], [0.5, 2.0]], "float32")
DENSE = sequential(layer("Dense", "d", batch_input_shape=[None, 2], units=2, activation="linear", use_bias=False))


def compiled(optimizer, loss="mse", model=DENSE, **config):
    training = {"loss": loss, "optimizer_config": {"class_name": optimizer, "config": config}}
    return KerasModelImport.import_keras_model_and_weights(hdf5(model, {"d": [("d/kernel:0", W)]}, training=training))


def updater(net):
    return net.get_layer_wise_configurations().layers[0].updater


def test_momentum(tmp_path):
    net = compiled("SGD", learning_rate=0.1, momentum=0.5, nesterov=False)
    assert updater(net) == Momentum(0.1, 0.5)
    x, y, w, v = np.array([[1.0, 2.0]]), np.zeros((1, 2)), W.astype("float64"), 0.0
    for _ in range(3):
        net.fit(x.astype("float32"), y.astype("float32"))
        v = 0.5 * v - 0.1 * (x.T @ (x @ w))
        w = w + v
    np.testing.assert_allclose(net.get_param("0_W"), w, atol=1e-5)
    net.save(tmp_path / "net.zip")
    again = MultiLayerNetwork.load(tmp_path / "net.zip")
    for one in (net, again):
        one.fit(x.astype("float32"), y.astype("float32"))
    np.testing.assert_array_equal(net.params(), again.params())


@pytest.mark.parametrize(("name", "config", "expected"), [
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True}, u.Nesterovs(0.1, 0.9)),
    ("Adam", {"lr": 0.1, "amsgrad": True, "epsilon": 1e-5}, u.AMSGrad(learning_rate=0.1, epsilon=1e-5)),
    ("Adamax", {"learning_rate": 0.1}, u.AdaMax(learning_rate=0.1, epsilon=1e-7)),
    ("Nadam", {"learning_rate": 0.1}, u.Nadam(learning_rate=0.1, epsilon=1e-7)),
    ("RMSprop", {"learning_rate": 0.1, "rho": 0.8}, u.RmsProp(learning_rate=0.1, rms_decay=0.8, epsilon=1e-7)),
    ("Adagrad", {"learning_rate": 0.1}, u.AdaGrad(learning_rate=0.1, epsilon=1e-7)),
    ("Adadelta", {"learning_rate": 1.0, "rho": 0.9}, u.AdaDelta(rho=0.9, epsilon=1e-7)),
    ("SGD", {"lr": 0.1, "decay": 0.01}, u.Sgd(s.InverseSchedule("ITERATION", 0.1, 0.01, 1.0))),
    ("SGD", {"learning_rate": {"class_name": "ExponentialDecay", "config": {"initial_learning_rate": 0.1, "decay_steps": 10,
                                                                            "decay_rate": 0.5, "staircase": True}}},
     u.Sgd(s.StepSchedule("ITERATION", 0.1, 0.5, 10.0)))])
def test_optimizers(name, config, expected):
    assert updater(compiled(name, **config)) == expected


def test_gradient_clipping():
    conf = compiled("SGD", learning_rate=0.1, clipvalue=0.5).get_layer_wise_configurations().layers[0]
    assert (conf.gradient_normalization.name, conf.gradient_normalization_threshold) == ("ClipElementWiseAbsoluteValue", 0.5)


@pytest.mark.parametrize(("name", "config", "text"), [
    ("SGD", {"learning_rate": 0.1, "global_clipnorm": 1.0}, "global_clipnorm"), ("AdamW", {"weight_decay": 0.01}, "weight_decay"),
    ("SGD", {"learning_rate": {"class_name": "CosineDecay", "config": {"initial_learning_rate": 0.2}}}, "CosineDecay")])
def test_what_optimizers_lose(name, config, text):
    with pytest.warns(LossyImportWarning, match=text):
        compiled(name, **config)


def test_unknown_optimizer():
    with pytest.raises(UnsupportedVersionError, match="'ftrl'"):
        compiled("Ftrl", learning_rate=0.1)


def test_what_layers_lose():
    model = sequential(layer("LSTM", "l", batch_input_shape=[None, 3, 2], units=2, recurrent_dropout=0.2, dropout=0.1),
                       layer("Dense", "d", units=2, activity_regularizer={"class_name": "L2", "config": {"l2": 0.1}}))
    with pytest.warns(LossyImportWarning, match=r"'l' .LSTM.: recurrent_dropout.*'d' .Dense.: activity_regularizer"):
        conf = KerasModelImport.import_keras_sequential_configuration(hdf5(model, {}))
    assert conf.layers[0].underlying.dropout.p == pytest.approx(0.9)
    with pytest.raises(UnsupportedVersionError, match="recurrent_dropout"):
        KerasModelImport.import_keras_sequential_configuration(hdf5(model, {}), True)


def test_losses_of_several_outputs_by_name():
    start = {"class_name": "InputLayer", "config": {"name": "i", "batch_input_shape": [None, 2]}, "name": "i", "inbound_nodes": []}
    ends = [{"class_name": "Activation", "config": {"name": n, "activation": "sigmoid"}, "name": n, "inbound_nodes": [[["i", 0, 0, {}]]]}
            for n in "ab"]
    model = {"class_name": "Functional", "config": {"layers": [start, *ends], "input_layers": [["i", 0, 0]],
                                                    "output_layers": [["a", 0, 0], ["b", 0, 0]]}}
    training = {"loss": {"b": "huber"}, "optimizer_config": {"class_name": "SGD", "config": {"learning_rate": 0.1}}}
    conf = KerasModelImport.import_keras_model_configuration(hdf5(model, {}, training=training))
    assert conf.network_outputs == ("a", "b_loss")
