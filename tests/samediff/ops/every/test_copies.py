"""Ops that only move elements: every back end copies what they say, which are views of what they are given."""
from __future__ import annotations

import numpy as np
import pytest

import dl4py.layers  # noqa: F401  its ops are known then
from dl4py.layers.ops.series_ops import ExampleSpread, PositionMaskRows, PositionRows, RowPositions, RowsSeries, SeriesRows
from dl4py.layers.ops.step_ops import RepeatSteps, StackedPart, StackPadded
from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.base.enums import PadMode
from dl4py.samediff.base.spec import TensorSpec, spec_of
from dl4py.samediff.cpu.kernel_table import KERNELS as CPU
from dl4py.samediff.cuda.kernel_table import KERNELS as CUDA
from dl4py.samediff.ir.op import OPS, Op, as_tuple, op
from dl4py.samediff.ops.shape.pad import Pad, PadSum
from tests.samediff.ops.rows.op_table import ROWS


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float64).reshape(shape) + 1


EDGES = np.array([[1, 0], [0, 2]])
OTHERS = [
    (SeriesRows(), [numbers(2, 3, 4)]), (SeriesRows(True), [numbers(2, 4, 3)]), (RowsSeries(), [numbers(8, 3), numbers(2, 1)]),
    (RowsSeries(True), [numbers(8, 3), numbers(2, 1)]), (PositionRows(), [numbers(2, 3, 4, 5)]), (PositionRows(True), [numbers(2, 4, 3)]),
    (RowPositions(), [numbers(8, 3), numbers(2, 3, 4)]), (RowPositions(True), [numbers(8, 3), numbers(2, 4, 3)]),
    (PositionMaskRows(), [numbers(2, 1, 4), numbers(2, 3, 4)]), (ExampleSpread(), [numbers(2), numbers(6)]),
    (RepeatSteps(), [numbers(2, 3), numbers(2, 1, 4)]), (StackPadded(), [numbers(2, 3), numbers(1, 4)]),
    (StackedPart(1), [numbers(3, 4), numbers(2, 3), numbers(1, 4)]), (Pad(), [numbers(2, 3), EDGES]),
    (PadSum(PadMode.CONSTANT), [numbers(3, 5), EDGES, numbers(2, 3)])]


def specs_of(arrays):
    """Whole numbers have values, as constants do."""
    return [TensorSpec(a.shape, DataType.of(a.dtype), None if a.dtype.kind == "f" else a) for a in arrays]


def cases():
    """Ops that say what they copy for these inputs, with the inputs."""
    rows = [(r.op(), list(r.arrays())) for r in ROWS if not OPS[r.op_id].stateful]
    for made, arrays in [*rows, *OTHERS]:
        if type(made).copies is not Op.copies and all(isinstance(a, np.ndarray) for a in arrays) and made.copies(*specs_of(arrays)):
            yield pytest.param(made, arrays, id=f"{made.id}-{'-'.join(str(a.shape) for a in arrays)}")


CASES = list(cases())


def strided(array):
    """The same numbers, every other one of a larger array."""
    wide = np.zeros([2 * n for n in array.shape], array.dtype)
    view = wide[tuple(slice(None, None, 2) for _ in array.shape)]
    view[...] = array
    return view


def test_the_ops_are_there():
    assert {type(p.values[0]).id for p in CASES} >= {"concat", "concat_part", "stack", "unstack", "split", "split_v", "tile",
                                                     "loss_weights", "space_to_depth", "depth_to_space", "last_axis_spread"}


@pytest.mark.parametrize(("made", "arrays"), CASES)
def test_what_is_copied(made, arrays):
    expected = [np.asarray(v) for v in as_tuple(made.compute(np, *arrays))]
    found = made.copies(*specs_of(arrays))
    given, outputs = [strided(a) for a in arrays], [np.full_like(e, 0 if found.clears else np.nan) for e in expected]
    for source, target in found.pairs(*given, *outputs):
        assert not source.size or any(np.shares_memory(source, a) for a in given), "a copy would be out of date in the next run"
        assert not target.size or any(np.shares_memory(target, out) for out in outputs)
        target[...] = source
    for out, wanted in zip(outputs, expected, strict=True):
        np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize(("made", "arrays"), CASES)
def test_no_call_from_python_on_the_cpu_and_a_kernel_on_gpus(made, arrays):
    kernel = CPU.kernel(made, *specs_of(arrays))
    outputs = [np.empty(s.shape, s.dtype.numpy) for s in as_tuple(made.infer(*specs_of(arrays)))]
    assert kernel is not None and kernel.native(*arrays, *outputs) and CUDA.kernel(made, *specs_of(arrays)) is not None


def test_a_class_that_computes_something_else_is_not_copied():
    @op("acme.reversed_stack")
    class Reversed(OPS["stack"]):
        """The other way."""

        def compute(self, xp, *xs):
            return xp.stack(xs[::-1], self.axis)
    try:
        assert CPU.kernel(Reversed(), spec_of(numbers(2)), spec_of(numbers(2))) is None
        sd = SameDiff.create()
        a, b = (sd.placeholder(n, DataType.DOUBLE, 2) for n in "ab")
        y = sd.add_op(Reversed(), [a, b])
        assert sd.output_single({"a": numbers(2), "b": -numbers(2)}, y.name()).tolist() == [[-1, -2], [1, 2]]
    finally:
        OPS.remove("acme.reversed_stack")
