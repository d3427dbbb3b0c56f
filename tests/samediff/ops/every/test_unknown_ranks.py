"""Ops on inputs whose rank is not known before they are run."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import ShapeError
from dl4py.samediff.families.decomposed import Decomposed
from dl4py.samediff.ir.op import OPS
from tests.helpers.randomgraphs import agree
from tests.samediff.ops.every.test_every_op import own
from tests.samediff.ops.rows.op_table import ROWS

ROWS_OF_COMPOSITIONS = {f"{r.op_id}-{i}": r for i, r in enumerate(ROWS) if own(r.op_id) and issubclass(OPS[r.op_id], Decomposed)}


@pytest.mark.sampled(18)
@pytest.mark.parametrize("row", ROWS_OF_COMPOSITIONS.values(), ids=ROWS_OF_COMPOSITIONS)
def test_compositions_do_not_take_an_unknown_rank_for_a_scalar(row):
    arrays, results = row.arrays(), []
    for known in (True, False):
        sd, feeds = SameDiff(), {f"x{i}": a for i, a in enumerate(arrays) if a is not None and a.dtype.kind == "f"}
        given = [None if a is None else sd.placeholder(f"x{i}", DataType.of(a), *(a.shape if known else [None])) if f"x{i}" in feeds
                 else sd.constant(a) for i, a in enumerate(arrays)]
        made = sd.add_op(row.op(), given)
        made = made if isinstance(made, (list, tuple)) else [made]
        results.append(list(agree(sd, feeds, *(v.name() for v in made)).values()))
    for found, wanted in zip(*results):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("scores", "mask", "fits"), [
    (None, (2, 3), True), (None, (2, 3, 1), False), ((2, 3, 4), (2, 3), True), ((2, 3, 4), (2, 1), True), ((2, 5, 3, 4), (2, 3), True),
    ((2, 3, 4), (1, 3), True), ((-1, -1, 4), (2, 3), True), ((2, 3, 4), (2, 4), False), ((2, 3, 4), (3, 3), False),
])
def test_masks_of_scores_have_their_shape(scores, mask, fits):
    sd = SameDiff()
    x = sd.placeholder("x", DataType.FLOAT, *([None] if scores is None else scores))
    m = sd.constant(np.ones(mask, np.float32))
    if fits:
        assert sd.add_op(OPS["hide_steps"](), [x, m]).spec.shape == scores
    else:
        with pytest.raises(ShapeError, match="the mask"):
            sd.add_op(OPS["hide_steps"](), [x, m])
