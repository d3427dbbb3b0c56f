"""Gradients of reductions that choose an element: the first of equal ones has it all, as recorded from DL4J."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import SameDiff

TIED = [[1.0, 3, 3], [2, 2, 1]]
SIGNS = [[1.0, -3, 3], [2, 2, 1]]
CALLS = {
    "max": (TIED, lambda sd, x: sd.max(x, 1), [[0, 1, 0], [1, 0, 0]]),
    "max of all": (TIED, lambda sd, x: sd.max(x), [[0, 1, 0], [0, 0, 0]]),
    "max over both": (TIED, lambda sd, x: sd.max(x, 1, 0), [[0, 1, 0], [0, 0, 0]]),
    "max of columns": ([[1.0, 3, 3], [1, 3, 1]], lambda sd, x: sd.max(x, 0), [[1, 1, 1], [0, 0, 0]]),
    "min": ([[1.0, 1, 3], [2, 2, 1]], lambda sd, x: sd.min(x, 1), [[1, 0, 0], [0, 0, 1]]),
    "amax": (SIGNS, lambda sd, x: sd.math.reduce_amax(x, 1), [[0, -1, 0], [1, 0, 0]]),
    "normmax": (SIGNS, lambda sd, x: sd.normmax(x, 1), [[0, -1, 0], [1, 0, 0]]),
    "amin": ([[1.0, -1, 3], [2, 2, 1]], lambda sd, x: sd.math.reduce_amin(x, 1), [[1, 0, 0], [0, 0, 1]]),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("rows", [2, -1])
def test_the_first_of_equal_elements_has_the_gradient(name, rows):
    values, call, wanted = CALLS[name]
    sd = SameDiff.create()
    x = sd.var("x", np.array(values)) if rows > 0 else sd.place_holder("x", "DOUBLE", rows, 3)
    loss = call(sd, x).sum("loss")
    (slope,) = sd.gradients(loss, [x])
    found = sd.output({} if rows > 0 else {"x": np.array(values)}, slope.name())[slope.name()]
    if rows > 0 or name in ("max", "min", "amax", "normmax", "amin"):
        assert found.tolist() == wanted
    else:                                       # where these sizes are open, all equal ones have it
        assert (found != 0).sum() >= (np.array(wanted) != 0).sum()
