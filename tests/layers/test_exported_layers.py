"""Every layer and vertex of the table becomes an ONNX model that gives the same activations."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers.checks.check import _examples
from dl4py.layers.checks.check_subject import Runner, Subject
from dl4py.samediff import DataType
from tests.layers.layer_table import LAYERS, VERTICES
from tests.samediff.onnx.exporting.comparing import assert_close, computed

#: Layers that have to know the sizes of images and series, but not the number of examples.
NEED_SIZES = {"LocallyConnected1D", "LocallyConnected2D", "SpaceToBatchLayer", "Yolo2OutputLayer"}


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch):
    """The question is what layers mean."""
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")


def subject(row, is_layer):
    kinds = row.options.get("input_types")
    kinds = [row.options["input_type"]] if "input_type" in row.options else kinds
    kinds, arrays = _examples(row.inputs[:1] if is_layer else row.inputs, kinds, 0)
    made = Subject.of_layer(row.made, kinds[0], arrays[0], None) if is_layer else Subject.of_vertex(row.made, kinds, arrays)
    made.draw(0)
    return made


@pytest.mark.sampled(5)
@pytest.mark.parametrize("row", [*LAYERS, *VERTICES], ids=[f"{type(r.made).__name__}-{i}" for i, r in enumerate([*LAYERS, *VERTICES])])
def test_layers_and_vertices(row):
    name = type(row.made).__name__
    runner = Runner(subject(row, row in LAYERS), DataType.FLOAT)
    wanted = np.asarray(runner.run().activations)
    feeds = {f"x{i}": runner._cast(a) for i, a in enumerate(runner.subject.arrays)}
    (sd, built), = runner.built.values()
    shapes = {n: (-1, *a.shape[1:]) for n, a in feeds.items()} if name in NEED_SIZES else None
    model = sd.export_onnx(None, [built.activations.name()], shapes)
    assert_close(computed(model, feeds, [built.activations.name()])[0], wanted)
