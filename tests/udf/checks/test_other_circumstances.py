"""What checks say of ops whose gradient depends on the batch or on known sizes, of what they share, and of what they keep."""
from __future__ import annotations

import re

import numpy as np
import pytest

from dl4py.samediff.base.user_code.check_report import CheckFailure
from dl4py.samediff.base.user_code.leaks import keeps_no_memory
from dl4py.udf import check_op, user_op
from dl4py.udf.checks import circumstances, runs

KEPT: dict = {}
HELD: list = []
X = np.linspace(-1, 2, 6).reshape(3, 2)


@user_op("other_circumstances.one_row", grad=lambda xp, inputs, outputs, grads: [grads[0] * (2 if inputs[0].shape[0] > 1 else 1)])
def one_row(xp, x):
    return np.asarray(x) * 2


def by_size(inputs, outputs, grads):
    return [grads[0] * float(inputs[0].get_shape()[1])]


@user_op("other_circumstances.by_size", grad=by_size)
def by_size_op(xp, x):
    return np.asarray(x) * x.shape[1]


@user_op("other_circumstances.shared")
def shared(xp, x, *, scale: float = 1.0):
    return np.asarray(x) * KEPT.setdefault("scale", scale)


@user_op("other_circumstances.hoards")
def hoards(xp, x):
    HELD.append(np.array(x))
    return x * 2


@user_op("other_circumstances.right")
def right(xp, x, *, scale: float = 1.0):
    return np.asarray(x) * scale


@pytest.mark.parametrize("check, op, text", [
    (lambda op: circumstances.gradients_elsewhere(op, [X], 1e-6, 0), one_row, "for one row alone"),
    (lambda op: circumstances.gradient_of_open_sizes(op, [X]), by_size_op, "another one where the graph leaves its sizes open"),
    (lambda op: circumstances.in_either_order(op, [X]), shared, "another op with another 'scale'"),
    (lambda op: keeps_no_memory(lambda: runs.results(op, [X]), hoards.__wrapped__), hoards, "each call keeps about"),
], ids=["one row", "open sizes", "shared", "hoards"])
def test_it_is_found(check, op, text):
    with pytest.raises(CheckFailure, match=text):
        check(op.op_class())


def test_right_ones_pass():
    op = right.op_class()
    assert circumstances.in_either_order(op, [X]) == "4 orders"
    assert keeps_no_memory(lambda: runs.results(op, [X]), right.__wrapped__) == "15 calls"


@pytest.mark.parametrize("file", ["<ipython-input-3-8a>", "<string>", "/gone/[parts] *.py", "parts.zip/author.py"])
@pytest.mark.parametrize("owner", ["call", "Made"])
def test_memory_of_code_that_is_in_no_file(file, owner):
    space = {"HELD": HELD, "__name__": "__main__"}
    exec(compile("def call(): HELD.append(bytes(1000))\nclass Made:\n    call = staticmethod(call)", file, "exec"), space)
    with pytest.raises(CheckFailure, match=re.escape(f"asked for in line 1 of {file}: ")):
        keeps_no_memory(space["call"], space[owner])
    assert keeps_no_memory(lambda: None, space[owner]) == "15 calls"


def test_memory_that_stops_to_grow():
    """As what Python keeps of freed objects."""
    kept = []

    def call():
        if len(kept) < 150:
            kept.append(bytes(1000))
    assert keeps_no_memory(call, call) == "300 calls"


def test_memory_of_code_that_is_not_python():
    assert keeps_no_memory(lambda: None, np.tanh) == keeps_no_memory(lambda: None, np.ndarray) == "not run: there is no code in Python"


@pytest.mark.parametrize("right", [True, False])
def test_gradients_with_other_attributes(monkeypatch, right):
    from dl4py.udf.checks import check
    monkeypatch.setattr(check, "possible", lambda: False)

    def grad(xp, inputs, outputs, grads, scale, twice):
        factor = scale * (2 if twice else 1) if right else 1.0      # what the defaults ask for
        return [grads[0] * factor]

    @user_op(f"test_other_circumstances.heeds_{right}".lower(), grad=grad)
    def scaled(xp, x, *, scale: float = 1.0, twice: bool = False):
        return x * scale * (2 if twice else 1)
    failures = {c.name: c.detail for c in check_op(scaled, [np.array([0.5, -1.0])]).failures}
    assert not failures if right else list(failures) == ["gradient with other attributes"] and "another 'scale'" in str(failures)
