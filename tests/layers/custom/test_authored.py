"""What users write for dl4py to call: exceptions keep their line and name the class, wrong results are refused by name."""
from __future__ import annotations

import traceback

import numpy as np
import pytest

from dl4py.layers import (
    DenseLayer,
    FeedForwardLayer,
    FeedForwardToCnnPreProcessor,
    IActivation,
    IDropout,
    IWeightInit,
    LossMSE,
    OutputLayer,
    SameDiffLambdaVertex,
    SameDiffLoss,
)
from dl4py.layers.functions.constraints import LayerConstraint
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.configuration.declaring import configuration
from dl4py.samediff.errors import ConfigurationError, DL4PyError
from dl4py.samediff.training import RatedUpdater, Schedule, Sgd

X, Y = np.ones((4, 3)), np.eye(2)[[0, 1, 0, 1]]


def made(base, name, **methods):
    """A class as a user would write it, of a module of its own."""
    cls = type(name, (base,), {"__module__": "acme.parts", **methods})
    return configuration(f"acme.parts.{name}{id(cls)}")(cls)


def fit(layer=None, updater=None, **general):
    builder = NeuralNetConfiguration.Builder().seed(1)
    for name, value in {"updater": updater, **general}.items():
        builder = builder if value is None else getattr(builder, name)(value)
    out = OutputLayer(n_in=4, n_out=2, activation="identity", loss_function=general.pop("loss", None) or LossMSE())
    return train(builder.list().layer(layer or DenseLayer(n_in=3, n_out=4)).layer(out))


def train(builder):
    net = MultiLayerNetwork(builder.build()).init()
    net.fit(X, Y)
    return net


def with_loss(loss):
    out = OutputLayer(n_in=3, n_out=2, activation="identity", loss_function=loss)
    return train(NeuralNetConfiguration.Builder().seed(1).list().layer(out))


def with_vertex(vertex):
    conf = (NeuralNetConfiguration.Builder().graph_builder().add_inputs("in").add_vertex("v", vertex, "in")
            .add_layer("out", OutputLayer(n_in=3, n_out=2), "v").set_outputs("out").build())
    ComputationGraph(conf).init().fit(X, Y)


def updater(step, name="Momentous", **methods):
    return made(RatedUpdater, name, state_names=("M",), step=step, learning_rate=0.1, learning_rate_schedule=None, **methods,
                __annotations__={"learning_rate": float | Schedule, "learning_rate_schedule": Schedule | None})()


def right(self, xp, g, s, h):
    return h[0] * g, s


WRONG_STEPS = {
    "no_state": (lambda self, xp, g, s, h: h[0] * g, "new states"), "forgotten": (lambda self, xp, g, s, h: (h[0] * g, ()), "0 new states"),
    "several": (lambda self, xp, g, s, h: (h[0] * g, (g, g)), "2 new states"), "none": (lambda self, xp, g, s, h: (h[0] * g, None), "None"),
    "array": (lambda self, xp, g, s, h: (h[0] * g, g), "new states"), "no_update": (lambda self, xp, g, s, h: (None, s), "None")}


