"""Wrong updaters, schedules, dropouts, initialisers, constraints, evaluations and layers, each of which a check finds."""
from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from dl4py.layers import (
    DenseLayer,
    Dropout,
    FeedForwardLayer,
    IDropout,
    InputPreProcessor,
    InputType,
    IWeightInit,
    Layer,
    LayerConstraint,
    MaxNormConstraint,
    SpatialDropout,
    UnitNormConstraint,
    WeightInit,
    WeightInitXavier,
    check_constraint,
    check_dropout,
    check_evaluation,
    check_initialiser,
    check_layer,
    check_preprocessor,
    check_schedule,
    check_updater,
    layer,
)
from dl4py.samediff.configuration.declaring import configuration
from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.evaluation import BaseEvaluation, Evaluation, EvaluationBinary, RegressionEvaluation, ROCMultiClass
from dl4py.samediff.training import (
    AdaGrad,
    Adam,
    AMSGrad,
    CycleSchedule,
    ExponentialSchedule,
    FixedSchedule,
    MapSchedule,
    Nadam,
    Nesterovs,
    NoOp,
    RatedUpdater,
    RmsProp,
    Schedule,
    Sgd,
    StepSchedule,
)

numbers = itertools.count()
RNG = np.random.default_rng(0)
LABELS, PREDICTIONS = np.eye(3)[RNG.integers(0, 3, 8)], RNG.dirichlet(np.ones(3), 8)


def made(base, **body):
    """An object of a new class."""
    name = f"Wrong{next(numbers)}"
    fields = {n: type(v) for n, v in body.items() if isinstance(v, (int, float)) and not isinstance(v, bool)}
    cls = type(name, (base,), {"__module__": __name__, "__doc__": "Wrong.", "__annotations__": fields, **body})
    return (layer if issubclass(base, Layer) else configuration)(f"test_wrong.{name}")(cls)


def failures(report):
    return {c.name: c.detail for c in report.failures}


# What is built in is right

BUILT_IN = [
    *(lambda u=u: check_updater(u(0.1)) for u in (Sgd, Adam, AdaGrad, AMSGrad, Nadam, Nesterovs, RmsProp)), lambda: check_updater(NoOp()),
    *(lambda s=s: check_schedule(s) for s in (FixedSchedule(0.1), ExponentialSchedule("ITERATION", 0.1, 0.9),
                                              StepSchedule("EPOCH", 0.1, 0.9, 3), CycleSchedule("ITERATION", 0.1, 1000),
                                              MapSchedule("ITERATION", {0: 0.1, 10: 0.01}))),
    lambda: check_dropout(Dropout(0.5)), lambda: check_dropout(SpatialDropout(0.5), (4, 6, 5)),
    *(lambda w=w: check_initialiser(IWeightInit.of(w), (9, 9)) for w in WeightInit if w.name != "DISTRIBUTION"),
    lambda: check_constraint(MaxNormConstraint(1.0, 0)), lambda: check_constraint(UnitNormConstraint(0), allow={"special values"}),
    *(lambda e=e: check_evaluation(e(), LABELS, PREDICTIONS) for e in (Evaluation, EvaluationBinary, RegressionEvaluation, ROCMultiClass))]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("check", BUILT_IN)
def test_what_is_built_in(check):
    check().raise_if_failed()


# Updaters

count = itertools.count(1)


def plain_step(self, xp, gradient, state, hyper):
    return hyper[0] * gradient, ()


