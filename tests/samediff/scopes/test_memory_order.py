"""The first of equal elements in memory is the same one in a scope."""
from __future__ import annotations

import warnings

import numpy as np
import pytest

from dl4py import DataType, GraphScope, INDArray, Nd4j, Transforms, compiled

C = INDArray.of(np.array([[1, 3, 0, 2], [3, 0, 2, 3]], np.float32))
F = C.dup("f")
WHOLE = F.castTo(DataType.INT)

MADE = """
C | F | WHOLE | F.add(1) | F * 2 | C.T | F.T | (F + 1).T | (C + 1).permute(1, 0) | C.dup("f") | F.dup("c") | (C + 1).dup("f")
F.castTo(DataType.DOUBLE) | C.add(F) | F.add(C) | np.transpose(C) | np.copy(C, order="F") | Nd4j.math.tanh(F) | F.reshape(4, 2)
(C + 0).transposei() | F[:, 1:] | F.getRow(1) | F.mmul(C.T) * 0
"""


@pytest.mark.parametrize("text", [text for line in MADE.strip().splitlines() for text in line.split(" | ")])
def test_the_first_largest_element(text):
    """As eagerly, which ``test_column_order`` compares with DL4J."""
    makers = [lambda: Nd4j.math.isMax(eval(text)), lambda: Transforms.isMax(eval(text), DataType.INT)]
    wanted = [make().tolist() for make in makers]
    with GraphScope():
        found = [make() for make in makers]
    assert [a.tolist() for a in found] == wanted


def _written(x):
    Nd4j.sort(x, False)
    return x.putScalar(1, 9), x.putScalar(3, 7.0)


@pytest.mark.parametrize("text", ["F + 1", "C + 1", "F.dup()", "(C + 1).dup('f')", "(F + 1).T", "F.castTo(DataType.DOUBLE)"])
def test_elements_are_counted_in_the_order_of_the_array(text):
    """In a compiled function, too, whose arguments may come in either order."""
    wanted = _written(eval(text))[0].tolist()
    with GraphScope():
        found = _written(eval(text))[0]
    assert found.tolist() == wanted
    made = compiled(lambda F, C: _written(eval(text))[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert made(F, C).tolist() == made(F, C).tolist() == wanted
        for x in (F, C):
            assert compiled(lambda x: (x + 1).stride())(x) == x.stride() and compiled(lambda x: x.T.stride())(x) == x.T.stride()
