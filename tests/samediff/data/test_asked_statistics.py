"""What normalizers answer about themselves, and the smaller methods of data sets, against plain arithmetic."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType
from dl4py.samediff.data import (
    DataSet,
    ImagePreProcessingScaler,
    MultiDataSet,
    MultiNormalizerHybrid,
    MultiNormalizerMinMaxScaler,
    MultiNormalizerStandardize,
    NormalizerMinMaxScaler,
    NormalizerStandardize,
    UnderSamplingByMaskingPreProcessor,
)
from dl4py.samediff.errors import ConfigurationError

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(20, 3)), RNG.normal(2.0, 3.0, size=(20, 2))
A, B = RNG.normal(size=(20, 4)), RNG.normal(5.0, size=(20, 2))


def multi():
    return MultiDataSet([X.copy(), A.copy()], [Y.copy(), B.copy()])


def near(found, wanted):
    np.testing.assert_allclose(np.ravel(found), np.ravel(wanted), rtol=1e-4, atol=1e-5)


def test_standardize():
    normalizer = NormalizerStandardize()
    normalizer.fit_label(True)
    data = DataSet(X.copy(), Y.copy())
    normalizer.fit(data)
    near(normalizer.get_label_mean(), Y.mean(0))
    near(normalizer.get_label_std(), Y.std(0))
    normalizer.transform(data)
    near(normalizer.revert_features(data.get_features()), X)


def test_min_max():
    normalizer = NormalizerMinMaxScaler(-1.0, 2.0)
    normalizer.fit_label(True)
    data = DataSet(X.copy(), Y.copy())
    normalizer.fit(data)
    assert (normalizer.get_target_min(), normalizer.get_target_max()) == (-1.0, 2.0)
    near(normalizer.get_min(), X.min(0))
    near(normalizer.get_label_min(), Y.min(0))
    near(normalizer.get_label_max(), Y.max(0))
    normalizer.transform(data)
    near(normalizer.revert_features(data.get_features()), X)


def test_several_arrays():
    normalizer = MultiNormalizerStandardize()
    normalizer.fit_label(True)
    normalizer.fit(multi())
    for index, (x, y) in enumerate([(X, Y), (A, B)]):
        near(normalizer.get_feature_mean(index), x.mean(0))
        near(normalizer.get_feature_std(index), x.std(0))
        near(normalizer.get_label_mean(index), y.mean(0))
        near(normalizer.get_label_std(index), y.std(0))
    scaler = MultiNormalizerMinMaxScaler()
    scaler.fit_label(True)
    scaler.fit(multi())
    near(scaler.get_min(1), A.min(0))
    near(scaler.get_label_min(0), Y.min(0))
    near(scaler.get_label_max(1), B.max(0))


def test_a_strategy_for_each_array():
    every = MultiNormalizerHybrid().standardize_input(0).min_max_scale_all_outputs(-1.0, 1.0).standardize_output(1)
    data = multi()
    every.fit(data)
    every.transform(data)
    near(data.get_features(0).mean(0), np.zeros(3))
    near(data.get_features(1), A)       # nobody asked for it
    near([data.get_labels(0).min(0), data.get_labels(0).max(0)], [[-1, -1], [1, 1]])
    near(np.std(data.get_labels(1), 0), np.ones(2))
    back = every.revert_features([data.get_features(0), data.get_features(1)])
    near(back[0], X)
    near(back[1], A)
    standard = MultiNormalizerHybrid().standardize_all_outputs()
    data = multi()
    standard.fit(data)
    standard.transform(data)
    near([data.labels[k].std(0) for k in range(2)], np.ones((2, 2)))


def test_images_back():
    scaler = ImagePreProcessingScaler(-1, 1)
    data = DataSet(RNG.integers(0, 256, (2, 1, 3, 3)).astype(np.float32), np.eye(2))
    before = data.get_features().copy()
    scaler.transform(data)
    near(scaler.revert_features(data.get_features()), before)


def test_masks_and_labels_of_data_sets():
    data = DataSet(X, np.eye(2)[RNG.integers(0, 2, 20)])
    assert not data.has_mask_arrays()
    data.set_features_mask_array(np.ones((20, 1)))
    assert data.has_mask_arrays() and data.get_features_mask_array().shape == (20, 1)
    data.label_names = ["no", "yes"]
    assert data.get_label_name(1) == "yes"
    with pytest.raises(ConfigurationError, match="no name for label 2: the data set has 2"):
        data.get_label_name(2)
    data.set_outcome(3, 1)
    assert data.get_labels()[3].tolist() == [0, 1]
    data.set_outcome(3, 0)
    assert data.get_labels()[3].tolist() == [1, 0]
    parts = data.sort_and_batch_by_num_labels()
    first = parts[0].get_labels().argmax(1).tolist()
    assert sum(p.num_examples() for p in parts) == 20 and first == sorted(first)

    several = multi()
    assert not several.has_mask_arrays()
    several.set_features_mask_array(1, np.ones((20, 1)))
    assert several.has_mask_arrays() and several.get_features_mask_array(0) is None and several.get_features_mask_array(1).shape == (20, 1)


def test_columns_and_digits():
    data = DataSet(X.copy(), Y)
    data.normalize_zero_mean_zero_unit_variance()
    near(data.get_features(), (X - X.mean(0)) / X.std(0, ddof=1))
    data.round_to_the_nearest(1)
    near(data.get_features() * 10, np.round(data.get_features() * 10))


def test_the_rarer_class_and_windows_without_it():
    """In the first window 1 is common, so that class 0 is the rarer one; the second has none of it."""
    labels = np.ones((2, 1, 8))
    labels[0, 0, :2] = 0

    def masked(change):
        sampler = UnderSamplingByMaskingPreProcessor(0.5, 8)
        change(sampler)
        data = DataSet(np.zeros((2, 1, 8)), labels.copy(), None, np.ones((2, 8)))
        sampler.pre_process(data)
        return data.get_labels_mask_array()

    def zeros_are_rare(sampler):
        sampler.override_minority_default()

    def no_window_is_dropped(sampler):
        sampler.override_minority_default()
        sampler.donot_mask_all_majority_windows()

    assert masked(zeros_are_rare)[0, :2].tolist() == [1, 1] and masked(zeros_are_rare)[1].sum() == 0
    assert masked(no_window_is_dropped)[0, :2].tolist() == [1, 1]
    assert sum(masked(no_window_is_dropped)[1].sum() for _ in range(20)) > 0


def test_kinds_of_types():
    floats = {"DOUBLE", "FLOAT", "HALF", "BFLOAT16"}
    assert {t.name for t in DataType if t.is_fp_type()} == floats
    assert all(t.is_int_type() == (t.name in {"BYTE", "SHORT", "INT", "LONG", "UBYTE", "UINT16", "UINT32", "UINT64"}) for t in DataType)
