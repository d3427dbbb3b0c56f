"""Layers of Keras that DL4J has not pass the public checks, as all others do."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    GraphVertex,
    IActivation,
    ILossFunction,
    InputType,
    Layer,
    check_activation,
    check_layer,
    check_loss,
    check_vertex,
)
from dl4py.networks.keras.own.losses import MeanLossLayer
from dl4py.networks.keras.own.sharing import SharedVertex
from dl4py.samediff.configuration.classes import registered
from tests.networks.keras.own_rows import ACTIVATIONS, EMBEDDING, LAYERS, LOSSES, VERTICES

#: They have tests with networks.
OTHERS = {MeanLossLayer, SharedVertex}


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch):
    """The question is what layers mean; how plans run them is compared elsewhere."""
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")


def names(things):
    return [f"{type(thing).__name__}-{i}" for i, thing in enumerate(things)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("made", "given"), LAYERS, ids=names([r[0] for r in LAYERS]))
def test_layers(made, given):
    check_layer(made, given).raise_if_failed()


def test_embedding():
    check_layer(EMBEDDING, np.array([[1, 0, 5, 2], [4, 4, 2, 1], [0, 1, 3, 3]]), input_type=InputType.feed_forward(4)).raise_if_failed()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("made", "given"), VERTICES, ids=names([r[0] for r in VERTICES]))
def test_vertices(made, given):
    check_vertex(made, *given).raise_if_failed()


@pytest.mark.parametrize("activation", ACTIVATIONS, ids=names(ACTIVATIONS))
def test_activations(activation):
    check_activation(activation).raise_if_failed()


@pytest.mark.parametrize("row", LOSSES, ids=names([r[0] for r in LOSSES]))
def test_losses(row):
    check_loss(*row).raise_if_failed()


@pytest.mark.parametrize(("base", "rows"), [
    (Layer, [r[0] for r in LAYERS] + [EMBEDDING]), (GraphVertex, [r[0] for r in VERTICES]), (ILossFunction, [r[0] for r in LOSSES]),
    (IActivation, ACTIVATIONS)])
def test_whatever_is_registered_has_a_row(base, rows):
    own = {cls for _, cls in registered() if issubclass(cls, base) and cls.__module__.startswith("dl4py.networks.keras.")}
    assert sorted(cls.__name__ for cls in own - OTHERS - set(map(type, rows))) == []