UPDATERS = [
    ("descends", {"step": lambda self, xp, g, s, h: (-h[0] * g, ())}, "by -update"),
    ("learning rate", {"step": lambda self, xp, g, s, h: (0.01 * g, ())}, "hyper"),
    ("steps do not depend on other steps", {"step": lambda self, xp, g, s, h: (h[0] * g * (1.0 + next(count)), ())}, "in its state"),
    ("step", {"step": lambda self, xp, g, s, h: (g.__imul__(h[0]), ())}, "writes to gradient"),
    ("step", {"step": lambda self, xp, g, s, h: (h[0] * g, (g,))}, "state"),
    ("step", {"step": lambda self, xp, g, s, h: (h[0] * g / (1 + (g * g).sum()), ())}, ""),
    ("states", {"state_names": ("M",), "step": lambda self, xp, g, s, h: (h[0] * (g + 0.9 * s[0]), (s[0],))}, "never changes"),
    ("states", {"state_names": ("M",), "step": lambda self, xp, g, s, h: (h[0] * g, (g + 0.9 * s[0],))}, "whatever M is"),
    ("step", {"state_names": ("M",), "state_init": lambda self: (), "step": lambda self, xp, g, s, h: (h[0] * g, s)}, "state"),
    ("gradients of any size", {"step": lambda self, xp, g, s, h: (h[0] * g / xp.abs(g), ())}, "not finite"),
    ("gradients of any size", {"step": plain_step, "hyper": lambda self, i, e: (0.1 * (0.5 + i % 9) ** (i / 99),)}, ""),
    ("step", {"step": plain_step, "after_step": lambda self, xp, p, u: u + 0 * p.__imul__(0.99)}, "after_step writes to what it is given"),
    ("options have an effect", {"step": plain_step, "decay": 0.9}, "'decay'")]


@pytest.mark.parametrize("name, body, text", UPDATERS)
def test_updaters(name, body, text):
    found = failures(check_updater(made(RatedUpdater, learning_rate=0.1, **body)()))
    assert name in found and text in found[name]


def test_updaters_with_schedules():
    def own(self, xp, gradient, state, hyper):
        return self.learning_rate * gradient, ()
    for step, texts in ((own, ["present one"]), (plain_step, [])):
        planned = made(RatedUpdater, __annotations__={"learning_rate": "float | Schedule"}, learning_rate=0.1, step=step)
        found = failures(check_updater(planned()))
        assert list(found) == ["learning rate"][:len(texts)] and all(t in found["learning rate"] for t in texts)


# Schedules

SCHEDULES = [
    ("values", lambda self, i, e: 1.0 / i if i else float("nan"), "value_at"), ("values", lambda self, i, e: "fast", ""),
    ("not negative", lambda self, i, e: 0.1 - 0.001 * i, "is -"), ("later iterations", lambda self, i, e: 0.1 - 0.1 * i / 5000, "is -"),
    ("later iterations", lambda self, i, e: 0.1 / math.exp(i / 1000), "math range error"),
    ("values do not depend on each other", lambda self, i, e: 1.0 / next(count), "counts nothing itself")]


def test_options_of_schedules():
    assert "'top'" in failures(check_schedule(made(Schedule, top=0.1, value_at=lambda self, i, e: 0.1)()))["options have an effect"]
    check_schedule(made(Schedule, top=0.1, value_at=lambda self, i, e: max(0.0, self.top * (1 - i / 5000)))()).raise_if_failed()


@pytest.mark.parametrize("name, value_at, text", SCHEDULES)
def test_schedules(name, value_at, text):
    found = failures(check_schedule(made(Schedule, value_at=value_at)()))
    assert name in found and text in found[name]


# Dropouts

DROPOUTS = [
    ("random numbers", lambda self, rng, shape, dtype, i, e: (np.random.default_rng(3).random(shape).astype(dtype), None), "another seed"),
    ("random numbers", lambda self, rng, shape, dtype, i, e: (np.random.default_rng().random(shape).astype(dtype), None), "equal seeds"),
    ("factors", lambda self, rng, shape, dtype, i, e: ((rng.random(shape) < 0.5).astype(dtype), None), "Divide by the probability"),
    ("factors", lambda self, rng, shape, dtype, i, e: ((rng.random(shape[1:]) < 0.5) * 2 * np.ones(shape), None), "first axis"),
    ("factors", lambda self, rng, shape, dtype, i, e: ((np.random.default_rng(rng.integers(0, 2)).random(shape) < 0.5) * 2.0, None),
     "from the rng that draw is given"),
    ("random numbers", lambda self, rng, shape, dtype, i, e: (None, None), "does nothing"),
    ("random numbers", lambda self, rng, shape, dtype, i, e: (rng.random((3,)), None), "broadcast")]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name, draw, text", DROPOUTS)
def test_dropouts(name, draw, text):
    found = failures(check_dropout(made(IDropout, draw=draw)()))
    assert name in found and text in found[name]


