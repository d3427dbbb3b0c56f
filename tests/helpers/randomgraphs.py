"""Random graphs, and comparing how plans and the reference executor compute them."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dl4py.samediff import DataType, SameDiff

UNARY = ("tanh", "exp", "abs", "neg", "square", "sin")
BINARY = ("add", "sub", "mul", "max", "min", "squared_difference")
REDUCE = ("sum", "mean", "max", "min", "norm2")
TOLERANCE = {"f2": 2e-2, "f4": 1e-5, "f8": 1e-11}


def same(found: Any, wanted: Any, tolerance: float | None = None) -> None:
    """Equal type and shape; numbers equal up to the tolerance of the type, relative to the largest."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    if wanted.dtype.kind != "f":
        assert np.array_equal(found, wanted)
        return
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(wanted))
    finite = np.isfinite(wanted)
    limit = TOLERANCE[wanted.dtype.str[1:]] if tolerance is None else tolerance
    scale = max(1.0, float(np.abs(wanted[finite].astype(np.float64)).max(initial=0)))
    np.testing.assert_allclose(found[finite].astype(np.float64), wanted[finite].astype(np.float64), rtol=0, atol=limit * scale)


def reference(sd: Any, feeds: Mapping[str, Any] | None, names: Sequence[str]) -> dict[str, Any]:
    """What the reference executor computes."""
    before = os.environ.get("DL4PY_EXECUTOR")
    os.environ["DL4PY_EXECUTOR"] = "reference"
    try:
        return sd.output(feeds, *names)
    finally:
        if before is None:
            del os.environ["DL4PY_EXECUTOR"]
        else:
            os.environ["DL4PY_EXECUTOR"] = before


def agree(sd: Any, feeds: Mapping[str, Any] | None, *names: str) -> dict[str, Any]:
    """Compare plan and reference; two runs of the plan must be equal too. Returns the values."""
    wanted = reference(sd, feeds, names)
    found, again = sd.output(feeds, *names), sd.output(feeds, *names)
    assert list(found) == list(wanted)
    for name in found:
        same(found[name], wanted[name])
        same(again[name], found[name], 0.0)
    return found