@pytest.mark.parametrize("name", WRONG_STEPS)
@pytest.mark.parametrize("executor", ["", "reference"])
def test_updaters_whose_step_forgets_something(name, executor, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    step, text = WRONG_STEPS[name]
    with pytest.raises(ConfigurationError, match=rf"acme.parts.Momentous.*returned .*{text}.*\(M\)"):
        fit(updater=updater(step))


WRONG = {
    "initialiser": (lambda: fit(weight_init=made(IWeightInit, "Part", init=lambda self, rng, i, o, shape, *a, **k: np.zeros((2, 2)))()),
                    r"an array of shape \(2, 2\); an array of shape \(3, 4\)"),
    "no initial values": (lambda: fit(weight_init=made(IWeightInit, "Part", init=lambda self, *a, **k: None)()), "None; an array"),
    "dropout": (lambda: fit(DenseLayer(n_in=3, n_out=4, dropout=made(
        IDropout, "Part", draw=lambda self, rng, shape, *a: (np.ones((9, 9)), None))())), r"shape \(9, 9\).*shape \(4, 3\)"),
    "dropout without a pair": (lambda: fit(DenseLayer(n_in=3, n_out=4, dropout=made(
        IDropout, "Part", draw=lambda self, rng, shape, *a: np.ones(shape))())), "a factor and a shift"),
    "constraint": (lambda: fit(DenseLayer(n_in=3, n_out=4, constraints=[made(
        LayerConstraint, "Part", constrained=lambda self, xp, p: None)(params=("W",))])), "None; an array"),
    "schedule": (lambda: fit(updater=Sgd(made(Schedule, "Part", value_at=lambda self, *at: np.ones(3))())), r"shape \(3,\); a number"),
    "schedule without a value": (lambda: fit(updater=Sgd(made(Schedule, "Part", value_at=lambda self, *at: None)())), "None; a number"),
    **{f"updater's {what}, {name}": (lambda what=what, found=found: fit(updater=updater(right, "Part", **{what: lambda *_: found})), text)
       for what, text in (("state_init", r"a number for each of state_names \('M',\)"), ("hyper", "a tuple of numbers"))
       for name, found in {"nothing": None, "a number": 0.5, "an array": (np.ones(3),), "an array first": (np.ones(3), 0.5)}.items()},
    **{f"updater's state_init, {len(found)}": (lambda found=found: fit(updater=updater(right, "Part", state_init=lambda self: found)),
                                               "a number for each") for found in ((), (0.5, 0.5))},
    "activation": (lambda: fit(DenseLayer(n_in=3, n_out=4, activation=made(
        IActivation, "Part", define=lambda self, sd, x: x.sum(1))())), "the same shape"),
    "activation without a result": (lambda: fit(DenseLayer(n_in=3, n_out=4, activation=made(
        IActivation, "Part", define=lambda self, sd, x: None)())), "None; a variable"),
    "loss": (lambda: with_loss(made(SameDiffLoss, "Part", define_loss=lambda self, sd, x, y: (x - y) * 2.0)()), "one score for each"),
    "loss of all": (lambda: with_loss(made(SameDiffLoss, "Part", define_loss=lambda self, sd, x, y: x.sum())()), "one score for each"),
    "preprocessor": (lambda: train(NeuralNetConfiguration.Builder().list().layer(OutputLayer(n_in=3, n_out=2)).input_pre_processor(0, made(
        FeedForwardToCnnPreProcessor, "Part", define=lambda self, sd, x, batch=None: None)(1, 3, 1))), "None; a variable"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_results_name_the_class(kind):
    run, text = WRONG[kind]
    with pytest.raises(ConfigurationError, match=rf"acme.parts.Part.*returned.*{text}"):
        run()


def boom(self, *args, **kwargs):
    raise KeyError("boom")          # here


RAISING = {
    "updater": lambda: fit(updater=updater(boom)), "schedule": lambda: fit(updater=Sgd(made(Schedule, "Part", value_at=boom)())),
    "initialiser": lambda: fit(weight_init=made(IWeightInit, "Part", init=boom)()),
    "dropout": lambda: fit(DenseLayer(n_in=3, n_out=4, dropout=made(IDropout, "Part", draw=boom)())),
    "constraint": lambda: fit(DenseLayer(n_in=3, n_out=4, constraints=[made(LayerConstraint, "Part", constrained=boom)(params=("W",))])),
    "activation": lambda: fit(DenseLayer(n_in=3, n_out=4, activation=made(IActivation, "Part", define=boom)())),
    "loss": lambda: with_loss(made(SameDiffLoss, "Part", define_loss=boom)()),
    "layer": lambda: fit(made(FeedForwardLayer, "Part", define_parameters=lambda self, params: None, define_layer=boom)(n_in=3, n_out=4)),
    "vertex": lambda: with_vertex(made(SameDiffLambdaVertex, "Part", define_vertex=boom)()),
}


@pytest.mark.parametrize("kind", RAISING)
def test_exceptions_keep_their_line_and_name_the_class(kind):
    with pytest.raises((KeyError, DL4PyError)) as caught:
        RAISING[kind]()
    error = caught.value
    chain = [error]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    lines = [f.line for e in chain for f in traceback.extract_tb(e.__traceback__)]
    assert any("# here" in (line or "") for line in lines)
    text = "".join(str(e) + " ".join(getattr(e, "__notes__", ())) for e in chain)
    assert "boom" in text and (("Part" in text) or "Momentous" in text) and "test_authored.py" in text
