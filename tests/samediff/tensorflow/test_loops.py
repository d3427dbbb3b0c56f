"""Loops of TensorFlow 1 and arrays of arrays: values, loops in loops, what is refused."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.errors import FileFormatError, GraphError, LimitError
from dl4py.samediff.tensorflow import repeating
from tests.samediff.tensorflow.graphs import const, graph, node, placeholder

X = np.random.default_rng(9).standard_normal((4, 3)).astype(np.float32)
I32 = np.int32


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")


def enter(name, source, frame, constant=False):
    return node(name, "Enter", source, frame_name=frame, is_constant=constant)


def variable(frame, name, source, following):
    """A variable of a loop: ``name`` is its value in a step, ``name_out`` that behind the loop."""
    return [enter(f"{name}_enter", source, frame), node(f"{name}_merge", "Merge", f"{name}_enter", f"{name}_next"),
            node(f"{name}_switch", "Switch", f"{name}_merge", f"{frame}_going"), node(name, "Identity", f"{name}_switch:1"),
            node(f"{name}_next", "NextIteration", following), node(f"{name}_out", "Exit", f"{name}_switch")]


def counted(frame, limit, *variables, start="zero"):
    """A loop that counts ``FRAME_i`` from 0 on."""
    i = f"{frame}_i"
    return [*variable(frame, i, start, f"{i}_more"), node(f"{i}_one", "Const", f"^{i}", value=np.asarray(1, I32)),
            node(f"{i}_more", "AddV2", i, f"{i}_one"), enter(f"{frame}_limit", limit, frame, True),
            node(f"{frame}_less", "Less", f"{i}_merge", f"{frame}_limit"), node(f"{frame}_going", "LoopCond", f"{frame}_less"),
            *(n for v in variables for n in variable(frame, *v))]


START = [placeholder("x", (4, 3)), const("zero", I32(0)), const("n", I32(3))]


def imported(*nodes, **known):
    return SameDiff.import_frozen_tf(graph(*nodes), known)


def test_a_loop_that_counts():
    """Doubled three times; what is not changed comes out as it went in, and so do numbers."""
    sd = imported(*START, *counted("w", "n", ("v", "x", "double")), node("double", "AddV2", "v", "v"), node("y", "Neg", "v_out"))
    np.testing.assert_allclose(sd.output_single({"x": X}, "y"), -8 * X, 1e-6)
    assert sd.get_variable("w_i_out").eval() == 3


@pytest.mark.parametrize("count", [0, 1])
def test_loops_of_few_steps(count):
    sd = imported(*START[:2], const("n", I32(count)), *counted("w", "n", ("v", "x", "more")), node("more", "Exp", "v"),
                  node("y", "Identity", "v_out"))
    np.testing.assert_allclose(sd.output_single({"x": X}, "y"), np.exp(X) if count else X, 1e-6)


def test_a_loop_in_a_loop():
    """x is added three times to what comes out of doubling twice."""
    inner = [enter("zero_in", "zero", "outer", True), enter("two_in", "two", "outer", True),
             *counted("inner", "two_in", ("d", "v", "double"), start="zero_in"), node("double", "AddV2", "d", "d")]
    sd = imported(*START, const("two", I32(2)), *counted("outer", "n", ("v", "x", "more")), *inner, enter("x_in", "x", "outer", True),
                  node("more", "AddV2", "d_out", "x_in"), node("y", "Identity", "v_out"))
    np.testing.assert_allclose(sd.output_single({"x": X}, "y"), (((X * 4 + X) * 4) + X) * 4 + X, 1e-5)


def test_steps_of_a_series():
    """As recurrent networks of TensorFlow 1 are written: rows are read, sums written and put together."""
    nodes = [const("rows", I32(range(4))), const("four", I32(4)), const("none", np.zeros(3, np.float32)),
             node("given", "TensorArrayV3", "four", dtype=np.float32),
             node("filled", "TensorArrayScatterV3", "given", "rows", "x", "given:1"),
             node("made", "TensorArrayV3", "four", dtype=np.float32),
             *(enter(f"{name}_in", name, "w", True) for name in ("given", "filled", "made")),
             *counted("w", "four", ("sum", "none", "more"), ("flow", "made:1", "written")),
             node("row", "TensorArrayReadV3", "given_in", "w_i", "filled_in", dtype=np.float32), node("more", "AddV2", "sum", "row"),
             node("written", "TensorArrayWriteV3", "made_in", "w_i", "more", "flow"), node("size", "TensorArraySizeV3", "made", "flow_out"),
             const("step", I32(1)), node("all", "Range", "zero", "size", "step"),
             node("y", "TensorArrayGatherV3", "made", "all", "flow_out", dtype=np.float32), node("end", "TensorArrayCloseV3", "made")]
    sd = imported(*START[:2], *nodes)
    np.testing.assert_allclose(sd.output_single({"x": X}, "y"), np.cumsum(X, 0), 1e-5)
    sd.convert_to_variables(["none"])
    sd.get_variable("y").sum().mark_as_loss()
    np.testing.assert_allclose(sd.calculate_gradients({"x": X}, "none")["none"], [4, 4, 4])


def test_parts_of_an_array():
    sd = imported(*START, const("parts", np.int64([1, 3])), node("a", "TensorArrayV3", "n", dtype=np.float32),
                  node("f", "TensorArraySplitV3", "a", "x", "parts", "a:1"), node("last", "TensorArrayWriteV3", "a", "two", "x", "f"),
                  const("two", I32(2)), node("y", "TensorArrayConcatV3", "a", "last", dtype=np.float32), node("z", "Identity", "y:1"))
    np.testing.assert_array_equal(sd.output_single({"x": X}, "y"), np.concatenate([X, X]))
    assert sd.get_variable("z").eval().tolist() == [1, 3, 4]


def test_a_loop_whose_end_is_open():
    """What constants say inside of it is known all the same; the steps come with each run, or while the graph is built."""
    nodes = (*START[:2], placeholder("n", (), I32), *counted("w", "n", ("v", "x", "shown")), const("axis", I32([1])),
             enter("axis_in", "axis", "w", True), node("sum", "Sum", "v", "axis_in", keep_dims=True), node("shown", "Sub", "v", "sum"),
             node("y", "Identity", "v_out"), node("steps", "Identity", "w_i_out"))
    sd = imported(*nodes)
    for n in (0, 1, 2):
        expected = X
        for _ in range(n):
            expected = expected - expected.sum(1, keepdims=True)
        found = sd.output({"x": X, "n": I32(n)}, ["y", "steps"])
        np.testing.assert_allclose(found["y"], expected, 1e-4, 1e-5)
        assert found["steps"] == n
        np.testing.assert_allclose(imported(*nodes, n=I32(n)).output_single({"x": X}, "y"), expected, 1e-4, 1e-5)


@pytest.mark.parametrize("sizes", [(4, 3), (-1, 3)])
def test_branches_of_a_condition_that_is_open(sizes):
    """Branches in branches, one of them a constant that waits for the choice."""
    sd = imported(placeholder("x", sizes), placeholder("c", (), np.bool_), placeholder("d", (), np.bool_), node("s", "Switch", "x", "c"),
                  node("no", "Neg", "s"), node("yes", "Abs", "s:1"), node("inner", "Switch", "yes", "d"), node("exp", "Exp", "inner"),
                  node("pivot", "Identity", "inner:1"), node("seven", "Const", "^pivot", value=np.full((4, 3), 7, np.float32)),
                  node("m", "Merge", "exp", "seven"), node("y", "Merge", "m", "no"), node("way", "Identity", "y:1"))
    for c in (True, False):
        for d in (True, False):
            found = sd.output({"x": X, "c": np.bool_(c), "d": np.bool_(d)}, ["y", "way"])
            expected = np.full((4, 3), 7) if c and d else np.exp(np.abs(X)) if c else -X
            np.testing.assert_allclose(found["y"], expected, 1e-5)
            assert found["way"] == 1 - c


def test_what_is_refused(monkeypatch):
    monkeypatch.setattr(repeating, "MOST_NODES", 100)
    with pytest.raises(LimitError, match="becomes more than 100 nodes"):
        imported(*START[:2], const("n", I32(1 << 30)), *counted("w", "n"))
    with pytest.raises(FileFormatError, match="has 0 conditions"):
        imported(*START, enter("a", "x", "w"), node("b", "Exit", "a"))
    array = node("a", "TensorArrayV3", "n", dtype=np.float32)
    for nodes, text in (((node("y", "TensorArrayReadV3", "a", "zero", "a:1", dtype=np.float32),), "no array at 0 among 3"),
                        ((node("y", "TensorArrayWriteV3", "a", "far", "x", "a:1"), const("far", I32(1 << 30))), "a place from 0 to"),
                        ((node("y", "TensorArrayReadV3", "x", "zero", "x", dtype=np.float32),), "no array of arrays")):
        with pytest.raises(GraphError, match=text):
            imported(*START, array, *nodes)
