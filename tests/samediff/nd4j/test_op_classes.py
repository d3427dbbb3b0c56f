"""Constructors of DL4J's classes of ops."""
import numpy as np
import pytest

from dl4py import Nd4j, SameDiff
from dl4py.samediff.nd4j import op_classes
from dl4py.samediff.nd4j.op_classes import AddOp, Concat, Cross, StandardDeviation, SubOp, Variance

A = Nd4j.create([[1.0, 2, 3], [4, 5, 7]])


def test_inputs_and_outputs_in_lists():
    for inputs in ((A, A), ([A, A],)):
        assert Nd4j.exec(AddOp(*inputs))[0].equals(A.add(A))
    target = Nd4j.zeros(2, 3)
    Nd4j.exec(SubOp([A, A.mul(3)], [target]))
    assert target.equals(A.mul(-2))
    assert Nd4j.exec(Cross([A, A], None))[0].equals(Nd4j.zeros(2, 3))
    assert Nd4j.exec(Concat(0, A, A))[0].shape() == (4, 3)
    sd = SameDiff.create()
    x = sd.var("x", A)
    np.testing.assert_array_equal(AddOp(sd, [x, x]).outputVariables()[0].eval(), A * 2)


@pytest.mark.parametrize(("made", "wanted"), [(StandardDeviation(A, 1), 1.0), (StandardDeviation(A, True, 1), 1.0),
                                              (StandardDeviation(A, False, 1), (2 / 3) ** 0.5), (Variance(A, 1), 1.0)])
def test_deviations_are_of_samples_unless_said(made, wanted):
    assert np.asarray(Nd4j.exec(made)).ravel()[0] == pytest.approx(wanted, rel=1e-6)


def test_all_are_imported():
    names: dict = {}
    exec("from dl4py.samediff.nd4j.op_classes import *", names)
    assert names["AddBpOp"] is op_classes.AddBpOp and set(op_classes.__all__) <= names.keys()
