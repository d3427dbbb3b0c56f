"""Every registered op against its row of the table: shape rule, gradients, files, kernels."""
from __future__ import annotations

import collections
import dataclasses
import functools
import io
from typing import Any

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.graph.gradient_check import check_gradient
from dl4py.samediff.ir.op import OPS, Op
from dl4py.samediff.ir.signature import result_of
from dl4py.udf import check_op
from tests.samediff.ops.rows.op_table import ROWS, Row

#: Relative error of gradients of either order along random directions, in double precision.
TOLERANCE = 1e-6


def own(name: str) -> bool:
    """Whether an op belongs to dl4py; tests and plug-ins register others."""
    return OPS[name].__module__.startswith("dl4py.samediff.")


def is_call(row: Row) -> bool:
    """Whether an op stands for other nodes, which take its place when it is called."""
    return OPS[row.op_id].compute is Op.compute


def assert_placed(row: Row) -> None:
    """The nodes that take the place of an op have its shapes."""
    sd = SameDiff()
    made = row.op().place(sd, [None if a is None else sd.constant(a) for a in row.arrays()], None)
    for v in made if isinstance(made, list) else [made]:
        assert v.spec.accepts(v.eval().shape)


def test_calls_give_one_variable_or_several_as_declared():
    wrong = set()
    for row in ROWS:
        sd = SameDiff()
        made = row.op().place(sd, [None if a is None else sd.constant(a) for a in row.arrays()], None)
        if isinstance(made, list) != (result_of(OPS[row.op_id]) == "list[SDVariable]"):
            wrong.add(row.op_id)
    assert wrong <= {"log_matrix_determinant", "lstmLayer"}         # an attribute decides


def test_every_op_has_a_row():
    rows = {r.op_id for r in ROWS}
    assert sorted({name for name in OPS if own(name)} - rows) == []
    assert sorted(rows - set(OPS)) == []


def test_left_out_gradients_have_a_reason():
    assert not [r.op_id for r in ROWS if r.derivatives < 2 and not r.why]


#: Options that ops keep for files of DL4J and refuse, or that need other inputs, which rows have.
REFUSED = {"is_complex", "scaled", "has_bias", "ret_full_sequence"}
#: What asks for an axis when it is made.
NEED_AXES = {"iamax", "iamin", "first_index", "last_index", "spread", "spread_sum"}
#: Those of gradients, which the rows of their ops give, and shapes that name a size.
GIVEN_ELSEWHERE = {"lstm_sequence_grad": ["mask?"], "rnn_sequence_grad": ["mask?"], "resize_back": ["size?"], "create_list": ["size?"],
                   "distribution_binomial_ex": ["shape_variable?"], "check_numerics": ["message?"]}

NAMES = [f"{r.op_id}-{i}" for i, r in enumerate(ROWS)]


def switched() -> dict[str, Row]:
    """The rows with a switch the other way, of switches that stand one way in all rows, and with axes as an input."""
    found: dict[str, Row] = {}
    ways = collections.Counter((r.op_id, n, v) for r in ROWS for op in [r.op()] for n in op.attribute_names()
                               if isinstance(v := getattr(op, n), bool))
    for row in ROWS:
        op, names = row.op(), OPS[row.op_id].inputs.split()
        for n in op.attribute_names():
            value = getattr(op, n)
            if isinstance(value, bool) and not ways[row.op_id, n, not value] and n not in REFUSED:
                found.setdefault(f"{row.op_id}-{n}", dataclasses.replace(row, attributes=row.attributes | {n: not value}))
        if names[-1:] == ["axes?"] and len(row.inputs) == len(names) - 1 and row.op_id not in NEED_AXES:
            given = {k: v for k, v in row.attributes.items() if k != "dimensions"}
            found.setdefault(f"{row.op_id}-axes", dataclasses.replace(row, inputs=(*row.inputs, [0]), attributes=given))
    return found


SWITCHED = switched()
#: Attributes whose default asks for a value, or does not go with the inputs of the row.
NEEDED = {f"{i}-{n}" for names, ids in {
    "dimensions": "broadcastadd broadcastsub broadcastdiv broadcastrdiv broadcastrsub broadcastcopy broadcast_min broadcast_max "
                  "broadcast_amin broadcast_amax broadcast_equalto broadcast_greaterthan broadcast_lessthan broadcast_notequal "
                  "broadcast_greaterthanorequal broadcast_lessthanorequal iamax iamin first_index last_index spread spread_sum "
                  "standardize layer_norm",
    "axis": "cumsum cumprod cumprod_bp unstack gather_bp", "shared_axes": "prelu", "dimensions_x dimensions_y": "tensordot",
    "dimension": "concat", "num": "unstack", "split_dim": "split_v", "data_type": "lin_space_of",
    "has_bias": "lstmLayer", "channels_first": "layer_norm",
    "k_d k_h k_w": "maxpool2d avgpool2d max_pool_with_argmax im2col pnormpool2d maxpool3dnew avgpool3dnew",
}.items() for n in names.split() for i in ids.split()}


