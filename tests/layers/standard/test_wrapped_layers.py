"""Wrappers around layers that take something else than the wrapper gives: one error, where the layer is made."""
from __future__ import annotations

import pytest

from dl4py import layers as L
from dl4py.layers import InputType
from dl4py.samediff.errors import ConfigurationError
from tests.layers.layer_table import LAYERS

INNER = [row.made for row in LAYERS if not row.made.has_loss]
WRAPPERS = {"last": (L.LastTimeStep, InputType.recurrent(3, 4)), "both": (L.Bidirectional, InputType.recurrent(3, 4)),
            "each": (L.TimeDistributed, InputType.feed_forward(3))}


@pytest.mark.parametrize("name", WRAPPERS)
def test_every_layer_is_taken_or_refused(name):
    wrapper, given = WRAPPERS[name]
    for inner in INNER:
        if inner.get_pre_processor_for_input_type(given) is None:
            wrapper(inner)
        else:
            with pytest.raises(ConfigurationError, match=f"{wrapper.__name__} gives (time series|single steps) to the layer inside, and"):
                wrapper(inner)


@pytest.mark.parametrize("make", [lambda: L.LastTimeStep(L.DenseLayer(n_in=3, n_out=4)),
                                  lambda: L.Bidirectional(L.DenseLayer(n_in=3, n_out=4)),
                                  lambda: L.LastTimeStep(L.FrozenLayer(L.OutputLayer(n_in=3, n_out=4))),
                                  lambda: L.TimeDistributed(L.LSTM(n_in=3, n_out=4)),
                                  lambda: L.TimeDistributed(L.GlobalPoolingLayer("MAX"))])
def test_such_as(make):
    with pytest.raises(ConfigurationError, match="to the layer inside"):
        make()
