"""Arguments of compiled functions of all kinds."""
from __future__ import annotations

import collections
import dataclasses
import enum
import warnings
from collections import namedtuple

import numpy as np
import pytest

from dl4py import compiled
from dl4py.samediff.device import devices
from dl4py.samediff.errors import DataTypeError, GraphError

X, W = np.arange(6, dtype=np.float64).reshape(2, 3) / 5, np.arange(12, dtype=np.float64).reshape(3, 4) / 7 - 0.5


@pytest.mark.parametrize("static", [slice(0, 1), (slice(None), 1), {1, 2}, frozenset((1, 2)), range(2)], ids=str)
def test_values_that_are_no_arrays_may_be_of_any_kind_that_can_be_compared(static):
    traced = []

    @compiled
    def f(x, s):
        traced.append(s)
        return x[s] if isinstance(s, (slice, tuple)) else x * len(s)
    for k in (1, 2):
        np.testing.assert_allclose(f(X * k, static), (X * k)[static] if isinstance(static, (slice, tuple)) else X * k * len(static))
    assert len(traced) == 1


def test_an_argument_that_is_none_is_named():
    with pytest.raises(GraphError, match=r"argument 1\['a'\]\[0\] is of type bytearray"):
        compiled(lambda x, s: x)(X, {"a": [bytearray(b"a")]})
    with pytest.raises(GraphError, match="argument 's' is of type bytearray"):
        compiled(lambda x, s: x)(X, s=bytearray(b"a"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        matrix = np.matrix(X)
    with pytest.raises(DataTypeError, match="np.asarray"):
        compiled(lambda m: m * m)(matrix)


@dataclasses.dataclass
class Layer:
    w: object
    twice: bool = False


@pytest.mark.plans
@pytest.mark.parametrize("given", [
    lambda k: Layer(k * W, True), lambda k: Shapes(k * W, 2), lambda k: collections.OrderedDict(w=k * W), lambda k: [np.float64(k), Kind.A],
    lambda k: (np.float32(k), frozenset((1,))), lambda k: {"w": k * W, "how": slice(0, 1), "none": None}], ids=range(6))
def test_arguments_of_other_kinds_are_replayed(given, monkeypatch):
    monkeypatch.setattr(devices, "active", False)
    f = compiled(lambda x, p: sum(v.sum() for v in leaves_of(p) if hasattr(v, "dtype")) * x)
    wanted = [f(X, given(k)).tolist() for k in (1, 2)]
    monkeypatch.setattr(f, "_program", None)
    assert [f(X, given(k)).tolist() for k in (1, 2)] == wanted and wanted[0] != wanted[1]


Shapes = namedtuple("Shapes", "w n")
Kind = enum.Enum("Kind", "A B")


def leaves_of(p):
    return vars(p).values() if isinstance(p, Layer) else p.values() if isinstance(p, dict) else p