class RandomGraph:
    """A graph of ``size`` random ops on placeholders x (batch, 3, 4) and y (batch, 4), variables and constants.

    Shapes meet by broadcasting (scalars, sizes of 1), and pass through reductions, matrix products and views.
    """

    def __init__(self, seed: int, size: int = 12, dtype: DataType = DataType.FLOAT) -> None:
        self.rng = np.random.default_rng(seed)
        self.type = dtype.numpy
        self.sd = sd = SameDiff.create()
        self.pool: list[Any] = [sd.placeholder("x", dtype, -1, 3, 4), sd.placeholder("y", dtype, -1, 4),
                                *(sd.var(f"w{i}", self.array(s)) for i, s in enumerate([(4, 4), (3, 1), (4,), (1, 1)])),
                                sd.constant("k", self.array((3, 4))), sd.constant("zero", self.array(())),
                                sd.constant("none", self.array((0, 4)))]
        self.types: dict[str, tuple[int, ...]] = {v.name(): v.get_shape() for v in self.pool}
        for _ in range(size):
            self.grow()

    def array(self, shape: tuple[int, ...]) -> Any:
        return self.rng.normal(size=shape).astype(self.type) if self.type.kind == "f" else self.rng.integers(-3, 4, shape).astype(self.type)

    def feeds(self, batch: int) -> dict[str, Any]:
        """Random values for the placeholders."""
        return {"x": self.array((batch, 3, 4)), "y": self.array((batch, 4))}

    def names(self) -> list[str]:
        """All variables of the graph but placeholders."""
        return [v.name() for v in self.pool[2:]]

    def grow(self) -> None:
        """Add one op; what does not fit is left out."""
        rng, floating = self.rng, self.type.kind == "f"
        x = self.pool[rng.integers(len(self.pool))]
        kind = rng.choice(["unary", "binary", "binary", "reduce", "matmul", "permute", "reshape", "slice", "concat", "softmax", "unstack",
                           "where",
                           "cast", "cumsum", "gather", "norm", "stretch", "stack"])
        rank = len(x.get_shape())
        bounded = self.sd.math.tanh(x) if floating and rng.random() < 0.3 else x
        if kind == "unary":
            made = getattr(self.sd.math, rng.choice(UNARY if floating else UNARY[2:5]))(bounded)
        elif kind == "binary":
            made = self.pair(x)
        elif kind == "reduce" and rank and "none" not in x.name() and 0 not in x.get_shape():
            axes = tuple(int(a) for a in rng.permutation(rank)[:rng.integers(1, rank + 1)])
            made = getattr(x, rng.choice(REDUCE if floating else ("sum", "max", "min")))(bool(rng.random() < 0.5), *axes)
        elif kind == "matmul" and rank >= 2 and x.get_shape()[-1] == 4 and floating:
            made = bounded.mmul(self.pool[2])
        elif kind == "permute" and rank >= 2:
            made = x.permute(*(int(a) for a in rng.permutation(rank)))
        elif kind == "reshape" and rank == 3 and x.get_shape()[1:] in ((3, 4), (4, 3)):
            made = x.reshape(-1, 12) if rng.random() < 0.5 else x.reshape(-1, 2, 6)
        elif kind == "slice" and rank and (x.get_shape()[-1] or 0) > 2:
            made = x[..., 1:] if rng.random() < 0.5 else x[..., ::2]
        elif kind == "concat" and rank and x.get_shape()[-1] not in (-1, 0):
            made = self.sd.concat(rank - 1, x, x)
        elif rank and (x.get_shape()[-1] or 0) > 1 and 0 not in x.get_shape():
            made = self.further(kind, x, rank)
        else:
            made = None
        if made is not None:
            self.pool += made if isinstance(made, list) else [made]

    def further(self, kind: str, x: Any, rank: int) -> Any:
        """Ops that have kernels of their own, several outputs, other types, or copies among views."""
        sd, rng, floating = self.sd, self.rng, self.type.kind == "f"
        if kind == "softmax" and floating:
            return sd.nn.softmax(x, rank - 1) if rng.random() < 0.5 else sd.nn.log_softmax(x)
        if kind == "unstack" and x.get_shape()[-1] <= 4:
            return list(sd.unstack(x, rank - 1, x.get_shape()[-1]))[::2]
        if kind == "where":
            return sd.math.mul(x.gt(0.0).cast_to(x.dtype), x)
        if kind == "cast" and floating:
            return sd.math.mul(x.cast_to(DataType.INT).cast_to(x.dtype), x)
        if kind == "cumsum":
            return sd.cumsum(x, False, bool(rng.random() < 0.5), rank - 1)
        if kind == "gather":
            return sd.gather(x, sd.constant(rng.integers(0, x.get_shape()[-1], 3).astype(np.int32)), rank - 1)
        if kind == "norm" and floating and rank == 2:
            return sd.nn.layer_norm(x, sd.constant(self.array(x.get_shape()[-1:])), None, False, 1)
        if kind == "stretch":
            return sd.expand_dims(x, rank) if rank < 4 else None
        if kind == "stack" and rank < 3:
            return sd.stack(rank, x, sd.math.neg(x))
        return None

    def pair(self, x: Any) -> Any:
        others = [o for o in self.pool if self.fits(x.get_shape(), o.get_shape())]
        other = others[self.rng.integers(len(others))]
        return getattr(self.sd.math, self.rng.choice(BINARY))(x, other)

    @staticmethod
    def fits(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
        """True when the shapes broadcast for every batch size: an unknown size meets itself at the same place, or 1."""
        short = min(len(a), len(b))
        return all(m == n or m == 1 or n == 1 for m, n in zip(a[len(a) - short:], b[len(b) - short:])) and \
            all(-1 not in s[1:] for s in (a, b)) and (len(a) == len(b) or -1 not in (a if len(a) < len(b) else b))
