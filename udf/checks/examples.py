"""Examples that follow from those that a user gives: other types, shapes and sizes."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...samediff.base.datatype import DataType, is_floating
from ...samediff.ir.op import Op
from ..ops.base import UserOp

#: Arrays for the inputs of an op, None for one that is left out.
Example = Sequence[Any]

#: So many groups of axes are given other sizes; of kernels some are given this one, for which no small buffer is enough.
_GROUPS, _LARGE = 8, 67


def variants(arrays: Sequence[Any], dtypes: Sequence[Any], shapes: Sequence[Any], seed: int) -> Iterator[tuple[str, list[Any]]]:
    floating = [a for a in arrays if a is not None and is_floating(a.dtype)]
    for dtype in dtypes if floating else [None]:
        kind = None if dtype is None else DataType.of(dtype).numpy
        cast = [a if a is None or kind is None or not is_floating(a.dtype) else a.astype(kind) for a in arrays]
        yield ("as given" if kind is None else kind.name), cast
    rng = np.random.default_rng(seed)
    for several in shapes:
        drawn = [a if a is None else rng.choice(a.reshape(-1), size=s).astype(a.dtype) for a, s in zip(arrays, several)]
        yield f"shapes {', '.join(map(str, several))}", drawn


def more_rows(arrays: Example, times: int = 2) -> list[Any]:
    """The inputs that share the first axis of the first one, twice as long, or so many times."""
    rows = next((a.shape[0] for a in arrays if a is not None and a.ndim), None)
    return [] if rows is None else _resized(arrays, lambda i, axis, n: times * n if axis == 0 and n == rows else n)


def of_several_blocks(arrays: Example, threads: int) -> list[list[Any]]:
    """The example again and again along the first axis, until each array has more elements than a block of a GPU has threads."""
    rows = next((a.shape[0] for a in arrays if a is not None and a.ndim), 0)
    sizes = [a.size for a in arrays if a is not None and a.ndim and a.shape[0] == rows]
    return [more_rows(arrays, threads // min(sizes) + 1)] if sizes and all(sizes) else []


def other_sizes(arrays: Example) -> list[list[Any]]:
    """Examples of other sizes: all axes of one size, and each axis alone, with twice as many values, one less, one and none."""
    places = [(i, axis, n) for i, a in enumerate(arrays) if a is not None for axis, n in enumerate(a.shape)]
    groups = [{p for p in places if p[2] == n} for n in dict.fromkeys(n for *_, n in places)] + [{p} for p in places]
    made = [more_rows(arrays)] if places else []
    for change in (lambda n: 2 * n, lambda n: n - 1, lambda n: 1, lambda n: 0):
        made += [_resized(arrays, lambda *p, group=group, change=change: change(p[2]) if p in group and p[2] else p[2])
                 for group in groups[:_GROUPS]]
    return list({tuple(None if a is None else a.shape for a in m): m for m in made}.values())


def larger(arrays: Example) -> list[list[Any]]:
    """Examples with many more values along all axes of one size."""
    sizes = list(dict.fromkeys(n for a in arrays if a is not None for n in a.shape if n > 1))
    made = [_resized(arrays, lambda i, axis, n, size=size: _LARGE if n == size else n) for size in sizes[:2]]
    return [[_apart(a) if a is not None and is_floating(a.dtype) else a for a in several] for several in made]


def spaced(arrays: Example, seed: int) -> list[Any]:
    """Numbers between the smallest and the largest of each floating input, all equally far from the next; masks stay."""
    rng = np.random.default_rng(seed)

    def within(a: Any) -> Any:
        if a is None or not is_floating(a.dtype) or not a.size or np.isin(a, (0, 1)).all():
            return a
        low, high = float(a.min()), float(a.max())
        width = high - low or 0.1 * abs(low)
        return low + width * (rng.permutation(a.size).reshape(a.shape) + 0.37) / a.size
    return [within(a) for a in arrays]


def _apart(a: Any) -> Any:
    """An array without equal numbers, but for 0 and 1 in masks."""
    return a if np.isin(a, (0, 1)).all() else (a * (1 - 1e-2 * np.arange(a.size).reshape(a.shape) / a.size)).astype(a.dtype)


def other_counts(op: Op, arrays: Example) -> list[list[Any]]:
    """The example without each input that may be left out, and with more and fewer of those of which there may be any number."""
    names = op.inputs.split() if isinstance(op, UserOp) else []     # DL4J's form does not say how many it takes
    made = [[None if j == i else a for j, a in enumerate(arrays)] for i, n in enumerate(names[:len(arrays)])
            if n.endswith("?") and arrays[i] is not None]
    several = len(arrays) - len(names) + 1
    if names and names[-1].startswith("*") and several > 0 and arrays[-1] is not None:
        made.append([*arrays, np.asarray(arrays[-1] * 0.9, arrays[-1].dtype)])
        made += [list(arrays[:-1])] if several > 1 else []
    return made


def with_left_out(op: Op, arrays: Example) -> Iterator[tuple[str, list[Any]]]:
    """The example with an input that it leaves out, by its name: in the shape of each other input, of its last axis, and a number."""
    floating = [a for a in arrays if a is not None and is_floating(a.dtype)]
    shapes = dict.fromkeys(s for a in floating for s in (a.shape, a.shape[-1:], ()))
    names = op.inputs.split() if isinstance(op, UserOp) else []
    for i, name in enumerate(names):
        if name.endswith("?") and (i >= len(arrays) or arrays[i] is None):
            for shape in shapes:
                given = np.linspace(0.6, 1.4, int(np.prod(shape)), dtype=floating[0].dtype).reshape(shape)
                padded = [*arrays, *[None] * (i + 1 - len(arrays))]
                yield name[:-1], [*padded[:i], given, *padded[i + 1:]]


def other_ranks(arrays: Example) -> Iterator[tuple[str, list[Any]]]:
    """The example with one more axis in front, of all inputs or of the first alone, and without the first axis; each with what it is."""
    sizes = {n for a in arrays if a is not None for n in a.shape}
    more = next(n for n in range(2, len(sizes) + 3) if n not in sizes)
    given = [i for i, a in enumerate(arrays) if a is not None]
    for what, places in (("one more axis in front", given), ("one more axis in front of the first alone", given[:1])):
        yield what, [np.stack([a] * more) if i in places else a for i, a in enumerate(arrays)]
    if all(arrays[i].ndim and len(arrays[i]) for i in given):
        yield "one axis less", [None if a is None else a[0] for a in arrays]


def _resized(arrays: Example, size: Callable[..., int]) -> list[Any]:
    """The values of each array again and again along each axis, as often as its new size asks for."""
    made = []
    for i, a in enumerate(arrays):
        for axis, n in enumerate(() if a is None else a.shape):
            a = np.take(a, np.arange(size(i, axis, n)) % max(n, 1), axis)
        made.append(a)
    return made
