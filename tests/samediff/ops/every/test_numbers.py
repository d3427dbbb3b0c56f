"""Numbers beside whole numbers keep all their 64 bits, in every executor and in files; fractions are refused, never cut."""
from __future__ import annotations

import dataclasses
import io
from typing import Any

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.device.devices import device
from dl4py.samediff.errors import DataTypeError, DL4PyError
from dl4py.samediff.expressions.conditions import Condition, Conditions
from dl4py.samediff.ir.op import OPS, as_tuple
from dl4py.samediff.ir.translate_errors import inferred
from tests.samediff.ops.every.test_every_op import is_call
from tests.samediff.ops.rows.op_table import ROWS, Row

WHOLE = [DataType.BYTE, DataType.SHORT, DataType.INT, DataType.LONG, DataType.UBYTE, DataType.UINT16, DataType.UINT32, DataType.UINT64]
LARGE = {DataType.LONG: 2**53 + 1, DataType.UINT64: 2**63 + 2**53 + 1}
WAYS = "plan", "reference", "emulated"

#: By id, of ops whose numbers have the type of an array: attributes for a large number n, and what they make of [n, n - 1, 3].
EXACT: dict[str, Any] = {
    "add_scalar": lambda n: ({"scalar": n // 4}, [n + n // 4, n - 1 + n // 4, 3 + n // 4]),
    "sub_scalar": lambda n: ({"scalar": n - 2}, [2, 1, 5 - n]),
    "rsub_scalar": lambda n: ({"scalar": n}, [0, 1, n - 3]),
    "mul_scalar": lambda n: ({"scalar": n}, [n * n, n * (n - 1), 3 * n]),
    "div_scalar": lambda n: ({"scalar": n}, [1, 0, 0]),
    "rdiv_scalar": lambda n: ({"scalar": n}, [1, 1, n // 3]),
    "floordiv_scalar": lambda n: ({"scalar": n}, [1, 0, 0]),
    "mod_scalar": lambda n: ({"scalar": n}, [0, n - 1, 3]),
    "fmod_scalar": lambda n: ({"scalar": n}, [0, n - 1, 3]),
    "max_scalar": lambda n: ({"scalar": n}, [n, n, n]),
    "scalar_min": lambda n: ({"scalar": n}, [n, n - 1, 3]),
    "squaredsubtract_scalar": lambda n: ({"scalar": n}, [0, 1, (n - 3) ** 2]),
    "equals_scalar": lambda n: ({"scalar": n}, [True, False, False]),
    "notequals_scalar": lambda n: ({"scalar": n}, [False, True, True]),
    "lessthan_scalar": lambda n: ({"scalar": n}, [False, True, True]),
    "lessthanorequal_scalar": lambda n: ({"scalar": n - 1}, [False, True, True]),
    "greaterthan_scalar": lambda n: ({"scalar": n - 1}, [True, False, False]),
    "greaterthanorequal_scalar": lambda n: ({"scalar": n}, [True, False, False]),
    "eps_scalar": lambda n: ({"scalar": n}, [True, False, False]),
    "remainder_scalar": lambda n: ({"scalar": n}, [0, -1, 3]),
    "and_scalar": lambda n: ({"scalar": n}, [True, True, True]),
    "or_scalar": lambda n: ({"scalar": n}, [True, True, True]),
    "xor_scalar": lambda n: ({"scalar": n}, [False, False, False]),
    "not_scalar": lambda n: ({"scalar": n}, [False, True, True]),
    "set_scalar": lambda n: ({"scalar": n}, [n, n, n]),
    "pow": lambda n: ({"value": 3}, [n**3, (n - 1) ** 3, 27]),
    "axpy": lambda n: ({"p": n}, [n * n + n, n * (n - 1) + n - 1, 3 * n + 3]),
    "relu": lambda n: ({"cutoff": n - 1}, [n, n - 1, n - 1]),
    "relu6": lambda n: ({"cutoff": 4}, [6, 6, 4]),
    "leakyrelu": lambda n: ({"alpha": n}, [n, n - 1, 3]),
    "leakyreluderivative": lambda n: ({"alpha": n}, [1, 1, 1]),
    "step": lambda n: ({"value": n - 1}, [1, 0, 0]),
    "ClipByValue": lambda n: ({"clip_value_min": 5, "clip_value_max": n - 1}, [n - 1, n - 1, 5]),
    "cas": lambda n: ({"value": n - 2, "condition": Conditions.equals(n)}, [n - 2, n - 1, 3]),
    "car": lambda n: ({"condition": Conditions.equals(n)}, [n, n - 1, 3]),
    "match_condition_transform": lambda n: ({"condition": Conditions.less_than(n)}, [False, True, True]),
    "match_condition": lambda n: ({"condition": Conditions.equals(n)}, 1),
    "first_index": lambda n: ({"condition": Conditions.equals(n - 1), "dimensions": (0,)}, 1),
    "last_index": lambda n: ({"condition": Conditions.equals(n), "dimensions": (0,)}, 0),
    "pad": lambda n: ({"constant": n}, [n, n, n - 1, 3, n]),
    "fill": lambda n: ({"value": n}, [n, n]),
    "onehot": lambda n: ({"depth": 2, "on": n, "off": n - 1}, [[n - 1, n], [n, n - 1]]),
    "lin_space": lambda n: ({"start": n, "stop": n + 4, "number": 3}, [n, n + 2, n + 4]),
    "range": lambda n: ({"from_": n, "to": n + 5, "step": 2}, [n, n + 2, n + 4]),
}
#: Inputs where they are not one array.
INPUTS: dict[str, Any] = {"car": lambda x: [x, x], "axpy": lambda x: [x, x], "pad": lambda x: [x, np.array([[1, 1]], np.int32)],
                          "fill": lambda x: [np.array([2])], "onehot": lambda x: [np.array([1, 0])], "lin_space": lambda x: [],
                          "range": lambda x: []}


def test_every_op_with_numbers_of_an_array_is_tried():
    assert {i for i, c in OPS.items() if c.element_values and c.__module__.startswith("dl4py.")} <= set(EXACT)


def wrapped(values: Any, kind: DataType) -> Any:
    """Whole numbers as the type wraps them."""
    array = np.array(values, object)
    return array if array.dtype == bool or isinstance(array.flat[0], bool) else np.vectorize(
        lambda v: int(np.uint64(int(v) % 2**64).astype(kind.numpy)), otypes=[object])(array)


@pytest.mark.slow
@pytest.mark.parametrize("kind", LARGE)
def test_large_numbers_are_exact(kind, monkeypatch):
    n, sd, wanted = LARGE[kind], SameDiff(), {}
    x = np.array([n, n - 1, 3], kind.numpy)
    for op_id, case in EXACT.items():
        attributes, values = case(n)
        typed = {"data_type": kind} if "data_type" in OPS[op_id].attribute_names() else {}
        given = INPUTS.get(op_id, lambda x: [x])(x)
        variables = [sd.placeholder("x", kind, -1) if a is x and "x" not in sd.tables.variables else sd.variable("x") if a is x
                     else sd.constant(a) for a in given]
        wanted[sd.add_op(OPS[op_id](**attributes, **typed), variables).name()] = op_id, wrapped(values, kind).tolist()
    stream = io.BytesIO()
    sd.save(stream)
    stream.seek(0)
    for graph, way in [*((sd, w) for w in WAYS), (SameDiff.load(stream), "reference")]:
        monkeypatch.setenv("DL4PY_EXECUTOR", "reference" if way == "reference" else "plan")
        with device("emulated" if way == "emulated" else "cpu"):
            found = graph.output({"x": x}, *wanted)
        assert {i: found[name].tolist() for name, (i, _) in wanted.items()} == dict(wanted.values()), way


def of_type(row: Row, kind: DataType) -> list[Any]:
    """The inputs of a row, its floats as small numbers of a type, of both signs where it has them."""
    small = np.array([1, 2, 3, 4] if kind.numpy.kind == "u" else [1, -2, 3, -4, 5])
    return [a if a is None or a.dtype.kind != "f" else np.resize(small, a.shape).astype(kind.numpy) for a in row.arrays()]


def with_fractions(row: Row) -> list[tuple[str, Any]]:
    """The op of a row once for each of its numbers, with a fraction for that."""
    op = row.op()
    found = []
    for f in dataclasses.fields(op):
        value = getattr(op, f.name)
        if isinstance(value, Condition):
            found.append((f.name, op.replace(**{f.name: Conditions.less_than(2.5)})))
        elif isinstance(value, float):
            found.append((f.name, op.replace(**{f.name: value + 2.5 if np.isfinite(value) and value == int(value) else value})))
    return found


#: Differences of unsigned numbers wrap there, or gradients of floats alone make them.
OTHERWISE = {"clip_norm_bp", "BinaryRelativeError", "BinaryMinimalRelativeError", "normalized", "batch_norm_training_grad"}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("kind", WHOLE)
def test_fractions_beside_whole_numbers_are_never_cut(kind):
    """What is not refused comes to what it is for floats."""
    cut, tried = [], 0
    for row in ROWS:
        if is_call(row) or OPS[row.op_id].stateful or row.op_id in OTHERWISE or not OPS[row.op_id].__module__.startswith("dl4py.samediff"):
            continue
        whole = of_type(row, kind)
        if not any(a is not None and a.dtype == kind.numpy for a in whole):
            continue
        floats = [a if a is None or a.dtype != kind.numpy else a.astype(np.float64) for a in whole]
        for name, op in with_fractions(row):
            try:
                promised = as_tuple(inferred(op, [None if a is None else spec(a) for a in whole]))
                results = [np.asarray(r).astype(s.dtype.numpy) for r, s in zip(as_tuple(op.compute(np, *whole)), promised)]
            except (DL4PyError, TypeError, ValueError):
                continue
            tried += 1
            with np.errstate(all="ignore"):
                wanted = as_tuple(op.compute(np, *floats))
            if not all(np.allclose(a, b, 1e-3, 1e-3, equal_nan=True) for a, b in zip(results, wanted)):
                cut.append(f"{row.op_id}.{name}: {results}, of floats {wanted}")
    assert not cut and tried


def spec(a: Any) -> Any:
    """Shape, type and value of an array."""
    from dl4py.samediff.base.spec import TensorSpec
    return TensorSpec(a.shape, DataType.of(a.dtype), a)


@pytest.mark.parametrize("executor", ["plan", "reference"])
def test_whole_numbers_of_two_types_meet_in_that_of_the_left(executor, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd, n = SameDiff(), 2**53 + 1
    a, b = sd.constant(np.array([n], np.int64)), sd.constant(np.array([n - 2], np.uint64))
    made = {a + b: 2 * n - 2, a - b: 2, a * b: n * (n - 2) - 2**64 * ((n * (n - 2) + 2**63) // 2**64), b + a: 2 * n - 2, a / b: 1, a % b: 2,
            sd.math.squared_difference(a, b): 4}
    found = sd.output({}, *made)
    assert [int(found[v.name()][0]) for v in made] == list(made.values())


REFUSED = {
    "+": lambda sd, x: x + 2.5, "right +": lambda sd, x: 2.5 + x, "*": lambda sd, x: x * 0.5, "/": lambda sd, x: x / 0.5,
    "//": lambda sd, x: x // 2.5, "%": lambda sd, x: x % 2.5, "right %": lambda sd, x: 2.5 % x, "**": lambda sd, x: x ** 0.5,
    "eq": lambda sd, x: x.eq(2.5), "<": lambda sd, x: x < 2.5, ">=": lambda sd, x: x >= np.float32(2.5), "nan": lambda sd, x: x + np.nan,
    "infinity": lambda sd, x: sd.math.max(x, np.inf), "array without axes": lambda sd, x: x + np.float64(2.5),
    "constant": lambda sd, x: sd.constant("c", x.dtype, [1, 2.5]), "scalar": lambda sd, x: sd.scalar("c", x.dtype, 2.5),
    "range": lambda sd, x: sd.range(0, 3, 0.5, x.dtype), "range of variables": lambda sd, x: sd.range(
        sd.constant(0.5), sd.constant(3.0), sd.constant(1.0), x.dtype).eval(),
    "linspace": lambda sd, x: sd.linspace(x.dtype, 0, 1, 4), "replace where": lambda sd, x: sd.replace_where(
        x, 1.5, Conditions.greater_than(0)),
}


@pytest.mark.parametrize("kind", WHOLE)
def test_fractions_are_refused_where_they_are_written(kind):
    sd = SameDiff()
    x = sd.placeholder("x", kind, -1)
    for name, write in REFUSED.items():
        before = len(sd.ops())
        with pytest.raises(DataTypeError, match="has a fraction|have fractions|beyond the range"):
            pytest.fail(f"{name}: {write(sd, x)}")
        assert name == "range of variables" or len(sd.ops()) == before, name
    assert (x + 2.0).eval({"x": np.array([1], kind.numpy)}).tolist() == [3]
    assert sd.constant("whole", kind, [1.0, 2.0]).eval().dtype == kind.numpy


@pytest.mark.parametrize("method", ["add", "mul", "rsub", "eq", "gt", "pow"])
def test_truth_values_meet_0_and_1_alone(method):
    x = SameDiff().constant(np.array([True, False]))
    for number in (2.5, 2, np.nan):
        with pytest.raises(DataTypeError, match="BOOL, which holds 0 and 1"):
            pytest.fail(str(getattr(x, method)(number)))
    assert x.eq(1).eval().tolist() == [True, False]


@pytest.mark.parametrize("executor", ["plan", "reference"])
def test_conditions_compare_with_fractions_exactly(executor, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd, n = SameDiff(), 2**53 + 1
    x = sd.constant(np.array([2, 3, n, -n]))
    made = {sd.match_condition(x, Conditions.less_than(2.5)): [True, False, False, True],
            sd.match_condition(x, Conditions.equals(2.5)): [False] * 4, sd.match_condition(x, Conditions.less_than(1e30)): [True] * 4,
            sd.match_condition(x, Conditions.abs_greater_than(np.inf)): [False] * 4}
    found = sd.output({}, *made)
    assert [found[v.name()].tolist() for v in made] == list(made.values())


def test_lists_of_whole_numbers_of_which_numpy_makes_floats():
    n = 2**63 + 2**53 + 1
    assert SameDiff().constant("c", DataType.UINT64, [1, n]).eval().tolist() == [1, n]
