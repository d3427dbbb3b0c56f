"""Preprocessors of data sets."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.data import (
    CompositeDataSetPreProcessor,
    CropAndResizeDataSetPreProcessor,
    DataSet,
    ImageFlatteningDataSetPreProcessor,
    ImagePreProcessingScaler,
    LabelLastTimeStepPreProcessor,
    PermuteDataSetPreProcessor,
    RGBtoGrayscaleDataSetPreProcessor,
    UnderSamplingByMaskingPreProcessor,
)
from dl4py.samediff.errors import ConfigurationError, ShapeError


def images(*shape) -> DataSet:
    return DataSet(np.arange(np.prod(shape), dtype=np.float32).reshape(shape), np.zeros((shape[0], 1)))


def test_composite_scales_and_flattens():
    d = images(2, 3, 4, 4)
    CompositeDataSetPreProcessor(ImagePreProcessingScaler(), ImageFlatteningDataSetPreProcessor()).pre_process(d)
    np.testing.assert_allclose(d.features, np.arange(96).reshape(2, 48) / 255, rtol=1e-6)


def test_permute():
    d = images(2, 3, 4, 5)
    original = d.features
    types = PermuteDataSetPreProcessor.PermutationTypes
    PermuteDataSetPreProcessor(types.NCHWtoNHWC).pre_process(d)
    assert d.features.shape == (2, 4, 5, 3)
    PermuteDataSetPreProcessor(types.NHWCtoNCHW).pre_process(d)
    np.testing.assert_array_equal(d.features, original)
    with pytest.raises(ConfigurationError, match="permutation"):
        PermuteDataSetPreProcessor(0, 1, 1)


def test_grayscale():
    d = DataSet(np.array([10.0, 20.0, 30.0]).reshape(1, 3, 1, 1), np.zeros((1, 1)))
    RGBtoGrayscaleDataSetPreProcessor().pre_process(d)
    assert d.features.ravel() == pytest.approx([0.3 * 10 + 0.59 * 20 + 0.11 * 30])
    with pytest.raises(ShapeError, match="3 channels"):
        RGBtoGrayscaleDataSetPreProcessor().pre_process(images(1, 2, 2, 2))


def test_last_label():
    y = np.arange(12.0).reshape(2, 2, 3)
    d = DataSet(y, y, None, np.array([[1, 1, 0], [1, 1, 1]]))
    LabelLastTimeStepPreProcessor().pre_process(d)
    assert (d.labels.tolist(), d.labels_mask) == ([[1, 4], [8, 11]], None)


def test_nearest_crop_is_the_rectangle_and_bilinear_mixes_neighbours():
    methods = CropAndResizeDataSetPreProcessor.ResizeMethod
    near, mixed = images(1, 8, 10, 1), images(1, 8, 10, 1)
    CropAndResizeDataSetPreProcessor(8, 10, 1, 2, 4, 5, 1, methods.NearestNeighbor).pre_process(near)
    np.testing.assert_array_equal(near.features[0, :, :, 0], np.arange(80).reshape(8, 10)[1:5, 2:7])
    CropAndResizeDataSetPreProcessor(8, 10, 1, 2, 4, 5, 1).pre_process(mixed)
    assert mixed.features[0, 0, 0, 0] == pytest.approx(0.875 * 10 + 1.8)
    with pytest.raises(ShapeError, match="made for images"):
        CropAndResizeDataSetPreProcessor(8, 10, 1, 2, 4, 5, 3).pre_process(images(1, 8, 10, 1))


def test_under_sampling_keeps_the_rare_class_and_its_share():
    rng = np.random.default_rng(0)
    labels = (rng.random((200, 1, 20)) < 0.1).astype(np.float32)
    d = DataSet(np.zeros((200, 2, 20)), labels)
    UnderSamplingByMaskingPreProcessor(0.4, 20, seed=1).pre_process(d)
    kept = d.labels_mask > 0
    assert np.all(kept[labels[:, 0] == 1])
    assert labels[:, 0][kept].mean() == pytest.approx(0.4, abs=0.05)
    assert not kept[labels[:, 0].sum(axis=1) == 0].any()
