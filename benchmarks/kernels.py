"""Nanoseconds per element of the compiled kernels, next to the same computation in plain NumPy where that is short.

Run ``python benchmarks/kernels.py``; prints the minimum over many calls of a warm kernel, for float32.
"""
from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.cpu import Layout, Reduction, elementwise_kernel
from dl4py.samediff.expressions.expression import derivative, evaluate, trace

RNG = np.random.default_rng(0)


def array(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def best(call: Callable[[], object], seconds: float = 0.15) -> float:
    """Shortest time of one call."""
    call()
    shortest, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest


def report(name: str, size: int, kernel: Callable[[], object], plain: Callable[[], object] | None = None) -> None:
    ours = best(kernel) / size * 1e9
    if plain is None:
        print(f"{name:36s} {ours:8.3f} ns")
        return
    numpy = best(plain) / size * 1e9
    print(f"{name:36s} {ours:8.3f} ns  NumPy {numpy:8.3f} ns  {numpy / ours:6.1f} x")


def elementwise() -> None:
    chains = {
        "bias + relu": (lambda xp, x, b: xp.maximum(x + b, 0), [(256, 512), (512,)], None),
        "tanh": (lambda xp, x: xp.tanh(x), [(1 << 17,)], None),
        "exp": (lambda xp, x: xp.exp(x), [(1 << 17,)], None),
        "gelu": (lambda xp, x: 0.5 * x * (1 + xp.erf(x * 0.70710678)), [(1 << 17,)], None),
        "elu": (lambda xp, x: xp.where(x > 0, x, xp.expm1(x)), [(1 << 17,)], None),
        "x sigmoid(1.7x) + tanh(x) exp(-xx)": (
            lambda xp, x: x / (1 + xp.exp(-1.7 * x)) + xp.tanh(x) * xp.exp(-x * x), [(1 << 17,)], None),
        "sum of squares": (lambda xp, x: x * x, [(1 << 17,)], Reduction("sum")),
        "maximum of rows": (lambda xp, x: x, [(256, 512)], Reduction("max", (1,))),
        "sum over the batch": (lambda xp, x: x, [(256, 512)], Reduction("sum", (0,))),
        "sum over batch and space": (lambda xp, x: x, [(32, 16, 16, 16)], Reduction("sum", (0, 2, 3))),
    }
    for name, (body, shapes, reduction) in chains.items():
        exprs = trace(body, ["float32"] * len(shapes))
        arrays = [array(*s) for s in shapes]
        layouts = [Layout.of(s, shapes[0]) for s in shapes]
        kept = reduction.kept(len(shapes[0])) if reduction else (True,) * len(shapes[0])
        out = np.empty([n for n, k in zip(shapes[0], kept) if k], np.float32)
        kernel = elementwise_kernel(exprs, layouts, reduction)
        axes = reduction.axes if reduction else None
        finish = getattr(np, reduction.kind) if reduction else (lambda v, axis: v)
        report(name, arrays[0].size, kernel.bind(*arrays, out=out),
               lambda e=exprs, a=arrays, f=finish, x=axes: f(evaluate(e, np, a)[0], axis=x))
        if name.startswith("x sigmoid"):
            slope = derivative(exprs[0], 0)
            report("its derivative", arrays[0].size, elementwise_kernel([slope], layouts).bind(*arrays, out=out),
                   lambda e=slope, a=arrays: evaluate([e], np, a))


def updater() -> None:
    def adam(xp, p, g, m, v, rate):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * (g * g)
        return p - rate * m / (xp.sqrt(v) + 1e-8), m, v

    exprs = trace(adam, ["float32"] * 5)
    p, g, m, v = np.abs(array(4, 200_000))
    rate = np.array([1e-3], np.float32)
    kernel = elementwise_kernel(exprs, [Layout.same(1)] * 4 + [Layout.scalar(1)])
    report("Adam in place", p.size, kernel.bind(p, g, m, v, rate, out=[p, m, v]),
           lambda: evaluate(exprs, np, [p, g, m, v, rate]))


def by_hand() -> None:
    from dl4py.samediff.cpu.kernels import batch_norm, cross_entropy, depthwise, im2col, lstm, pool
    from dl4py.samediff.cpu.sweeps.sweep import swept
    from dl4py.samediff.cpu.sweeps.sweeps import NORMALIZATIONS
    x, labels, out, losses, scale = array(256, 512), np.abs(array(256, 512)), array(256, 512), array(256), array(256)
    softmax = swept(NORMALIZATIONS["softmax"], (1,), [TensorSpec(x.shape, DataType.FLOAT)])
    assert softmax is not None
    report("softmax", x.size, lambda: softmax.call(x, out),
           lambda: (e := np.exp(x - x.max(1, keepdims=True))) / e.sum(1, keepdims=True))
    report("softmax cross entropy, both ways", x.size,
           lambda: cross_entropy.softmax_cross_entropy_both(x, labels, scale, losses, out))
    z, b, z_out = array(64, 800), array(800), array(64, 800)
    c0, c1, tanh_c, h, dc = (array(64, 200) for _ in range(5))
    report("LSTM gates", z.size, lambda: lstm.lstm_gates(z, b, c0, c1, tanh_c, h, 0, 1, 2, 3))
    report("LSTM gates backward", z.size, lambda: lstm.lstm_gates_backward(z, c0, tanh_c, h, dc, z_out, 0, 1, 2, 3))
    image, pooled, index = array(16, 32, 28, 28), array(16, 32, 14, 14), np.empty((16, 32, 14, 14), np.int32)
    blocks = image.reshape(16, 32, 14, 2, 14, 2)
    planes, places, few = image.reshape(512, 1, 28, 28), index.reshape(512, 1, 14, 14), pooled.reshape(512, 1, 14, 14)
    window = ((1, 2, 2), (1, 2, 2), (0, 0, 0), (1, 1, 1))
    report("max pool 2 x 2", image.size, lambda: pool.max_pool(planes, few, places, window),
           lambda: blocks.max((3, 5)))  # without the places
    back = np.empty_like(planes)
    report("max pool 2 x 2 backward", image.size, lambda: pool.max_pool_backward(few, places, back))
    shares = [np.full(n, 1 / k, np.float32) for n, k in ((1, 1), (14, 2), (14, 2))]
    report("average pool 2 x 2", image.size, lambda: pool.window_sum(planes, few, window, *shares), lambda: blocks.mean((3, 5)))
    report("average pool 2 x 2 backward", image.size, lambda: pool.window_spread(few, back, window, *shares),
           lambda: np.repeat(np.repeat(pooled, 2, 2), 2, 3) / 4)
    columns, window = np.empty((512, 1, 3, 3, 1, 28, 28), np.float32), ((1, 3, 3), (1, 1, 1), (0, 1, 1), (1, 1, 1))
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))
    report("im2col 3 x 3", columns.size, lambda: im2col.im2col(planes, columns, window),
           lambda: np.copyto(columns.reshape(16, 32, 3, 3, 28, 28), windows.transpose(0, 1, 4, 5, 2, 3)))
    report("col2im 3 x 3", columns.size, lambda: im2col.col2im(columns, back, window))
    weights, flat_places = array(32, 1, 9), np.array([30 * i + j for i in range(3) for j in range(3)])
    report("depthwise 3 x 3", image.size, lambda: depthwise.depthwise(
        image.reshape(16, 32, 1, 28, 28), weights, back.reshape(16, 32, 1, 28, 28), (0, 1, 1), (1, 30, 30), flat_places,
        np.arange(28) * 30, 1, 28))
    flat, mean, variance, gamma, beta = image.reshape(16, 32, 784), array(32), array(32), array(32), array(32)
    report("batch norm statistics", flat.size, lambda: batch_norm.batch_statistics(flat, mean, variance),
           lambda: (flat.mean((0, 2)), flat.var((0, 2))))
    report("batch norm", flat.size,
           lambda: batch_norm.batch_normalize(flat, mean, variance, gamma, beta, 1e-5, back.reshape(16, 32, 784)))
    dgamma, dbeta, dflat = array(32), array(32), array(16, 32, 784)
    report("batch norm backward", flat.size, lambda: batch_norm.batch_normalize_backward(
        flat, dflat, mean, variance, gamma, 1e-5, back.reshape(16, 32, 784), dgamma, dbeta))


if __name__ == "__main__":
    elementwise()
    updater()
    by_hand()
