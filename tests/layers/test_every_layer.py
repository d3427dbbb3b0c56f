"""Every registered layer, vertex, preprocessor, loss and activation passes the public checks."""
from __future__ import annotations

import pytest

from dl4py.layers import (
    DenseLayer,
    GraphVertex,
    IActivation,
    ILossFunction,
    InputPreProcessor,
    InputType,
    Layer,
    check_activation,
    check_layer,
    check_loss,
    check_preprocessor,
    check_vertex,
)
from dl4py.layers.checks.check_parts import configuration_checks
from dl4py.networks import LayerVertex, NeuralNetConfiguration
from dl4py.samediff.base.user_code.check_report import CheckReport
from dl4py.samediff.configuration.classes import registered
from tests.layers.function_table import ACTIVATIONS, LOSSES
from tests.layers.layer_table import LAYERS, PREPROCESSORS, VERTICES

#: It stands for its layer in graphs and has a test of its own.
OTHERS = {LayerVertex}


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch):
    """The question is what layers mean; how plans run them is compared elsewhere."""
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")


def names(things):
    return [f"{type(thing).__name__}-{i}" for i, thing in enumerate(things)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("row", LAYERS, ids=names([r.made for r in LAYERS]))
def test_layers(row):
    check_layer(row.made, *row.inputs, **row.options).raise_if_failed()


@pytest.mark.parametrize("row", VERTICES, ids=names([r.made for r in VERTICES]))
def test_vertices(row):
    check_vertex(row.made, *row.inputs, **row.options).raise_if_failed()


@pytest.mark.parametrize("row", PREPROCESSORS, ids=names([r.made for r in PREPROCESSORS]))
def test_preprocessors(row):
    check_preprocessor(row.made, *row.inputs, **row.options).raise_if_failed()


@pytest.mark.parametrize("row", LOSSES, ids=names([r[0] for r in LOSSES]))
def test_losses(row):
    check_loss(*row).raise_if_failed()


@pytest.mark.parametrize("activation", ACTIVATIONS, ids=names(ACTIVATIONS))
def test_activations(activation):
    check_activation(activation).raise_if_failed()


def test_layers_as_vertices():
    report = CheckReport("vertex LayerVertex")
    conf = NeuralNetConfiguration.Builder().layer(DenseLayer(n_in=3, n_out=2, activation="tanh")).build()
    made = LayerVertex(conf, None)
    configuration_checks(report, made)
    report.raise_if_failed()
    check_layer(made.layer, InputType.feed_forward(3)).raise_if_failed()


@pytest.mark.parametrize(("base", "rows"), [
    (Layer, [r.made for r in LAYERS]), (GraphVertex, [r.made for r in VERTICES]), (InputPreProcessor, [r.made for r in PREPROCESSORS]),
    (ILossFunction, [r[0] for r in LOSSES]), (IActivation, ACTIVATIONS)])
def test_whatever_is_registered_has_a_row(base, rows):
    own = {cls for _, cls in registered() if issubclass(cls, base) and cls.__module__.startswith("dl4py.")
           and not cls.__module__.startswith("dl4py.networks.keras.")}         # tests/networks/keras has theirs
    assert sorted(cls.__name__ for cls in own - OTHERS - set(map(type, rows))) == []
