"""Batched products and the projections of attention heads against the reference."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.executor.session import checked_feeds, plan_for, request_for
from dl4py.samediff.ops.linalg.matmul import Matmul
from dl4py.samediff.ops.nn.attention import Project, ProjectedInput, ProjectedWeights
from tests.samediff.cpu.kernels.agreement import agree

#: Shapes of both operands before they are transposed.
PRODUCTS = [((3, 4), (4, 5)), ((6, 3, 4), (6, 4, 5)), ((2, 3, 4, 6), (2, 3, 6, 5)), ((6, 3, 4), (4, 5)), ((1, 1, 1), (1, 1, 1)),
            ((0, 3, 4), (0, 4, 5)), ((2, 3, 0), (2, 0, 5)), ((2, 3, 4), (1, 4, 5))]


@pytest.mark.parametrize("shapes", PRODUCTS, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_any_rank_order_and_transposition(dtype, shapes, rng):
    for tx, ty, tz in [(False, False, False), (True, False, False), (False, True, True), (True, True, False)]:
        x, y = (rng.normal(size=s).astype(dtype) for s in shapes)
        x, y = np.ascontiguousarray(x.swapaxes(-1, -2)) if tx else x, np.ascontiguousarray(y.swapaxes(-1, -2)) if ty else y
        agree(Matmul(tx, ty, tz), [x, y])
        agree(Matmul(tx, ty, tz), [np.asfortranarray(x), np.repeat(y, 2, axis=-1)[..., ::2]], "F")


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1, 1), (3, 2, 4, 5, 6), (0, 2, 4, 5, 6)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_projections_of_heads(dtype, sizes, rng):
    batch, heads, size, features, steps = sizes
    x, w, g = (rng.normal(size=s).astype(dtype) for s in ((batch, features, steps), (heads, size, features), (batch, heads, size, steps)))
    for order, lay in (("C", np.ascontiguousarray), ("F", np.asfortranarray)):
        agree(Project(), [lay(x), lay(w)], order)
        agree(ProjectedInput(), [lay(g), lay(w)], order)
        agree(ProjectedWeights(), [lay(g), lay(x)], order)


def test_training_computes_attention_once(rng):
    sd = SameDiff.create()
    x = sd.var("x", rng.normal(size=(2, 4, 3)).astype(np.float32))
    shapes = {"q": (2, 3, 4), "k": (2, 3, 4), "v": (2, 3, 4), "o": (6, 5)}
    weights = [sd.var(n, rng.normal(size=s).astype(np.float32)) for n, s in shapes.items()]
    out = sd.nn.multi_head_dot_product_attention("out", x, x, x, *weights, None, True)
    (gradient,) = sd.gradients(sd.math.square(out).sum(), x)
    plan = plan_for(sd, checked_feeds(sd, {}), request_for(sd, ["out", gradient.name()], True))
    labels = [s.label for s in plan.steps]
    assert labels.count("softmax") == 1
    assert not [name for name in labels if "attention" in name]
