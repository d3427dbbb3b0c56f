"""Which layers the dropout of a network reaches."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dl4py import layers as L
from dl4py.layers import InputType
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from tests.layers.layer_table import LAYERS, RNG

#: Found by runs of DL4J, which leaves AutoEncoder and GravesBidirectionalLSTM out too.
UNTOUCHED = {
    "ActivationLayer", "BatchNormalization", "Cnn3DLossLayer", "CnnLossLayer", "Cropping1D", "Cropping2D", "Cropping3D",
    "EmbeddingLayer", "EmbeddingSequenceLayer", "GlobalPoolingLayer", "LocalResponseNormalization", "LossLayer", "MaskLayer",
    "RnnLossLayer", "Subsampling1DLayer", "SubsamplingLayer", "VariationalAutoencoder", "Yolo2OutputLayer", "ZeroPadding1DLayer",
    "ZeroPadding3DLayer", "ZeroPaddingLayer",
}
#: Those inside have dropout of their own; layers that graphs define have none.
OTHERS = {
    "Bidirectional", "CapsuleLayer", "CapsuleStrengthLayer", "FrozenLayer", "FrozenLayerWithBackprop", "LastTimeStep",
    "LearnedSelfAttentionLayer", "LocallyConnected1D", "LocallyConnected2D", "MaskZeroLayer", "PrimaryCapsules",
    "RecurrentAttentionLayer", "SelfAttentionLayer", "TimeDistributed",
}

ROWS = {type(r.made).__name__: r for r in LAYERS if type(r.made).__module__.startswith("dl4py.layers.standard")}


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")


def seen_in_training(row: Any, dropout: Any) -> Any:
    """What a network of the one layer gives while training."""
    kind = row.inputs[0] if isinstance(row.inputs[0], InputType) else row.options["input_type"]
    made = NeuralNetConfiguration.Builder().seed(3).list(row.made.replace(dropout=dropout)).set_input_type(kind)
    net = MultiLayerNetwork(made.validate_output_layer_config(False).build()).init()
    x = row.inputs[0]
    if isinstance(x, InputType):
        x = np.linspace(1, 2, 3 * int(np.prod([abs(5 * n) if n < 0 else n for n in kind.array_shape()[1:]])))
        x = x.reshape(3, *[5 if n < 0 else n for n in kind.array_shape()[1:]])
    return np.array(net.output(x, True))


@pytest.mark.parametrize("name", sorted(ROWS))
def test_dropout_acts_where_it_does_in_dl4j(name):
    changed = not np.array_equal(seen_in_training(ROWS[name], L.Dropout(0.5)), seen_in_training(ROWS[name], None))
    assert changed is (name not in UNTOUCHED | OTHERS)


@pytest.mark.parametrize("kind", [L.Dropout(0.5), L.GaussianNoise(0.1), L.AlphaDropout(0.5)], ids=lambda d: type(d).__name__)
@pytest.mark.parametrize("series", [False, True])
def test_the_dropout_of_a_network_leaves_words_alone(kind, series):
    """Those of embeddings were looked up at other rows."""
    stack = (L.EmbeddingSequenceLayer(n_in=7, n_out=3), L.RnnOutputLayer(n_in=3, n_out=2, dropout=L.Dropout(1.0))) if series else \
        (L.EmbeddingLayer(n_in=7, n_out=3), L.OutputLayer(n_in=3, n_out=2, dropout=L.Dropout(1.0)))
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).dropout(kind).list(*stack).build()).init()
    words = RNG.integers(0, 7, (4, 5 if series else 1))
    assert np.allclose(net.output(words, True), net.output(words, False))
    labels = np.eye(2)[RNG.integers(0, 2, (4, 5))].transpose(0, 2, 1) if series else np.eye(2)[[0, 1, 1, 0]]
    net.fit(words, labels)
    assert np.isfinite(net.params()).all()
