"""Convolution layers: closed forms, gradients, masks, sizes."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    CnnLossLayer,
    Convolution1DLayer,
    Convolution3D,
    ConvolutionLayer,
    Deconvolution2D,
    Deconvolution3D,
    DepthwiseConvolution2D,
    GlobalPoolingLayer,
    InputType,
    OutputLayer,
    SeparableConvolution2D,
)
from dl4py.samediff.errors import ConfigurationError, ShapeError
from tests.helpers.networkcheck import check_network, check_recorded, network

OUT = OutputLayer(n_out=2, activation="softmax")


def labels(rng, n=3):
    return np.eye(2)[rng.integers(0, 2, n)]


def test_values_of_a_convolution(rng):
    net = network(ConvolutionLayer(n_in=2, n_out=3, kernel_size=(3, 2), stride=(2, 1), padding=(1, 0), activation="identity"),
                  CnnLossLayer(loss_function="MSE"))
    net.set_params(rng.normal(size=net.num_params()))
    x = rng.normal(size=(2, 2, 5, 4))
    w, b = net.get_param("0_W"), net.get_param("0_b")
    assert w.shape == (3, 2, 3, 2)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 0)))
    y = net.output(x)
    assert y.shape == (2, 3, 3, 3)
    for i in range(3):
        for j in range(3):
            patch = padded[:, :, 2 * i:2 * i + 3, j:j + 2]
            np.testing.assert_allclose(y[:, :, i, j], np.einsum("nckl,ockl->no", patch, w) + b, rtol=1e-10)


def test_bias_comes_first_in_the_flat_vector():
    net = network(ConvolutionLayer(n_in=1, n_out=2, kernel_size=1), CnnLossLayer(loss_function="MSE"))
    net.set_params([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(net.get_param("0_b"), [1, 2])
    np.testing.assert_array_equal(net.get_param("0_W").ravel(), [3, 4])


@pytest.mark.sampled(6)
@pytest.mark.parametrize("mode", ["Truncate", "Same"])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("kind", [ConvolutionLayer, Deconvolution2D, DepthwiseConvolution2D, SeparableConvolution2D])
def test_gradients_of_images(rng, kind, last, mode):
    from dl4py.layers import CNN2DFormat
    form = CNN2DFormat.NHWC if last else CNN2DFormat.NCHW
    options = {} if kind is DepthwiseConvolution2D else {"n_out": 2}
    net = network(kind(kernel_size=2, stride=(2, 1), convolution_mode=mode, **options), OUT,
                  input_type=InputType.convolutional(4, 3, 2, form))
    check_network(net, rng.normal(size=(3, 4, 3, 2) if last else (3, 2, 4, 3)), labels(rng))


@pytest.mark.parametrize("mode", ["Truncate", "Same", "Causal"])
def test_gradients_of_series(rng, mode):
    net = network(Convolution1DLayer(n_in=2, n_out=2, kernel_size=2, dilation=2, convolution_mode=mode), GlobalPoolingLayer("AVG"),
                  OutputLayer(n_in=2, n_out=2, activation="softmax"))
    check_network(net, rng.normal(size=(3, 2, 5)), labels(rng))


def test_causal_convolution_does_not_look_ahead(rng):
    from dl4py.layers import RnnLossLayer
    net = network(Convolution1DLayer(n_in=2, n_out=2, kernel_size=3, convolution_mode="Causal"), RnnLossLayer(loss_function="MSE"))
    x = rng.normal(size=(1, 2, 6))
    before = net.output(x)
    x[:, :, 4:] += 1
    after = net.output(x)
    np.testing.assert_array_equal(before[:, :, :4], after[:, :, :4])
    assert (before[:, :, 4:] != after[:, :, 4:]).all()


@pytest.mark.parametrize("kind", [Convolution3D, Deconvolution3D])
def test_gradients_of_volumes(rng, kind):
    net = network(kind(n_in=2, n_out=2, kernel_size=2), GlobalPoolingLayer("AVG"), OutputLayer(n_in=2, n_out=2, activation="softmax"))
    check_network(net, rng.normal(size=(3, 2, 3, 2, 3)), labels(rng))


def test_mask_follows_the_windows(rng):
    """Masked steps behind a convolution with stride do not count."""
    net = network(Convolution1DLayer(n_in=2, n_out=2, kernel_size=2, stride=2), GlobalPoolingLayer("SUM"),
                  OutputLayer(n_in=2, n_out=2, activation="softmax"))
    x, mask = rng.normal(size=(2, 2, 6)), np.array([[1.0, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1]])
    found = net.feed_forward(x, features_mask=mask)
    steps = found[1]
    np.testing.assert_allclose(found[2][0], steps[0, :, :2].sum(axis=1), rtol=1e-10)
    np.testing.assert_allclose(found[2][1], steps[1].sum(axis=1), rtol=1e-10)


def test_mistakes():
    with pytest.raises(ConfigurationError, match="one-dimensional"):
        ConvolutionLayer(n_in=1, n_out=1, kernel_size=2, convolution_mode="Causal")
    with pytest.raises(ConfigurationError, match="n_in"):
        network(ConvolutionLayer(n_out=1, kernel_size=2), CnnLossLayer(loss_function="MSE"))
    net = network(ConvolutionLayer(n_in=2, n_out=1, kernel_size=2), CnnLossLayer(loss_function="MSE"))
    with pytest.raises(ShapeError, match="3 channels"):
        net.output(np.zeros((1, 3, 4, 4)))


@pytest.mark.parametrize("case", ["conv2d_same_s2_nhwc", "conv2d_truncate_dil_nchw", "conv1d_same_s2_ncw", "deconv2d_truncate_pad_nchw",
                                  "separable2d_truncate_nchw", "depthwise2d_same_nchw", "conv3d_loss_same_ncdhw"])
def test_recorded(golden, case):
    check_recorded(golden / "layers" / case)
