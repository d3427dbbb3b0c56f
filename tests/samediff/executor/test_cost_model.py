"""What ops say about their work, which profiles count."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.executor.cost_model import flops_of
from dl4py.samediff.ir.op import OPS, Op, op


def counted(made: Any) -> int | None:
    """The work of the node of a variable."""
    sd = made.sd
    node = sd.producer(made.name())
    return flops_of(node, {n: sd.variable(n).spec for n in (*node.inputs, *node.outputs)})


def shaped(sd: SameDiff, *shape: int) -> Any:
    return sd.placeholder(f"x{len(sd.variables())}", DataType.FLOAT, *shape)


def test_a_contraction_counts_its_products_whichever_operand_is_transposed():
    sd = SameDiff.create()
    plain = sd.tensor_mmul(shaped(sd, 3, 4), shaped(sd, 4, 5), (1,), 0)
    turned = sd.add_op(OPS["tensordot"](dimensions_x=(1,), dimensions_y=(0,), transpose_x=True), [shaped(sd, 4, 3), shaped(sd, 4, 5)])
    assert counted(plain) == counted(turned) == 2 * 3 * 5 * 4


@pytest.mark.parametrize("name", [f"scatter_{how}" for how in ("add", "sub", "mul", "div", "max", "min", "update")])
def test_all_scatters_are_counted(name):
    sd = SameDiff.create()
    made = sd.call("base", name, shaped(sd, 6, 2), sd.constant(np.array([1, 2])), shaped(sd, 2, 2))
    assert counted(made) == (0 if name == "scatter_update" else 12)


def test_what_moves_numbers_is_no_work_also_where_sizes_are_open():
    sd = SameDiff.create()
    x = shaped(sd, -1, 4)
    assert [counted(v) for v in (x.reshape(-1), x.permute(1, 0), x[:, 1:], sd.concat(0, x, x), sd.shape(x))] == [0] * 5
    assert counted(x + x) is None


def test_an_op_of_ones_own_says_its_work():
    @op("acme.half")
    class Half(Op):
        """Half of x."""

        flops_per_element = 1

        def infer(self, *specs):
            return specs[0]

        def compute(self, xp, x):
            return x * 0.5

    @op("acme.quarter")
    class Quarter(Half):
        """A quarter of x, which takes as much."""

    try:
        sd = SameDiff.create()
        assert [counted(sd.add_op(cls(), [shaped(sd, 3, 4)])) for cls in (Half, Quarter)] == [12, 12]
    finally:
        OPS.remove("acme.half")
        OPS.remove("acme.quarter")
