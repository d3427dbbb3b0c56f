"""Means, and deviations from them, where values are large beside their spread: against formulas in float64."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.device.devices import device
from dl4py.samediff.ops.nn.batch_norm import BatchNormTraining
from dl4py.samediff.ops.nn.fused_batch_norm import FusedBatchNorm
from tests.samediff.cuda.support import needs_compiler

EPSILON = 1e-3

#: Shapes and the axes that are normalized together: the ways in which kernels go over arrays.
LAYOUTS = {
    "a row": ((4000,), (0,)), "rows": ((3, 4000), (1,)), "columns": ((4000, 3), (0,)), "many columns": ((40, 600), (0,)),
    "short rows": ((90, 12), (1,)), "images": ((40, 3, 10, 10), (0, 2, 3)), "images, channels last": ((40, 10, 10, 3), (0, 1, 2)),
    "apart": ((30, 3, 50, 2), (0, 2)), "each image": ((3, 5, 20, 10), (1, 2, 3)),
}


def drawn(n: int) -> Any:
    return np.random.default_rng(n).standard_normal(n)


def with_outliers(value: float, *places: int) -> Any:
    def values(n: int) -> Any:
        found = drawn(n) + 3
        found[list(places)] = value
        return found
    return values


#: What stands in a slice of n elements.
VALUES = {
    "plain": drawn, "equal": lambda n: np.full(n, 1.1), "beside an offset": lambda n: drawn(n) + 1e5,
    "all large": lambda n: drawn(n) * 1e15, "equal and huge": lambda n: np.full(n, 1e30), "tiny": lambda n: drawn(n) * 1e-15,
    "first far": with_outliers(1e6, 0), "first farther": with_outliers(-1e12, 0), "last far": with_outliers(1e6, -1),
    "two far": with_outliers(1e6, 0, 1), "ends far": with_outliers(1e6, 0, -1), "first huge": with_outliers(3e38, 0),
    "one huge": with_outliers(-3e38, 5),
}


def placed(values: Any, shape: tuple[int, ...], axes: tuple[int, ...], dtype: Any) -> Any:
    """An array whose slices over ``axes`` hold the values; every second one is turned round."""
    kept = [i for i in range(len(shape)) if i not in axes]
    n = int(np.prod([shape[i] for i in axes]))
    slices = np.array([values(n) * (-1) ** k for k in range(int(np.prod([shape[i] for i in kept])))])
    order = [*kept, *axes]
    return slices.reshape([shape[i] for i in order]).transpose(np.argsort(order)).astype(dtype)


def moments(x: Any, axes: tuple[int, ...]) -> tuple[Any, Any, Any]:
    """Mean and variance in extended precision, and deviations from the mean."""
    wide = x.astype(np.longdouble)
    mean = wide.mean(axis=axes, keepdims=True)
    return mean, ((wide - mean) ** 2).mean(axis=axes, keepdims=True), wide - mean


def channel(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    """The axis that is left, for what normalizes all others."""
    return next((i for i in range(len(shape)) if i not in axes), -1)


def normalized(x: Any, axes: tuple[int, ...], epsilon: float = 0.0) -> Any:
    _, variance, rest = moments(x, axes)
    return rest / np.sqrt(np.where(variance > 0, variance, 1) + epsilon)


def slope(x: Any, g: Any, axes: tuple[int, ...], epsilon: float = 0.0) -> Any:
    """The gradient by x of a sum of ``g`` times what is normalized."""
    variance, y = moments(x, axes)[1], normalized(x, axes, epsilon)
    inner = g - g.mean(axis=axes, keepdims=True) - y * (g * y).mean(axis=axes, keepdims=True)
    return inner / np.sqrt(np.where((variance > 0) | (epsilon > 0), variance, np.inf) + epsilon)


def flat(x: Any, axes: tuple[int, ...]) -> Any:
    return np.squeeze(x, axes)


def sample(x: Any, axes: tuple[int, ...]) -> Any:
    n = np.prod([x.shape[i] for i in axes])
    return flat(moments(x, axes)[1], axes) * n / (n - 1)


#: Of a graph, x and axes: the results; of an array and axes: what they should be.
OPS = {
    "moments": (lambda sd, x, axes: sd.math.moments(x, axes, False), lambda x, axes: [flat(m, axes) for m in moments(x, axes)[:2]]),
    "var": (lambda sd, x, axes: [sd.variance(x, False, *axes)], lambda x, axes: [flat(moments(x, axes)[1], axes)]),
    "sample var": (lambda sd, x, axes: [sd.variance(x, True, *axes)], lambda x, axes: [sample(x, axes)]),
    "std": (lambda sd, x, axes: [sd.standard_deviation(x, False, *axes)], lambda x, axes: [np.sqrt(flat(moments(x, axes)[1], axes))]),
    "sample std": (lambda sd, x, axes: [sd.standard_deviation(x, True, *axes)], lambda x, axes: [np.sqrt(sample(x, axes))]),
    "standardize": (lambda sd, x, axes: [sd.math.standardize(x, *axes)], lambda x, axes: [normalized(x, axes)]),
    "layer norm": (lambda sd, x, axes: [sd.nn.layer_norm(x, sd.constant(np.full(x.spec.shape[-1], 2, np.float32)), False, *axes)],
                   lambda x, axes: [2 * normalized(x, axes)]),
    "batch norm": (lambda sd, x, axes: batch_norm(sd, x, axes), lambda x, axes: [
        normalized(x, axes, EPSILON), *(flat(m, axes) for m in moments(x, axes)[:2])]),
    "fused batch norm": (lambda sd, x, axes: fused_batch_norm(sd, x, axes), lambda x, axes: [
        normalized(x, axes, EPSILON), flat(moments(x, axes)[0], axes), sample(x, axes)]),
}
NORMALIZED = {"standardize": 0.0, "layer norm": 0.0, "batch norm": EPSILON}


def batch_norm(sd: Any, x: Any, axes: tuple[int, ...]) -> Any:
    axis = channel(x.spec.shape, axes)
    zeros = sd.constant(np.zeros(x.spec.shape[axis], x.spec.dtype.numpy))
    return sd.add_op(BatchNormTraining(axis, EPSILON), [x, zeros, zeros])


def fused_batch_norm(sd: Any, x: Any, axes: tuple[int, ...]) -> Any:
    one, zero = (sd.constant(np.full(x.spec.shape[channel(x.spec.shape, axes)], n, x.spec.dtype.numpy)) for n in (1, 0))
    return sd.add_op(FusedBatchNorm("NHWC" if 3 not in axes else "NCHW", True, EPSILON), [x, one, zero])


def serves(op: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> bool:
    if op == "fused batch norm":
        return len(shape) == 4 and len(axes) == 3 and 0 in axes
    return op != "batch norm" or len(axes) == len(shape) - 1


def wrong(found: Any, wanted: Any, limit: float) -> str:
    """What differs by more than rounding: relative to each number, and to the mean size of the numbers where they cancel."""
    big = np.finfo(found.dtype).max
    wanted = np.where(abs(wanted) > big, np.inf * np.sign(wanted), wanted)
    size = np.sqrt(np.mean(wanted.astype(np.longdouble)[np.isfinite(wanted)] ** 2)) if np.isfinite(wanted).any() else 0
    tiny = np.finfo(found.dtype).tiny           # kernels take what is smaller as 0
    right = (found == wanted) | (abs(found.astype(np.longdouble) - wanted) <= limit * abs(wanted) + limit / 10 * size + tiny)
    places = [tuple(p.tolist()) for p in np.argwhere(~right)]
    return f"{len(places)} of {right.size}, at {places[0]} {found[places[0]]} for {wanted[places[0]]}" if places else ""


CASES = [(op, layout) for op in OPS for layout, form in LAYOUTS.items() if serves(op, *form)]


@pytest.mark.sampled(150)
@pytest.mark.parametrize("where", ["plan", "reference"])
@pytest.mark.parametrize(("op", "layout"), CASES)
def test_statistics(op, layout, where, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", where)
    with np.errstate(all="ignore"):
        check(op, layout, "cpu")


def check(op: str, layout: str, where: str) -> None:
    """Results, and gradients of what is normalized, for all values."""
    shape, axes = LAYOUTS[layout]
    build, closed = OPS[op]
    sd = SameDiff()
    x, g = sd.var("x", np.zeros(shape, np.float32)), sd.placeholder("g", DataType.FLOAT, *shape)
    made = build(sd, x, axes)
    if op in NORMALIZED:
        (made[0] * g).sum().rename("loss")
        sd.set_loss_variables("loss")
    wrongs = []
    for name, values in VALUES.items():
        given = placed(values, shape, axes, np.float32)
        x.set_array(given)
        upstream = placed(lambda n: drawn(n + 7)[:n], shape, axes, np.float32)
        with device(where):
            found = sd.compute({"g": upstream}, [y.name() for y in made], training=True)
        for y, want in zip(made, closed(given, axes)):
            text = wrong(found[y.name()], want, 1e-5)
            wrongs += [f"{name}, {y.name()}: {text}"] if text else []
        if op in NORMALIZED and (op != "batch norm" or not (moments(given, axes)[1] > 1e35).any()):
            with device(where):
                gradient = sd.calculate_gradients({"g": upstream}, "x")["x"]
            text = wrong(gradient, slope(given, upstream * (2 if op == "layer norm" else 1), axes, NORMALIZED[op]), 1e-4)
            wrongs += [f"{name}, gradient: {text}"] if text else []
    assert not wrongs, "\n".join(wrongs)


@pytest.mark.sampled(6)
@needs_compiler
@pytest.mark.parametrize("op", ["moments", "sample std", "standardize", "layer norm", "batch norm", "fused batch norm"])
def test_statistics_on_a_device(op):
    """In one go, and shared among blocks."""
    for layout in ("columns", "short rows", "images") if op != "fused batch norm" else ("images",):
        if serves(op, *LAYOUTS[layout]):
            with np.errstate(all="ignore"):
                check(op, layout, "emulated")


@pytest.mark.parametrize("name", ["sum", "mean"])
def test_sums_of_long_columns_keep_their_digits_on_both_executors(name, monkeypatch):
    x = np.random.default_rng(3).standard_normal((70_000, 3)).astype("f") + np.float32(1e4)
    exact = getattr(x.astype("d"), name)(0)
    for executor in ("plan", "reference"):
        monkeypatch.setenv("DL4PY_EXECUTOR", executor)
        sd = SameDiff.create()
        y = getattr(sd.constant("x", x), name)(0)
        np.testing.assert_allclose(sd.output_single({}, y.name()), exact, 1e-6)
