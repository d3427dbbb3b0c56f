"""Constructors of DL4J's op classes with arguments in an order of their own; the values are DL4J's."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py import Conditions, DataType, MMulTranspose, Nd4j, SameDiff
from dl4py.samediff.errors import GraphError
from dl4py.samediff.nd4j import op_classes
from dl4py.samediff.nd4j.op_classes import FusedBatchNorm, Linspace, MatchCondition, TensorMmul, TensorMmulBp

X = Nd4j.create([[0.25, 0.5], [1.0, 2.0]])
LESS = 2                                                    # the number of Condition "less_than"


def results(op):
    return [np.asarray(r).tolist() for r in op.execute()]


@pytest.mark.parametrize(("arguments", "wanted"), [
    ((0.5, 0), [0, 1]), ((0.5,), 1), ((0.5, 0.3, 0), [1, 1]), ((0.5, 0.3), 2), ((0.5, 0.3, LESS, [0]), [1, 0]),
    ((True, 0.5, 0.3, LESS, [0]), [[1, 0]]), ((True, 0.5, 0), [[0, 1]]), ((0.3, Conditions.epsEquals(0.5), 0, 1), 2),
    ((Nd4j.zeros(DataType.LONG, 2), 0.5, 0), [0, 1]), ((None, Nd4j.zeros(DataType.LONG, 2), False, [0], 0.5, 0.3, LESS), [1, 0])])
def test_counts_by_value_tolerance_and_mode(arguments, wanted):
    assert results(MatchCondition(X, *arguments)) == [wanted]


@pytest.mark.parametrize(("arguments", "wanted"), [
    ((0.5,), 1), ((0.5, 0.3, LESS), 1), (([0], True, 0.5, 0.3, LESS), [[1, 0]]), ((True, 0.5), [[1]])])
def test_counts_in_graphs(arguments, wanted):
    sd = SameDiff.create()
    assert MatchCondition(sd, sd.var("x", X), *arguments).outputVariables()[0].eval().tolist() == wanted


@pytest.mark.parametrize(("name", "arguments", "wanted"), [
    ("MatchConditionTransform", (0.1, Conditions.epsEquals(0.55)), [[False, True], [False, False]]),
    ("FirstIndex", (Conditions.epsEquals(0.55), 0.1, 1), [1, -1]), ("LastIndex", (Conditions.epsEquals(0.55), 0.1, 1), [1, -1]),
    ("CompareAndSet", (0.5, 9.0, 1e-5), [[0.25, 9], [1, 2]]),
    ("CompareAndSet", (0.5, 9.0, 1e-5, Conditions.lessThan(0.75)), [[9, 9], [1, 2]]),
    ("BitCast", (DataType.INT.code,), [[0x3E800000, 0x3F000000], [0x3F800000, 0x40000000]])])
def test_tolerances_and_numbers_of_types(name, arguments, wanted):
    assert results(getattr(op_classes, name)(X.dup(), *arguments)) == [wanted]


@pytest.mark.parametrize(("layout", "mean", "variance"), [(0, [3, 4], [6.666667, 6.666667]), (1, [1.5, 5.5], [1.666667, 1.666667])])
def test_batch_normalization_takes_numbers_for_options(layout, mean, variance):
    x, one, zero = Nd4j.arange(8).reshape(1, 2, 2, 2).castTo(DataType.FLOAT), Nd4j.ones(2), Nd4j.zeros(2)
    y, means, variances = Nd4j.zeros(1, 2, 2, 2), Nd4j.zeros(2), Nd4j.zeros(2)
    FusedBatchNorm(x, one, zero, layout, 1, y, means, variances).execute()
    assert means.tolist() == mean and variances.tolist() == pytest.approx(variance, rel=1e-6)
    sd = SameDiff.create()
    found = FusedBatchNorm(sd, *map(sd.constant, (x, one, zero)), layout, 1).outputVariables()
    np.testing.assert_allclose(found[0].eval(), y)
    with pytest.raises(GraphError, match="0 to 1 stands for one of NHWC, NCHW; got 2"):
        FusedBatchNorm(x, one, zero, 2, 1)


def test_evenly_spaced_numbers_for_an_array():
    z = Nd4j.zeros(DataType.DOUBLE, 5)
    assert results(Linspace(z, 0.0, 1.0)) == [[0, 0.25, 0.5, 0.75, 1]] and z.toDoubleVector() == [0, 0.25, 0.5, 0.75, 1]
    assert results(Linspace(z, 0, 1, 0.5)) == [[0, 0.5, 1, 1.5, 2]]
    assert results(Linspace(1.0, 4, 0.5, DataType.FLOAT)) == [[1, 1.5, 2, 2.5]]
    assert results(Linspace(0, 1, 3, DataType.FLOAT)) == [[0, 0.5, 1]]


def test_contractions_and_their_gradients():
    x, y, g = (Nd4j.create(np.asarray(a, float)) for a in (np.arange(6).reshape(2, 3), np.arange(12).reshape(3, 4), np.ones((2, 4))))
    wanted = [[[6, 22, 38]] * 2, [[3.0] * 4, [5.0] * 4, [7.0] * 4]]
    assert results(TensorMmulBp(x, y, g, [[1], [0]])) == wanted
    targets = Nd4j.zeros(DataType.DOUBLE, 2, 3), Nd4j.zeros(DataType.DOUBLE, 3, 4)
    TensorMmulBp(x, y, g, *targets, [[1], [0]]).execute()
    assert [t.tolist() for t in targets] == wanted
    sd = SameDiff.create()
    given = [sd.constant(a) for a in (x, y, g)]
    assert [v.eval().tolist() for v in TensorMmulBp(sd, *given, [[1], [0]]).outputVariables()] == wanted
    turned = TensorMmul(sd, *given[:2], [[0], [0]], MMulTranspose(True)).outputVariables()[0]
    assert turned.eval().tolist() == (np.asarray(x) @ np.asarray(y)).tolist()


def test_a_value_for_an_array():
    target = Nd4j.zeros(DataType.DOUBLE, 2, 3)
    assert results(op_classes.Fill(Nd4j.createFromArray([2, 3]), target, 2.5)) == [[[2.5] * 3] * 2] == [target.tolist()]


@pytest.mark.parametrize(("name", "arrays"), [("RandomGamma", (Nd4j.createFromArray([9]), Nd4j.create([2.0]), Nd4j.create([1.0]))),
                                              ("RandomPoisson", (Nd4j.createFromArray([9]), Nd4j.create([20.0]))),
                                              ("RandomShuffle", (Nd4j.arange(50),))])
def test_seeds_of_random_ops(name, arrays):
    def draw(*seeds):
        return results(getattr(op_classes, name)(*arrays, *seeds))

    assert draw(1, 2) == draw(1, 2) == draw([1, 2]) != draw(3, 4)
    assert draw(0, 0) != draw(0, 0) and draw() != draw()            # none are set
    sd = SameDiff.create()
    (v,) = getattr(op_classes, name)(sd, *map(sd.constant, arrays), 1, 2).outputVariables()
    assert [v.eval().tolist()] == draw(1, 2)
    read = SameDiff.from_flat_buffers(sd.as_flat_buffers())
    assert [read.get_variable(v.name()).eval().tolist()] == draw(1, 2)


G = Nd4j.create([[9.0, 8, 7], [6, 5, 4]])
Z = Nd4j.create([[1.0, 2, 4], [3, -7, 5]])


@pytest.mark.parametrize(("name", "arguments", "wanted"), [
    ("CumSumBp", (G, Z.dup(), False, True, False, 1), [[15, 7, 0], [9, 4, 0]]),
    ("CumSumBp", (G, False, True, 1), [[9, 17, 24], [6, 11, 15]]),
    ("CumSumBp", (G, Z.dup(), True, False, True, 1), [[9, 17, 24], [6, 11, 15]]),
    ("CumSumBp", (G, Z.dup(), True, Nd4j.scalar(1), True, False), [[15, 7, 0], [9, 4, 0]]),
    ("CumProdBp", (G, Z.dup(), True, True, False, 1), [[22, 7, 0], [-23, 12, 0]]),
    ("ArgMax", (True, False, False, [1]), [[2], [2]]), ("ArgMax", (Nd4j.zeros(DataType.LONG, 2), False, True, True, [1]), [2, 2]),
    ("CompareAndSet", (G, Conditions.lessThan(7.5)), [[1, 2, 7], [6, 5, 4]]),
    ("CompareAndSet", (G, Z.dup(), Conditions.greaterThan(2.0)), [[9, 8, 7], [6, 5, 4]]),
    ("Histogram", (Nd4j.zeros(DataType.LONG, 4),), [1, 0, 1, 4]), ("ScalarAdd", (), [[1, 2, 4], [3, -7, 5]]),
    ("ScalarMultiplication", (), [[0, 0, 0]] * 2), ("ScalarEquals", (), [[0, 0, 0]] * 2)])
def test_more_of_arrays(name, arguments, wanted):
    assert results(getattr(op_classes, name)(Z.dup(), *arguments)) == [wanted]


def test_more_of_variables():
    sd = SameDiff.create()
    z, g, axis = sd.var("z", Z), sd.var("g", G), sd.constant(1)
    small, large = (sd.var(np.ones(shape, np.float32)) for shape in ((1, 1, 2, 2, 1), (1, 1, 4, 6, 1)))
    last = [sd.var(np.ones(shape, np.float32)) for shape in ((1, 2, 2, 1, 1), (1, 4, 6, 1, 1))]
    image, size = sd.var(np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)), sd.constant(np.array([2, 2], np.int32))
    for name, arguments, wanted in (
            ("CumSumBp", (z, g, False, True, False, 1), [15, 7, 0, 9, 4, 0]),
            ("CumSumBp", (z, g, True, axis, True, False), [15, 7, 0, 9, 4, 0]),
            ("CumProdBp", (z, g, False, axis, True, False), [22, 7, 0, -23, 12, 0]),
            ("ArgMax", ([z], False, True, False, False, [1]), [2, 2]),
            ("ArgMax", (z, True, False, False, [1]), [2, 2]), ("ExpandDims", ([z, sd.constant(0)],), [1, 2, 4, 3, -7, 5]),
            ("Upsampling3dBp", (small, large, True), [6, 6, 6, 6]), ("Upsampling3dBp", (*last, False), [6, 6, 6, 6]),
            ("ImageResize", (image, size, -0.5, False, False), [2.058824, 4.235294, 10.764706, 12.941177])):
        found = getattr(op_classes, name)(sd, *arguments).outputVariables()[0].eval()
        np.testing.assert_allclose(np.ravel(found), wanted, rtol=1e-6, err_msg=name)
    for name, arguments in (("ImageResize", (image, size, -0.75, False, False)),
                            ("Upsampling3dBp", (sd.placeHolder("p", DataType.FLOAT, -1, 1, -1, 2, 1), large, True))):
        with pytest.raises(GraphError, match=f"{name} cannot be called with"):
            getattr(op_classes, name)(sd, *arguments)
