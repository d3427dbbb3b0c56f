"""Batched products as DL4J's files have them: factors in front, sizes as integers."""
from __future__ import annotations

import io

import numpy as np

from dl4py.samediff import SameDiff
from dl4py.samediff.codecs.flatbuffers.graph import FlatNode
from dl4py.samediff.files.node_args import read_op
from dl4py.samediff.ir.op import OPS


def test_factors_and_transposes():
    op = read_op(OPS["batched_gemm"], FlatNode(name="n", op_name="batched_gemm", extra_integer=(1, 0, 3, 2, 2, 2, 2, 3, 2)))
    assert (op.transpose_a, op.transpose_b, op.scaled) == (True, False, True)
    draw = np.random.default_rng(0)
    shapes = [(2, 3), (2, 3), (2, 2), (2, 2)]
    arrays = [np.array([2.0, -1.0]), np.zeros(2), *(draw.normal(size=s) for s in shapes)]
    sd = SameDiff.create()
    made = sd.add_op(op, [sd.var(a) for a in arrays], ["first", "second"])
    assert np.allclose(made[0].eval(), 2 * arrays[2].T @ arrays[4]) and np.allclose(made[1].eval(), -arrays[3].T @ arrays[5])
    sd.set_loss_variables(sd.sum("loss", made[0] * made[0]))
    factors, left = sd.get_inputs_for_op(sd.get_variable_output_op("first"))[0:3:2]
    product = arrays[2].T @ arrays[4]
    grads = sd.calculate_gradients({}, factors, left)
    assert np.allclose(grads[factors], [4 * (product**2).sum(), 0]) and np.allclose(grads[left], (8 * product @ arrays[4].T).T)
    stream = io.BytesIO()
    sd.save(stream)
    again = SameDiff.load(io.BytesIO(stream.getvalue()))
    assert again.get_variable_output_op("first").op == op and np.allclose(again.variable("second").eval(), made[1].eval())


def test_without_factors():
    sd = SameDiff.create()
    a, b = sd.constant(np.ones((2, 3))), sd.constant(np.ones((2, 3)))
    (made,) = sd.batch_mmul(["y"], a, b, False, True)
    stream = io.BytesIO()
    sd.save(stream)
    assert np.array_equal(SameDiff.load(io.BytesIO(stream.getvalue())).variable("y").eval(), made.eval())
