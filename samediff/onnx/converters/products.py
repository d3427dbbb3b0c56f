"""Products of matrices, determinants, transforms that are products."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..node import OnnxNode
from ..registry import onnx_converter


@onnx_converter("MatMul")
def matmul(node: OnnxNode, x: Any, y: Any) -> Any:
    """The product of matrices."""
    return node.xp.matmul(x, y)


@onnx_converter("Gemm")
def gemm(node: OnnxNode, a: Any, b: Any, c: Any = None) -> Any:
    """alpha a b + beta c, with a and b transposed on request."""
    alpha, beta = node.get("alpha", 1.0), node.get("beta", 1.0)
    left, right = node.flag("transA"), node.flag("transB")
    if a.dtype.kind != "f":
        made = node.xp.matmul(node.xp.transpose(a) if left else a, node.xp.transpose(b) if right else b)
    else:
        made = node.op("base.mmul", a, b, left, right)
    made = made if alpha == 1 else (made * alpha).astype(a.dtype)
    if c is None:
        return made
    return made + (c if beta == 1 else (c * beta).astype(a.dtype))


@onnx_converter("Einsum")
def einsum(node: OnnxNode, *xs: Any) -> Any:
    """Products summed as subscripts say."""
    text = node.get("equation").replace(" ", "")
    inputs, arrow, output = text.partition("->")
    if "..." in inputs:                                 # with letters in place of dots, diagonals are found
        free = iter(c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in text)
        ranks = [x.ndim - len(labels.replace("...", "")) for labels, x in zip(inputs.split(","), xs) if "..." in labels]
        letters = "".join(next(free) for _ in range(max(ranks)))
        if not arrow:
            names = inputs.replace(",", "").replace(".", "")
            output = "..." + "".join(sorted(c for c in set(names) if names.count(c) == 1))
        parts = [labels.replace("...", letters[len(letters) - (x.ndim - len(labels.replace("...", ""))):])
                 for labels, x in zip(inputs.split(","), xs)]
        text = f"{','.join(parts)}->{output.replace('...', letters)}"
    return node.xp.einsum(text, *xs)


@onnx_converter("Det")
def determinant(node: OnnxNode, x: Any) -> Any:
    """Determinants."""
    return node.op("math.matrix_determinant", x)


@onnx_converter("DFT", notes="a length and an axis that are known while the graph is built")
def dft(node: OnnxNode, x: Any, length: Any = None, axis: Any = None) -> Any:
    """The discrete Fourier transform along an axis, as a product with cosines and sines."""
    along = node.get("axis", 1) if node.version < 20 else int(np.asarray(node.value(2, "axis")).reshape(-1)[0]) if node.has(2) else -2
    size = int(np.asarray(node.value(1, "dft_length")).reshape(-1)[0]) if node.has(1) else None
    return transform(node, x, along % x.ndim, size, node.flag("inverse"), node.flag("onesided"))


def transform(node: OnnxNode, x: Any, axis: int, size: int | None, inverse: bool, onesided: bool) -> Any:
    """Real numbers have a last axis of 1, complex ones of 2."""
    n = int(x.shape[axis])
    size = n if size is None else size
    if onesided and inverse:
        half = x.shape[axis]
        size = size if size != n else 2 * (int(half) - 1)
        x = _whole_spectrum(node, x, axis, size)
        n = size
    lines = size // 2 + 1 if onesided and not inverse else size
    used = min(n, size)
    x = x[(slice(None),) * axis + (slice(0, used),)]
    angle = 2 * np.pi * np.outer(np.arange(used), np.arange(lines)) / size * (1 if inverse else -1)
    scale = 1 / size if inverse else 1.0
    cos, sin = ((scale * f(angle)).astype(x.dtype) for f in (np.cos, np.sin))
    real = node.xp.moveaxis(x[..., 0], axis, -1)
    parts = [node.xp.matmul(real, cos), node.xp.matmul(real, sin)]
    if int(x.shape[-1]) == 2:
        imaginary = node.xp.moveaxis(x[..., 1], axis, -1)
        parts = [parts[0] - node.xp.matmul(imaginary, sin), parts[1] + node.xp.matmul(imaginary, cos)]
    parts = [node.xp.moveaxis(p, -1, axis) for p in parts]
    return node.xp.expand_dims(parts[0], -1) if onesided and inverse else node.xp.stack(parts, -1)


def _whole_spectrum(node: OnnxNode, x: Any, axis: int, size: int) -> Any:
    """The lines above the middle of the spectrum of a real signal: conjugates of those below."""
    before = (slice(None),) * axis
    given = x[(*before, slice(0, size // 2 + 1))]
    rest = node.xp.take(given, np.arange(1, (size + 1) // 2)[::-1].copy(), axis=axis)
    return node.xp.concatenate([given, rest * np.asarray([1, -1], x.dtype)], axis)


@onnx_converter("STFT", notes="a step and a length that are known while the graph is built")
def stft(node: OnnxNode, signal: Any, step: Any, window: Any = None, length: Any = None) -> Any:
    """Spectra of frames of a signal."""
    hop = int(np.asarray(node.value(1, "frame_step")).reshape(-1)[0])
    size = int(np.asarray(node.value(3, "frame_length")).reshape(-1)[0]) if node.has(3) else int(window.shape[0])
    count = (int(signal.shape[1]) - size) // hop + 1
    places = np.arange(count)[:, None] * hop + np.arange(size)
    signal = signal if signal.ndim == 3 else node.xp.expand_dims(signal, -1)
    frames = node.xp.take(signal, places, axis=1)
    if window is not None:
        frames = frames * node.xp.reshape(window, (-1, 1))
    return transform(node, frames, 2, size, False, node.flag("onesided", True))
