"""Words of Keras, PyTorch and scikit-learn: the same function, or an error that says what is written here."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dl4py
from dl4py.networks import MultiLayerNetwork, estimators
from dl4py.samediff import SameDiff
from dl4py.samediff.base.java import other_libraries
from dl4py.samediff.errors import ConfigurationError, UnknownNameError
from tests.helpers.habits import MODELS, X, Y, graph_network, list_network


def variable() -> Any:
    return SameDiff.create().var("v", np.ones(4))


def unfrozen() -> None:
    list_network().layers[0].trainable = False


class KerasCallback:
    def on_epoch_end(self, epoch: int, logs: Any = None) -> None: ...


#: What is written elsewhere, and a word of the answer.
SAID: dict[str, tuple[Callable[[], Any], str]] = {
    "compile": (lambda: list_network().compile(optimizer="adam", loss="mse"), r"updater\(Adam.*OutputLayer\(loss_function"),
    "weights": (lambda: graph_network().get_weights(), "param_table"),
    "weights of a layer": (lambda: list_network().layers[0].get_weights(), "param_table"),
    "frozen layer": (unfrozen, "TransferLearning"),
    "step": (lambda: list_network().train_on_batch(X, Y), r"fit\(x, y\)"),
    "probabilities": (lambda: list_network().predict_proba(X), r"output\(x\)"),
    "optimizer": (lambda: list_network().optimizer.learning_rate, "set_learning_rate"),
    "state": (lambda: list_network().load_state_dict({}), "set_state_dict"),
    "mode": (lambda: list_network().train(), r"output\(x, True\)"),
    "gradients": (lambda: list_network().zero_grad(), "compute_gradient_and_score"),
    "a callback of Keras": (lambda: list_network().fit(X, Y, callbacks=[KerasCallback()]), "BaseTrainingListener"),
    "a dictionary of measures": (lambda: list_network().evaluate(X, Y, return_dict=True), "accuracy"),
    "two measures": (lambda: [*list_network().evaluate(X, Y)], r"accuracy\(\).*score\(x, y\)"),
    "scikit-learn": (lambda: list_network().__sklearn_tags__, "DL4PyClassifier"),
    "convolution": (lambda: dl4py.Conv2D, "ConvolutionLayer"),
    "early stopping": (lambda: list_network().fit(X, Y, early_stopping=True), "EarlyStoppingTrainer"),
    "layers in place of a configuration": (lambda: MultiLayerNetwork([dl4py.DenseLayer(n_out=3)]), r"\.list\(layers\)"),
    "filters": (lambda: dl4py.ConvolutionLayer(filters=8), "n_out"),
    "initializer": (lambda: dl4py.DenseLayer(n_out=3, kernel_initializer="zeros"), "weight_init"),
    "rate": (lambda: dl4py.Adam(lr=0.1), "learning_rate"),
    "momentum": (lambda: dl4py.Sgd(0.1, momentum=0.9), "Nesterovs"),
    "names in capitals": (lambda: dl4py.SGD, "'Sgd'"),
    "layer": (lambda: dl4py.Dense, "DenseLayer"),
    "module": (lambda: dl4py.Module, "from_torch"),
    "callback": (lambda: dl4py.EarlyStopping, "EarlyStoppingTrainer"),
    "no_grad": (lambda: dl4py.no_grad(), r"output\(x\)"),
    "files": (lambda: dl4py.load_model, "MultiLayerNetwork.load"),
    "value": (lambda: variable().numpy(), "eval"),
    "backward": (lambda: variable().sum().backward(), "calculate_gradients"),
    "view": (lambda: variable().view(2, 2), "reshape"),
    "features of old DL4J": (lambda: dl4py.DataSet(X, Y).getFeatureMatrix(), "getFeatures"),
    "small batches of old DL4J": (lambda: dl4py.DataSet(X, Y).iterateWithMiniBatches(), "batchBy"),
    "texts of DL4J": (lambda: dl4py.TokenizerFactory, "gensim"),
    "workspaces of DL4J": (lambda: dl4py.WorkspaceConfiguration, "leave it out"),
}


@pytest.mark.parametrize("habit", SAID)
def test_said(habit):
    act, said = SAID[habit]
    with pytest.raises(Exception, match=said):
        act()


def test_words_are_none_that_exist_and_advice_names_what_does():
    network, layer = list_network(), list_network()[0]
    for owner, table in ((network, other_libraries.NETWORK), (layer, other_libraries.LAYER), (variable(), other_libraries.VARIABLE)):
        assert not [word for word in table if hasattr(type(owner), word)]
    owners = (network, layer, network.configuration, dl4py, dl4py.Nd4j, dl4py.Nd4j.get_random(), dl4py.NeuralNetConfiguration.Builder(),
              dl4py.ListBuilder, dl4py.BaseTrainingListener, estimators)
    texts = {*other_libraries.NETWORK.values(), *other_libraries.LAYER.values(), *other_libraries.NAMES.values()}
    named = {name for text in texts for name in re.findall(r"\b([a-z]+_[a-z_]+|[A-Z][a-z]+[A-Z]\w+)\(", text)}
    assert "to_state_dict" in named and [name for name in named if not any(hasattr(owner, name) for owner in owners)] == []


@pytest.mark.parametrize("name, wanted", [("silu", "SWISH"), ("linear", "IDENTITY")])
def test_activations(name, wanted):
    assert dl4py.Activation.from_string(name) is dl4py.Activation[wanted]


def test_functions_of_other_names():
    losses, starts = dl4py.LossFunctions.LossFunction, dl4py.WeightInit
    for name, wanted in other_libraries.LOSSES.items():
        assert losses.from_string(name) is losses[wanted]
    for name, wanted in other_libraries.WEIGHT_INITS.items():
        assert starts.from_string(name) is starts[wanted]
    assert losses.from_string("Categorical_Crossentropy") is losses.MCXENT


def test_the_history_by_name():
    net = list_network()
    history = net.fit(X, Y, epochs=2, validation_data=(X, Y)).history
    assert history["loss"] == history["score"] == [one.score for one in history]
    assert history["val_loss"] == [history[0].validation_score, history[-1].validation_score] and history[:1] == [history[0]]
    with pytest.raises(UnknownNameError, match="EvaluativeListener"):
        history["accuracy"]


def test_the_history_of_one_epoch_and_its_names():
    history = list_network().fit(X, Y, epochs=1).history
    assert len(history["loss"]) == 1 and "loss" in history and "val_loss" not in history and history[0] in history
    validated = list_network().fit(X, Y, epochs=2, validation_data=(X, Y)).history
    assert [(name, len(values)) for name, values in validated.items()][:2] == [("loss", 2), ("val_loss", 2)] and "val_loss" in validated
    assert dict(validated)["val_loss"] == validated["val_loss"]


@pytest.mark.parametrize("kind", MODELS)
def test_measures_of_every_kind_of_model(kind):
    found = MODELS[kind]().evaluate(X, Y)
    assert 0 <= found.accuracy() <= 1 and "Accuracy" in found.stats()
    with pytest.raises(AttributeError, match="accuraci"):
        found.accuraci  # noqa: B018 - the access is what is tested


def test_fields_of_a_layer_cannot_be_set():
    net = list_network()
    with pytest.raises(ConfigurationError, match="set_param"):
        net[0].n_out = 7
    net[0].param_table()["b"][...] = 3
    assert (net.get_param("0_b") == 3).all()
