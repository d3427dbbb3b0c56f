"""Every public function of NumPy and every method of its ufuncs, called on variables: the graph's op with NumPy's value and its gradient,
or an error of the library. Nothing is computed in silence from the values that variables happen to have."""
from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.ir.variable import SDVariable

RNG = np.random.default_rng(7)
ARRAYS = {"x": RNG.uniform(0.2, 0.9, (3, 3)), "y": RNG.uniform(0.2, 0.9, (3, 3)),
          "v": RNG.uniform(0.2, 0.9, 3), "w": RNG.uniform(0.2, 0.9, 3),
          "i": np.array([[5, 3, 2], [4, 1, 7], [8, 2, 6]]), "j": np.array([[2, 1, 0], [2, 1, 2], [0, 2, 1]]),
          "b": np.array([[True, False, True], [False, False, True], [True, True, False]]), "u": np.array([5, 3, 2], np.uint8)}


class Of(str):
    """An argument that is the array of that name, or its variable."""

    __slots__ = ()


X, Y, V, W, I, J, B, U = map(Of, "xyvwijbu")
#: Arguments with which functions are called, as far as NumPy takes them.
ARGUMENTS: tuple[tuple[Any, ...], ...] = (
    (X,), (X, Y), (I,), (I, J), (B,), (B, B), (U,), (U, U), (V,), (V, W), (X, 0), (X, 1), ((X, Y),), ([X, Y], 0), (B, X), (B, X, Y),
    (X, Y, X), (X, 0, 1), (X, (3, 3)), (X, [0, 1]), ("ij,jk->ik", X, Y), (X, [1, 2], 0), (V, W, V), (J, [X, Y, X]), (X, J, 0), (0.5, X),
    (V, 1.0), (X, V), (X, J), (X, U), (V, 5), (V, 0.0, 1.0), (X, "f4"), (I, 2), (I, B))
#: Options, for the first arguments.
OPTIONS: tuple[dict[str, Any], ...] = (
    {"dtype": "f4"}, {"dtype": "i4"}, {"dtype": "f8"}, {"where": np.eye(3, dtype=bool)}, {"where": np.eye(3, dtype=bool), "initial": 2},
    {"axis": 1, "keepdims": True}, {"axis": (0, 1)}, {"ddof": 1}, {"decimals": 1}, {"shape": (2, 2)}, {"k": 1}, {"ord": 1},
    {"side": "right"},
    {"method": "nearest"}, {"mode": "wrap"}, {"order": "F"}, {"n": 2}, {"rowvar": False}, {"min": 0.3, "max": 0.5})

#: What is asked of shapes and types alone, and what makes text or no arrays at all.
NO_VALUES = frozenset((
    "array_equal", "array_equiv", "can_cast", "iscomplexobj", "isrealobj", "isscalar", "iterable", "min_scalar_type", "ndim",
    "result_type", "shape", "size", "str_", "info", "bmat", "save", "savez", "savez_compressed", "savetxt", "load", "printoptions",
    "set_printoptions", "errstate", "isdtype", "issubdtype", "object_", "shares_memory", "may_share_memory", "typename",
    "mintypecode", "test"))
#: What holds any values, and where NumPy's vector code does not go from one element to the next.
NO_VALUE_TO_COMPARE = ("empty", "empty_like", "arctan2.reduce", "power.reduce")


def functions() -> Iterator[tuple[str, Any]]:
    for module, prefix in ((np, ""), (np.linalg, "linalg.")):
        for name in sorted(vars(module)):
            function = getattr(module, name)
            if name.startswith("_") or not callable(function) or isinstance(function, type) or name in NO_VALUES:
                continue
            yield prefix + name, function
            if isinstance(function, np.ufunc) and function.__name__ == name:
                yield from ((f"{name}.{m}", getattr(function, m)) for m in ("reduce", "accumulate", "outer", "at", "reduceat"))


