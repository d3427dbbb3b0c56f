"""Descriptions of graphs."""
from __future__ import annotations

import re

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import DL4PyError, GraphError, UnknownNameError


@pytest.fixture
def sd():
    made = SameDiff.create()
    x, w = made.placeholder("in", DataType.FLOAT, -1, 4), made.var("w", np.ones((4, 2), np.float32))
    made.nn.softmax("out", x.mmul("mm", w) + made.constant("c", np.zeros(2, np.float32)))
    made.unstack("parts", w, 0, 4)
    return made


def test_summary_lists_everything(sd):
    text = sd.summary()
    assert "PLACEHOLDER" in text and "[-1, 4]" in text and "loss: none set" in text
    for name in (*sd.variable_names(), *(n.name for n in sd.ops())):
        assert re.search(rf"(^|\s){re.escape(name)}(,|\s|$)", text, re.M), name
    assert all(line == line.rstrip() for line in text.splitlines())
    assert SameDiff.create().summary()


def test_to_dot_is_a_graph_with_every_edge(sd):
    text = sd.to_dot()
    assert text.startswith("digraph") and text.count("{") == text.count("}") and text.count('"') % 2 == 0
    declared = set(re.findall(r'^  "([^"]+)" \[', text, re.M))
    edges = re.findall(r'^  "([^"]+)" -> "([^"]+)"', text, re.M)
    assert {n for e in edges for n in e} <= declared
    assert len(edges) == sum(len([i for i in n.inputs if i]) for n in sd.ops())
    assert ("in", "op matmul") in edges or any(a == "in" for a, _ in edges)


def test_validate(sd):
    sd.validate()
    sd.tables.producers["mm"] = "nobody"
    with pytest.raises(GraphError, match="nobody"):
        sd.validate()


def test_lookups(sd):
    assert sd.get_variable_output_op("out").outputs == ("out",) and sd.get_variable_output_op("w") is None
    assert sd.get_shape_for_var_name("mm") == (-1, 2)
    assert [v.name() for v in sd.placeholders()] == ["in"]
    assert sd.outputs() == ["out", "parts", "parts:1", "parts:2", "parts:3"]
    with pytest.raises(UnknownNameError, match="did you mean 'softmax'"):
        sd.get_op_by_id("sofmax")
    with pytest.raises(DL4PyError, match="did you mean 'parts'"):
        sd.variable("part")


def test_names_with_quotes_make_a_picture_too():
    sd = SameDiff.create()
    sd.var('a "b" \\', np.ones(2)).add("y", 1.0)
    text = sd.to_dot()
    bare = re.sub(r"\\.", "", text)
    assert bare.count('"') % 2 == 0 and len(re.findall("->", text)) == 1


def test_short_forms(sd):
    assert repr(sd) == f"SameDiff({len(sd.variables())} variables, {len(sd.ops())} ops)"
    assert sd.variable("in").get_shape_descriptor() == sd.variable("in").spec


def test_who_reads_a_variable_stands_in_the_summary():
    sd = SameDiff.create()
    x = sd.var("x", 2, 2)
    square, both = x.mul("square", x), sd.math.add("both", x, 1.0)
    assert [n.name for n in sd.consumers("x")] == ["multiply", "add_scalar"] and not sd.consumers("both")
    rows = {line.split()[0]: line for line in sd.summary().splitlines() if line.split()}
    assert "multiply, add_scalar" in rows["x"] and square.name() in rows and both.name() in rows
