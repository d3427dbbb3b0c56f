"""Layers and functions that fail for zeros, large numbers, more examples or masked steps, or keep what they should not."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from dl4py.layers import (
    BaseLayer,
    FeedForwardLayer,
    IActivation,
    IDropout,
    InputPreProcessor,
    InputType,
    LayerConstraint,
    SameDiffLoss,
    check_activation,
    check_constraint,
    check_dropout,
    check_evaluation,
    check_loss,
    check_preprocessor,
    check_schedule,
    layer,
)
from dl4py.layers.checks import check_values
from dl4py.layers.checks.check_subject import Subject, drawn
from dl4py.samediff.base.user_code.check_report import CheckFailure
from dl4py.samediff.evaluation import BaseEvaluation
from dl4py.samediff.training import Schedule
from tests.layers.checks.findings import found, made, numbers

FOUR, SERIES, IMAGE = InputType.feed_forward(4), InputType.recurrent(4), InputType.convolutional(2, 3, 4)


def subject(base, kind, define, **body):
    name = f"Values{next(numbers)}"
    form = {"__module__": __name__, "__doc__": "Wrong.", "define_layer": define, "output_type": lambda self, kind: kind}
    cls = layer(f"test_check_values.{name}")(type(name, (base,), form | body))
    one = Subject.of_layer(cls(), kind, drawn(kind, np.random.default_rng(0)), None)
    one.draw(0)
    return one


def refused(run, text):
    if text is None:
        run()
    else:
        with pytest.raises(CheckFailure, match=text):
            run()


# Layers

@pytest.mark.parametrize(("define", "text"), [
    (lambda self, sd, x, p, m: x / sd.math.sqrt((x * x).sum(True, 1)), "examples of zeros"),
    (lambda self, sd, x, p, m: x / sd.math.sqrt((x * x).sum(True, 1) + 1e-6), None),
    (lambda self, sd, x, p, m: sd.math.exp(x) / sd.math.exp(x).sum(True, 1), "inputs near 200 and -200 give NaN"),
    (lambda self, sd, x, p, m: sd.nn.softmax(x), None), (lambda self, sd, x, p, m: sd.math.exp(x), None),
    (lambda self, sd, x, p, m: sd.math.log(x), None)])
def test_zeros_and_large_inputs(define, text):
    refused(lambda: check_values.special_inputs(subject(FeedForwardLayer, FOUR, define)), text)


def running(step):
    def define(self, sd, x, params, mask):
        params.move("kept", step(sd, params["kept"], sd.stop_gradient(x), mask))
        return x - params["kept"]
    return define


def masked_mean(sd, kept, x, mask):
    there = sd.ones_like(x[:, :1, :]) if mask is None else sd.expand_dims(mask, 1)
    return (kept - (x * there).sum(True, 0, 2) / there.sum()) * 0.1


@pytest.mark.parametrize(("kind", "step", "text"), [
    (FOUR, lambda sd, kept, x, m: (kept - x.mean(True, 0)) * 0.1, None),
    (FOUR, lambda sd, kept, x, m: (kept - x.sum(True, 0)) * 0.1, "twice as much where a batch has each example twice"),
    (FOUR, lambda sd, kept, x, m: -x.sum(True, 0), None),                  # adds up all that there was
    (SERIES, lambda sd, kept, x, m: (kept - x.mean(True, 0, 2)) * 0.1, "masked steps have an influence on the statistic 'kept'"),
    (SERIES, masked_mean, None)])
def test_statistics_of_batches(kind, step, text):
    shape = (1, 4) if kind is FOUR else (1, 4, 1)
    base = FeedForwardLayer if kind is FOUR else BaseLayer
    one = subject(base, kind, running(step), define_parameters=lambda self, params: params.statistic("kept", shape))
    refused(lambda: check_values.statistics_of_batches(one), text)


# Activations and losses

@pytest.mark.parametrize(("define", "text"), [
    (lambda self, sd, x: x * x / sd.math.abs(x), "at 0 are no numbers"),
    (lambda self, sd, x: sd.math.sign(x), "its gradient is 0 everywhere"), (lambda self, sd, x: sd.nn.relu(x), None)])
def test_activations_at_0(define, text):
    told = found(check_activation(made(IActivation, define=define)()))
    assert list(told) == ["at 0"][:text is not None] and (text or "") in told.get("at 0", "")


def far(sd, x, y):
    d = sd.math.abs(y - x)
    return (d + sd.nn.softplus(d * -2.0)).sum(1)


@pytest.mark.parametrize(("name", "define", "text"), [
    ("certain predictions", lambda sd, x, y: sd.math.log(sd.math.cosh(y - x)).sum(1), "200 from their labels are no numbers"),
    ("", far, ""), ("outputs are used", lambda sd, x, y: ((y - x) * (y - x))[:, 0], "output 1 has no influence")])
def test_losses(name, define, text):
    one = made(SameDiffLoss, define_loss=lambda self, sd, x, y: define(sd, x, y))()
    told = found(check_loss(one, [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [[0.2, 0.3], [0.1, -0.4], [0.3, 1.0]], "identity"))
    assert list(told) == [name][:len(name)] and text in told.get(name, "")


# Others

def test_what_the_process_shares():
    def seeded(self, rng, shape, dtype, iteration, epoch):
        np.random.seed(rng.integers(0, 2 ** 31))
        return (np.random.random(shape) < 0.5) * 2.0, None
    told = found(check_dropout(made(IDropout, draw=seeded)()))
    assert "numbers of np.random: draw from the generator that is given" in told["process stays"]


def first_half(self, rng, shape, dtype, iteration, epoch):
    factor = np.ones(shape)
    factor[:shape[0] // 2] = (rng.random((shape[0] // 2, *shape[1:])) < 0.5) * 2
    return factor, None


def but_the_last(self, rng, shape, dtype, iteration, epoch):
    factor = (rng.random(shape) < 0.5) * 2.0
    factor[..., -1] = 1
    return factor, None


def late(self, rng, shape, dtype, iteration, epoch):
    return ((rng.random(shape) < 0.5) * 2.0 if iteration > 10 else None), None


@pytest.mark.parametrize(("draw", "text"), [(first_half, "some examples always"), (but_the_last, "some channels always"), (late, None)])
def test_dropouts(draw, text):
    told = found(check_dropout(made(IDropout, draw=draw)()))
    assert list(told) == ["factors"][:text is not None] and (text or "") in told.get("factors", "")


def test_schedules_that_keep_their_first_value():
    kept: dict = {}
    told = found(check_schedule(made(Schedule, value_at=lambda self, i, e: kept.setdefault(0, 0.1 / (1 + i)))()))
    assert "where it is asked for first" in told["values do not depend on each other"]


def test_objects_that_count_their_calls():
    calls = itertools.count()
    preprocessor = made(InputPreProcessor, output_type=lambda self, kind: InputType.feed_forward(kind.array_elements_per_example()),
                        pre_process=lambda self, array, n: array.reshape(n, -1) * (1 + (next(calls) > 40)))
    assert "in a later call" in found(check_preprocessor(preprocessor(), IMAGE))["graph and arrays agree"]
    more = itertools.count()
    constraint = made(LayerConstraint, constrained=lambda self, xp, p: xp.clip(p, -1, 1) if next(more) < 40 else p)
    assert "gives another result" in found(check_constraint(constraint()))["holds when applied again"]


def test_preprocessors_that_narrow_numbers():
    narrow = made(InputPreProcessor, output_type=lambda self, kind: InputType.feed_forward(kind.array_elements_per_example()),
                  pre_process=lambda self, array, n: array.astype(np.float32).reshape(n, -1))
    assert "of float64 arrays gives float32" in found(check_preprocessor(narrow(), IMAGE))["output type"]


class Above(BaseEvaluation, name="test_check_values.Above"):
    """How many differences are above a limit, which merging forgets."""

    def __init__(self, limit=0.5):
        self.limit, self.count_above = limit, 0

    def count(self, rows):
        self.count_above += int((np.abs(rows.labels - rows.predictions) > self.limit).sum())

    def join(self, other):
        self.count_above, self.limit = self.count_above + other.count_above, 0.5

    def reset(self):
        self.count_above = 0

    def stats(self):
        return f"{self.count_above} above"


def test_evaluations_that_forget_an_option():
    labels, predictions = np.eye(3)[[0, 1, 2, 0, 1, 2]], np.random.default_rng(0).dirichlet(np.ones(3), 6)
    assert "halves that count on" in found(check_evaluation(Above(0.2), labels, predictions))["merge"]
