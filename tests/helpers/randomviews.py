"""Random graphs of views with open sizes, steered by constants, computed sizes, feeds and variables that change from run to run."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dl4py.samediff import DataType, SameDiff

Sizes = dict[str, int]                      # what the open sizes a and b are in a run
Size = tuple[int, str]                      # a number times open sizes: (2, "ab") is 2 a b
KINDS = ("constant", "computed", "computed", "fed", "stored")       # of which graphs of even seeds use the first three alone


def times(*sizes: Size) -> Size:
    """The product."""
    return int(np.prod([n for n, _ in sizes])), "".join(sorted("".join(o for _, o in sizes)))


class RandomViews:
    """A graph of ``count`` reshapes, permutes, slices and their kin on x (a, b, 4) and a variable (4).

    Every shape, order, begin, index and axis is an array of a random kind. Those that leave the shape as it is have several values,
    of which :meth:`feeds` chooses others for each run.
    """

    def __init__(self, seed: int, count: int = 6, dtype: DataType = DataType.DOUBLE) -> None:
        self.rng, self.dtype, self.kinds = np.random.default_rng(seed), dtype, KINDS[:5 if seed % 2 else 3]
        self.sd = sd = SameDiff.create()
        self.x, self.w = sd.placeholder("x", dtype, -1, -1, 4), sd.var("w", self.numbers((4,)))
        self.given: dict[str, Callable[[Sizes, np.random.Generator], Any]] = {}
        self.stored: dict[str, Callable[[Sizes, np.random.Generator], Any]] = {}
        self.pool: list[tuple[Any, list[Size]]] = [(self.x * self.w, [(1, "a"), (1, "b"), (4, "")])]
        while len(self.pool) <= count:
            self.grow()
        self.loss = sum(sd.math.tanh(v * v).sum() for v, _ in self.pool[-3:])

    def numbers(self, shape: Sequence[int]) -> Any:
        return self.rng.normal(size=shape).astype(self.dtype.numpy)

    def feeds(self, a: int, b: int, seed: int = 0) -> dict[str, Any]:
        """Values for the placeholders; variables that steer are set."""
        rng, sizes = np.random.default_rng(seed), {"a": a, "b": b}
        for name, value in self.stored.items():
            self.sd.get_variable(name).set_array(value(sizes, rng))
        return {"x": self.numbers((a, b, 4)), **{n: value(sizes, rng) for n, value in self.given.items()}}

    def names(self) -> list[str]:
        """All values but what was given, and the gradients of the loss."""
        gradients = self.sd.gradients(self.loss, [self.x, self.w])
        return [v.name() for v in (*(v for v, _ in self.pool), self.loss, *gradients) if v is not None]

    # Arrays that steer

    def steering(self, *choices: Sequence[Size | int]) -> Any:
        """An array of one of these rows of sizes: of the first one where it is constant or computed."""
        rows = [[(s, "") if isinstance(s, int) else s for s in row] for row in choices]
        kind = self.kinds[self.rng.integers(len(self.kinds))]
        dtype = (DataType.LONG, DataType.INT)[self.rng.integers(2)]
        if kind == "constant" and not any(o for _, o in rows[0]):
            return self.sd.constant(np.array([n for n, _ in rows[0]], dtype.numpy))
        if kind in ("fed", "stored"):
            def value(sizes: Sizes, rng: np.random.Generator) -> Any:
                return np.array([n * np.prod([sizes[k] for k in o], dtype=int) for n, o in rows[rng.integers(len(rows))]], dtype.numpy)
            if kind == "fed":
                made = self.sd.placeholder(f"given{len(self.given)}", dtype, len(rows[0]))
                self.given[made.name()] = value
            else:
                made = self.sd.var(f"stored{len(self.stored)}", np.zeros(len(rows[0]), dtype.numpy))
                self.stored[made.name()] = value
            return made + 1 - 1 if self.rng.random() < 0.3 else made
        made = self.computed(rows[0])
        return made.cast_to(dtype) if self.rng.random() < 0.5 else made

    def computed(self, row: Sequence[Size]) -> Any:
        """From the shapes of arrays by the arithmetic of whole numbers."""
        sd, parts = self.sd, [self.one(s) for s in row]
        if self.rng.random() < 0.7:
            return sd.stack(0, *parts)
        joined = sd.concat(0, *(sd.expand_dims(p, 0) for p in parts)) if len(parts) > 1 else sd.expand_dims(parts[0], 0)
        return sd.gather(joined, sd.constant(np.arange(len(row), dtype=np.int32)), 0)

    def one(self, size: Size) -> Any:
        """One size, LONG."""
        sd, (n, letters) = self.sd, size
        factors = [sd.size_at(self.x, "ab".index(o)) if self.rng.random() < 0.6 else sd.shape(self.x)["ab".index(o)] for o in letters]
        if n != 1 or not factors:
            factors.append(sd.constant(np.int64(n)) if n != 4 or self.rng.random() < 0.5 else sd.size_at(self.x, 2))
        return math.prod(factors[1:], start=factors[0])

    # Ops

    def grow(self) -> None:
        """Add one op to the pool."""
        x, shape = self.pool[self.rng.integers(max(0, len(self.pool) - 3), len(self.pool))]
        kinds = (self.reshape, self.permute, self.slice, self.strided, self.expand, self.gather, self.tile, self.pad, self.reduce,
                 self.loop, self.filled)
        kind = kinds[self.rng.choice(len(kinds), p=np.array([4, 4, 3, 2, 1, 1, 1, 1, 1, 2, 1]) / 21)]
        made = kind(x, shape)
        if made is not None and len(made[1]) <= 5:
            v, shape = made
            self.pool.append((self.sd.math.sin(v) if self.rng.random() < 0.4 else v, shape))

    def reshape(self, x: Any, shape: list[Size]) -> Any:
        target = list(shape)
        if len(target) > 1 and self.rng.random() < 0.5:
            at = int(self.rng.integers(len(target) - 1))
            target[at:at + 2] = [times(*target[at:at + 2])]
        else:
            at = int(self.rng.integers(max(len(target), 1))) if target else 0
            n, letters = target[at] if target else (1, "")
            target[at:at + 1] = [(n, letters[:1]), (1, letters[1:])] if letters[1:] else [(n // 2, letters), (2, "")] if n % 2 == 0 \
                else [(n, letters), (1, "")]
        row: list[Size] = list(target)
        if self.rng.random() < 0.3:
            row[self.rng.integers(len(row))] = (-1, "")
        return self.sd.reshape(x, self.steering(row)), target

    def permute(self, x: Any, shape: list[Size]) -> Any:
        if len(shape) < 2:
            return None
        orders = [self.rng.permutation(len(shape)).tolist() for _ in range(5)]
        new = [shape[i] for i in orders[0]]
        return self.sd.permute(x, self.steering(*(o for o in orders if [shape[i] for i in o] == new))), new

    def slice(self, x: Any, shape: list[Size]) -> Any:
        begins: list[list[int]] = [[], []]
        sizes: list[Size] = []
        for n, letters in shape:
            if letters or self.rng.random() < 0.4:
                whole = self.rng.random() < 0.6
                sizes.append((n, letters) if whole else (1, ""))
                choice = (0, 0) if whole else (0, n - 1)
            else:
                length = int(self.rng.integers(1, n + 1))
                sizes.append((length, ""))
                choice = 0, n - length
            for row, begin in zip(begins, choice):
                row.append(begin)
        if not shape:
            return None
        asked = [(-1, "") if s == w and self.rng.random() < 0.3 else s for s, w in zip(sizes, shape)]
        return self.sd.slice(x, self.steering(*begins), self.steering(asked)), sizes

    def strided(self, x: Any, shape: list[Size]) -> Any:
        if not shape or shape[-1][1]:
            return None
        n, rank = shape[-1][0], len(shape)
        mask, step = (1 << rank - 1) - 1, int(self.rng.integers(1, 3))
        begin, end = [0] * (rank - 1) + [0], [0] * (rank - 1) + [n]
        steps = self.steering([1] * (rank - 1) + [step])
        made = self.sd.strided_slice(x, self.steering(begin), self.steering(end), steps, mask, mask, 0, 0, 0)
        return made, [*shape[:-1], (len(range(0, n, step)), "")]

    def expand(self, x: Any, shape: list[Size]) -> Any:
        at = int(self.rng.integers(len(shape) + 1))
        return self.sd.expand_dims(x, at), [*shape[:at], (1, ""), *shape[at:]]

    def gather(self, x: Any, shape: list[Size]) -> Any:
        fixed = [i for i, (_, letters) in enumerate(shape) if not letters]
        if not fixed:
            return None
        axis = fixed[self.rng.integers(len(fixed))]
        rows = [[int(k) for k in self.rng.integers(0, shape[axis][0], 3)] for _ in range(2)]
        return self.sd.gather(x, self.steering(*rows), axis), [*shape[:axis], (3, ""), *shape[axis + 1:]]

    def tile(self, x: Any, shape: list[Size]) -> Any:
        if not shape or len([o for _, letters in shape for o in letters]) > 2:
            return None
        repeats: list[Size] = [(int(self.rng.integers(1, 3)), "") for _ in shape]
        return self.sd.tile(x, self.steering(repeats)), [times(s, r) for s, r in zip(shape, repeats)]

    def pad(self, x: Any, shape: list[Size]) -> Any:
        if not shape or shape[-1][1]:
            return None
        before, behind = (int(n) for n in self.rng.integers(0, 3, 2))
        others = [0] * (2 * len(shape) - 2)
        padding = self.steering([*others, before, behind], [*others, behind, before])
        return self.sd.nn.pad(x, padding.reshape(len(shape), 2), 0.5), [*shape[:-1], (shape[-1][0] + before + behind, "")]

    def reduce(self, x: Any, shape: list[Size]) -> Any:
        if len(shape) < 2:
            return None
        axis = int(self.rng.integers(len(shape)))
        return self.sd.math.sum(x, self.steering([axis]), False), [s for i, s in enumerate(shape) if i != axis]

    def loop(self, x: Any, shape: list[Size]) -> Any:
        return self.sd.math.tanh(x) * x + 0.5, shape

    def filled(self, x: Any, shape: list[Size]) -> Any:
        if not shape:
            return None
        ones = self.sd.fill(self.steering(shape), self.dtype, 1.5)
        return x * ones, shape
