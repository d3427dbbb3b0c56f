"""Cells whose number of units the graph leaves open."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.ir.op import OPS

N, IN, U = 2, 3, 4
CELLS = {
    "lstmBlockCell": ([(N, IN), (N, U), (N, U), (IN + U, 4 * U), None, None, None, (4 * U,)], 6, (1, 2)),
    "gruCell": ([(N, IN), (N, U), (IN + U, 2 * U), (IN + U, U), (2 * U,), (U,)], 3, (1,)),
    "sruCell": ([(N, U), (N, U), (U, 3 * U), (2 * U,)], 0, (1,)),
}


def gradients(name, opened):
    shapes, result, _ = CELLS[name]
    rng, sd, feeds, inputs, weights = np.random.default_rng(1), SameDiff.create(), {}, [], []
    for i, shape in enumerate(shapes):
        if shape is None:
            inputs.append(None)
            continue
        value = rng.normal(size=shape)
        if i in opened:
            feeds[f"p{i}"] = value
            inputs.append(sd.placeholder(f"p{i}", DataType.DOUBLE, *[-1] * len(shape)))
        else:
            weights.append(f"v{i}")
            inputs.append(sd.var(f"v{i}", value))
    outs = sd.add_op(OPS[name](), inputs)
    (outs[result] * outs[result]).sum().mark_as_loss()
    found = sd.calculate_gradients(feeds, *weights)
    return {n: found[n] for n in weights}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CELLS)
def test_gradients_are_those_of_known_units(name):
    shapes, _, states = CELLS[name]
    known = gradients(name, ())
    everything_but_one = tuple(i for i, s in enumerate(shapes) if s is not None)[:-1]
    for opened in (states, everything_but_one):
        for variable, value in gradients(name, opened).items():
            np.testing.assert_allclose(value, known[variable], 1e-12, 1e-14)
