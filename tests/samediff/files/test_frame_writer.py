"""Branches and loops as DL4J's control flow, constants and outputs that only DL4J needs, and back."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.codecs.flatbuffers.reader import read_flat_graph
from dl4py.samediff.codecs.flatbuffers.schema import OpType

FLOW = {"switch", "merge", "enter", "exit", "next_iteration"}


def saved(sd):
    return read_flat_graph(sd.as_flat_buffers()).nodes


def again(sd):
    return SameDiff.from_flat_buffers(sd.as_flat_buffers())


def branches(sd, x, w):
    return sd.if_cond(lambda sd: x.sum() > 0, lambda sd: [x * w, sd.constant(np.float32(7))], lambda sd: [-x, w.sum() + 1])


def repeated(sd, x, w):
    return sd.while_loop([sd.constant(np.int32(0)), x], lambda sd, v: v[0] < 4,
                         lambda sd, v: [v[0] + 1, v[1] * 2 + w - sd.constant(np.float32([1, 2, 0]))])


def branch_in_loop(sd, x, w):
    def body(sd, v):
        return [v[0] + 1, sd.if_cond(lambda sd: v[1].sum() > 1, lambda sd: v[1] - w, lambda sd: v[1] + 2)]
    return sd.while_loop([sd.constant(np.int32(0)), x], lambda sd, v: v[0] < 5, body)


def unchanged_and_constant(sd, x, w):
    return sd.while_loop([sd.constant(np.float32(0)), x, w], lambda sd, v: v[0] < 1,
                         lambda sd, v: [sd.constant(np.float32(2)), v[1], v[2] + v[1]])


BUILT = [branches, repeated, branch_in_loop, unchanged_and_constant]


def graph(build):
    sd = SameDiff.create()
    x, w = sd.placeholder("x", DataType.FLOAT, 3), sd.var("w", np.float32([1, 2, 3]))
    results = build(sd, x, w)
    sd.math.tanh("end", results[1]).sum("loss").mark_as_loss()
    return sd, [v.name() for v in results]


@pytest.mark.parametrize("build", BUILT)
def test_only_ops_that_dl4j_has(build):
    sd, _ = graph(build)
    nodes = saved(sd)
    assert FLOW & {n.op_name for n in nodes} and not [n for n in nodes if n.op_type == OpType.UDF]
    assert len({n.name for n in nodes}) == len(nodes)
    frames = {n.extra_strings for n in nodes if n.op_name == "enter"}
    assert len(frames) == (build is not branches)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("start", [-2.0, 0.1, 3.0])
@pytest.mark.parametrize("build", BUILT)
def test_values_gradients_and_names_come_back(build, start):
    sd, names = graph(build)
    copy, feed = again(sd), {"x": np.full(3, start, np.float32)}
    want, got = (g.output(feed, *names, "loss") for g in (sd, copy))
    for name in (*names, "loss"):
        np.testing.assert_array_equal(got[name], want[name])
    np.testing.assert_array_equal(copy.calculate_gradients(feed, "w")["w"], sd.calculate_gradients(feed, "w")["w"])
    assert [n.name for n in copy.nodes()] == [n.name for n in sd.nodes()]
    assert saved(copy) and again(copy).output_single(feed, "loss") == want["loss"]


def test_dup_keeps_branches_as_they_are():
    sd, _ = graph(branches)
    assert [v.name() for v in sd.dup().variables()] == [v.name() for v in sd.variables()]


def test_what_dl4j_has_no_form_for_stays_one_node():
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, 4)
    (last,), _ = sd.scan(lambda sd, c, e: ([c[0] + e[0]], [c[0]]), [sd.constant(np.float32(0))], [x])
    assert [n.op_name for n in saved(sd)] == ["scan"]
    assert again(sd).output_single({"x": np.ones(4, np.float32)}, last.name()) == 4


def test_losses_without_weights_have_three_inputs_in_files_only():
    sd = SameDiff.create()
    p = sd.var("p", np.float32([[1, 2], [3, 4]]))
    sd.loss.mean_squared_error("loss", sd.constant("labels", np.zeros((2, 2), np.float32)), p, None)
    (node,) = saved(sd)
    assert len(node.input_paired) == 3
    copy = again(sd)
    assert [v.name() for v in copy.variables()] == [v.name() for v in sd.variables()]
    assert copy.producer("loss").inputs == sd.producer("loss").inputs
    assert copy.as_flat_buffers() == sd.as_flat_buffers()


def test_indices_are_an_input_in_files():
    sd = SameDiff.create()
    sd.gather(sd.var("x", np.arange(6, dtype=np.float32)), [4, 1], 0).rename("y")
    assert len(saved(sd)[0].input_paired) == 2
    copy = again(sd)
    assert copy.output_single({}, "y").tolist() == [4, 1] and not copy.has_variable("gather/indices")


@pytest.mark.parametrize("call, outputs", [(lambda sd, x: sd.linalg.lu(x), 2), (lambda sd, x: sd.linalg.svd(x, True, True), 3)])
def test_outputs_that_only_dl4j_has(call, outputs):
    sd = SameDiff.create()
    y = call(sd, sd.var("x", np.float32([[4, 1], [2, 3]])))
    assert len(saved(sd)[0].output_names) == outputs
    copy = again(sd)
    assert [v.name() for v in copy.variables()] == ["x", y.name()]
    np.testing.assert_array_equal(copy.output_single({}, y.name()), y.eval())


def test_switch_and_merge_that_stand_alone():
    sd = SameDiff.create()
    no, yes = sd.switch_op(sd.var("x", np.float32([1, 2])), sd.constant("c", np.array(True)))
    sd.merge(no, yes).rename("y")
    assert {n.op_name for n in saved(sd)} == {"switch", "merge"}
    np.testing.assert_array_equal(again(sd).output_single({}, "y"), sd.output_single({}, "y"))
