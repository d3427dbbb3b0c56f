"""Weights of PyTorch's modules in networks and back. States and outputs were recorded, so that PyTorch is not needed."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dl4py.layers import DenseLayer, LossLayer, OutputLayer
from dl4py.layers.standard.convolution import SeparableConvolution2D
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration, set_state_dict, to_state_dict
from dl4py.samediff import SameDiff
from dl4py.samediff.errors import ConfigurationError
from tests.networks.pytorch.layers import LAYERS

with np.load(Path(__file__).parent / "states.npz") as file:
    HELD = {name: file[name] for name in file.files}


def network(*layers: Any) -> MultiLayerNetwork:
    conf = NeuralNetConfiguration.Builder().seed(3).list(*layers).validate_output_layer_config(False).build()
    return MultiLayerNetwork(conf).init()


def state_of(name: str) -> dict[str, Any]:
    begin = f"{name}/state/"
    return {key.removeprefix(begin): array for key, array in HELD.items() if key.startswith(begin)}


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")


@pytest.mark.parametrize("name", LAYERS)
def test_outputs_are_those_of_pytorch(name):
    layer, _, _, order = LAYERS[name]
    net = network(layer.replace(layer_name="part"))
    state = {f"part.{n}": a for n, a in state_of(name).items()}
    set_state_dict(net, state)
    x, wanted = HELD[f"{name}/input"], HELD[f"{name}/output"]
    turned = x if x.ndim < 3 or name == "GRU" else x.transpose(order)
    np.testing.assert_allclose(net.output(turned), wanted.transpose(order), 1e-5, 1e-5)


@pytest.mark.parametrize("name", LAYERS)
def test_the_way_back(name):
    net = network(LAYERS[name][0].replace(layer_name="part"))
    wanted = {f"part.{n}": a for n, a in state_of(name).items()}
    set_state_dict(net, wanted)
    found = to_state_dict(net)
    if name in ("LSTM", "RNN", "both directions"):               # which have one bias here
        def added(state):
            return {n.replace("bias_ih", "bias"): a + (state[n.replace("_ih", "_hh")] if "bias_ih" in n else 0)
                    for n, a in state.items() if "bias_hh" not in n}
        found, wanted = added(found), added(wanted)
    if name == "attention":
        wanted = {n: a for n, a in wanted.items() if "bias" not in n}
    assert set(found) == set(wanted)
    for key, array in wanted.items():
        assert found[key].shape == array.shape, key
        np.testing.assert_allclose(found[key], array, 1e-5, 1e-6, err_msg=key)


def pair() -> MultiLayerNetwork:
    return network(DenseLayer(n_in=4, n_out=3, layer_name="a"), OutputLayer(n_in=3, n_out=2, layer_name="b"))


STATE = {"hidden.weight": np.ones((3, 4), "f4"), "hidden.bias": np.zeros(3, "f4"),
         "last.weight": np.full((2, 3), 2, "f4"), "last.bias": np.ones(2, "f4")}


def test_layers_are_found_by_name_by_order_and_by_a_mapping(tmp_path):
    by_order, by_names, renamed = pair(), pair(), pair()
    set_state_dict(by_order, STATE)
    set_state_dict(by_names, STATE, {"b": "last", "0": "hidden"})
    set_state_dict(renamed, {n.replace("hidden", "a").replace("last", "b"): a for n, a in reversed(STATE.items())})
    for net in (by_order, by_names, renamed):
        assert net.get_param("0_W").tolist() == np.ones((4, 3)).tolist() and net.get_param("1_b").tolist() == [1, 1]
    path = tmp_path / "net.safetensors"
    made = to_state_dict(by_order, {"a": "hidden", "b": "last"}, path)
    assert all((made[n] == a).all() for n, a in STATE.items())
    again = pair()
    with pytest.raises(ConfigurationError, match=r"keeps no order, and its modules \(hidden, last\)"):
        set_state_dict(again, path)
    set_state_dict(again, path, {"a": "hidden", "b": "last"})
    assert (again.params() == by_order.params()).all()


@pytest.mark.parametrize("change, text", [
    ({"last.weight": None}, "layer 'b' needs last.weight"), ({"more.weight": np.ones(2)}, "3 modules"),
    ({"hidden.weight": np.ones((4, 3), "f4")}, r"W would have the shape \[3, 4\] and has \[4, 3\]")])
def test_what_does_not_fit_changes_nothing(change, text):
    net, state = pair(), {n: a for n, a in (STATE | change).items() if a is not None}
    before = net.params().copy()
    with pytest.raises(ConfigurationError, match=text):
        set_state_dict(net, state)
    assert (net.params() == before).all()


def test_parts_of_a_state():
    net = pair()
    with pytest.raises(ConfigurationError, match="layer 'b' gets nothing; last.weight is used by no layer"):
        set_state_dict(net, STATE, {"a": "hidden"})
    set_state_dict(net, STATE, {"a": "hidden"}, strict=False)
    assert (net.get_param("0_W") == 1).all() and not (net.get_param("1_W") == 2).all()
    with pytest.raises(ConfigurationError, match="no layer with parameters is called 'c'"):
        set_state_dict(net, STATE, {"c": "hidden"})


def test_levels_of_a_recurrent_module():
    one, two = (LAYERS["LSTM"][0].replace(n_in=n, layer_name=name) for n, name in ((3, "x"), (2, "y")))
    first = state_of("LSTM")
    second = {n.replace("_l0", "_l1"): a[:, :2] if n == "weight_ih_l0" else a for n, a in first.items()}
    net = network(one, two)
    state = {f"rnn.{n}": a for n, a in (first | second).items()}
    set_state_dict(net, state)
    found = to_state_dict(net, {"x": "rnn", "y": ("rnn", 1)})
    assert set(found) == set(state) and (found["rnn.weight_hh_l1"] == state["rnn.weight_hh_l1"]).all()


def test_layers_that_pytorch_has_not():
    net = network(SeparableConvolution2D(n_in=2, n_out=2, kernel_size=2, layer_name="s"))
    with pytest.raises(ConfigurationError, match="no layer like SeparableConvolution2D"):
        to_state_dict(net)
    assert to_state_dict(network(LossLayer())) == {}


def test_graphs_have_the_names_of_the_state():
    sd = SameDiff.create()
    sd.var("fc.weight", np.zeros((2, 3), "f4"))
    set_state_dict(sd, {"fc.weight": np.ones((2, 3))})
    assert to_state_dict(sd)["fc.weight"].tolist() == [[1, 1, 1]] * 2
    with pytest.raises(ConfigurationError, match=r"fc.weight has the shape \[2, 3\]"):
        set_state_dict(sd, {"fc.weight": np.ones((3, 2))})
    with pytest.raises(ConfigurationError, match="fc.weight is missing"):
        set_state_dict(sd, {})
