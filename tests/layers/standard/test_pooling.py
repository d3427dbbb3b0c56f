"""Pooling over windows and whole axes, and layers that change sizes."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    LSTM,
    Convolution1DLayer,
    Convolution3D,
    ConvolutionLayer,
    Cropping2D,
    Deconvolution2D,
    Deconvolution3D,
    DepthwiseConvolution2D,
    GlobalPoolingLayer,
    InputType,
    LocallyConnected2D,
    LossLayer,
    OutputLayer,
    PrimaryCapsules,
    RnnOutputLayer,
    SeparableConvolution2D,
    SpaceToBatchLayer,
    SpaceToDepthLayer,
    Subsampling1DLayer,
    Subsampling3DLayer,
    SubsamplingLayer,
    Upsampling2D,
    ZeroPaddingLayer,
)
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import SameDiff
from dl4py.samediff.errors import ConfigurationError, ShapeError
from tests.helpers.networkcheck import check_network, check_recorded, network

OUT = OutputLayer(n_out=2, activation="softmax")
IMAGE = np.arange(16.0).reshape(1, 1, 4, 4)


def result(layer, x):
    """The activations of one layer without parameters."""
    return network(layer, LossLayer(loss_function="MSE", activation="identity")).feed_forward(x)[1]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("kind, options, wanted", [
    ("MAX", {}, [[5, 7], [13, 15]]), ("AVG", {}, [[2.5, 4.5], [10.5, 12.5]]),
    ("PNORM", {"pnorm": 1}, [[10, 18], [42, 50]])])
def test_windows(kind, options, wanted):
    np.testing.assert_allclose(result(SubsamplingLayer(kind, kernel_size=2, **options), IMAGE)[0, 0], wanted)


def test_means_leave_padding_out():
    ones = np.ones((1, 1, 4, 4))
    assert (result(SubsamplingLayer("AVG", kernel_size=2, padding=1), ones) == 1).all()
    counted = result(SubsamplingLayer("AVG", kernel_size=2, padding=1, avg_pool_include_pad_in_divisor=True), ones)
    assert counted[0, 0, 0, 0] == 0.25 and counted[0, 0, 1, 1] == 1


def test_sums_over_windows_are_refused():
    with pytest.raises(ConfigurationError, match=r"SUM is not supported.*MAX, AVG, PNORM"):
        result(SubsamplingLayer("SUM", kernel_size=2), IMAGE)


def test_series_and_volumes(rng):
    x = rng.normal(size=(2, 3, 6))
    np.testing.assert_array_equal(result(Subsampling1DLayer("MAX", kernel_size=2, stride=2), x), x.reshape(2, 3, 3, 2).max(axis=3))
    v = rng.normal(size=(2, 3, 4, 2, 2))
    found = result(Subsampling3DLayer("AVG", kernel_size=2, stride=2), v)
    np.testing.assert_allclose(found[..., 0, 0], v.reshape(2, 3, 2, 8).mean(axis=3))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["MAX", "AVG", "PNORM"])
def test_gradients_through_windows(rng, kind):
    net = network(ConvolutionLayer(n_out=2, kernel_size=2), SubsamplingLayer(kind, kernel_size=2, stride=1, pnorm=3), OUT,
                  input_type=InputType.convolutional(4, 4, 1))
    check_network(net, rng.normal(size=(3, 1, 4, 4)), np.eye(2)[[0, 1, 1]])


GLOBAL = {"MAX": lambda a: a.max(axis=-1), "AVG": lambda a: a.mean(axis=-1), "SUM": lambda a: a.sum(axis=-1),
          "PNORM": lambda a: np.sqrt((a * a).sum(axis=-1))}


@pytest.mark.parametrize("kind", list(GLOBAL))
def test_whole_axes(rng, kind):
    x = rng.normal(size=(2, 3, 4, 5))
    np.testing.assert_allclose(result(GlobalPoolingLayer(kind), x), GLOBAL[kind](x.reshape(2, 3, 20)))
    kept = result(GlobalPoolingLayer(kind, collapse_dimensions=False), x)
    assert kept.shape == (2, 3, 1, 1)


@pytest.mark.parametrize("kind", list(GLOBAL))
def test_masked_steps_do_not_count(rng, kind):
    x, mask = rng.normal(size=(2, 3, 5)), np.array([[1.0, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
    net = network(GlobalPoolingLayer(kind), OutputLayer(n_in=3, n_out=2, activation="softmax"))
    found = net.feed_forward(x, features_mask=mask)[1]
    np.testing.assert_allclose(found[0], GLOBAL[kind](x[0, :, :3]))
    np.testing.assert_allclose(found[1], GLOBAL[kind](x[1]))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", list(GLOBAL))
def test_gradients_through_whole_axes(rng, kind):
    net = network(ConvolutionLayer(n_out=2, kernel_size=2), GlobalPoolingLayer(kind, pnorm=3), OUT,
                  input_type=InputType.convolutional(3, 4, 1))
    check_network(net, rng.normal(size=(3, 1, 3, 4)), np.eye(2)[[0, 1, 1]])


def test_pooling_rows_makes_no_sense():
    with pytest.raises(ShapeError, match="three to five axes"):
        result(GlobalPoolingLayer("MAX"), np.zeros((2, 3)))


def test_sizes_change(rng):
    x = rng.normal(size=(2, 3, 4, 4))
    np.testing.assert_array_equal(result(ZeroPaddingLayer(1, 0, 2, 1), x), np.pad(x, ((0, 0), (0, 0), (1, 0), (2, 1))))
    np.testing.assert_array_equal(result(Cropping2D(1, 0, 2, 1), x), x[:, :, 1:, 2:3])
    np.testing.assert_array_equal(result(Upsampling2D(2), x), x.repeat(2, axis=2).repeat(2, axis=3))
    deep = result(SpaceToDepthLayer(2), x)
    np.testing.assert_array_equal(deep[:, 3:6], x[:, :, ::2, 1::2])
    wide = result(SpaceToBatchLayer((2, 2)), x)
    np.testing.assert_array_equal(wide[2:4], x[:, :, ::2, 1::2])


@pytest.mark.parametrize("layer", [ZeroPaddingLayer(1), Cropping2D(1), Upsampling2D(2), SpaceToDepthLayer(2)],
                         ids=lambda v: type(v).__name__)
def test_gradients_through_changes_of_size(rng, layer):
    net = network(ConvolutionLayer(n_out=2, kernel_size=1), layer, OUT, input_type=InputType.convolutional(4, 4, 1))
    check_network(net, rng.normal(size=(3, 1, 4, 4)), np.eye(2)[[0, 1, 1]])


@pytest.mark.sampled(12)
@pytest.mark.parametrize("case", ["pool2d_avg_same_nhwc", "pool2d_pnorm_truncate_nchw", "pool1d_max_same_ncw",
                                  "pool3d_loss_avg_same_ncdhw", "global_pool_rnn_avg_ncw_mask", "global_pool_cnn_mask_max_n1hw",
                                  "space_to_depth_nchw", "zeropadding2d_nchw"])
def test_recorded(golden, case):
    check_recorded(golden / "layers" / case)


POOLED = {"MAX": lambda w: w.max(axis=-1), "AVG": lambda w: w.mean(axis=-1), "PNORM": lambda w: np.sqrt((w * w).sum(axis=-1))}


@pytest.mark.parametrize("form", ["NCW", "NWC"])
@pytest.mark.parametrize("kind", list(POOLED))
@pytest.mark.parametrize(("kernel", "stride", "dilation"), [(2, 2, 1), (2, 1, 1), (3, 2, 1), (3, 1, 2), (2, 3, 3), (1, 2, 1)])
def test_causal_pooling_pads_nothing(kernel, stride, dilation, kind, form, rng):
    """As in DL4J; types and masks tell the steps that there are."""
    layer = Subsampling1DLayer(kind, kernel_size=kernel, stride=stride, dilation=dilation, pnorm=2, convolution_mode="Causal")
    for length in (7, 8, 40):
        net = network(layer, LossLayer(loss_function="MSE", activation="identity"), input_type=InputType.recurrent(3, length, form))
        x, mask = rng.normal(size=(2, 3, length)), rng.integers(0, 2, (2, length)).astype(float)
        starts = np.arange(0, length - (kernel - 1) * dilation, stride)
        cells = starts[:, None] + np.arange(kernel) * dilation
        found = net.feed_forward(x if form == "NCW" else x.transpose(0, 2, 1))[1]
        np.testing.assert_allclose(found if form == "NCW" else found.transpose(0, 2, 1), POOLED[kind](x[:, :, cells]))
        assert layer.output_type(InputType.recurrent(3, length, form)) == InputType.recurrent(3, len(starts), form)
        sd = SameDiff.create()
        pooled = layer.feed_forward_mask(sd, sd.constant(mask), sd.constant(x))
        np.testing.assert_array_equal(pooled.eval(), mask[:, cells].max(axis=-1))


@pytest.mark.slow
def test_causal_pooling_of_a_whole_network(rng):
    """The mode may come from the network; masks reach the layers behind, and gradients the ones before."""
    builder = NeuralNetConfiguration.Builder().seed(3).data_type("DOUBLE").convolution_mode("Causal").list()
    for layer in (Convolution1DLayer(kernel_size=2, n_out=3, activation="tanh"), Subsampling1DLayer("AVG", kernel_size=2, stride=2),
                  LSTM(n_out=2, activation="tanh"), RnnOutputLayer(n_out=2)):
        builder = builder.layer(layer)
    net = MultiLayerNetwork(builder.set_input_type(InputType.recurrent(2, 7)).build()).init()
    mask = np.array([[1.0] * 7, [1, 1, 1, 0, 0, 0, 0]])
    assert net.output(rng.normal(size=(2, 2, 7)), features_mask=mask).shape == (2, 2, 3)
    x, y = rng.normal(size=(2, 2, 7)), np.eye(2)[[[0, 1, 1], [1, 0, 0]]].transpose(0, 2, 1)
    net.fit(x, y, mask, None)
    check_network(net, x, y)


@pytest.mark.parametrize("make", [
    ConvolutionLayer, Deconvolution2D, DepthwiseConvolution2D, SeparableConvolution2D, Convolution3D, Deconvolution3D, SubsamplingLayer,
    Subsampling3DLayer, LocallyConnected2D, PrimaryCapsules], ids=lambda made: made.__name__)
def test_causal_is_refused_where_there_is_no_time(make):
    with pytest.raises(ConfigurationError, match=f"{make.__name__}.*Causal is for one-dimensional layers"):
        make(convolution_mode="Causal")
