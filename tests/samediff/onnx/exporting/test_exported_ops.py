"""Every op of the table becomes nodes of ONNX with the same values, or is refused by name for a reason that is listed."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import DataTypeError, MissingOpError
from dl4py.samediff.ir.op import OPS
from dl4py.samediff.onnx.not_sayable import REFUSED
from tests.samediff.onnx.exporting.comparing import compare
from tests.samediff.onnx.exporting.not_sayable import NOT_COMPARED, SOME_REFUSED
from tests.samediff.ops.rows.op_table import ROWS

#: The reference pads the axes of images the wrong way round where they are padded differently; ONNX Runtime gives the right sizes.
REFERENCE_FAILS = {("maxpool2d", "NHWC", 1)}


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch):
    """The question is what ops mean."""
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")


def graph(row, floating):
    """The op of a row on placeholders; whole numbers are constants where there are others."""
    sd = SameDiff.create()
    xs, feeds = [], {}
    arrays = row.arrays()
    fixed = "iu" if any(a is not None and a.dtype.kind not in "iu" for a in arrays) else ""
    for i, a in enumerate(arrays):
        if a is None:
            xs.append(None)
            continue
        a = a.astype(floating) if a.dtype.kind == "f" else a
        if a.dtype.kind in fixed:
            xs.append(sd.constant(f"in{i}", a))
            continue
        xs.append(sd.placeholder(f"in{i}", DataType.of(a.dtype), *a.shape))
        feeds[f"in{i}"] = a
    made = row.through(sd, row.op(), xs) if row.through else sd.add_op(row.op(), xs)
    return sd, feeds, [v.name() for v in (made if isinstance(made, (list, tuple)) else [made])]


def built(row):
    """In FLOAT where the op takes that."""
    try:
        return graph(row, np.float32)
    except DataTypeError:
        return graph(row, np.float64)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("row", ROWS, ids=[f"{r.op_id}-{i}" for i, r in enumerate(ROWS)])
def test_ops(row):
    if row.op_id in NOT_COMPARED or (row.op_id, row.attributes.get("data_format"), row.attributes.get("p_h")) in REFERENCE_FAILS:
        pytest.skip(NOT_COMPARED.get(row.op_id, "the reference fails"))
    sd, feeds, names = built(row)
    try:
        compare(sd, feeds, names)
    except MissingOpError:
        assert row.op_id in REFUSED or row.op_id in SOME_REFUSED
    else:
        assert row.op_id not in REFUSED, "is listed as refused"


@pytest.mark.parametrize("kind", ["unique", "unique_with_counts"])
def test_repeated_elements(kind):
    """In the order in which they come, as here."""
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1)
    found = sd.add_op(OPS[kind](), [x])
    compare(sd, {"x": np.float32([3, 1, 3, 2, 1, 3])}, [v.name() for v in found])


def test_reasons_are_of_ops_that_there_are():
    assert not {*REFUSED, *NOT_COMPARED, *SOME_REFUSED} - {r.op_id for r in ROWS}
    assert len(REFUSED) < 0.16 * len({r.op_id for r in ROWS})
