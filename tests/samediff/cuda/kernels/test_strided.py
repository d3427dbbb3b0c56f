"""Copies between views, as kernels and as memory."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.cuda.drivers import strided
from tests.samediff.cuda.support import DRIVERS, needs_compiler

VIEWS = {  # shape of the memory, the view of the source, the view of the target
    "contiguous": ((4, 6), lambda a: a, lambda a: a),
    "turned": ((45, 70), lambda a: a.T, lambda a: a.T.copy()),
    "turned in a batch": ((3, 33, 40), lambda a: a.swapaxes(1, 2), lambda a: a.swapaxes(1, 2).copy()),
    "turned into a view": ((2, 40, 3, 33), lambda a: a.transpose(2, 0, 3, 1), lambda a: np.zeros((3, 2, 34, 41), a.dtype)[:, :, 1:, :-1]),
    "narrow": ((300, 3), lambda a: a.T, lambda a: a.T.copy()),
    "every second": ((9, 12), lambda a: a[:, ::2], lambda a: a[:, 1::2]),
    "backwards": ((9, 12), lambda a: a[::-1, ::-3], lambda a: a[:, ::3]),
    "one number for all": ((1, 1), lambda a: np.broadcast_to(a, (40, 50)), lambda a: np.zeros((40, 50), a.dtype)),
    "a column for all": ((40, 1), lambda a: np.broadcast_to(a, (40, 50)), lambda a: np.zeros((40, 50), a.dtype)),
    "five axes": ((2, 3, 4, 5, 6), lambda a: a.transpose(4, 0, 3, 1, 2), lambda a: a.transpose(4, 0, 3, 1, 2).copy()),
    "no axes": ((1,), lambda a: a[0, ...], lambda a: np.zeros((), a.dtype)),
    "nothing": ((0, 4), lambda a: a.T, lambda a: a.T.copy()),
}


@pytest.mark.sampled(3)
@needs_compiler
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("case", VIEWS)
def test_views(case, dtype):
    shape, of_source, of_target = VIEWS[case]
    memory = np.random.default_rng(0).integers(1, 100, shape).astype(dtype)
    source, want = of_source(memory), of_target(memory.copy())
    want[...] = source
    for driver in DRIVERS:
        target = of_target(np.zeros(shape, dtype) if want.base is not None and want.base.shape == shape else memory.copy())
        target[...] = 0
        rest = target.base.copy() if target.base is not None else None
        driver.prepare(strided.launches(source, target))()
        np.testing.assert_array_equal(target, want)
        if rest is not None and target.base.size > target.size:         # what lies between the elements of the target stays
            target[...] = 0
            np.testing.assert_array_equal(target.base, rest)


@needs_compiler
def test_large_indices_give_the_same(monkeypatch):
    source = np.arange(40 * 50.0).reshape(40, 50)
    monkeypatch.setattr(strided, "_INDICES", {np.dtype(np.int32): "long long", np.dtype(np.int64): "long long"})
    monkeypatch.setattr(np, "int32", np.int64)
    target = np.zeros((50, 40))
    DRIVERS[0].prepare(strided.launches(source.T, target))()
    np.testing.assert_array_equal(target, source.T)


@pytest.mark.parametrize("case, plain", [("contiguous", True), ("turned", False), ("every second", False), ("no axes", True)])
def test_what_needs_no_kernel(case, plain):
    shape, of_source, of_target = VIEWS[case]
    memory = np.zeros(shape)
    assert strided.is_plain(of_source(memory), of_target(memory)) is plain
    turned = np.zeros((5, 4)).T
    assert strided.is_plain(turned, np.zeros((5, 4)).T) and not strided.is_plain(turned, np.zeros((4, 5)))
