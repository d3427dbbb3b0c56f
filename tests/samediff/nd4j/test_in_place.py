"""Classes of ops that write into their first array, as recorded from DL4J."""
import json
from pathlib import Path

import numpy as np
import pytest

from dl4py import Nd4j, SameDiff
from dl4py.samediff import DataType
from dl4py.samediff.errors import DataTypeError
from dl4py.samediff.nd4j import op_classes
from dl4py.samediff.nd4j.op_classes.op_names import IN_PLACE, LEGACY, OP_NAMES

RECORDED = json.loads((Path(__file__).parents[2] / "golden/op_classes/in_place.json").read_text(encoding="utf-8"))
X, Y = np.array([[0.25, 0.5], [0.75, 1.5]]), np.array([[0.5, -0.25], [1.0, 2.0]])


def made(name, args, x):
    return getattr(op_classes, name)(*({"x": x, "y": Nd4j.createFromArray(Y)}.get(a, a) for a in args))


@pytest.mark.parametrize(("name", "args", "after"), RECORDED, ids=lambda v: v if isinstance(v, str) else None)
def test_the_first_array_takes_the_result(name, args, after):
    x = Nd4j.createFromArray(X)
    op = made(name, args, x)
    found = Nd4j.exec(op)
    assert (found if name in LEGACY or op.is_legacy else found[0]) is x and op.z() is x
    if after is not None:           # of dropout nothing but that is known
        np.testing.assert_allclose(np.asarray(x).ravel(), after, rtol=1e-6, atol=1e-7)


def test_views_and_other_types():
    x = Nd4j.createFromArray(X)
    Nd4j.exec(op_classes.Negative(x.getRow(1)))
    np.testing.assert_array_equal(x, [[0.25, 0.5], [-0.75, -1.5]])
    whole = Nd4j.createFromArray(np.array([4, 9]))
    assert Nd4j.exec(op_classes.Sqrt(whole)).tolist() == [2, 3] and whole.tolist() == [4, 9]
    truth = Nd4j.exec(op_classes.IsNaN(x))
    assert truth.dtype == bool and not truth.any() and x.dtype == np.float64


def test_an_output_that_is_given_takes_the_result_instead():
    for name in sorted(n for n in LEGACY if OP_NAMES[n] in IN_PLACE and n in {row[0] for row in RECORDED if row[1] == ["x"]}):
        x, z = Nd4j.createFromArray(X), Nd4j.createFromArray(Y)
        assert Nd4j.exec(getattr(op_classes, name)(x, z)) is z
        np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize(("name", "options"), [("Sum", [1]), ("ScalarGreaterThan", [0.5]), ("SoftMax", [1]), ("Reverse", [0]), ("ELU", []),
                                               ("StandardDeviation", [1]), ("Max", [0]), ("AddOp", [Nd4j.ones(2, 2)])])
def test_others_make_an_array(name, options):
    x = Nd4j.createFromArray(X)
    Nd4j.exec(getattr(op_classes, name)(x, *options))
    np.testing.assert_array_equal(x, X)


def test_assign_writes_the_first_into_the_second():
    x, y = Nd4j.createFromArray(X), Nd4j.createFromArray(Y)
    assert Nd4j.exec(op_classes.Assign(x, y))[0] is y
    np.testing.assert_array_equal(y, X)


def test_in_scopes_and_graphs():
    with Nd4j.graph_scope():
        x = Nd4j.createFromArray(X)
        y = x.mul(2)
        Nd4j.exec(op_classes.Sigmoid(y))
        z = y.add(0)
    np.testing.assert_allclose(z, 1 / (1 + np.exp(-2 * X)), rtol=1e-6)
    sd = SameDiff.create()
    v = sd.var("v", Nd4j.createFromArray(X))
    for last in (False, True):
        np.testing.assert_allclose(op_classes.Cos(sd, v, last).outputVariable().eval(), np.cos(X), rtol=1e-6)
    np.testing.assert_array_equal(v.getArr(), X)


def test_a_type_that_does_not_hold_the_result():
    with pytest.raises(DataTypeError, match=r"result is DOUBLE, the array given for it INT"):
        Nd4j.exec(op_classes.Sqrt(Nd4j.createFromArray(X), Nd4j.zeros(DataType.INT, 2, 2)))
