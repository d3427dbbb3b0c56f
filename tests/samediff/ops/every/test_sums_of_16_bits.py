"""Ops that join many numbers, in HALF and BFLOAT16: sums go on growing and stay in the range, up to the rounding of the result."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from dl4py.samediff import Conv2DConfig, DataType, Pooling2DConfig, SameDiff
from dl4py.samediff.device.devices import device
from dl4py.samediff.ir.op import OPS

ROWS = 3000
RNG = np.random.default_rng(5)
#: Small numbers, whose sum in 16 bits stands still, and large ones, whose sum leaves the range of HALF and whose mean does not.
SMALL, LARGE = np.full((ROWS, 3), 0.01), np.full((ROWS, 3), 300.0)
#: Sums of these come back to small numbers.
BACK = np.where(np.arange(ROWS) % 2, -40000.0, 40000.0)[:, None] * np.ones(3)
PRODUCT = np.array([100.0] * 6 + [0.01] * 6)[:, None] * np.ones(3)
IMAGES = RNG.uniform(0.1, 0.9, (1, 30, 12, 12))
ONES, IDS, PAIRS = np.zeros(ROWS, np.int64), RNG.integers(0, 2, ROWS), np.zeros((ROWS, 1), np.int64)
ZEROS = np.zeros((2, 3))
MASK = (np.arange(60)[None] % 3 > 0).astype(float)

Built = Callable[..., Any]
CASES: dict[str, tuple[Built, tuple[Any, ...]]] = {
    "segment_sum": (lambda sd, x: sd.segment_sum(x, sd.constant(ONES)), (SMALL,)),
    "segment_mean": (lambda sd, x: sd.segment_mean(x, sd.constant(ONES)), (LARGE,)),
    "segment_prod": (lambda sd, x: sd.segment_prod(x, sd.constant(ONES[:12])), (PRODUCT,)),
    "unsorted_segment_sum": (lambda sd, x: sd.unsorted_segment_sum(x, sd.constant(IDS), 2), (SMALL,)),
    "unsorted_segment_mean": (lambda sd, x: sd.unsorted_segment_mean(x, sd.constant(IDS), 2), (LARGE,)),
    "unsorted_segment_sqrt_n": (lambda sd, x: sd.unsorted_segment_sqrt_n(x, sd.constant(IDS), 2), (LARGE,)),
    "cumsum": (lambda sd, x: sd.cumsum(x, False, False, 0), (SMALL,)),
    "cumsum of two signs": (lambda sd, x: sd.cumsum(x, False, True, 0), (BACK,)),
    "cumprod": (lambda sd, x: sd.cumprod(x, False, False, 0)[-1], (PRODUCT,)),
    "prod": (lambda sd, x: sd.prod(x, 0), (PRODUCT,)),
    "scatter_add": (lambda sd, x, y: sd.scatter_add(y, sd.constant(IDS), x), (SMALL, ZEROS)),
    "scatter_sub": (lambda sd, x, y: sd.scatter_sub(y, sd.constant(IDS), x), (SMALL, ZEROS)),
    "scatter_nd_add": (lambda sd, x, y: sd.scatter_nd_add(y, sd.constant(PAIRS), x), (SMALL, ZEROS)),
    "scatter_nd": (lambda sd, x: sd.add_op(OPS["scatter_nd"](), [sd.constant(PAIRS), x, sd.constant(np.array([2, 3]))]), (SMALL,)),
    "bincount": (lambda sd, x: sd.add_op(OPS["bincount"](2, 2), [sd.constant(IDS), x[:, 0]]), (SMALL,)),
    "confusion_matrix": (lambda sd, x: sd.math.confusion_matrix(sd.constant(IDS), sd.constant(IDS), x[:, 0], 2), (SMALL,)),
    "trace": (lambda sd, x: sd.math.trace(x.reshape(1, 90, 100)[:, :, :90]), (SMALL,)),
    "manhattan_distance": (lambda sd, x: sd.math.manhattan_distance(x, x * 2.0, 0), (SMALL,)),
    "cosine_similarity": (lambda sd, x: sd.math.cosine_similarity(x, x * 2.0, 0), (SMALL,)),
    "merge_add": (lambda sd, x: sd.math.merge_add(*[x] * 700), (SMALL[:2],)),
    "merge_avg": (lambda sd, x: sd.math.merge_avg(*[x] * 700), (LARGE[:2],)),
    "softmax": (lambda sd, x: sd.nn.softmax(x, 0), (SMALL,)),
    "log_softmax": (lambda sd, x: sd.nn.log_softmax(x, 0), (SMALL,)),
    "softmax_cross_entropy": (lambda sd, x: sd.loss.softmax_cross_entropy(None, x.permute(1, 0), x.permute(1, 0), None), (SMALL,)),
    "sparse_softmax_cross_entropy": (lambda sd, x: sd.loss.sparse_softmax_cross_entropy(x.permute(1, 0), sd.constant(IDS[:3])), (SMALL,)),
    "absolute_difference": (lambda sd, x: sd.loss.absolute_difference(None, x, x * 2.0, None), (LARGE,)),
    "conv2d": (lambda sd, x, w: sd.cnn.conv2d(x, w, Conv2DConfig(k_h=5, k_w=5)), (IMAGES, RNG.uniform(0.1, 0.9, (5, 5, 30, 2)))),
    "avg_pooling2d": (lambda sd, x: sd.cnn.avg_pooling2d(x, Pooling2DConfig(k_h=12, k_w=12)), (IMAGES * 40000,)),
    "attention with a mask": (lambda sd, x, m: sd.nn.dot_product_attention(x, x, x, m, True), (RNG.uniform(0.1, 0.2, (1, 3, 60)), MASK)),
    "attention": (lambda sd, x: sd.nn.dot_product_attention(x, x, x, None, True), (RNG.uniform(0.1, 0.2, (1, 3, ROWS)),)),
}

#: What is differentiated; the loss is the sum of the result.
GRADIENTS: dict[str, tuple[Built, tuple[Any, ...]]] = {
    "gather": (lambda sd, x, g: sd.gather(x, sd.constant(IDS), 0) * g, (ZEROS, SMALL)),
    "gather_nd": (lambda sd, x, g: sd.gather_nd(x, sd.constant(PAIRS)) * g, (ZEROS, SMALL)),
    "tile": (lambda sd, x, g: sd.tile(x, 1500, 1) * g, (ZEROS, SMALL)),
    "broadcast": (lambda sd, x, g: x * g, (ZEROS[:1], SMALL)),
    "up_sampling": (lambda sd, x, g: sd.cnn.upsampling2d(x, 40, 40, True) * g, (np.zeros((1, 1, 1, 1)), np.full((1, 1, 40, 40), 0.01))),
    "attention with a mask": (lambda sd, x, m: sd.nn.dot_product_attention(x, x, x, m, True), (RNG.uniform(0.1, 0.2, (1, 3, 60)), MASK)),
    "softmax": (lambda sd, x, g: sd.nn.softmax(x, 0) * g, (SMALL, np.linspace(0, 1, 3 * ROWS).reshape(ROWS, 3))),
    "weighted loss": (lambda sd, x, w: sd.loss.absolute_difference(None, sd.zeros_like(x), x, w), (LARGE, np.ones((ROWS, 1)))),
    "certain outputs": (lambda sd, p, y: sd.loss.cross_entropy(p, y, None), (np.eye(3), np.eye(3))),
    "certain logits": (lambda sd, z, y: sd.loss.sigmoid_cross_entropy(None, y, z, None), (np.eye(3) * 60000 - 30000, np.eye(3))),
    "conv2d": (lambda sd, w, x: sd.cnn.conv2d(x, w, Conv2DConfig(k_h=1, k_w=1)), (np.ones((1, 1, 1, 2)), np.full((1, 1, 60, 60), 0.01))),
}


def computed(build: Built, arrays: tuple[Any, ...], dtype: DataType, gradient: bool) -> Any:
    sd = SameDiff.create()
    given = [sd.var(f"x{k}", np.asarray(a).astype(dtype.numpy)) for k, a in enumerate(arrays)]
    made = build(sd, *given)
    assert made.dtype is dtype
    if not gradient:
        return made.eval()
    made.sum().mark_as_loss()
    return sd.calculate_gradients({}, "x0")["x0"]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", [DataType.HALF, DataType.BFLOAT16])
@pytest.mark.parametrize("way", ["reference", "plan", pytest.param("emulated", marks=pytest.mark.slow)])
def test_sums_and_products(way, dtype, monkeypatch):
    close = 6 * float(ml_dtypes.finfo(dtype.numpy).eps)
    for gradient, cases in ((False, CASES), (True, GRADIENTS)):
        for name, (build, arrays) in cases.items():
            rounded = tuple(np.asarray(a).astype(dtype.numpy).astype(np.float64) for a in arrays)
            monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
            judge = computed(build, rounded, DataType.DOUBLE, gradient)
            monkeypatch.setenv("DL4PY_EXECUTOR", "reference" if way == "reference" else "plan")
            with device("emulated" if way == "emulated" else "cpu"):
                found = np.asarray(computed(build, arrays, dtype, gradient)).astype(np.float64)
            np.testing.assert_allclose(found, judge, close, close * abs(judge).max() / 10, err_msg=f"{name}, gradient: {gradient}")
