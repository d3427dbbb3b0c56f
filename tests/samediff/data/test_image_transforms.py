"""Pictures changed for training: the transforms, and iterators that use them."""
from __future__ import annotations

import json

import numpy as np
import pytest

from dl4py.samediff.data import (
    Cifar10DataSetIterator,
    CropImageTransform,
    FlipImageTransform,
    ImagePreProcessingScaler,
    ImageTransform,
    PipelineImageTransform,
)
from dl4py.samediff.data.normalizers.image_transforms import resized
from dl4py.samediff.errors import ConfigurationError, ShapeError

PICTURE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
RANDOM = np.random.default_rng(5)


def folder(path):
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 256, (6, 3073)).astype(np.uint8)
    rows[:, 0] = range(6)
    (path / "test_batch.bin").write_bytes(rows.tobytes())
    return path


def images(path, transform=None, **options):
    return Cifar10DataSetIterator(4, "TEST", image_transform=transform, folder=folder(path), **options)


@pytest.mark.parametrize(("mode", "expected"), [(0, PICTURE[:, ::-1]), (1, PICTURE[:, :, ::-1]), (-1, PICTURE[:, ::-1, ::-1])])
def test_flips(mode, expected):
    np.testing.assert_array_equal(FlipImageTransform(mode)(PICTURE, RANDOM), expected)


def test_random_flips_are_all_of_them():
    seen = {FlipImageTransform()(PICTURE, RANDOM).tobytes() for _ in range(60)}
    assert len(seen) == 4 and PICTURE.tobytes() in seen


def test_crops():
    shapes = {CropImageTransform(1)(PICTURE, RANDOM).shape for _ in range(60)}
    assert shapes == {(2, h, w) for h in (1, 2, 3) for w in (2, 3, 4)}
    cut = CropImageTransform((2, 0, 0, 0))
    assert {cut(PICTURE, RANDOM)[0, 0, 0] for _ in range(60)} == {0, 4, 8}
    assert CropImageTransform(2, 0, 0, 0).sides == (2, 0, 0, 0)
    with pytest.raises(ShapeError, match=r"cuts \d \+ \d rows and \d \+ \d columns off a picture of 3 x 4"):
        for _ in range(60):
            CropImageTransform(3)(PICTURE, RANDOM)


def test_pipelines():
    twice = PipelineImageTransform([FlipImageTransform(0), (FlipImageTransform(1), 1.0), (FlipImageTransform(-1), 0.0)], shuffle=True)
    np.testing.assert_array_equal(twice(PICTURE, RANDOM), PICTURE[:, ::-1, ::-1])
    half = PipelineImageTransform([(FlipImageTransform(0), 0.5)])
    flipped = sum(not np.array_equal(half(PICTURE, RANDOM), PICTURE) for _ in range(200))
    assert 70 < flipped < 130


def test_resizing():
    assert resized(PICTURE, 3, 4) is PICTURE
    np.testing.assert_allclose(resized(np.full((1, 5, 2), 7, np.float32), 3, 9), np.full((1, 3, 9), 7))
    np.testing.assert_allclose(resized(PICTURE[:, :2], 1, 4)[:, 0], PICTURE[:, :2].mean(1))


def test_iterators_change_pictures_in_every_pass(tmp_path):
    plain = {i: x for b in images(tmp_path) for i, x in zip(b.labels.argmax(1), b.features)}
    it = images(tmp_path, PipelineImageTransform([CropImageTransform(4), FlipImageTransform()]))
    first, second = ({i: x for b in it for i, x in zip(b.labels.argmax(1), b.features)} for _ in range(2))
    assert all(x.shape == (3, 32, 32) for x in first.values())
    assert any(not np.array_equal(first[i], second[i]) for i in plain) and any(not np.array_equal(first[i], plain[i]) for i in plain)
    again = images(tmp_path, PipelineImageTransform([CropImageTransform(4), FlipImageTransform()]))
    np.testing.assert_array_equal(again.next().features, np.stack([first[i] for i in images(tmp_path).next().labels.argmax(1)]))


def test_functions_serve_too_and_positions_come_back(tmp_path):
    def noisy(picture, random):
        return picture + random.normal(size=picture.shape)
    it, other = images(tmp_path, noisy), images(tmp_path, noisy)
    list(it)
    it.reset()
    it.next()
    other.set_position(json.loads(json.dumps(it.get_position())))
    for _ in range(2):
        np.testing.assert_array_equal(it.next().features, other.next().features)
        it.reset()
        other.reset()


def test_sizes_and_preprocessors(tmp_path):
    small = images(tmp_path, img_dim=(16, 8, 3))
    small.set_pre_processor(ImagePreProcessingScaler(0, 1))
    batch = small.next()
    assert batch.features.shape == (4, 3, 16, 8) and 0 <= batch.features.min() < batch.features.max() <= 1
    whole = images(tmp_path).next().features
    np.testing.assert_allclose(small_mean(images(tmp_path, img_dim=(16, 16)).next().features), small_mean(whole), rtol=1e-5)


def small_mean(features):
    return features.mean(axis=(2, 3))


@pytest.mark.parametrize(("make", "said"), [
    (lambda p: FlipImageTransform(2), "mode is 0, 1, -1 or None, got 2"),
    (lambda p: CropImageTransform((1, 2)), r"one number or four .*got \(1, 2\)"),
    (lambda p: CropImageTransform(-1), "not below 0"),
    (lambda p: PipelineImageTransform([(FlipImageTransform(), 1.5)]), r"probabilities in \[0, 1\]"),
    (lambda p: images(p, "flip"), "image_transform is a function .* got 'flip'"),
    (lambda p: images(p, img_dim=(0, 5)), r"need \(height, width\)"),
    (lambda p: images(p, img_dim=(5, 5, 1)), r"got \(5, 5, 1\)")])
def test_bad_options(make, said, tmp_path):
    with pytest.raises(ConfigurationError, match=said):
        make(tmp_path)


def test_transforms_that_make_no_picture(tmp_path):
    with pytest.raises(ShapeError, match=r"made an array of shape \(32, 32\) of a picture \(3, 32, 32\); expected \(3, height, width\)"):
        images(tmp_path, lambda picture, random: picture[0]).next()
    with pytest.raises(NotImplementedError, match="must implement"):
        ImageTransform()(PICTURE, RANDOM)
