"""Orders, medians, rounding, and products of whole numbers: recorded, they are what NumPy computes."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py import GraphScope, INDArray, compiled

CALLS = {
    "sort": np.sort, "sort of columns": lambda a: np.sort(a, axis=0), "sort of all": lambda a: np.sort(a, axis=None),
    "argsort": lambda a: np.argsort(a, kind="stable"), "argsort of columns": lambda a: np.argsort(a, axis=-2, kind="stable"),
    "median": lambda a: np.median(a), "median of rows": lambda a: np.median(a, axis=1, keepdims=True),
    "median over axes": lambda a: np.median(a, axis=(0, 2)),
    "kron": lambda a: np.kron(a, a[0]), "kron of a vector": lambda a: np.kron(a[0, 0], a),
    "round": np.round, "round to hundredths": lambda a: np.round(a, 2), "round to tens": lambda a: np.around(a, -1),
    "product": lambda a: a @ np.swapaxes(a, -1, -2), "product with a vector": lambda a: a @ a[0, 0], "vectors": lambda a: a[0, 0] @ a[0, 1],
    "dot": lambda a: np.dot(a, a[0].T), "tensordot": lambda a: np.tensordot(a, a, ((0, 2), (0, 2))), "inner": lambda a: np.inner(a, a),
}


#: Where NumPy has another type (truth values), or rounds whole numbers in their own way.
CASES = [(n, t) for n in CALLS for t in (np.float64, np.float32, np.int32, np.bool_)
         if not (t == np.bool_ and n.startswith(("round", "median"))) and (n, t) != ("round to tens", np.int32)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name, dtype", CASES)
def test_recorded_as_computed(name, dtype, rng):
    a = INDArray.of(np.round(rng.normal(0, 9, (2, 3, 4)), 1).astype(dtype))
    wanted = np.asarray(CALLS[name](a))
    with GraphScope():
        found = CALLS[name](a)
    replayed = compiled(CALLS[name])
    for made in (found, replayed(a), replayed(a)):
        assert (made.dtype, made.shape) == (wanted.dtype, wanted.shape)
        if wanted.dtype.kind == "f":
            np.testing.assert_allclose(np.asarray(made), wanted, rtol=0, atol=8 * np.finfo(wanted.dtype).eps * np.abs(wanted).max())
        else:
            np.testing.assert_array_equal(np.asarray(made), wanted)


@pytest.mark.parametrize("name", ["sort", "argsort", "median of rows"])
def test_nan_stands_last(name):
    a = INDArray.of(np.array([[[2.0, np.nan, -1.0]], [[3.0, 1.0, np.inf]]]).transpose(0, 2, 1).copy())
    with GraphScope():
        found = CALLS[name](a)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(CALLS[name](a)))
