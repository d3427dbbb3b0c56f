"""Einstein sums as transposes, reshapes and matrix products."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...errors import ShapeError
from .symbolic_size import NotInGraphError

if TYPE_CHECKING:
    from .graph_array import GraphArray


def einsum(xp: Any, subscripts: str, arrays: list[GraphArray]) -> GraphArray:
    """The sum of products that ``subscripts`` describe, two arrays at a time from the left."""
    inputs, output = _parsed(subscripts, arrays)
    inputs, arrays = _without_stretched(xp, inputs, xp.alike(arrays))     # sums are in the type of the result, too
    labels, made = inputs[0], arrays[0]
    for k in range(1, len(arrays)):
        later = set(output).union(*inputs[k + 1:])
        labels, made = _product(xp, labels, made, inputs[k], arrays[k], later)
    labels, made = _summed(xp, labels, made, set(output))
    return _ordered(xp, labels, made, output)  # type: ignore[no-any-return]


def _parsed(subscripts: str, arrays: list[GraphArray]) -> tuple[list[str], str]:
    text = subscripts.replace(" ", "")
    given, arrow, output = text.partition("->")
    inputs = given.split(",")
    if len(inputs) != len(arrays):
        raise NotInGraphError("np.einsum called like this has no graph node")
    free = iter([c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in text])
    longest = max((a.ndim - len(i) + 3 for i, a in zip(inputs, arrays) if "..." in i), default=0)
    dots = "".join(next(free) for _ in range(longest))
    if not arrow:
        names = given.replace(",", "").replace(".", "")
        output = ("..." if "..." in given else "") + "".join(sorted(c for c in set(names) if names.count(c) == 1))
    full = [i.replace("...", dots[len(dots) - (a.ndim - len(i) + 3):] if a.ndim > len(i) - 3 else "") for i, a in zip(inputs, arrays)]
    output = output.replace("...", dots)
    for labels, a in zip(full, arrays):
        if len(set(labels)) != len(labels) or len(labels) != a.ndim:
            raise NotInGraphError(f"np.einsum({subscripts!r}) has no graph node: a diagonal")
    return full, output


def _without_stretched(xp: Any, inputs: list[str], arrays: list[GraphArray]) -> tuple[list[str], list[GraphArray]]:
    """Without axes of size 1 that another array has longer: they are stretched, which changes no product."""
    sizes: dict[str, Any] = {}
    for labels, a in zip(inputs, arrays):
        for c, n in zip(labels, a.shape):
            if _is_one(sizes.setdefault(c, n)):
                sizes[c] = n
            elif isinstance(n, int) and isinstance(sizes[c], int) and n not in (1, sizes[c]):
                raise ShapeError(f"np.einsum: label {c!r} has the sizes {sizes[c]} and {n}")
    found, left = [], []
    for labels, a in zip(inputs, arrays):
        kept = [i for i, (c, n) in enumerate(zip(labels, a.shape)) if not _is_one(n) or _is_one(sizes[c])]
        found.append("".join(labels[i] for i in kept))
        left.append(a if len(kept) == len(labels) else xp.reshape(a, tuple(a.shape[i] for i in kept)))
    return found, left


def _is_one(n: Any) -> bool:
    return isinstance(n, int) and n == 1


def _summed(xp: Any, labels: str, x: Any, kept: set[str]) -> tuple[str, Any]:
    gone = tuple(i for i, c in enumerate(labels) if c not in kept)
    return ("".join(c for c in labels if c in kept), xp.node("reduce_sum", [x], dimensions=gone, keep_dims=False)) if gone else (labels, x)


def _ordered(xp: Any, labels: str, x: Any, output: str) -> Any:
    order = tuple(labels.index(c) for c in output)
    return x if order == tuple(range(len(order))) else xp.transpose(x, order)


def _product(xp: Any, left: str, x: Any, right: str, y: Any, later: set[str]) -> tuple[str, Any]:
    left, x = _summed(xp, left, x, later | set(right))
    right, y = _summed(xp, right, y, later | set(left))
    sizes = dict(zip(left, x.shape)) | {c: n for c, n in zip(right, y.shape) if isinstance(n, int) or c not in left}
    both = [c for c in left if c in right]
    batch, inner = [c for c in both if c in later], [c for c in both if c not in later]
    rows, columns = [c for c in left if c not in right], [c for c in right if c not in left]

    def size(names: list[str]) -> Any:
        return math.prod(sizes[c] for c in names)

    shape = tuple(sizes[c] for c in batch)
    first = xp.reshape(_ordered(xp, left, x, "".join(batch + rows + inner)), (*shape, size(rows), size(inner)))
    second = xp.reshape(_ordered(xp, right, y, "".join(batch + inner + columns)), (*shape, size(inner), size(columns)))
    made = xp.matmul(first, second) if inner else first * second
    found = "".join(batch + rows + columns)
    return found, xp.reshape(made, tuple(sizes[c] for c in found))
