"""Dropouts, initialisers and constraints that are wrong in one way: the check of that name finds it, and no other."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from dl4py.layers import (
    Dropout,
    IDropout,
    IWeightInit,
    LayerConstraint,
    MaxNormConstraint,
    check_constraint,
    check_dropout,
    check_initialiser,
)
from dl4py.samediff import DataType
from dl4py.samediff.errors import GraphError
from tests.layers.checks.findings import found, hiding, made, only

# Dropouts

def drawing(value):
    return {"draw": lambda self, rng, shape, dtype, i, e: (value(rng, shape, i).astype(dtype), None)}


def adding(middle):
    return {"draw": lambda self, rng, shape, dtype, i, e: (None, rng.normal(middle, 0.5, shape).astype(dtype))}


def drops(rng, shape, i):
    return (rng.random(shape) < 0.5) * 2.0


DROPOUTS = [
    (drawing(drops), None, ""),
    (drawing(lambda rng, shape, i: np.ones(shape)), "random numbers", "it does nothing in training"),
    (drawing(lambda rng, shape, i: np.full(shape, 2.0 + i)), "random numbers", "another seed gives the same result"),
    (drawing(lambda rng, shape, i: drops(rng, shape, i) * 1e6 - 1e6 + 1), "types", "values of float16 are not finite"),
    ({"define": lambda self, sd, x: Dropout(0.5).define(sd, x).castTo("DOUBLE") if x.dtype.name == "FLOAT" else Dropout(0.5).define(sd, x)},
     "types", "float32 (6, 8) gives float64"),
    ({"define": lambda self, sd, x: Dropout(0.5).define(sd, x) * 2}, "at rest outside of training", "it acts outside of training"),
    ({"define": lambda self, sd, x: Dropout(0.5).define(sd, x).sum(1)}, "random numbers", "the same shape was expected"),
    (drawing(lambda rng, shape, i: (rng.random(shape) < 1 - 1e-9 * i) / (1 - 1e-9 * i)), "random numbers", "does nothing in training"),
    (drawing(lambda rng, shape, i: (rng.random(shape) < max(0.5, 1 - 1e-3 * (i + 1))) / max(0.5, 1 - 1e-3 * (i + 1))), None, ""),
    (adding(0.0), None, ""), (adding(0.5), "factors", "is added on average"),
    (drawing(lambda rng, shape, i: drops(rng, (shape[0], *shape[1:2]), i)), "other shapes", "inputs of shape (4, 6, 3) fail"),
    ({"draw": lambda self, rng, shape, dtype, i, e: (drops(rng, shape[:2], i), None)}, "other shapes", "that broadcast to the shape")]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("body, name, text", DROPOUTS)
def test_dropouts(body, name, text):
    only(check_dropout(made(IDropout, **body)()), name, text)


def test_options_for_images_alone():
    def draw(self, rng, shape, dtype, i, e):
        keep = rng.random(shape) < 0.5
        return (keep * 2.0 + (len(shape) == 4) * self.more * (rng.random(shape) - 0.5)).astype(dtype), None
    only(check_dropout(made(IDropout, ("more",), more=0.5, draw=draw)()), None, "")
    idle = check_dropout(made(IDropout, ("more",), more=0.5, draw=drawing(drops)["draw"])())
    only(idle, "options have an effect", "whatever 'more' is")


def test_dropouts_that_forget():
    def draw(self, rng, shape, dtype, i, e):
        return (drops(rng, shape, i) * getattr(self, "_value", 1.0)).astype(dtype), None
    only(check_dropout(made(IDropout, __init__=hiding(IDropout, 3.0), draw=draw)()), "factors", "on average", ["the same after JSON"])
    only(check_dropout(made(IDropout, __init__=hiding(IDropout, 1.0), draw=draw)()), None, "")


# Initialisers

def initialiser(init):
    return made(IWeightInit, init=lambda self, rng, fan_in, fan_out, shape, order="f", dtype=np.float32: init(rng, shape, order, dtype))()


def random(rng, shape, *rest):
    return np.random.default_rng(int(rng.next_int() if hasattr(rng, "next_int") else 0)).normal(size=shape)


def at_right_angles(rng, shape):
    rows, n = int(np.prod(shape[:-1])), shape[-1]
    found = np.linalg.qr(np.asarray(rng.normal((max(rows, n), min(rows, n)), 0.0, 1.0, DataType.DOUBLE, "f")))[0]
    return (found if rows >= n else found.T).reshape(shape)


def refusing(error, when):
    def init(rng, shape, order, dtype):
        if when(shape, order):
            raise error("not this one")
        return np.zeros(shape)
    return init


INITIALISERS = [
    (lambda rng, shape, order, dtype: np.zeros(shape), None, ""), (refusing(GraphError, lambda s, o: s != (12, 9)), None, ""),
    (refusing(GraphError, lambda s, o: s == (12, 9)), "shapes", "not this one"),
    (refusing(GraphError, lambda s, o: o == "c" and s == (12, 9)), "shapes", "not this one"),
    *((refusing(KeyError, lambda s, o, size=size: s == size), "shapes", "not this one") for size in ((5,), (9, 12), (1, 12, 9))),
    (refusing(KeyError, lambda s, o: o == "c"), "shapes", "not this one"),
    (lambda rng, shape, order, dtype: np.zeros(shape[::-1]), "shapes", "an array of shape (12, 9) was expected"),
    (lambda rng, shape, order, dtype: np.full(shape, np.inf), "shapes", "are not finite"),
    (lambda rng, shape, order, dtype: np.zeros(shape, np.float16 if "FLOAT" in str(dtype) else float), "types", "it gives float16"),
    (lambda rng, shape, order, dtype: np.zeros(shape, int), "types", "it gives int64"),
    (lambda rng, shape, order, dtype: np.random.default_rng(0).normal(size=shape), "seeds", "every seed gives the same values"),
    (lambda rng, shape, order, dtype: rng.normal(shape, 0.0, shape[0] ** -0.5, dtype, order), "seeds", "not with fan_in"),
    (lambda rng, shape, order, dtype: at_right_angles(rng, shape), None, ""),
    (lambda rng, shape, order, dtype: np.random.default_rng().normal(size=shape), "seeds", "equal seeds give different values")]


@pytest.mark.parametrize("init, name, text", INITIALISERS)
def test_initialisers(init, name, text):
    only(check_initialiser(initialiser(init)), name, text, ["the same after JSON"] if text.startswith("equal seeds") else ())


# Constraints

def constraint(constrained):
    return made(LayerConstraint, constrained=lambda self, xp, p: constrained(p))()


CALLS = itertools.count(1)
CONSTRAINTS = [
    (lambda p: np.minimum(p, 1), None, ""), (lambda p: p[:-1], "shape and type", "float64 (4, 3) gives float64 (3, 3)"),
    (lambda p: p.astype(np.float64), "shape and type", "float32 (4, 3) gives float64"),
    (lambda p: np.minimum(p, 1, out=p), "shape and type", "it writes to its input"),
    (lambda p: p / (p != 0).any() if p.any() else p / 0, "special values", "zeros give"),
    (lambda p: np.where(np.abs(p) > 1e15, p / 0, np.minimum(p, 1)), "special values", "large values give"),
    (lambda p: p / (p.max() - p.min() != 0) if p.any() else p, "special values", "one value give"),
    (lambda p: p * 1.01, "holds when applied again", "goes on to change the array"), (lambda p: -p, "holds when applied again", "goes on"),
    (lambda p: np.round(p * 1.1), "holds when applied again", "goes on to make large values larger"),
    (lambda p: p * 0.5, "holds when applied again", "takes the array to 0"),
    (lambda p: p * 0.5 + 0.5, None, ""),                                            # comes to rest
    (lambda p: np.minimum(p, 1 + 1e-6 * next(CALLS)), "holds when applied again", "the same array gives another result")]


@pytest.mark.parametrize("constrained, name, text", CONSTRAINTS)
def test_constraints(constrained, name, text):
    with np.errstate(all="ignore"):
        report = check_constraint(constraint(constrained))
    assert list(found(report)) in ([name] if name else [], [name, "the same after JSON"])
    assert not name or text in found(report)[name]


@pytest.mark.parametrize("axes, name", [(lambda self: self.dimensions, None), (lambda self: (0,), "options have an effect")])
def test_constraints_that_heed_their_dimensions(axes, name):
    def constrained(self, xp, p):
        return p / xp.maximum(xp.sqrt((p * p).sum(axis=axes(self), keepdims=True)), 1.0)
    only(check_constraint(made(LayerConstraint, constrained=constrained)(dimensions=(1,))), name, "'dimensions'")
    only(check_constraint(made(LayerConstraint, constrained=lambda self, xp, p: xp.clip(p, -1, 1))(dimensions=(0, 1))), None, "")


def test_constraints_of_other_errors():
    def fails(p):
        raise ValueError("mine")
    only(check_constraint(constraint(fails)), "shape and type", "ValueError: mine")
    assert check_constraint(MaxNormConstraint(1.0, 0), (5, 6)).passed
