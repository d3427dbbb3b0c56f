"""Every public constructor of DL4J's op classes: which are taken, and what becomes of each argument."""
import numpy as np
import pytest

from dl4py import DataType, MMulTranspose, Nd4j, SameDiff
from dl4py.samediff.errors import DataTypeError, DL4PyError, GraphError
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


@pytest.mark.parametrize(("name", "power"), [("Variance", 1), ("StandardDeviation", 0.5)])
def test_mean_and_bias_of_a_deviation_say_nothing(name, power):
    """As in DL4J, which takes them and computes both anew."""
    x, z, cls = Nd4j.create([[1.0, 2, 4], [3, 7, 5]]), Nd4j.zeros(2), getattr(op_classes, name)
    corrected, not_corrected = ([v ** power for v in values] for values in ((7 / 3, 4), (14 / 9, 8 / 3)))
    for arguments, expected in (((5.0, 1), corrected), ((5.0, 2.0, 1), corrected), ((5.0, 2.0, False, 1), not_corrected),
                                ((None, z, 5.0, 2.0, 1), corrected), ((None, z, False, [1], 5.0, 2.0, False), not_corrected)):
        assert Nd4j.exec(cls(x, *arguments)).tolist() == pytest.approx(expected)
    assert Nd4j.exec(cls(x, True, 5.0, 2.0, 1)).shape == (2, 1)
    sd = SameDiff.create()
    v, axes = sd.var("v", x), sd.constant(1)
    for arguments, expected in ((([1], 5.0), corrected), ((axes, 5.0, 2.0, False), not_corrected), (([1], False, 5.0, 2.0), corrected)):
        assert cls(sd, v, *arguments).output_variables()[0].eval().tolist() == pytest.approx(expected)


def test_a_reduction_reads_one_array():
    sd = SameDiff.create()
    v, w = sd.var("v", X), sd.var("w", X)
    for name, arguments in (("Sum", (sd, v, w)), ("Variance", (sd, v, w, [1])), ("Variance", (X, X.dup(), 5.0, 1))):
        with pytest.raises(GraphError, match="it reads one array: a second one says along which axes"):
            getattr(op_classes, name)(*arguments)


@pytest.mark.parametrize(("name", "number", "expected"), [
    ("And", 0, [0, 1, 1, 1]), ("And", 1.0, [1, 0, 0, 1]), ("Or", 2.0, [1, 1, 1, 0]), ("Xor", 1.0, [0, 0, 1, 0]),
    ("Xor", 0.0, [0, 0, 0, 0])])
def test_pairs_of_numbers_unlike_another_one(name, number, expected):
    x, y, z = Nd4j.create([0.0, 1, 2, 2]), Nd4j.create([0.0, 1, 1, 2]), Nd4j.create(DataType.BOOL, 4)
    assert Nd4j.exec(getattr(op_classes, name)(x, y, z, number)) is z and z.tolist() == expected


def test_an_array_of_one_number_to_fill_with():
    z = Nd4j.zeros(2, 3)
    assert Nd4j.exec(op_classes.Fill(Nd4j.createFromArray(2, 3), Nd4j.scalar(2.5), z))[0] is z and (z == 2.5).all()
    with pytest.raises(GraphError, match="Fill cannot be called with"):
        op_classes.Fill(Nd4j.createFromArray(2, 3), X, z)


def test_random_numbers_for_an_array():
    z = Nd4j.zeros(100)
    assert Nd4j.exec(op_classes.BernoulliDistribution(z, 0.5)) is z and 0 < z.sumNumber() < 100