def test_options_of_dropouts_and_initialisers():
    dropout = made(IDropout, p=0.8, draw=lambda self, rng, shape, dtype, i, e: (((rng.random(shape) < 0.5) / 0.5).astype(dtype), None))
    assert list(failures(check_dropout(dropout()))) == ["options have an effect"]
    initialiser = made(IWeightInit, gain=2.0, init=lambda self, rng, fan_in, fan_out, shape, order="f", dtype=None: rng.normal(
        shape, 0.0, 0.1))
    assert list(failures(check_initialiser(initialiser()))) == ["options have an effect"]


def test_a_dropout_that_always_acts():
    found = failures(check_dropout(made(IDropout, define=lambda self, sd, x: Dropout(0.5).define(sd, x) * 2)()))
    assert "acts outside of training" in found["at rest outside of training"]


# Initialisers

INITIALISERS = [
    ("seeds", lambda self, rng, fan_in, fan_out, shape, order="f", dtype=None: np.random.default_rng(0).normal(size=shape), "every seed"),
    ("seeds", lambda self, rng, fan_in, fan_out, shape, order="f", dtype=None: np.random.default_rng().normal(size=shape), "equal seeds"),
    ("seeds", lambda self, rng, fan_in, fan_out, shape, order="f", dtype=None: type(rng)(rng.seed if hasattr(rng, "seed") else 1).normal(
        shape, 0.0, 1.0), ""),
    ("seeds", lambda self, rng, fan_in, fan_out, shape, order="f", dtype=None: np.repeat(
        np.asarray(rng.normal((*shape[:-1], 1), 0.0, 1.0)), shape[-1], -1), "all units"),
    ("seeds", lambda self, rng, fan_in, fan_out, shape, order="f", dtype=None: np.ones(shape) * np.asarray(
        rng.normal((1, shape[-1]), 0.0, 1.0))[0], "all inputs"),
    ("seeds", lambda self, rng, fan_in, fan_out, shape, order="f", dtype=None: rng.normal(shape, 0.0, 1e5), "fan_in"),
    ("seeds", lambda self, rng, fan_in, fan_out, shape, order="f", dtype=None: rng.normal(shape, 0.0, fan_in ** 0.5), "grow with the size"),
    ("shapes", lambda self, rng, fan_in, fan_out, shape, order="f", dtype=None: np.zeros(shape[::-1]), "expected"),
    ("shapes", lambda self, rng, fan_in, fan_out, shape, order="f", dtype=None: np.full(shape, np.nan), "not finite")]


@pytest.mark.parametrize("name, init, text", INITIALISERS)
def test_initialisers(name, init, text):
    found = failures(check_initialiser(made(IWeightInit, init=init)()))
    assert name in found and text in found[name]


# Constraints

CONSTRAINTS = [
    ("shape and type", lambda self, xp, p: p.sum(axis=0), ""),
    ("shape and type", lambda self, xp, p: xp.abs(p, out=p), "writes to its input"),
    ("shape and type", lambda self, xp, p: p.astype(np.float64), "float32 (4, 3) gives float64"),
    ("holds when applied again", lambda self, xp, p: p * 0.5, "takes the array to 0"),
    ("holds when applied again", lambda self, xp, p: p * 1.5, "goes on"), ("special values", lambda self, xp, p: p / p.max(), "not finite"),
    ("holds when applied again", lambda self, xp, p: p + xp.random.default_rng().normal(size=p.shape).astype(p.dtype), "")]


@pytest.mark.parametrize("name, constrained, text", CONSTRAINTS)
def test_constraints(name, constrained, text):
    found = failures(check_constraint(made(LayerConstraint, constrained=constrained)()))
    assert name in found and text in found[name]


# Evaluations

class Mean(RegressionEvaluation, name="test_wrong.Mean"):
    """A base to break."""


def evaluation(**body):
    return type(f"Wrong{next(numbers)}", (RegressionEvaluation,), body, name=f"test_wrong.Wrong{next(numbers)}")()


def test_evaluations():
    y, p = LABELS, PREDICTIONS
    check_evaluation(Mean(), y, p).raise_if_failed()
    assert "written to" in failures(check_evaluation(evaluation(eval=lambda self, y, p, *m: np.clip(p, 0, 1, out=p)), y, p))["counts"]
    assert "reset does not forget" in failures(check_evaluation(evaluation(reset=lambda self: None), y, p))["reset"]
    assert "merged halves" in failures(check_evaluation(evaluation(join=lambda self, other: None), y, p))["merge"]



