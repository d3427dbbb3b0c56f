"""The array API standard on variables: every function as array-api-strict has it, on random arrays, or refused with a reason."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.numpy_functions.array_api import REFUSED, TYPES, functions

strict = pytest.importorskip("array_api_strict")

SIZES = st.integers(1, 4)
Call = Callable[..., Any]


class Given:
    """Arrays of one draw, in either library: matrices of one shape, a vector, a square one; of fractions, whole numbers, truth values."""

    def __init__(self, make: Callable[[Any], Any], rng: Any, rows: int, columns: int, kind: str) -> None:
        self.xp: Any = None
        of = rng.integers(-4, 5, (2, rows, columns)).astype(kind)
        self.x, self.y = make(of[0] / of.dtype.type(2) if of.dtype.kind == "f" else of[0]), make(of[1])
        self.pos, self.unit = make(abs(of[0]) + of.dtype.type(1)), make((of[0] / 8).astype(kind if of.dtype.kind == "f" else "f4"))
        self.i, self.j = (make(rng.integers(0, 5, (rows, columns))) for _ in range(2))
        self.b, self.c = (make(rng.random((rows, columns)) < 0.5) for _ in range(2))
        self.v, self.sorted = make(of[0, 0]), make(np.sort(of[0, 0]))
        square = rng.normal(size=(columns, columns)).astype("f8") + 3 * np.eye(columns)
        self.m, self.sym, self.t = make(square), make(square @ square.T), make(rng.normal(size=(rows, columns, 3)))
        self.f, self.g = make(rng.normal(size=(rows, columns))), make(rng.normal(size=(rows, columns)) + 2)
        self.places = make(rng.integers(0, columns, 3))
        self.take = make(rng.integers(0, columns, (rows, 2)))
        self.three, self.four = make(rng.normal(size=(2, 3))), make(rng.normal(size=(2, 3)))
        self.rows, self.columns = rows, columns


def unary(name: str, part: str = "x") -> Call:
    return lambda xp, a: getattr(xp, name)(getattr(a, part))


def binary(name: str, first: str = "x", second: str = "y") -> Call:
    return lambda xp, a: getattr(xp, name)(getattr(a, first), getattr(a, second))


FLOATING = ("acosh", "exp", "expm1", "log", "log10", "log1p", "log2", "sqrt", "tan", "tanh", "sin", "sinh", "cos", "cosh", "asinh", "atan",
            "reciprocal")

#: How each function is called.
CALLS: dict[str, list[Call]] = {
    **{n: [unary(n, "g") if n in ("acosh", "log", "log10", "log1p", "log2", "sqrt", "reciprocal") else unary(n, "f")] for n in FLOATING},
    "acosh": [lambda xp, a: xp.acosh(xp.abs(a.f) + 1)], "log": [lambda xp, a: xp.log(xp.abs(a.g))],
    **{n: [lambda xp, a, n=n: getattr(xp, n)(xp.abs(a.g))] for n in ("log10", "log2", "log1p", "sqrt")},
    **{n: [unary(n, "unit")] for n in ("acos", "asin", "atanh")},
    **{n: [unary(n), unary(n, "f")] for n in (
        "abs", "negative", "positive", "sign", "square", "ceil", "floor", "round", "trunc", "isfinite", "isinf", "isnan", "real")},
    "conj": [unary("real")], "imag": [], "signbit": [unary("signbit", "f")],
    **{n: [binary(n), binary(n, "f", "g"), lambda xp, a, n=n: getattr(xp, n)(a.x, a.v)] for n in (
        "add", "subtract", "multiply", "maximum", "minimum", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal")},
    **{n: [binary(n, "f", "g")] for n in ("divide", "atan2", "hypot", "logaddexp", "copysign")},
    **{n: [binary(n, "x", "pos"), binary(n, "f", "g")] for n in ("floor_divide", "remainder")},
    "pow": [lambda xp, a: xp.pow(xp.abs(a.g), a.f), binary("pow", "i", "j")],
    **{n: [binary(n, "i", "j"), binary(n, "b", "c")] for n in ("bitwise_and", "bitwise_or", "bitwise_xor")},
    "bitwise_invert": [unary("bitwise_invert", "i"), unary("bitwise_invert", "b")],
    **{n: [binary(n, "i", "j")] for n in ("bitwise_left_shift", "bitwise_right_shift")},
    **{n: [binary(n, "b", "c")] for n in ("logical_and", "logical_or", "logical_xor")}, "logical_not": [unary("logical_not", "b")],
    "clip": [lambda xp, a: xp.clip(a.x, -1, 2), lambda xp, a: xp.clip(a.f, min=0.5), lambda xp, a: xp.clip(a.f, max=a.g)],
    **{n: [unary(n), lambda xp, a, n=n: getattr(xp, n)(a.x, axis=0), lambda xp, a, n=n: getattr(xp, n)(a.x, axis=-1, keepdims=True),
           lambda xp, a, n=n: getattr(xp, n)(a.t, axis=(0, 2))] for n in ("max", "min", "prod", "sum")},
    "mean": [unary("mean", "f"), lambda xp, a: xp.mean(a.f, axis=1, keepdims=True), lambda xp, a: xp.mean(a.t, axis=(0, 1))],
    **{n: [unary(n, "f"), lambda xp, a, n=n: getattr(xp, n)(a.t, axis=2, correction=1), lambda xp, a, n=n: getattr(xp, n)(
        a.f, axis=0, keepdims=True)] for n in ("std", "var")},
    **{n: [unary(n, "b"), lambda xp, a, n=n: getattr(xp, n)(a.x, axis=1, keepdims=True)] for n in ("all", "any")},
    **{n: [unary(n), lambda xp, a, n=n: getattr(xp, n)(a.f, axis=0), lambda xp, a, n=n: getattr(xp, n)(a.x, axis=1, keepdims=True)]
       for n in ("argmax", "argmin")},
    "count_nonzero": [unary("count_nonzero"), lambda xp, a: xp.count_nonzero(a.x, axis=0), lambda xp, a: xp.count_nonzero(
        a.b, axis=1, keepdims=True)],
    **{n: [lambda xp, a, n=n: getattr(xp, n)(a.x, axis=1), unary(n, "v"), lambda xp, a, n=n: getattr(xp, n)(
        a.x, axis=0, include_initial=True)] for n in ("cumulative_sum", "cumulative_prod")},
    "diff": [lambda xp, a: xp.diff(a.t), lambda xp, a: xp.diff(a.t, n=2), lambda xp, a: xp.diff(a.x, axis=0, prepend=a.y)],
    "sort": [unary("sort"), lambda xp, a: xp.sort(a.x, axis=0, descending=True)],
    "argsort": [unary("argsort"), lambda xp, a: xp.argsort(a.x, axis=0), lambda xp, a: xp.argsort(a.f, descending=True)],
    "searchsorted": [lambda xp, a: xp.searchsorted(a.sorted, a.v), lambda xp, a: xp.searchsorted(a.sorted, a.v, side="right")],
    "isin": [binary("isin", "i", "j")], "where": [lambda xp, a: xp.where(a.b, a.x, a.y), lambda xp, a: xp.where(a.b, a.x, a.v)],
    "take": [lambda xp, a: xp.take(a.x, a.places, axis=1), lambda xp, a: xp.take(a.v, a.places)],
    "take_along_axis": [lambda xp, a: xp.take_along_axis(a.x, a.take, axis=1)],
    "matmul": [lambda xp, a: xp.matmul(a.f, a.m), lambda xp, a: xp.matmul(a.i, xp.matrix_transpose(a.j))],
    "matrix_transpose": [unary("matrix_transpose"), unary("matrix_transpose", "t")],
    "tensordot": [lambda xp, a: xp.tensordot(a.f, a.m, axes=1), lambda xp, a: xp.tensordot(a.f, a.g, axes=2), lambda xp, a: xp.tensordot(
        a.f, a.g, axes=((0,), (0,)))],
    "vecdot": [binary("vecdot", "f", "g"), lambda xp, a: xp.vecdot(a.f, a.g, axis=-2)],
    "broadcast_arrays": [lambda xp, a: tuple(xp.broadcast_arrays(a.x, a.v))], "broadcast_to": [
        lambda xp, a: xp.broadcast_to(a.v, (2, a.columns))],
    "concat": [lambda xp, a: xp.concat([a.x, a.y]), lambda xp, a: xp.concat([a.x, a.y], axis=1), lambda xp, a: xp.concat(
        [a.x, a.y], axis=None)],
    "stack": [lambda xp, a: xp.stack([a.x, a.y]), lambda xp, a: xp.stack([a.x, a.y], axis=-1)],
    "expand_dims": [lambda xp, a: xp.expand_dims(a.x, axis=1), lambda xp, a: xp.expand_dims(a.x, axis=-1)],
    "flip": [unary("flip"), lambda xp, a: xp.flip(a.x, axis=1)], "moveaxis": [lambda xp, a: xp.moveaxis(a.t, 0, 2)],
    "permute_dims": [lambda xp, a: xp.permute_dims(a.t, (2, 0, 1))],
    "repeat": [lambda xp, a: xp.repeat(a.x, 2, axis=1), lambda xp, a: xp.repeat(a.v, 3)],
    "reshape": [lambda xp, a: xp.reshape(a.t, (-1, 3)), lambda xp, a: xp.reshape(a.t, (3, -1), copy=True)],
    "roll": [lambda xp, a: xp.roll(a.x, 1), lambda xp, a: xp.roll(a.x, (1, -1), axis=(0, 1))],
    "squeeze": [lambda xp, a: xp.squeeze(xp.expand_dims(a.x, axis=0), axis=0)],
    "tile": [lambda xp, a: xp.tile(a.x, (2, 1)), lambda xp, a: xp.tile(a.v, (3,))], "unstack": [
        lambda xp, a: tuple(xp.unstack(a.x)), lambda xp, a: tuple(xp.unstack(a.t, axis=-1))],
    "meshgrid": [lambda xp, a: tuple(xp.meshgrid(a.v, a.sorted)), lambda xp, a: tuple(xp.meshgrid(a.v, a.sorted, indexing="ij"))],
    "tril": [unary("tril"), lambda xp, a: xp.tril(a.x, k=1)], "triu": [unary("triu"), lambda xp, a: xp.triu(a.t, k=-1)],
    "astype": [lambda xp, a: xp.astype(a.x, xp.float64), lambda xp, a: xp.astype(a.b, xp.int32)],
    "asarray": [lambda xp, a: xp.asarray(a.x), lambda xp, a: xp.asarray([[1, 2]], dtype=xp.int64)],
    "arange": [lambda xp, a: xp.arange(5), lambda xp, a: xp.arange(1, 9, 3), lambda xp, a: xp.arange(0, 2, 0.5, dtype=xp.float64)],
    "eye": [lambda xp, a: xp.eye(3, dtype=xp.float64), lambda xp, a: xp.eye(2, 3, k=1, dtype=xp.int32)],
    "full": [lambda xp, a: xp.full((2, 3), 7), lambda xp, a: xp.full((2,), 0.5, dtype=xp.float32)],
    "full_like": [lambda xp, a: xp.full_like(a.x, 3)], "linspace": [lambda xp, a: xp.linspace(0.0, 1.0, 5, dtype=xp.float64)],
    "ones": [lambda xp, a: xp.ones((2, 3), dtype=xp.int64)], "zeros": [lambda xp, a: xp.zeros(3, dtype=xp.float64)],
    "ones_like": [unary("ones_like")], "zeros_like": [unary("zeros_like")],
    "empty": [lambda xp, a: xp.zeros_like(xp.empty((2, 3), dtype=xp.float32))],
    "empty_like": [lambda xp, a: xp.zeros_like(xp.empty_like(a.x))],
    "from_dlpack": [], "can_cast": [], "result_type": [], "isdtype": [], "finfo": [], "iinfo": [], "broadcast_shapes": [],     # below
    "linalg.cholesky": [lambda xp, a: xp.linalg.cholesky(a.sym)], "linalg.cross": [lambda xp, a: xp.linalg.cross(a.three, a.four)],
    "linalg.det": [lambda xp, a: xp.linalg.det(a.m)], "linalg.diagonal": [lambda xp, a: xp.linalg.diagonal(a.x), lambda xp, a:
                                                                           xp.linalg.diagonal(a.t, offset=1)],
    "linalg.inv": [lambda xp, a: xp.linalg.inv(a.m)], "linalg.matmul": [lambda xp, a: xp.linalg.matmul(a.f, a.m)],
    "linalg.matrix_norm": [lambda xp, a: xp.linalg.matrix_norm(a.f), lambda xp, a: xp.linalg.matrix_norm(a.f, ord=1)],
    "linalg.matrix_power": [lambda xp, a: xp.linalg.matrix_power(a.m, 3), lambda xp, a: xp.linalg.matrix_power(a.m, -1)],
    "linalg.matrix_rank": [lambda xp, a: xp.linalg.matrix_rank(a.m)], "linalg.matrix_transpose": [
        lambda xp, a: xp.linalg.matrix_transpose(a.x)],
    "linalg.outer": [lambda xp, a: xp.linalg.outer(a.v, a.sorted)], "linalg.pinv": [lambda xp, a: xp.linalg.pinv(a.m)],
    "linalg.qr": [lambda xp, a: (lambda f: xp.matmul(f.Q, f.R))(xp.linalg.qr(a.m))],
    "linalg.slogdet": [lambda xp, a: tuple(xp.linalg.slogdet(a.m))], "linalg.solve": [lambda xp, a: xp.linalg.solve(a.m, a.sym)],
    "linalg.svd": [lambda xp, a: xp.linalg.svd(a.m, full_matrices=False).S], "linalg.svdvals": [lambda xp, a: xp.linalg.svdvals(a.m)],
    "linalg.tensordot": [lambda xp, a: xp.linalg.tensordot(a.f, a.m, axes=1)],
    "linalg.trace": [lambda xp, a: xp.linalg.trace(a.m), lambda xp, a: xp.linalg.trace(a.x)],
    "linalg.vecdot": [lambda xp, a: xp.linalg.vecdot(a.f, a.g)],
    "linalg.vector_norm": [lambda xp, a: xp.linalg.vector_norm(a.f), lambda xp, a: xp.linalg.vector_norm(a.f, axis=0, keepdims=True),
                            lambda xp, a: xp.linalg.vector_norm(a.f, ord=1)],
}


def standard() -> list[str]:
    """All functions of the standard."""
    skip = {"Device", *(n for n in strict.__all__ if n.startswith(("__", "set_", "get_", "reset_", "ArrayAPI"))), "fft", "linalg"}
    names = [n for n in strict.__all__ if n not in skip and callable(getattr(strict, n)) and n not in (*TYPES, "complex64", "complex128")]
    return sorted([*names, *(f"linalg.{n}" for n in strict.linalg.__all__), *(f"fft.{n}" for n in strict.fft.__all__)])


def test_every_function_is_there_or_refused_with_a_reason():
    assert sorted([*functions(), *(n for n in REFUSED if not n.startswith("complex"))]) == standard()
    assert sorted(CALLS) == functions()


def test_the_share_is_that_of_the_document():
    text = (Path(__file__).parents[3] / "docs" / "arrays.md").read_text(encoding="utf-8")
    refused = len(standard()) - len(functions())
    for part in (f"Of {len(standard())} in version 2024.12", f"{len(functions())} work", f"{refused} are refused"):
        assert part in " ".join(text.split())


def on_variables(sd: SameDiff, array: Any) -> Any:
    return sd.var(array) if array.dtype.kind == "f" else sd.constant(array)


def values(made: Any) -> list[Any]:
    return [v.eval() if hasattr(v, "eval") else np.asarray(v) for v in (made if isinstance(made, tuple) else (made,))]


@pytest.mark.sampled(63)
@pytest.mark.parametrize("name", [n for n in CALLS if CALLS[n]])
@seed(5)
@settings(max_examples=6, deadline=None, database=None, derandomize=True)
@given(st.integers(0, 999), SIZES, SIZES, st.sampled_from(["f4", "f8", "i4", "i8"]))
def test_as_array_api_strict(name, number, rows, columns, kind):
    for call in CALLS[name]:
        sd = SameDiff.create()
        theirs = Given(strict.asarray, np.random.default_rng(number), rows, columns, kind)
        ours = Given(lambda a, sd=sd: on_variables(sd, a), np.random.default_rng(number), rows, columns, kind)
        with np.errstate(all="ignore"):
            wanted, found = values(call(strict, theirs)), values(call(sd.array_namespace(), ours))
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted):
            assert a.dtype == b.dtype and a.shape == b.shape, (a.dtype, b.dtype, a.shape, b.shape)
            np.testing.assert_allclose(a, b, 2e-5 if a.dtype == np.float32 else 1e-10, 1e-6 if a.dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    xp = SameDiff.create().array_namespace()
    with pytest.raises(DL4PyError, match=REFUSED[name][:20]):
        owner, _, short = name.rpartition(".")
        getattr(getattr(xp, owner) if owner else xp, short)(xp.ones(3))


def test_types():
    sd = SameDiff.create()
    xp, x = sd.array_namespace(), sd.var("x", np.ones((2, 3), np.float32))
    assert xp == x.__array_namespace__() and hash(xp) == hash(x.__array_namespace__()) and xp.__array_api_version__ == "2024.12"
    assert xp.result_type(x, xp.float64) is DataType.DOUBLE and xp.can_cast(xp.int8, xp.int16) and not xp.can_cast(x, xp.int8)
    assert xp.isdtype(xp.int8, "signed integer") and xp.isdtype(x.dtype, ("integral", "real floating")) and xp.isdtype(xp.bool, xp.bool)
    assert not xp.isdtype(xp.uint8, "bool") and xp.finfo(x).bits == 32 and xp.iinfo(xp.int8).max == 127
    assert xp.broadcast_shapes((2, 1), (3,)) == (2, 3) and xp.from_dlpack(np.arange(3)).eval().tolist() == [0, 1, 2]
    with pytest.raises(DL4PyError, match="did you mean 'integral'"):
        xp.isdtype(xp.int8, "integrl")
    with pytest.raises(AttributeError, match="did you mean 'concat'"):
        getattr(xp, "conct")  # noqa: B009


def test_attributes():
    sd = SameDiff.create()
    x, open_one = sd.var("x", np.ones((2, 3), np.float32)), sd.placeholder("p", DataType.FLOAT, -1, 4)
    assert x.shape == (2, 3) and x.ndim == 2 and x.size == 6 and x.device == "graph" and x.to_device("graph") is x
    assert open_one.shape == (None, 4) and x.shape().eval().tolist() == [2, 3] and x.size().eval() == 6
    assert open_one.size().eval({"p": np.ones((5, 4), np.float32)}) == 20
    assert x.T.eval().shape == x.mT.eval().shape == (3, 2) and (+x).eval().shape == (2, 3)
    for act in (lambda: float(x), lambda: bool(x), lambda: int(x), lambda: x.__setitem__(0, 1), lambda: x == np.ones(4),
                lambda: x.to_device("cuda:0"), lambda: list(x)):
        with pytest.raises(DL4PyError):
            act()
    assert (x == 1).eval().all() and not (x != x).eval().any() and x in [x, open_one] and x is not None and x != "x"
