"""Deviations, variances and normalization of numbers whose squares leave their type: float64 judges."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.device.devices import device
from dl4py.samediff.ops.nn.batch_norm import BatchNormTraining

WAYS = "plan", "reference", "emulated"
SCALES = {np.float32: (1e-30, 1e-24, 1e-21, 1e-12, 1.0, 1e15, 1e18, 1e20, 1e36), np.float64: (1e-290, 1e-160, 1.0, 1e155, 1e290)}
#: What runs as long rows, short rows, columns, and over several axes.
SHAPES = {"rows": ((3, 2100), (1,)), "short rows": ((70, 5), (1,)), "columns": ((130, 9), (0,)), "axes": ((4, 3, 6), (0, 2))}


def values(shape: tuple[int, ...], scale: float, dtype: Any) -> Any:
    """Slices of numbers of one size, with a symmetric one, whose first element is the mean, and one of equal elements."""
    x = np.random.default_rng(7).normal(0.5, 1, shape)
    return (x * scale).astype(dtype)


def special(scale: float, dtype: Any) -> Any:
    return (np.array([[0, 1, -1, 0.5, -0.5], [3, 3, 3, 3, 3], [0, 0, 0, 0, 0], [1000, 1, 2, 3, 4], [-1, 1, 2, 3, 4]]) * scale).astype(dtype)


def computed(call: Any, arrays: list[Any], way: str, monkeypatch: Any, gradients: bool = False) -> list[Any]:
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference" if way == "reference" else "plan")
    sd = SameDiff.create()
    made = call(sd, *[sd.var(f"x{k}", a) for k, a in enumerate(arrays)])
    with device("emulated" if way == "emulated" else "cpu"):
        if not gradients:
            found = sd.output({}, *[v.name() for v in made])
            return [found[v.name()] for v in made]
        made[0].sum("loss").mark_as_loss()
        found = sd.calculate_gradients({}, *[f"x{k}" for k in range(len(arrays))])
        return [found[f"x{k}"] for k in range(len(arrays))]


def spreads(sd: SameDiff, x: Any, axes: tuple[int, ...]) -> list[Any]:
    return [sd.standard_deviation(x, False, *axes), sd.standard_deviation(x, True, *axes), sd.variance(x, False, *axes),
            sd.variance(x, True, *axes), *sd.math.moments(x, list(axes), False), sd.math.standardize(x, *axes)]


def wanted(x: Any, axes: tuple[int, ...]) -> list[Any]:
    """The same, of long doubles."""
    x = x.astype(np.longdouble)
    mean, std = x.mean(axes, keepdims=True), x.std(axes, keepdims=True)
    return [x.std(axes), x.std(axes, ddof=1), x.var(axes), x.var(axes, ddof=1), x.mean(axes), x.var(axes),
            (x - mean) / np.where(std, std, 1)]


def check(found: Any, judge: Any, dtype: Any, name: Any) -> None:
    """Up to rounding; what the type cannot hold is infinite or 0."""
    limits = np.finfo(dtype)
    with np.errstate(all="ignore"):
        fits = abs(judge) < limits.max * 0.99
        least = max(float(limits.tiny), 1e-6 * float(abs(judge[fits]).max(initial=0)))      # plans take what is tiny for 0
        np.testing.assert_allclose(found[fits].astype(np.longdouble), judge[fits], 2e-5, least, err_msg=str(name))
        assert np.all(found[~fits] > limits.max * 0.9), name


@pytest.mark.sampled(22)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", SCALES)
@pytest.mark.parametrize("form", SHAPES)
def test_spreads_over_the_range_of_the_type(form, dtype, way, monkeypatch):
    shape, axes = SHAPES[form]
    arrays = [values(shape, scale, dtype) for scale in SCALES[dtype]]
    with np.errstate(all="ignore"):
        found = computed(lambda sd, *xs: [y for x in xs for y in spreads(sd, x, axes)], arrays, way, monkeypatch)
    judges = [y for x in arrays for y in wanted(x, axes)]
    for k, (one, judge) in enumerate(zip(found, judges)):
        check(one, judge, dtype, (SCALES[dtype][k // 7], k % 7))


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", SCALES)
def test_slices_that_are_symmetric_equal_or_led_by_an_outlier(dtype, way, monkeypatch):
    rows = [special(scale, dtype) for scale in SCALES[dtype][1:-1]]
    arrays = [*rows, *(np.ascontiguousarray(r.T) for r in rows)]
    with np.errstate(all="ignore"):
        found = computed(lambda sd, *xs: [y for k, x in enumerate(xs) for y in spreads(sd, x, (int(k < len(rows)),))], arrays, way,
                         monkeypatch)
    judges = [y for k, x in enumerate(arrays) for y in wanted(x, (int(k < len(rows)),))]
    for k, (one, judge) in enumerate(zip(found, judges)):
        check(one, judge, dtype, (k // 7, k % 7))


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1.0, 1e20])
def test_layer_norm_and_its_gradients(scale, way, monkeypatch):
    """They do not depend on the scale of the input; gradients by that do, the other way round."""
    rng = np.random.default_rng(3)
    x, gain, bias, by = rng.normal(size=(6, 40)), rng.normal(size=40), rng.normal(size=40), rng.normal(size=(6, 40))

    def call(sd: SameDiff, x: Any, gain: Any, bias: Any) -> list[Any]:
        return [sd.nn.layer_norm(x, gain, bias, False, 1) * sd.constant(by.astype(np.float32))]
    given = [(x * scale).astype(np.float32), gain.astype(np.float32), bias.astype(np.float32)]
    y = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
    np.testing.assert_allclose(computed(call, given, way, monkeypatch)[0], (y * gain + bias) * by, 1e-4, 1e-5)
    by_x, by_gain, by_bias = computed(call, given, way, monkeypatch, gradients=True)
    g = by * gain
    slope = (g - g.mean(1, keepdims=True) - y * (g * y).mean(1, keepdims=True)) / x.std(1, keepdims=True)
    np.testing.assert_allclose(by_x.astype(float) * scale, slope, 1e-3, 1e-4)
    np.testing.assert_allclose(by_gain, (by * y).sum(0), 1e-4, 1e-4)
    np.testing.assert_allclose(by_bias, by.sum(0), 1e-4, 1e-4)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1.0, 1e18, 1e20])
@pytest.mark.parametrize("shape", [(40, 3), (5, 3, 4, 7)])
def test_batch_norm_and_its_gradients(shape, scale, way, monkeypatch):
    rng = np.random.default_rng(3)
    axes = tuple(i for i in range(len(shape)) if i != 1)
    along = (1, 3) + (1,) * (len(shape) - 2)
    x, by = rng.normal(0.3, 1, shape), rng.normal(size=shape)
    gamma, beta = rng.normal(1, 0.1, 3), rng.normal(size=3)

    def call(sd: SameDiff, x: Any, gamma: Any, beta: Any, by: Any) -> list[Any]:
        zeros = sd.constant(np.zeros(3, np.float32))
        return [sd.add_op(BatchNormTraining(1, 1e-5), [x, zeros, zeros, gamma, beta])[0] * by]
    given = [a.astype(np.float32) for a in (x * scale, gamma, beta, by)]
    x = given[0].astype(float)
    rest, spread = x - x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    inverse = 1 / np.sqrt(spread + 1e-5)
    unit = rest * inverse
    with np.errstate(all="ignore"):
        by_x, by_gamma, by_beta, y = computed(call, given, way, monkeypatch, gradients=True)
    np.testing.assert_allclose(y, unit * gamma.reshape(along) + beta.reshape(along), 1e-4, 1e-5)
    g = by * gamma.reshape(along)
    slope = inverse * (g - g.mean(axes, keepdims=True) - unit * (g * unit).mean(axes, keepdims=True))
    np.testing.assert_allclose(by_x / inverse, slope / inverse, 1e-3, 1e-4)
    np.testing.assert_allclose(by_gamma, (by * unit).sum(axes), 1e-4, 1e-4 * abs(unit).max())
    np.testing.assert_allclose(by_beta, by.sum(axes), 1e-4, 1e-4)


def test_deviations_of_half_types():
    """They are worked with as FLOAT, which holds what BFLOAT16 holds."""
    sd = SameDiff.create()
    x = np.array([[1, 2, 3, 4]], np.float32) * np.array([[1e-30], [1.0], [1e20]], np.float32)
    found = sd.standard_deviation(sd.constant(x).cast_to(DataType.BFLOAT16), False, 1).eval().astype(float)
    np.testing.assert_allclose(found, x.astype(float).std(1), 2e-2)
