"""Every public constructor of DL4J's op classes: which are taken, and what becomes of each argument."""
import pytest

from dl4py import DataType, Nd4j, SameDiff
from dl4py.samediff.errors import GraphError
from dl4py.samediff.nd4j import op_classes
from tests.samediff.nd4j import constructors


def test_arguments_become_what_is_recorded():
    assert constructors.written() == constructors.FILE.read_text(encoding="utf-8"), "see tests/samediff/nd4j/constructors.py"


X = Nd4j.create([[0.25, 0.5], [0.75, 1.5]])


def own(value):
    return value.dup() if value is X else [own(v) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("name", "arguments", "attributes"), [
    ("BernoulliDistribution", [X, 0.5], {"p": 0.5, "shape": (2, 2), "data_type": DataType.FLOAT}),
    ("GaussianDistribution", [X], {"mean": 0.0, "stddev": 1.0}), ("GaussianDistribution", [X, 2.0], {"mean": 0.0, "stddev": 2.0}),
    ("UniformDistribution", [X, -1.0, 3.0], {"min": -1.0, "max": 3.0}), ("BinomialDistribution", [X, 4, 0.5], {"n_trials": 4, "p": 0.5}),
    ("Linspace", [0.0, 1.0, 3, DataType.FLOAT], {"start": 0.0, "stop": 1.0, "number": 3}), ("Pow", [X, 2.0], {"value": 2.0}),
    ("Stack", [[X, X], None, 1], {"axis": 1}), ("TopK", [X, 1.0, True], {"k": 1}), ("IsNaN", [X, 1], {"dimensions": (1,)}),
    ("Upsampling3d", [Nd4j.ones(1, 1, 1, 1, 1), True, 2, 3, 4], {"scale_h": 2, "scale_w": 3, "scale_d": 4}),
    ("TensorMmul", [X, X, [[1], [0]]], {"dimensions_x": (1,), "dimensions_y": (0,)}),
    ("ScalarAdd", [X, None, X, 3.0], {"scalar": 3.0})])
def test_of_arrays(name, arguments, attributes):
    op = getattr(op_classes, name)(*own(arguments))
    assert {n: getattr(op._op, n) for n in attributes} == attributes
    Nd4j.exec(op)


def test_arrays_are_outputs_where_they_are_no_inputs():
    y = Nd4j.create([[1.0, 0.25], [0.5, 2.0]])
    assert Nd4j.exec(op_classes.Max(X, y))[0].tolist() == [[1.0, 0.5], [0.75, 2.0]]        # DL4J's class of pairs
    z = Nd4j.zeros(2)
    assert Nd4j.exec(op_classes.Max(X, z, 0)) is z and z.tolist() == [0.75, 1.5]
    target = Nd4j.zeros(2, 2)
    assert Nd4j.exec(op_classes.LayerNorm(X, Nd4j.ones(2), target, True, 1))[0] is target
    assert target.tolist()[0] == pytest.approx([-1, 1], abs=1e-3)
    shifted = Nd4j.exec(op_classes.LayerNorm(X, Nd4j.ones(2), Nd4j.create([1, 2]), True, 1))[0]
    assert shifted.tolist()[0] == pytest.approx([0, 3], abs=1e-3)
    with pytest.raises(GraphError, match="beside an array only"):
        op_classes.Sigmoid(1.0)


def test_random_numbers_for_an_array():
    z = Nd4j.zeros(100)
    assert Nd4j.exec(op_classes.BernoulliDistribution(z, 0.5)) is z and 0 < z.sumNumber() < 100


def test_of_variables():
    sd = SameDiff.create()
    x = sd.var("x", Nd4j.ones(4, 2, 2, 1))
    assert op_classes.BatchToSpace(sd, [x], [2, 2], [[0, 0], [0, 0]], False).outputVariable().getShape() == (1, 4, 4, 1)
    assert op_classes.Split(sd, x, sd.constant(2), 1).outputVariables()[1].getShape() == (4, 1, 2, 1)
    parts = op_classes.DynamicPartition(sd, sd.var("y", X), [sd.constant(Nd4j.create([0, 1]).castTo(DataType.INT))], 2)
    assert parts.outputVariables()[1].eval().tolist() == [[0.75, 1.5]]


@pytest.mark.parametrize("made", [
    lambda x: op_classes.Sum(x.sd, x, x), lambda x: op_classes.StandardDeviation(True), lambda x: op_classes.And(x.sd, x, False),
    lambda x: op_classes.EuclideanDistance(X, X, True, 1), lambda x: op_classes.Split(x.sd, x, x.sd.placeHolder("n", DataType.INT), 1),
    lambda x: op_classes.RandomPoisson(X, X, 7)])
def test_what_fits_no_constructor(made):
    with pytest.raises(GraphError, match="cannot be called with|Transforms.allEuclideanDistances"):
        made(SameDiff.create().var("x", X))