def filled(given: Any, of: Callable[[str], Any]) -> Any:
    if isinstance(given, Of):
        return of(given)
    return type(given)(filled(g, of) for g in given) if isinstance(given, (tuple, list)) else given


def leaves(made: Any) -> list[Any]:
    return [one for m in made for one in leaves(m)] if isinstance(made, (tuple, list)) else [made]


def kind_of(array: np.ndarray) -> np.dtype:
    """The type of an array as a graph has it: texts are objects, however long."""
    return np.dtype(object) if array.dtype.kind == "U" else array.dtype


def alike(found: np.ndarray, wanted: np.ndarray) -> bool:
    if found.dtype == object:
        return bool(np.all(found == wanted))
    return np.allclose(found, wanted, 1e-2 if found.dtype == "f2" else 1e-5, 1e-6, equal_nan=True)


def fault(function: Any, arguments: tuple[Any, ...], options: dict[str, Any], gradient: bool) -> str | None:
    """What is wrong with a call; None where nothing is, or NumPy does not take it."""
    try:
        wanted = [np.asarray(a) for a in leaves(function(*filled(arguments, lambda n: ARRAYS[n].copy()), **options))]
    except Exception:       # whatever NumPy says of arguments that it does not take
        return None
    sd = SameDiff.create()
    names = sorted({str(a) for a in leaves(arguments) if isinstance(a, Of)})
    given = {n: (sd.var if ARRAYS[n].dtype.kind == "f" else sd.constant)(n, ARRAYS[n].copy()) for n in names}
    try:
        made = leaves(function(*filled(arguments, given.__getitem__), **options))
    except DL4PyError:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if not all(isinstance(m, SDVariable) for m in made):
        same = all(not isinstance(m, np.ndarray) for m in made)
        return None if same and function is np.size else f"gives {type(made[0]).__name__}"
    found = [m.eval() for m in made]
    if len(found) != len(wanted) or any(f.shape != w.shape or f.dtype != kind_of(w) for f, w in zip(found, wanted)):
        return f"{[(f.dtype, f.shape) for f in found]} where NumPy has {[(w.dtype, w.shape) for w in wanted]}"
    if not all(map(alike, found, wanted)):
        return f"{found} where NumPy has {wanted}"
    return _gradient_fault(sd, function, arguments, options, made, [n for n in names if ARRAYS[n].dtype.kind == "f"]) if gradient else None


def _gradient_fault(sd: SameDiff, function: Any, arguments: tuple[Any, ...], options: dict[str, Any], made: list[SDVariable],
                    names: list[str]) -> str | None:
    """The derivative along one direction beside the difference of two values."""
    floating = [k for k, m in enumerate(made) if m.dtype is DataType.DOUBLE]           # differences of others are rounding
    if not names or not floating:
        return None
    weights = [RNG.normal(size=made[k].eval().shape) for k in floating]
    total: Any = sum(sd.constant(c.astype(made[k].dtype.numpy)).mul(made[k]).sum() for k, c in zip(floating, weights))
    total.rename("total").mark_as_loss()
    try:
        found = sd.calculate_gradients({}, *names)
    except DL4PyError:
        return None
    along = {n: RNG.normal(size=ARRAYS[n].shape) for n in names}

    def at(step: float) -> Any:
        moved = {n: a + step * along[n] if n in along else a for n, a in ARRAYS.items()}
        values = leaves(function(*filled(arguments, lambda n: moved[n].copy()), **options))
        return sum(np.sum(c * values[k]) for k, c in zip(floating, weights))
    slopes = [(at(h) - at(-h)) / (2 * h) for h in (1e-6, 2e-6)]
    slope = sum(np.sum(found[n] * along[n]) for n in names)
    smooth = np.all(np.isfinite(slopes)) and np.isclose(*slopes, 1e-4, 1e-5)          # else an edge of the function lies in between
    return None if not smooth or np.isclose(slope, slopes[0], 1e-4, 1e-5) else f"slope {slope} where NumPy's values have {slopes[0]}"


