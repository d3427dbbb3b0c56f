"""Wrappers around layers that take something else than the wrapper gives: one error, where the layer is made."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dl4py import layers as L
from dl4py.layers import InputType
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.errors import ConfigurationError
from tests.layers.layer_table import LAYERS

INNER = [row.made for row in LAYERS if not row.made.has_loss]
WRAPPERS = {"last": (L.LastTimeStep, InputType.recurrent(3, 4)), "both": (L.Bidirectional, InputType.recurrent(3, 4)),
            "each": (L.TimeDistributed, InputType.feed_forward(3))}


@pytest.mark.parametrize("name", WRAPPERS)
def test_every_layer_is_taken_or_refused(name):
    wrapper, given = WRAPPERS[name]
    for inner in INNER:
        if inner.get_pre_processor_for_input_type(given) is None and not (inner.pools_series and name != "each"):
            wrapper(inner)
        else:
            said = "(gives (time series|single steps) to|expects series of) the layer inside, and"
            with pytest.raises(ConfigurationError, match=f"{wrapper.__name__} {said}"):
                wrapper(inner)


#: These read numbers of words, want as many outputs as inputs, or series that are longer than rows make.
NEED_OTHER_DATA = (L.EmbeddingLayer, L.EmbeddingSequenceLayer, L.ElementWiseMultiplicationLayer, L.Convolution1DLayer, L.Subsampling1DLayer)

#: Further wrappers, and wrappers in wrappers.
FURTHER = {**{name: wrapper for name, (wrapper, _) in WRAPPERS.items()},
           "zero": lambda la: L.MaskZeroLayer(la, 0.0), "frozen": L.FrozenLayer, "passing": L.FrozenLayerWithBackprop,
           "last of both": lambda la: L.LastTimeStep(L.Bidirectional(la)),
           "both of last": lambda la: L.Bidirectional(L.LastTimeStep(la)), "each of last": lambda la: L.TimeDistributed(L.LastTimeStep(la))}


@pytest.mark.parametrize(("kind", "shape"), [(InputType.recurrent(3, 4), (2, 3, 4)), (InputType.feed_forward(3), (2, 3))],
                         ids=["series", "rows"])
@pytest.mark.parametrize("name", FURTHER)
def test_what_can_be_configured_runs(name, kind, shape, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    ran = 0
    for inner in INNER:
        if isinstance(inner, NEED_OTHER_DATA):
            continue
        try:
            wrapped = FURTHER[name](inner.replace(n_in=0) if hasattr(inner, "n_in") else inner)
            conf = NeuralNetConfiguration.Builder().seed(1).list(wrapped, L.OutputLayer(n_out=2)).set_input_type(kind).build()
        except ConfigurationError:
            continue
        assert np.isfinite(MultiLayerNetwork(conf).init().output(x)).all()
        ran += 1
    assert ran or len(shape) == 2 or name == "each of last"


@pytest.mark.parametrize("make", [lambda: L.LastTimeStep(L.DenseLayer(n_in=3, n_out=4)),
                                  lambda: L.Bidirectional(L.DenseLayer(n_in=3, n_out=4)),
                                  lambda: L.LastTimeStep(L.FrozenLayer(L.OutputLayer(n_in=3, n_out=4))),
                                  lambda: L.TimeDistributed(L.LSTM(n_in=3, n_out=4)),
                                  lambda: L.TimeDistributed(L.GlobalPoolingLayer("MAX"))])
def test_such_as(make):
    with pytest.raises(ConfigurationError, match="to the layer inside"):
        make()


#: Wrappers, and whether what they hold is random while training.
HELD: dict[str, tuple[Any, bool]] = {
    "last": (lambda **k: L.LastTimeStep(L.LSTM(n_out=3, **k)), True),
    "both": (lambda **k: L.Bidirectional(L.SimpleRnn(n_out=3, **k)), True),
    "last of both": (lambda **k: L.LastTimeStep(L.Bidirectional(L.LSTM(n_out=3, **k))), True),
    "zero": (lambda **k: L.MaskZeroLayer(L.SimpleRnn(n_out=3, **k), 0.0), True),
    "steps": (lambda **k: L.TimeDistributed(L.DenseLayer(n_out=3, **k)), True),
    "frozen": (lambda **k: L.FrozenLayer(L.LSTM(n_out=3, **k)), False),
    "passing": (lambda **k: L.FrozenLayerWithBackprop(L.LSTM(n_out=3, **k)), False),
}


@pytest.mark.parametrize("option", [{"weight_noise": L.DropConnect(0.5)}, {"dropout": 0.5}], ids=["weight noise", "dropout"])
@pytest.mark.parametrize("name", HELD)
def test_noise_of_a_layer_acts_inside_of_wrappers(name, option, rng, monkeypatch):
    """As DL4J 1.0.0-M2.1 does in each of these cases."""
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    made, noisy = HELD[name]
    conf = NeuralNetConfiguration.Builder().seed(1).list(made(**option), L.ActivationLayer("identity")).validate_output_layer_config(False)
    net = MultiLayerNetwork(conf.set_input_type(InputType.recurrent(3, 4)).build()).init()
    x = rng.normal(size=(2, 3, 4))
    for training in (False, True):
        first, second = (net.feed_forward(x, training)[1] for _ in range(2))
        assert np.array_equal(first, second) != (noisy and training)


def behind(*layers: Any, kind: Any) -> Any:
    builder = NeuralNetConfiguration.Builder().seed(1).data_type("DOUBLE").list(*layers)
    return builder.set_input_type(kind).validate_output_layer_config(False)


@pytest.mark.parametrize("inner", [L.ActivationLayer("tanh"), L.DropoutLayer(0.5), L.PReLULayer(), L.MaskLayer(), L.RnnLossLayer(),
                                   L.FrozenLayer(L.Subsampling1DLayer(kernel_size=2))], ids=lambda made: type(made).__name__)
@pytest.mark.parametrize("wrapper", [L.LastTimeStep, L.Bidirectional, L.MaskZeroLayer], ids=lambda made: made.__name__)
def test_wrappers_that_look_at_time_refuse_series_that_the_layer_inside_reads_otherwise(wrapper, inner):
    with pytest.raises(ConfigurationError, match="reads series as .* which is NCW, and gets NWC"):
        behind(wrapper(inner), L.ActivationLayer("identity"), kind=InputType.recurrent(3, 4, "NWC")).build()
    behind(wrapper(inner), L.ActivationLayer("identity"), kind=InputType.recurrent(3, 4)).build()


@pytest.mark.parametrize("make", [L.LastTimeStep, lambda la: L.LastTimeStep(L.Bidirectional("AVERAGE", la)),
                                  lambda la: L.LastTimeStep(L.MaskZeroLayer(la)), lambda la: L.MaskZeroLayer(L.LastTimeStep(la))],
                         ids=["last", "last of both", "last of zero", "zero of last"])
@pytest.mark.parametrize(("layer", "last"), [(L.Upsampling1D(2), 2), (L.Subsampling1DLayer(kernel_size=2, stride=2), 1)],
                         ids=["longer", "shorter"])
def test_the_last_step_of_a_layer_that_changes_the_number_of_steps(make, layer, last, monkeypatch):
    """It is the last unmasked one behind that layer."""
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    x, mask = np.arange(1.0, 25).reshape(2, 3, 4), np.array([[1, 1, 1, 0], [1, 1, 0, 0]])
    x *= mask[:, None]
    net = MultiLayerNetwork(behind(make(layer), L.ActivationLayer("identity"), kind=InputType.recurrent(3, 4)).build()).init()
    alone = MultiLayerNetwork(behind(layer, L.ActivationLayer("identity"), kind=InputType.recurrent(3, 4)).build()).init().output(x)
    steps = [5, 3] if last == 2 else [1, 0]
    wanted = np.stack([alone[k, :, step] for k, step in enumerate(steps)])
    np.testing.assert_allclose(net.output(x, False, mask, None), wanted)


@pytest.mark.parametrize("wrapper", [lambda la: la, L.FrozenLayer, L.FrozenLayerWithBackprop, L.MaskZeroLayer],
                         ids=["none", "frozen", "passing", "zero"])
@pytest.mark.parametrize("behind_it", [L.RnnOutputLayer(n_out=2), L.LSTM(n_out=2), L.RnnLossLayer(), L.LastTimeStep(L.LSTM(n_out=2)),
                                       L.Convolution1DLayer(n_out=2, kernel_size=1)], ids=lambda made: type(made).__name__)
def test_what_pools_a_series_is_followed_by_layers_for_rows(wrapper, behind_it):
    with pytest.raises(ConfigurationError, match="takes time series; what is in front gives one row"):
        behind(wrapper(L.GlobalPoolingLayer("AVG")), behind_it, L.ActivationLayer("identity"), kind=InputType.recurrent(3, 4)).build()
    behind(wrapper(L.GlobalPoolingLayer("AVG")), L.OutputLayer(n_out=2), kind=InputType.recurrent(3, 4)).build()