class Counted(BaseEvaluation, name="test_wrong.Counted"):
    """The distance of all rows; what it counts is what its JSON holds."""

    def __init__(self):
        self.errors, self.rows, self.best = [], np.zeros(2, np.int64), {"none": None}

    def count(self, rows):
        self.errors += np.abs(rows.labels - rows.predictions).sum(1, where=True if rows.mask is None else rows.mask != 0).tolist()
        self.rows[0] += len(rows.labels)

    def join(self, other):
        self.errors = self.errors + other.errors
        self.rows = self.rows + other.rows

    def reset(self):
        self.__init__()

    def stats(self):
        return f"{np.sum(self.errors):.12g} of {self.rows[0]}"


def test_evaluations_that_write_nothing_of_their_json(tmp_path):
    check_evaluation(Counted(), LABELS, PREDICTIONS).raise_if_failed()
    one = Counted()
    one.eval(LABELS, PREDICTIONS)
    for again in (BaseEvaluation.from_json(one.to_json()), BaseEvaluation.from_yaml(one.to_yaml())):
        assert type(again) is Counted and again == one and again.rows.dtype == np.int64 and again.best == {"none": None}
    one.errors.append(float("inf"))
    assert BaseEvaluation.from_json(one.to_json()).errors[-1] == float("inf")
    one.owner = object()
    with pytest.raises(ConfigurationError, match="Counted holds owner = <object .*which no JSON can keep.*write document and restore"):
        one.to_json()


def counted(**body):
    return type(f"Wrong{next(numbers)}", (Counted,), body, name=f"test_wrong.Wrong{next(numbers)}")()


def test_evaluations_of_batches():
    def shares(self, other):
        self.errors = other.errors if not self.errors else self.errors + other.errors
        self.rows = self.rows + other.rows

    def means(self, rows):
        self.errors.append(float(np.abs(rows.labels - rows.predictions).sum(1).mean()))

    def last(self, rows):
        self.errors = [float(rows.predictions[-1, 0])]
    assert "merge copies" in failures(check_evaluation(counted(join=shares), LABELS, PREDICTIONS))["merge"]
    assert "two batches and one" in failures(check_evaluation(counted(count=means), LABELS, PREDICTIONS))["batches"]
    def all_outputs(self, rows):
        Counted.count(self, replace(rows, mask=None))
    assert "masked outputs are counted" in failures(check_evaluation(counted(count=all_outputs), LABELS, PREDICTIONS))["masks of outputs"]
    assert "another order" in failures(check_evaluation(counted(count=last), LABELS, PREDICTIONS))["order of rows"]


# Layers

class Dense(FeedForwardLayer):
    def define_parameters(self, params):
        params.weight("W", (self.n_in, self.n_out), fan_in=self.n_in, fan_out=self.n_out)

    def define_layer(self, sd, x, params, mask):
        return x.mmul(params["W"])


FOUR, SERIES = InputType.feed_forward(4), InputType.recurrent(4)


def test_weights_of_wrong_scale():
    def scaled(self, params):
        params.weight("W", (self.n_in, self.n_out), fan_in=1, fan_out=1)
    wrong = made(Dense, define_parameters=scaled)(n_out=3)
    assert "fan_in=1" in failures(check_layer(wrong, InputType.feed_forward(40)))["initial weights"]


def test_weights_that_start_equal():
    def zero(self, params):
        params.weight("W", (self.n_in, self.n_out), init=0.0)

    def same(self, params):
        params.weight("W", (self.n_in, self.n_out), init=lambda rng, shape, order, dtype: np.random.default_rng(0).normal(size=shape))
    assert "are 0" in failures(check_layer(made(Dense, define_parameters=zero)(n_out=3), FOUR))["initial weights"]
    assert "every seed" in failures(check_layer(made(Dense, define_parameters=same)(n_out=3), FOUR))["initial weights"]
    right = made(Dense)
    check_layer(right(n_out=3), FOUR).raise_if_failed()
    check_layer(right(n_out=3, weight_init="zero"), FOUR).raise_if_failed()


class Series(Layer):
    def output_type(self, input_type):
        return input_type


