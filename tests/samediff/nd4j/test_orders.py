"""In which order of memory results are, which ``getDouble(i)`` counts by: as DL4J 1.0.0-M2.1 makes them."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py import INDArray, Nd4j, Transforms
from dl4py.samediff.errors import ShapeError

C = INDArray.of(np.linspace(0.1, 0.9, 12).reshape(3, 4))
F = C.dup("f")
ROW = INDArray.of(np.ones(4))

#: Expressions and the order of their results.
ORDERS = """
f: Nd4j.math.add(F, C) | Nd4j.math.sub(F, C) | Nd4j.math.pow(F, C) | Nd4j.math.max(F, C) | Nd4j.math.mul(ROW, F) | Nd4j.math.tanh(F)
c: Nd4j.math.add(C, F) | Nd4j.math.squaredDifference(C, F) | Nd4j.math.add(ROW, C) | Nd4j.nn.relu(C, 0)
f: Nd4j.vstack(F, C) | Nd4j.hstack(F, C, C) | Nd4j.pile(F, C) | Nd4j.concat(1, F, C) | Nd4j.stack(1, F, C) | Nd4j.specialConcat(0, F, C)
c: Nd4j.vstack(C, F) | Nd4j.hstack(C, F, F) | Nd4j.pile(C, F) | Nd4j.concat(1, C, F) | Nd4j.stack(0, C, F) | Nd4j.appendBias(F)
c: Nd4j.repeat(F, 3) | Nd4j.pad(F, 1, 2) | Nd4j.tile(C, 2, 3) | Nd4j.append(C, 2, 1.0, 1)
f: Nd4j.tile(F, 2, 3) | Nd4j.append(F, 2, 1.0, 1) | Nd4j.prepend(F, 2, 1.0, 0) | Nd4j.where(F > 0.5, F, C)[0]
f: Nd4j.matmul(F, C.T) | Nd4j.matmul(C.T, F.dup("f")) | Nd4j.gemm(F, C, False, True)
c: Nd4j.matmul(C, C, False, True) | Nd4j.where(C > 0.5, C, F)[0]
f: Transforms.atan2(F, C) | Transforms.pow(F, C) | Transforms.xor(F, C) | Transforms.greaterThanOrEqual(F, C)
f: Transforms.reverse(F) | Transforms.sigmoid(F) | Transforms.softmax(F) | Transforms.leakyRelu(F, 0.1) | Transforms.isMax(F.dup("f"))
c: Transforms.atan2(C, F) | Transforms.max(F, F) | Transforms.min(F, F) | Transforms.max(F, C)
c: Transforms.max(C, F) | Transforms.min(F, C) | Transforms.lessThanOrEqual(C, F)
"""


@pytest.mark.parametrize("text, order", [(text, line[0]) for line in ORDERS.strip().splitlines() for text in line[3:].split(" | ")])
def test_orders_of_results(text, order):
    for _ in range(2):              # calls in a form that was seen before as well
        made = eval(text, globals())
        assert made.ordering() == order
        assert (made.flags.f_contiguous if order == "f" else made.flags.c_contiguous)


@pytest.mark.parametrize("call, values", [
    ("Transforms.max(x, y)", [1.5, 3]), ("Transforms.min(y, x)", [1, 2.5]), ("Transforms.lessThanOrEqual(x, y)", [True, False]),
    ("Transforms.atan2(y, x)", [np.arctan2(1, 1.5), np.arctan2(3, 2.5)])])
def test_two_types_meet_in_the_one_with_a_point(call, values):
    made = eval(call, {"Transforms": Transforms, "x": Nd4j.createFromArray(1, 3), "y": Nd4j.create([1.5, 2.5])})
    np.testing.assert_allclose(made, values, rtol=1e-6)
    assert made.dtype in (np.float32, np.bool_)


def test_averages_keep_the_type():
    a, b = Nd4j.createFromArray(1, 2, 4), Nd4j.createFromArray(2, 4, 9)
    assert Nd4j.averageAndPropagate([a, b]).dtype == np.int32 and a.tolist() == b.tolist() == [1, 3, 6]


@pytest.mark.parametrize("call", ["Nd4j.copy(C, ROW)", "Transforms.pow(ROW.dup(), C, False)", "Nd4j.sortWithIndices(ROW.dup(), 2, True)",
                                  "Nd4j.sort(C.dup(), 3, True)", "Nd4j.averageAndPropagate(ROW.dup(), [C, C])",
                                  "Nd4j.accumulate(ROW.dup(), [C])"])
def test_shapes_that_do_not_fit_are_named(call):
    with pytest.raises(ShapeError):
        eval(call, globals())


@pytest.mark.parametrize("call, strides", [("Nd4j.getStrides(2, 3)", [3, 1]), ("Nd4j.getStrides([2, 3, 4], 'f')", [1, 2, 6]),
                                           ("Nd4j.get_strides((5,))", [1])])
def test_strides_of_shapes(call, strides):
    assert eval(call, globals()) == strides