def test_numbers_drawn_by_arrays_of_parameters():
    z, half = Nd4j.zeros(2, 500), np.repeat([[0.0], [1.0]], 500, 1)
    assert Nd4j.exec(op_classes.BernoulliDistribution(z, Nd4j.create(half))) is z and z.tolist() == half.tolist()
    for name, near in (("GaussianDistribution", 100), ("TruncatedNormalDistribution", 100), ("LogNormalDistribution", np.exp(100 / 50))):
        means = Nd4j.create(half * (2 if name[0] == "L" else 100))
        Nd4j.exec(getattr(op_classes, name)(z, means, 0.1))
        assert z.getRow(1).meanNumber() == pytest.approx(near, rel=0.05) and 0 < z.getRow(0).std(0).item() < 1
    Nd4j.exec(op_classes.BinomialDistribution(z, 3, Nd4j.create([0.0, 1.0, 0.5])))
    assert set(np.unique(z)) == {1, 2}
    whole = Nd4j.zeros(DataType.INT, 9)
    with pytest.raises(DataTypeError, match="does not hold it"):
        Nd4j.exec(op_classes.GaussianDistribution(whole, Nd4j.ones(9)))
    for wrong, said in ((op_classes.BinomialDistribution(z, 4, Nd4j.ones(3)), "each of the 4 trials; got 3"),
                        (op_classes.BernoulliDistribution(z, Nd4j.create([2.0])), "between 0 and 1"),
                        (op_classes.BernoulliDistribution(z, Nd4j.ones(3)), "shape")):
        with pytest.raises(DL4PyError, match=said):
            Nd4j.exec(wrong)


def test_products_with_factors():
    x, y, z = Nd4j.create([[1, 2], [3, 4]]), Nd4j.create([[5, 6], [7, 8]]), Nd4j.ones(2, 2)
    a, b = np.asarray(x), np.asarray(y)
    assert Nd4j.exec(op_classes.Mmul(x, y, z, 2.0, 3.0, MMulTranspose(True)))[0] is z and z.tolist() == (2 * a.T @ b + 3).tolist()
    assert Nd4j.exec(op_classes.Mmul(x, y, 0.5, 0.0, False, True, False))[0].tolist() == (a @ b.T / 2).tolist()
    assert x.mmul(y, MMulTranspose(transpose_result=True)).tolist() == (a @ b).T.tolist()
    with Nd4j.graph_scope():
        lazy = Nd4j.exec(op_classes.Mmul(x, y, 2.0, 0.0))[0]
    assert lazy.tolist() == (2 * a @ b).tolist()
    with pytest.raises(GraphError, match="beta=1 is the factor of an array"):
        op_classes.Mmul(x, y, 2.0, 1.0)
    sd = SameDiff.create()
    v, w = sd.constant(a), sd.constant(b)
    turned = MMulTranspose.builder().transposeB(True).build()
    assert op_classes.Mmul(sd, v, w, turned).outputVariable().eval().tolist() == (a @ b.T).tolist()
    assert v.mmul(w, MMulTranspose.allFalse()).eval().tolist() == (a @ b).tolist()


def test_forms_are_known_by_shapes_and_types():
    for k in range(3):
        x, y = Nd4j.ones(2, 2).mul(k), Nd4j.ones(2, 2)
        assert Nd4j.exec(op_classes.AddOp(x, y))[0].tolist() == [[k + 1.0] * 2] * 2
        assert Nd4j.exec(op_classes.AddOp(x, x))[0].tolist() == [[2.0 * k] * 2] * 2
        assert Nd4j.exec(op_classes.Sum(Nd4j.create([[1, 2], [3, 4]]), k - 1)).tolist() == ([4, 6] if k == 1 else [3, 7])
        assert Nd4j.exec(op_classes.ScalarAdd(x.dup(), float(k))).getDouble(0) == 2 * k
        z = Nd4j.zeros(2)
        assert Nd4j.exec(op_classes.ScalarAdd(Nd4j.ones(2), None, z, k)) is z and z.tolist() == [1 + k] * 2
        count = Nd4j.create([k + 1.0]).castTo(DataType.INT)
        assert len(Nd4j.exec(op_classes.Split(Nd4j.ones(6, 2), count, 0))) == k + 1         # whose value counts


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
    lambda x: op_classes.RandomPoisson(X, X, 0.5)])
def test_what_fits_no_constructor(made):
    with pytest.raises(GraphError, match="cannot be called with|Transforms.allEuclideanDistances"):
        made(SameDiff.create().var("x", X))