@pytest.mark.slow
def test_masks_that_are_not_looked_at():
    def mean(self, sd, x, params, mask):
        return x - x.mean(True, 2)
    found = failures(check_layer(made(Series, define_layer=mean)(), SERIES))
    assert "the mask is not looked at" in found["masks"]
    check_layer(made(Series, define_layer=mean)(), SERIES, allow={"masks"}).raise_if_failed()
    check_layer(made(Series, define_layer=lambda self, sd, x, params, mask: sd.nn.tanh(x))(), SERIES).raise_if_failed()


def test_states_that_are_lost():
    def lost(self, sd, x, params, mask):
        h = params.state("h", x, 4)
        return x + sd.reshape(h, -1, 4, 1)

    def unread(self, sd, x, params, mask):
        params.keep_state("h", x[:, :, -1])
        return x * 1.0
    assert "never kept" in failures(check_layer(made(Series, define_layer=lost)(), SERIES))["states"]
    assert "never read" in failures(check_layer(made(Series, define_layer=unread)(), SERIES))["states"]


def test_statistics_that_nothing_moves():
    body = {"define_parameters": lambda self, params: params.statistic("m", (1, self.n_in)), "output_type": lambda self, kind: kind}

    def still(self, sd, x, params, mask):
        return x - params["m"]

    def moved(self, sd, x, params, mask):
        params.move("m", (params["m"] - x.mean(True, 0)) * 0.1)
        return x - params["m"]
    assert "nothing moves m" in failures(check_layer(made(FeedForwardLayer, define_layer=still, **body)(), FOUR))["statistics"]
    check_layer(made(FeedForwardLayer, define_layer=moved, **body)(), FOUR).raise_if_failed()


def test_preprocessors_that_mix_examples():
    body = {"output_type": lambda self, kind: InputType.feed_forward(kind.array_elements_per_example())}
    kind = InputType.convolutional(2, 3, 4)

    def mixed(self, array, minibatch):
        return (array - array.mean(axis=0, keepdims=True)).reshape(minibatch, -1)
    found = failures(check_preprocessor(made(InputPreProcessor, pre_process=mixed, **body)(), kind))
    assert "examples are mixed" in found["any batch size"]
    check_preprocessor(made(InputPreProcessor, pre_process=lambda self, array, n: array.reshape(n, -1), **body)(), kind).raise_if_failed()


@pytest.mark.slow
def test_rules_of_layers_inside_that_are_lost():
    body = {"__annotations__": {"held": Layer}, "__doc__": "Wrong.", "__module__": __name__,
            "define_parameters": lambda self, params: [params.add(p) for p in self.held.parameter_table()],
            "define_layer": lambda self, sd, x, params, mask: self.held.define_layer(sd, x, params, mask),
            "set_n_in": lambda self, kind, override=True: self.replace(held=self.held.set_n_in(kind, override)),
            "output_type": lambda self, kind: self.held.output_type(kind),
            "missing_values": lambda self, given: {"held": self.held.apply_global_config(given)},
            "initial_values": lambda self, rng, dtype: self.held.initial_values(rng, dtype)}
    lost = layer("test_wrong.Holder")(type("Holder", (Layer,), dict(body)))
    assert "constraints of the layer in 'held' are lost" in failures(
        check_layer(lost(held=DenseLayer(n_out=3, activation="tanh")), FOUR))["rules of layers inside"]
    half = layer("test_wrong.Half")(type("Half", (Layer,), {**body, "constraints_in_force": property(lambda self: self.held.constraints)}))
    assert "regularization of the layer in 'held' is lost" in failures(
        check_layer(half(held=DenseLayer(n_out=3, activation="tanh")), FOUR))["rules of layers inside"]


# What is intended

def test_allow_names_checks():
    negative = made(Schedule, value_at=lambda self, i, e: 0.1 - 0.001 * i)()
    report = check_schedule(negative, allow={"not negative"})
    assert report.passed and any(c.detail.startswith("allowed: ") for c in report.checks)
    with pytest.raises(ConfigurationError, match="has no check 'not positive'; did you mean 'not negative'"):
        check_schedule(negative, allow={"not negative", "not positive"})
    with pytest.raises(ConfigurationError, match="has no check"):
        check_initialiser(WeightInitXavier(), allow={"seed"})