def faults(arguments: Any, options: Any, gradient: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for name, function in functions():
            for given in arguments:
                for more in options:
                    wrong = None if name in NO_VALUE_TO_COMPARE else fault(function, given, more, gradient)
                    if wrong is not None and (name, given) not in KNOWN:
                        found[f"{name}{given}{more or ''}"] = wrong
    return found


#: Calls that differ: unsigned differences that wrap in NumPy, tolerances that NumPy takes and never looks at, and what it rejects as a
#: buffer.
KNOWN = {("unwrap", (U,)), ("real_if_close", (0.5, X)), ("linalg.matrix_rank", (0.5, X)), ("linalg.matrix_rank", ("ij,jk->ik", X, Y)),
         *(("frombuffer", given) for given in ((X,), (V,), (I,), (U,), (B,), (X, "f4")))}


def test_functions_and_ufuncs(monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")       # nothing is compiled for one run; options and gradients, which are slow, are
    assert not faults(((X, Y), (V,), (I,), (B, B), (X, J)), ({},), False)


@pytest.mark.parametrize("name, arguments, options", [
    ("angle", (U,), {}), ("angle", (X,), {"deg": True}), ("unravel_index", (U, U), {}), ("unravel_index", (U, (2, 3)), {}),
    ("unravel_index", (I, 9), {}), ("ravel_multi_index", ((J, J), (3, 4)), {}), ("ravel_multi_index", ((J, J), V), {}),
    ("atleast_2d", (X, "f4"), {}), ("broadcast_arrays", ("f4", X), {}), ("quantile", (I, B), {}), ("quantile", (B, B), {}),
    ("nanquantile", (X, B), {}), ("quantile", (I, 1), {}), ("quantile", (I, True), {"axis": 1}),
    ("quantile", (I, 1), {"method": "weibull"}), ("quantile", (X, 0), {"method": "hazen"}), ("percentile", (I, 100), {}),
    *((name, (U,), {"dtype": kind}) for name in ("cumulative_sum", "cumulative_prod", "cumsum", "cumprod", "nancumprod")
      for kind in ("i4", "u1", "f4")),
    ("cumulative_sum", (U,), {"dtype": "i4", "include_initial": True}), ("cumprod", (X,), {"axis": 1, "dtype": "f4"})], ids=str)
def test_types_of_results(name, arguments, options):
    assert not (wrong := fault(dict(functions())[name], arguments, options, False)), wrong


@pytest.mark.slow
@pytest.mark.parametrize("arguments", ARGUMENTS, ids=str)
def test_functions_with_gradients(arguments):
    assert not faults((arguments,), ({},), True)


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options(options):
    assert not faults(ARGUMENTS[:8], (options,), False)


@pytest.mark.parametrize("call", [
    np.asarray, np.array, np.from_dlpack, np.float64, float, int, bool, list, lambda x: np.array([x, x]), lambda x: np.ma.masked_invalid(x),
    lambda x: memoryview(np.asarray(x)), lambda x: x.__setitem__(0, 1.0), lambda x: x in [SameDiff.create().var("y", np.ones(3))],
    lambda x: np.roll(np.eye(3), x), lambda x: np.roll(x, x), lambda x: np.delete(x, x), lambda x: np.resize(x, x),
    lambda x: np.tril(x, k=x), lambda x: np.pad(x, x), lambda x: np.split(x, x), lambda x: np.insert(x, x, 1.0),
    lambda x: np.add.at(x, 0, 1.0)])
def test_values_are_not_taken_in_silence(call):
    sd = SameDiff.create()
    x = sd.var("x", np.array([1, 2, 1], np.float32))
    before = sd.ops()
    with pytest.raises(DL4PyError):
        call(x)
    assert sd.ops() == before
