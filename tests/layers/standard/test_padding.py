"""Padding beside ConvolutionMode.Same: what DL4J 1.0.0-M2.1 refuses when a layer is built, and takes from files."""
from __future__ import annotations

import pytest

from dl4py import layers as L
from dl4py.networks import MultiLayerConfiguration, NeuralNetConfiguration
from dl4py.samediff.errors import ConfigurationError

REFUSED = {"ConvolutionLayer": 2, "Convolution1DLayer": 1, "Convolution3D": 3, "SubsamplingLayer": 2, "Subsampling1DLayer": 1,
           "Subsampling3DLayer": 3, "SeparableConvolution2D": 2, "DepthwiseConvolution2D": 2, "LocallyConnected1D": 1,
           "LocallyConnected2D": 2}
TAKEN = {"Deconvolution2D": 2, "Deconvolution3D": 3, "PrimaryCapsules": 2}
#: Their own mode is Same where none is given.
SAME_BY_DEFAULT = {"Subsampling3DLayer", "LocallyConnected1D", "LocallyConnected2D"}
TYPES = {1: L.InputType.recurrent(3, 8), 2: L.InputType.convolutional(8, 8, 3), 3: L.InputType.convolutional3D("NCDHW", 8, 8, 8, 3)}


def options(name, **more):
    if name == "PrimaryCapsules":
        return dict(kernel_size=(2, 2), padding=(1, 1), capsules=2, capsule_dimensions=2, **more)
    return dict(kernel_size=2, padding=1, **more) | ({} if "Subsampling" in name else {"n_out": 2})


def network(layer, rank, mode=None):
    conf = NeuralNetConfiguration.builder()
    return (conf if mode is None else conf.convolution_mode(mode)).list().layer(layer).set_input_type(TYPES[rank]).build()


@pytest.mark.parametrize("name", REFUSED)
def test_refused_when_built(name):
    with pytest.raises(ConfigurationError, match="padding .* cannot be used with ConvolutionMode.Same"):
        getattr(L, name)(**options(name, convolution_mode="Same"))
    with pytest.raises(ConfigurationError, match="padding"):
        getattr(L, name).builder().kernel_size(2).padding(1).convolution_mode("Same").build()


@pytest.mark.parametrize("name", TAKEN)
def test_taken(name):
    assert getattr(L, name)(**options(name, convolution_mode="Same")).convolution_mode.name == "Same"


@pytest.mark.parametrize("name", sorted({**REFUSED, **TAKEN}.keys() - SAME_BY_DEFAULT))
def test_a_default_of_the_network_is_taken(name):
    conf = network(getattr(L, name)(**options(name)), {**REFUSED, **TAKEN}[name], "Same")
    assert any(conf.confs[0].layer.padding)


@pytest.mark.parametrize("name", [*REFUSED, *TAKEN])
def test_read_from_files(name):
    text = network(getattr(L, name)(**options(name, convolution_mode="Truncate")), {**REFUSED, **TAKEN}[name]).to_json()
    read = MultiLayerConfiguration.from_json(text.replace("Truncate", "Same"))
    assert "Same" in read.to_json() and MultiLayerConfiguration.from_json(read.to_json()) == read