def defaulted() -> dict[str, Row]:
    """The first row of an op without an attribute that all rows of the op give."""
    found: dict[str, Row] = {}
    given = collections.Counter((r.op_id, n) for r in ROWS for n in r.attributes)
    for row in ROWS:
        count = sum(r.op_id == row.op_id for r in ROWS)
        for f in dataclasses.fields(OPS[row.op_id]):
            if f.default is not dataclasses.MISSING and given[row.op_id, f.name] == count and f"{row.op_id}-{f.name}" not in NEEDED:
                left = {k: v for k, v in row.attributes.items() if k != f.name}
                found.setdefault(f"{row.op_id}-{f.name}", dataclasses.replace(row, attributes=left))
    return found


DEFAULTED = defaulted()


def test_every_optional_input_is_given_in_a_row():
    given = {(r.op_id, n) for r in (*ROWS, *SWITCHED.values()) for n, a in zip(OPS[r.op_id].inputs.split(), r.arrays()) if a is not None}
    lacking = {r.op_id: [n for n in OPS[r.op_id].inputs.split() if n.endswith("?") and (r.op_id, n) not in given] for r in ROWS}
    assert {k: v for k, v in lacking.items() if v and k not in NEED_AXES} == GIVEN_ELSEWHERE


@pytest.mark.sampled(12)
@pytest.mark.parametrize("row", SWITCHED.values(), ids=SWITCHED)
def test_op_with_a_switch_the_other_way(row: Row, monkeypatch):
    test_op(row, monkeypatch)
    test_graph_with_the_op_is_saved_and_loaded(row, monkeypatch)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("row", DEFAULTED.values(), ids=DEFAULTED)
def test_op_with_an_attribute_left_out(row: Row, monkeypatch):
    test_op(row, monkeypatch)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_op(row: Row, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")       # derivatives are graphs of many nodes: nothing is compiled for one run
    apart = is_call(row) or row.through or row.fixed
    if is_call(row):
        assert_placed(row)
    else:
        asked = False if apart or not row.derivatives else row.gradient
        report = check_op(row.op(), row.arrays(), gradient=asked, order=row.derivatives, tolerance=TOLERANCE)
        report.checks[:] = [c for c in report.checks if c.name != "survives saving and loading" or not row.saved_as]
        report.raise_if_failed()
    for order in range(1, row.derivatives + 1) if apart and OPS[row.op_id].gradient == "full" else ():
        check_gradient(functools.partial(differentiated, row), row.arrays(), order, TOLERANCE, fixed=row.fixed)


def differentiated(row: Row, sd: SameDiff, variables: list[Any]) -> Any:
    """What the gradients of a row are checked on."""
    return row.op().place(sd, variables, None) if row.through is None else row.through(sd, row.op(), variables)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_graph_with_the_op_is_saved_and_loaded(row: Row, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    sd, op = SameDiff(), row.op()
    sd.seed = 5
    feeds = {f"in{i}": a for i, a in enumerate(row.arrays()) if a is not None}
    inputs = [None if a is None else sd.placeholder(f"in{i}", DataType.of(a), *a.shape) for i, a in enumerate(row.arrays())]
    if is_call(row):
        inputs = [None if a is None else sd.constant(a) for a in row.arrays()]
        made, feeds = op.place(sd, inputs, None), {}
    else:
        made = sd.add_op(op, inputs)
    names = [v.name() for v in (made if isinstance(made, list) else [made])]
    stream = io.BytesIO()
    sd.save(stream)
    stream.seek(0)
    again = SameDiff.load(stream)
    again.seed = sd.seed
    expected = sd.output(feeds, *names)
    for name, value in again.output(feeds, *names).items():
        np.testing.assert_array_equal(value, expected[name])
        assert value.dtype == expected[name].dtype


@pytest.mark.slow
@pytest.mark.parametrize("row", [r for r in ROWS if not is_call(r)], ids=[n for n, r in zip(NAMES, ROWS) if not is_call(r)])
def test_kernel(row: Row):
    for kind in (np.float64, np.float32):
        arrays = [a if a is None or a.dtype != np.float64 or "graph" in row.saved_as else a.astype(kind) for a in row.arrays()]
        report = check_op(row.op(), arrays, dtypes=(kind,), gradient=False)
        assert not [c for c in report.failures if c.name == "compiled plan agrees with compute"], str(report)
