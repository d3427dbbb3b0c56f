"""Nodes that lack something, or have something else: they work, or a typed error says which node."""
from __future__ import annotations

import random

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.errors import DL4PyError, GraphError
from tests.samediff.onnx.models import one_node
from tests.samediff.onnx.node_table import ROWS


def damaged(row, seed):
    """The node without an input or attribute, or with another value of one."""
    rng = random.Random(f"{row.name} {seed}")
    model = one_node(row.operator, row.arrays, row.held, len(row.expected), row.version, row.order, "", **row.attributes)
    node = model.graph.node[0]
    way = rng.choice(["input", "attribute", "value", "type"])
    if way == "input" and node.input:
        node.input[rng.randrange(len(node.input))] = rng.choice(["", node.input[0]])
    elif way == "attribute" and node.attribute:
        del node.attribute[rng.randrange(len(node.attribute))]
    elif way == "value" and node.attribute:
        changed = node.attribute[rng.randrange(len(node.attribute))]
        changed.i, changed.f = rng.choice([-9, 0, 7]), -3.5
        changed.ints[:] = [rng.choice([-7, 0, 9]) for _ in changed.ints]
    else:
        model.graph.input[0].type.tensor_type.elem_type = rng.choice([1, 7, 9, 10])
    return model


@pytest.mark.parametrize("row", ROWS, ids=[r.name for r in ROWS])
def test_typed_errors(row):
    for seed in range(4):
        try:
            SameDiff.import_onnx(damaged(row, seed))
        except DL4PyError as error:
            assert "ONNX" in str(error)


def test_large_values_are_not_computed_while_importing():
    model = one_node("ConstantOfShape", {}, {"n": np.int64([1 << 20, 1 << 20])})
    assert SameDiff.import_onnx(model).get_variable("out0").spec.shape == (1 << 20, 1 << 20)
    model = one_node("Expand", {}, {"x": np.float32([1]), "n": np.int64([1 << 20, 1 << 20])})
    assert SameDiff.import_onnx(model).get_variable("out0").spec.shape == (1 << 20, 1 << 20)
    with pytest.raises(GraphError, match="a range from 0.0 to 9999"):
        SameDiff.import_onnx(one_node("Range", {}, {"a": np.float32(0), "b": np.float32(1e12), "d": np.float32(1)}))
