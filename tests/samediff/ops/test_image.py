from __future__ import annotations

import colorsys

import numpy as np
import pytest

from dl4py.samediff import DataType, ImageResizeMethod, SameDiff
from dl4py.samediff.errors import ShapeError
from tests.helpers.gradcheck import check_gradients

RNG = np.random.default_rng(2)
PIXELS = RNG.uniform(0.1, 0.9, size=(4, 3))
IMAGES = RNG.normal(size=(1, 4, 3, 2))


def test_colours_as_the_standard_library_has_them() -> None:
    sd = SameDiff.create()
    hsv = np.array([colorsys.rgb_to_hsv(*p) for p in PIXELS])
    np.testing.assert_allclose(sd.image.rgb_to_hsv(sd.constant(PIXELS)).eval(), hsv)
    np.testing.assert_allclose(sd.image.hsv_to_rgb(sd.constant(hsv)).eval(), PIXELS)
    np.testing.assert_allclose(sd.image.rgb_to_yiq(sd.constant(PIXELS)).eval(), [colorsys.rgb_to_yiq(*p) for p in PIXELS], atol=0.03)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("there, back", [("rgb_to_yuv", "yuv_to_rgb"), ("rgb_to_yiq", "yiq_to_rgb"), ("rgb_to_hsv", "hsv_to_rgb")])
def test_maps_and_their_inverses(there: str, back: str) -> None:
    sd = SameDiff.create()
    rounded = 1e-4 if there == "rgb_to_yiq" else 1e-7
    np.testing.assert_allclose(getattr(sd.image, back)(getattr(sd.image, there)(sd.constant(PIXELS))).eval(), PIXELS, atol=rounded)
    check_gradients(lambda sd, x: getattr(sd.image, there)(x), {"x": PIXELS}, rtol=1e-5)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name, value", [("adjust_hue", 0.2), ("adjust_saturation", 0.5), ("adjust_contrast", 2.0)])
def test_adjustment_gradients(name: str, value: float) -> None:
    check_gradients(lambda sd, x: getattr(sd.image, name)(x, value), {"x": PIXELS.reshape(1, 2, 2, 3)}, rtol=1e-5)


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("method", ImageResizeMethod)
def test_resizing_keeps_constants_and_is_linear(method: ImageResizeMethod, antialias: bool) -> None:
    sd = SameDiff.create()
    for size in ((2, 6), (7, 2)):
        resized = sd.image.image_resize(sd.constant(np.full((1, 4, 3, 1), 2.5)), sd.constant(np.array(size)), False, antialias, method)
        np.testing.assert_allclose(resized.eval(), np.full((1, *size, 1), 2.5))
    check_gradients(lambda sd, x: sd.image.image_resize(x, sd.constant(np.array([3, 5])), False, antialias, method), {"x": IMAGES})


def test_aspect_ratio() -> None:
    sd = SameDiff.create()
    y = sd.image.image_resize(sd.constant(IMAGES), sd.constant(np.array([8, 8])), True, False, ImageResizeMethod.ResizeArea)
    assert y.get_shape() == y.eval().shape == (1, 8, 6, 2)


@pytest.mark.parametrize("corners, centres", [(False, False), (True, False), (False, True)])
def test_bilinear_and_bicubic(corners: bool, centres: bool) -> None:
    for build in (lambda sd, x: sd.image.resize_bi_linear(x, 3, 5, corners, centres),
                  lambda sd, x: sd.image.resize_bi_cubic(x, sd.constant(np.array([3, 5])), corners, centres)):
        check_gradients(build, {"x": IMAGES})
    sd = SameDiff.create()
    same = sd.image.resize_bi_cubic(sd.constant(IMAGES), sd.constant(np.array([4, 3])), corners, centres).eval()
    np.testing.assert_allclose(same, IMAGES)


def test_size_known_when_run() -> None:
    sd = SameDiff.create()
    size = sd.placeholder("size", DataType.INT, 2)
    sd.image.image_resize("y", sd.constant(IMAGES), size, ImageResizeMethod.ResizeBilinear)
    assert sd.output({"size": np.array([2, 2], np.int32)}, "y")["y"].shape == (1, 2, 2, 2)


def test_crops() -> None:
    sd = SameDiff.create()
    boxes = sd.constant(np.array([[0.0, 0, 1, 1], [-1, 0, 2, 1]]))
    index, size = sd.constant(np.array([0, 0])), sd.constant(np.array([4, 3]))
    whole, outside = sd.image.crop_and_resize(sd.constant(IMAGES), boxes, index, size, 9.0).eval()
    np.testing.assert_allclose(whole, IMAGES[0])
    assert (outside[[0, 3]] == 9).all() and not (outside[[1, 2]] == 9).any()
    check_gradients(lambda sd, x: sd.image.crop_and_resize(
        x, sd.constant(np.array([[0.1, 0.2, 0.9, 1.5]])), sd.constant(np.array([0])), sd.constant(np.array([3, 3])), 9.0), {"x": IMAGES})


def test_boxes_of_crops_have_no_slope() -> None:
    sd = SameDiff.create()
    image, boxes = sd.var("image", IMAGES), sd.var("boxes", np.array([[0.1, 0.1, 0.8, 0.9]]))
    made = sd.image.crop_and_resize(image, boxes, sd.constant(np.array([0], np.int32)), sd.constant(np.array([2, 2], np.int32)), 0.0)
    by_image, by_boxes = sd.gradients(made.sum(), [image, boxes])
    assert by_image.eval().any()
    assert not by_boxes.eval().any()


def test_random_crop_is_a_block_and_its_gradient_marks_it() -> None:
    sd = SameDiff.create()
    x = sd.var("x", np.arange(30.0).reshape(5, 6))
    y = sd.image.random_crop("y", x, sd.constant(np.array([2, 3])))
    sd.set_loss_variables(y.sum())
    outputs, gradients = sd.calculate_gradients_and_outputs({}, ["y"], ["x"])
    np.testing.assert_array_equal(np.diff(outputs["y"], axis=1), 1)
    np.testing.assert_array_equal(np.flatnonzero(gradients["x"]), np.sort(outputs["y"].ravel()))
    with pytest.raises(ShapeError, match="does not fit"):
        sd.image.random_crop(x, sd.constant(np.array([6, 3])))


def test_overlapping_boxes_are_left_out() -> None:
    sd = SameDiff.create()
    boxes = sd.constant(np.array([[0.0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 5, 1, 6]]))
    scores = sd.constant(np.array([0.5, 0.9, 0.3]))
    assert sd.image.non_max_suppression(boxes, scores, 5, 0.5, 0.0).eval().tolist() == [1, 2]
    assert sd.image.non_max_suppression(boxes, scores, 5, 0.5, 0.4).eval().tolist() == [1]


def test_yiq_matrix_is_rounded_as_in_dl4j() -> None:
    rows = SameDiff.create().image.rgb_to_yiq(np.eye(3)).eval()
    np.testing.assert_array_equal(rows[0], [0.299, 0.59590059, 0.2115])
