"""Ops that are wrong in other circumstances than those of the examples, each of which a check finds; and right ones that look like them."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType
from dl4py.samediff.graph import child_process
from dl4py.samediff.ir.op import OPS
from dl4py.udf import check_op, user_op
from dl4py.udf.checks import circumstances, runs

P = np.linspace(0.3, 1.7, 6).reshape(2, 3)
MEANS: dict[tuple[int, ...], float] = {}


@pytest.fixture(autouse=True)
def briefly(monkeypatch):
    monkeypatch.setattr(runs, "_SECONDS", 0.002)


@pytest.fixture
def made():
    names = []

    def op(code, **options):
        names.append(f"test_circumstances.op{len(names)}")
        return user_op(names[-1], **options)(code)
    yield op
    MEANS.clear()
    for name in names:
        OPS.remove(name)


def branches(xp, x):
    return xp.where(x > 0, 2 * x, 3 * x)


def twice(xp, x):
    return x * 2


def mean_of_the_first(xp, x):
    return x - MEANS.setdefault(x.shape, float(np.asarray(x).mean()))


def bytes_of(xp, x):
    return np.frombuffer(np.asarray(x).tobytes(order="A"), x.dtype).reshape(x.shape) * 2


def single(xp, x):
    return np.sin(np.asarray(x).astype(np.float32)).astype(x.dtype)


def of_its_own(xp, x, *, context):
    return x + np.random.default_rng(0).normal(size=x.shape)


def on_the_run(xp, x, *, context):
    return x + context.random().normal(size=x.shape).astype(x.dtype)


def by_training(xp, x, *, training):
    return x * 2 if training else x * 3


def by_types(inputs, outputs, grads):
    return [grads[0] * (2.0 if inputs[0].dtype is DataType.DOUBLE else 3.0)]


KERNEL = """def k(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] * 2 if x[i, j] > -5 else 0.0
"""

WRONG = {"gradient elsewhere": (branches, {"grad": lambda i, o, g: [g[0] * 2.0]}, "of the other sign"),
         "gradient in float32": (twice, {"grad": by_types}, "6 for float32 inputs, 4 for float64"),
         "strided inputs": (bytes_of, {"infer": lambda x: x}, "columns come first in memory"),
         "precision": (single, {}, "computed in float32"), "random numbers": (of_its_own, {"stateful": True}, "context.random()"),
         "other values": (twice, {"numba": KERNEL}, "times -10")}
if child_process.possible():
    WRONG["calls in either order"] = mean_of_the_first, {}, "keeps nothing from call to call"


@pytest.mark.sampled(6)
@pytest.mark.children
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.plans] * (n == "other values")) for n in WRONG])
def test_wrong_ops(made, name):
    code, options, text = WRONG[name]
    found = {c.name: c.detail for c in check_op(made(code, **options), [P], order=1).failures}
    assert text in found[name], found


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("code", "options"), [
    (branches, {"grad": lambda i, o, g: [g[0] * (3.0 - i[0].gt(0.0).cast_to(i[0].dtype))]}),
    (twice, {"grad": lambda i, o, g: [g[0] * 2.0]}), (on_the_run, {"stateful": True}), (by_training, {}),
    (lambda xp, x: xp.log(x), {"grad": lambda i, o, g: [g[0] / i[0]]}), (lambda xp, x: xp.round(x), {}),
    (lambda xp, x: xp.sqrt(x) * 0 + 0.1, {})], ids=["branches", "twice", "drawn", "training", "log", "round", "constant"])
def test_right_ops(made, code, options):
    check_op(made(code, **options), [P], order=1).raise_if_failed()


@pytest.mark.parametrize(("code", "what"), [
    (on_the_run, "by seed, iteration and node"), (lambda xp, x, *, context: x + context.iteration, "by training or iteration"),
    (lambda xp, x, *, context: x + context.training, "by training or iteration")], ids=["seed", "iteration", "training"])
def test_what_an_op_heeds(made, code, what):
    assert circumstances.heeds_runs(made(code, stateful=True).op_class(), [P]) == what


@pytest.mark.skipif(not child_process.possible(), reason="processes cannot be copied")
def test_work_in_a_copy_of_the_process():
    kept = []
    assert circumstances.in_copy(lambda: (kept.append(1), len(kept))[1]) == 1 and not kept
    assert circumstances.in_copy(lambda: 1 / 0) is None
