"""Wrong inputs to any op: a typed error that says where, or a result of the promised shape; never anything else."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.cpu.kernel_table import KERNELS
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.ir.op import Op
from tests.samediff.ops.rows.mutations import MUTATIONS, cases
from tests.samediff.ops.rows.op_table import ROWS, Row

#: How the graph knows the inputs: by value, by shape, by rank.
KNOWN = ("value", "shape", "rank")


def run(row: Row, arrays: list[Any], attributes: dict[str, Any], known: str) -> None:
    """Build and run; ShapeError … is fine, what comes out must have the shape that was promised."""
    sd = SameDiff()
    given, feeds = [], {}
    try:
        op = type(row.op())(**attributes)
        for i, a in enumerate(arrays):
            if a is None or known == "value":
                given.append(None if a is None else sd.constant(f"in{i}", a))
                continue
            feeds[f"in{i}"] = a
            given.append(sd.placeholder(f"in{i}", DataType.of(a), *(a.shape if known == "shape" else (-1,) * a.ndim)))
        made = op.place(sd, given, None) if type(op).compute is Op.compute else sd.add_op(op, given)
    except DL4PyError:
        return
    outputs = made if isinstance(made, list) else [made]
    if not outputs:         # nothing to split
        return
    try:
        found = sd.output(feeds, *outputs)
    except DL4PyError as error:
        text = "\n".join([str(error), *getattr(error, "__notes__", [])])
        assert "test_bad_input.py" in text and ("op '" in text or "placeholder" in text), text
        return
    for v in outputs:
        assert v.spec.accepts(found[v.name()].shape), f"{v.spec} was promised, {found[v.name()].shape} came"


def resized(a: Any, shape: tuple[int, ...]) -> Any:
    """The values of an array again and again in another shape."""
    return np.resize(a if a.size else np.zeros(1, a.dtype), shape)


@pytest.fixture(autouse=True)
def _uncompiled(monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(ROWS), st.sampled_from(sorted(MUTATIONS)), st.integers(0, 7), st.sampled_from(KNOWN))
def test_one_mistake(row, mutation, i, known):
    case = MUTATIONS[mutation](row, i)
    if case is not None:
        run(row, *case, known)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(ROWS), st.data())
def test_inputs_of_any_shape(row, data):
    shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)
    arrays = [None if a is None else resized(a, data.draw(shapes)) for a in row.arrays()]
    run(row, arrays, row.attributes, data.draw(st.sampled_from(KNOWN)))


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=[f"{r.op_id}-{i}" for i, r in enumerate(ROWS)])
def test_every_mistake(row):
    for _, arrays, attributes in cases(row):
        for known in KNOWN:
            run(row, arrays, attributes, known)


#: Ops whose mistakes are tried on compiled plans each time: each does its work in another way.
COMPILED = {"gather", "scatter_add", "slice", "reshape", "squeeze", "unstack", "top_k", "matmul", "solve", "pad", "tile", "split_v",
            "segment_sum", "dynamic_stitch", "cross", "trace_bp", "onehot", "image_resize", "conv2d", "maxpool2d", "lstm_sequence"}


def compiled_rows() -> list[Any]:
    """Rows of ops with kernels of their own; those that are not tried each time are slow."""
    kernels = [r for r in ROWS if KERNELS.has(type(r.op())) or r.op_id in COMPILED]
    return [pytest.param(r, id=f"{r.op_id}-{i}", marks=() if r.op_id in COMPILED else pytest.mark.slow) for i, r in enumerate(kernels)]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("row", compiled_rows())
def test_compiled(row, monkeypatch):
    monkeypatch.delenv("DL4PY_EXECUTOR")
    for name, arrays, attributes in cases(row):
        for known in KNOWN:
            if "floats" not in name and "integers" not in name:
                run(row, arrays, attributes, known)
