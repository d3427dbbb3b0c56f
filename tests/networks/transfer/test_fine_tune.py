"""Fine-tune settings reach layers, those inside others, and leave what layers never take from their network."""
from __future__ import annotations

from typing import Any

import pytest

from dl4py import layers as L
from dl4py.layers import ContainerLayer, Layer, layer
from dl4py.networks import FineTuneConfiguration, NeuralNetConfiguration
from dl4py.samediff.training import Adam

TUNE = (FineTuneConfiguration.Builder().updater(Adam(0.01)).l2(0.1).dropout(0.5).activation("relu").weight_init("RELU")
        .convolution_mode("Same").constrain_weights(L.NonNegativeConstraint()).build())


@layer("test.fine_tune.Pair")
class Pair(ContainerLayer):
    """A chain of a layer and some more."""

    first: Layer
    more: tuple[Layer, ...] = ()


DENSE, CELL = L.DenseLayer(n_in=2, n_out=2), L.LSTM(n_in=2, n_out=2)
HOLDERS: dict[str, tuple[Layer, Any]] = {
    "last time step": (L.LastTimeStep(CELL), lambda m: [m.underlying]),
    "time distributed": (L.TimeDistributed(DENSE), lambda m: [m.underlying]),
    "mask zero": (L.MaskZeroLayer(CELL), lambda m: [m.underlying]),
    "frozen with backprop": (L.FrozenLayerWithBackprop(DENSE), lambda m: [m.underlying]),
    "both directions": (L.Bidirectional(CELL), lambda m: [m.fwd, m.bwd]),
    "two wrappers": (L.LastTimeStep(L.Bidirectional(CELL)), lambda m: [m.underlying.fwd, m.underlying.bwd]),
    "container": (Pair(first=DENSE, more=(DENSE, DENSE)), lambda m: [m.first, *m.more]),
}
GRAPH_DEFINED = [
    L.SelfAttentionLayer(n_in=2, n_out=2, n_heads=1, project_input=True), L.PrimaryCapsules(2, 2), L.CapsuleLayer(2, 2, 2),
    L.RecurrentAttentionLayer(n_in=2, n_out=2, n_heads=1, head_size=2), L.LocallyConnected1D(n_in=2, n_out=2, activation="tanh"),
    L.LocallyConnected2D(n_in=2, n_out=2),
]


def tuned(made: Layer) -> Any:
    return TUNE.applied_to(NeuralNetConfiguration(layer=made)).layer


@pytest.mark.parametrize("name", HOLDERS)
def test_layers_inside_others_take_the_settings_and_their_holders_no_dropout_of_their_own(name):
    made, inside = HOLDERS[name]
    found = tuned(made)
    assert found.dropout is None and found.constraints is None
    for inner in inside(found):
        assert inner.updater == Adam(0.01) and inner.dropout.p == 0.5 and inner.constraints
        assert inner.activation == L.Activation.RELU.get_activation_function()


@pytest.mark.parametrize("made", GRAPH_DEFINED, ids=lambda m: type(m).__name__)
def test_layers_defined_by_graphs_keep_what_they_never_take_from_a_network(made):
    found = tuned(made)
    assert found.updater == Adam(0.01) and found.regularization
    for option in {"activation", "weight_init", "convolution_mode"} & set(type(made)._fields):
        assert getattr(found, option) == getattr(made, option)


@pytest.mark.parametrize("made", [L.ActivationLayer("tanh"), L.SubsamplingLayer("MAX", dropout=0.9), L.GlobalPoolingLayer("AVG"),
                                  L.ZeroPaddingLayer(1, 1), L.Yolo2OutputLayer(bounding_boxes=[[1, 2]])], ids=lambda m: type(m).__name__)
def test_layers_without_parameters_keep_activation_dropout_and_normalization(made):
    found = tuned(made)
    assert found.gradient_normalization == made.gradient_normalization
    assert found.gradient_normalization_threshold == made.gradient_normalization_threshold
    assert found.dropout == made.dropout and getattr(found, "activation", None) == getattr(made, "activation", None)
