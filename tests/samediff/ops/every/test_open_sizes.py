"""Gradients of ops whose inputs have no declared sizes: as with sizes, by both executors, or a typed error."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.ir.op import OPS
from tests.samediff.ops.rows.op_table import ROWS

#: Ops whose gradients ask for a size, each with an error that says which.
ASK = {"lstmCell", "lstsq", "qr", "flatten", "dl4j_lstm", "lstmBlock", "lstm_block_first", "sru"}


def _served(row):
    cls = OPS[row.op_id]
    return cls.gradient == "full" and not cls.stateful and any(a is not None and a.dtype.kind == "f" and a.ndim for a in row.arrays())


CASES = [r for r in ROWS if r.op_id != "print_variable" and _served(r)]


def gradients(row, is_open):
    """All gradients of a number that is made of the results."""
    sd, feeds, inputs = SameDiff.create(), {}, []
    for i, a in enumerate(row.arrays()):
        if a is None:
            inputs.append(None)
        elif a.dtype.kind == "f":
            inputs.append(sd.placeholder(f"in{i}", DataType.of(a.dtype), *[-1 if is_open else n for n in a.shape]))
            feeds[f"in{i}"] = a
        else:
            inputs.append(sd.constant(f"in{i}", a))
    made = row.op().place(sd, inputs, None)
    results = [v for v in (made if isinstance(made, (list, tuple)) else [made]) if v is not None and v.dtype.is_floating]
    loss = sum((sd.math.sin(v.cast_to(DataType.DOUBLE)) * 0.7).sum() for v in results)
    names = [g.name() for g in sd.gradients(loss, [v for v in inputs if v is not None and v.name() in feeds]) if g is not None]
    found = sd.output(feeds, *names) if names else {}
    return [found[n] for n in names]


@pytest.mark.slow
@pytest.mark.parametrize("row", CASES, ids=[f"{r.op_id}-{i}" for i, r in enumerate(CASES)])
def test_open_sizes_change_no_gradient(row, monkeypatch):
    try:
        wanted = gradients(row, False)
    except DL4PyError:
        pytest.skip("has no gradient by these inputs")
    for executor in ("plans", "reference"):
        monkeypatch.setenv("DL4PY_EXECUTOR", executor)
        try:
            found = gradients(row, True)
        except DL4PyError as error:
            assert row.op_id in ASK, error
            continue
        for got, want in zip(found, wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("executor", ["plans", "reference"])
@pytest.mark.parametrize("name, options, shapes", [
    ("conv1d", {"k": 0, "s": 2, "padding_mode": "CAUSAL"}, [(2, 2, 5), (3, 2, 3)]), ("conv1d", {"k": -1}, [(2, 2, 5), (3, 2, 3)]),
    ("conv2d", {"k_h": -1, "k_w": -1}, [(2, 2, 5, 4), (3, 2, 2, 3)]), ("deconv2d", {"k_h": -1, "k_w": -1}, [(2, 2, 3, 3), (2, 2, 4, 2)]),
    ("col2im", {"s_h": 1, "s_w": 1}, [(2, 1, 2, 2, 3, 3)])])
def test_kernels_whose_size_the_weights_say(name, options, shapes, executor, rng, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    arrays, found = [rng.normal(size=s) for s in shapes], []
    for is_open in (False, True):
        sd = SameDiff.create()
        given = [sd.placeholder(f"in{i}", DataType.DOUBLE, *[-1 if is_open else n for n in s]) for i, s in enumerate(shapes)]
        loss = sd.math.sin(sd.add_op(OPS[name](**options), given)).sum()
        first = sd.gradients(loss, given)
        second = sd.gradients(sum(sd.math.sin(g).sum() for g in first), given)
        found.append(list(sd.output({f"in{i}": a for i, a in enumerate(arrays)}, *[g.name() for g in (*first, *second)]).values()))
    for closed, opened in zip(*found):
        np.testing.assert_allclose(opened, closed, rtol=1e-9, atol=1e-12)
