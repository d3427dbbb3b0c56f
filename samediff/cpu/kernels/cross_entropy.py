# mypy: ignore-errors
"""Cross entropy of a softmax with its labels, forward and backward in one pass over the logits.

Shapes: logits, labels, gradient (rows, classes); losses, scale (rows).  Labels need not sum to one.
Loss of a row: -sum(labels * log_softmax(logits)).
"""
from __future__ import annotations

import numpy as np

from ..compiler.jit_functions import function
from ..compiler.sources import kernel
from ..library.intrinsics import vmax
from ..library.mathlib import exp, log


@function(forceinline=True, error_model="numpy", fastmath={"contract", "arcp", "nsz", "reassoc"})
def largest(x, i):
    """The largest element of a row."""
    top = x.dtype.type(-np.inf)
    for j in range(x.shape[1]):
        top = vmax(top, x[i, j])
    return top


@kernel
def softmax_cross_entropy(logits, labels, losses):
    """The losses without their gradient."""
    for i in range(logits.shape[0]):
        top = largest(logits, i)
        total = logits.dtype.type(0)
        hit = logits.dtype.type(0)
        mass = logits.dtype.type(0)
        for j in range(logits.shape[1]):
            d = logits[i, j] - top
            total += exp(d)
            mass += labels[i, j]
            hit += labels[i, j] * d if labels[i, j] != 0 else logits.dtype.type(0)  # 0 * -inf
        losses[i] = mass * log(total) - hit


@kernel
def softmax_cross_entropy_gradient(logits, labels, scale, gradient):
    """gradient = scale * (softmax(logits) * sum(labels) - labels) for each row; gradient may be logits."""
    for i in range(logits.shape[0]):
        top = largest(logits, i)
        total = logits.dtype.type(0)
        mass = logits.dtype.type(0)
        for j in range(logits.shape[1]):
            e = exp(logits[i, j] - top)
            gradient[i, j] = e
            total += e
            mass += labels[i, j]
        ratio = mass / total
        for j in range(logits.shape[1]):
            gradient[i, j] = (gradient[i, j] * ratio - labels[i, j]) * scale[i]


@kernel
def softmax_cross_entropy_both(logits, labels, scale, losses, gradient):
    """Losses, and their gradient times ``scale`` (one number for each row); gradient may be logits."""
    for i in range(logits.shape[0]):
        top = largest(logits, i)
        total = logits.dtype.type(0)
        hit = logits.dtype.type(0)
        mass = logits.dtype.type(0)
        for j in range(logits.shape[1]):
            d = logits[i, j] - top
            e = exp(d)
            gradient[i, j] = e
            total += e
            mass += labels[i, j]
            hit += labels[i, j] * d if labels[i, j] != 0 else logits.dtype.type(0)
        losses[i] = mass * log(total) - hit
        ratio = mass / total
        for j in range(logits.shape[1]):
            gradient[i, j] = (gradient[i, j] * ratio - labels[i, j]) * scale[i]


@kernel
def sparse_cross_entropy(logits, labels, losses):
    """Losses for class indices; False where one is no class."""
    for i in range(logits.shape[0]):
        k = labels[i]
        if k < 0 or k >= logits.shape[1]:
            return False
        top = largest(logits, i)
        total = logits.dtype.type(0)
        for j in range(logits.shape[1]):
            total += exp(logits[i, j] - top)
        losses[i] = log(total) - (logits[i, k] - top)
    return True


@kernel
def sparse_cross_entropy_gradient(logits, labels, scale, gradient):
    """gradient = scale * (softmax(logits) - one_hot(labels)) for each row; False where a label is no class."""
    for i in range(logits.shape[0]):
        k = labels[i]
        if k < 0 or k >= logits.shape[1]:
            return False
        top = largest(logits, i)
        total = logits.dtype.type(0)
        for j in range(logits.shape[1]):
            e = exp(logits[i, j] - top)
            gradient[i, j] = e
            total += e
        ratio = scale[i] / total
        for j in range(logits.shape[1]):
            gradient[i, j] *= ratio
        gradient[i, k] -= scale[i]
    return True
