"""Programs of PyTorch as graphs: values, names, training, what is refused. The programs were recorded, so that PyTorch is not needed."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.errors import GraphError, RegistrationError
from dl4py.samediff.pytorch import torch_converter
from dl4py.samediff.pytorch.converters.table import known_ops
from dl4py.samediff.pytorch.importing import fill
from dl4py.samediff.pytorch.torch_graph import Reference, TorchCall, TorchGraph, TorchInput, needed_calls
from tests.samediff.pytorch.recorded import cases

CASES = {name: (graph, given, wanted) for name, graph, given, wanted in cases()}


def made(name: str) -> SameDiff:
    sd = SameDiff.create()
    fill(sd, CASES[name][0])
    return sd


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_pytorch(name):
    sd, (_, given, wanted) = made(name), CASES[name]
    found = sd.output(dict(zip(sd.inputs(), given)), *sd.outputs())
    assert len(sd.outputs()) == len(wanted)
    for output, right in zip(sd.outputs(), wanted):
        assert found[output].dtype == right.dtype and found[output].shape == right.shape, output
        np.testing.assert_allclose(found[output].astype(float), right.astype(float), 2e-5, 2e-5, err_msg=output)


@pytest.mark.parametrize("name", ["images", "text", "in place", "sums"])
def test_any_number_of_examples(name):
    sd, (_, (x, *_), wanted) = made(name), CASES[name]
    assert sd.get_variable(sd.inputs()[0]).spec.shape[0] == -1
    twice = sd.output({sd.inputs()[0]: np.concatenate([x, x])}, *sd.outputs())[sd.outputs()[0]]
    np.testing.assert_allclose(twice, np.concatenate([wanted[0]] * 2), 2e-5, 2e-5)


def test_names_and_what_trains():
    sd = made("images")
    assert sd.inputs() == ["x"] and sd.outputs() == ["flat", "mean", "most"]
    trained = {v.name() for v in sd.variables() if v.is_trainable()}
    assert {"a.weight", "a.bias", "norm.weight", "batch.weight", "back.bias"} <= trained and "batch.running_mean" not in trained
    assert made("shapes").outputs()[:2] == ["output_0", "output_1"] and made("text").outputs() == ["output"]


def test_gradients_reach_every_parameter():
    sd = made("text")
    sd.get_variable("output").sum().mark_as_loss()
    names = [v.name() for v in sd.variables() if v.is_trainable()]
    found = sd.calculate_gradients({"x": CASES["text"][1][0]}, *names)
    assert len(names) == 31 and all(np.isfinite(g).all() and g.any() for n, g in found.items() if n != "encoder.self_attn.in_proj_bias")


def test_dropout_is_there_for_training():
    assert [n.op.id for n in made("text").nodes()].count("dropout_inverted") >= 3


def test_ops_of_ones_own():
    x = TorchInput("x", np.dtype("f4"), (2,))
    graph = TorchGraph([x], [], [TorchCall("y", "acme.twice", [Reference("x"), 3], {}, np.dtype("f4"))], [("output", "y")])

    @torch_converter("acme.twice")
    def twice(node, x, factor):
        return x * factor

    sd = SameDiff.create()
    fill(sd, graph)
    assert sd.output_single({"x": np.ones(2, "f4")}, "output").tolist() == [3, 3]
    with pytest.raises(RegistrationError):
        torch_converter("acme.twice")(twice)
    assert "aten.linear" in known_ops()


def test_calls_that_no_result_comes_of():
    reads = {"a": [], "b": [Reference("a")], "size": [Reference("a")], "c": [[Reference("b"), 1]], "unheard": [Reference("size")]}
    calls = [TorchCall("d", "aten.op", [], {})]
    calls += [TorchCall(name, "aten.op", args, {"more": Reference("d")} if name == "c" else {}) for name, args in reads.items()]
    assert [c.name for c in needed_calls(TorchGraph([], [], calls, [("output", "c")]))] == ["d", "a", "b", "c"]


@pytest.mark.parametrize("op, args", [("aten.nonzero", []), ("aten.one_hot", []), ("aten.split", [2, 0])])
def test_what_is_refused_says_where(op, args):
    graph = TorchGraph([TorchInput("x", np.dtype("i8"), (-1,))], [], [TorchCall("y", op, [Reference("x"), *args], {}, np.dtype("i8"))],
                       [("output", "y")])
    with pytest.raises(GraphError, match=r"PyTorch node 'y' .*" + op):
        fill(SameDiff.create(), graph)
