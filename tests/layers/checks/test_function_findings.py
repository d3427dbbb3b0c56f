"""Activations, losses and preprocessors that are wrong in one way: the check of that name finds it, and no other."""
from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from dl4py.layers import (
    ActivationIdentity,
    IActivation,
    InputPreProcessor,
    InputType,
    LossMSE,
    SameDiffLoss,
    check_activation,
    check_loss,
    check_preprocessor,
)
from dl4py.samediff.errors import ConfigurationError
from tests.layers.checks.findings import found, made, only

X = np.array([[0.5, -1.0, 2.0], [1.5, -0.25, 0.75]])
Y = X[:, ::-1] / 2


CALLS = itertools.count()


# Activations

def activation(**body):
    return made(IActivation, **{"define": lambda self, sd, x: sd.math.tanh(x), **body})()


def steep(self, sd, x):
    return sd.math.exp(x * x * 0.25)


ACTIVATIONS = [
    ({}, None, ""), ({"get_activation": lambda self, a: np.tanh(a)[:1]}, "float32", "inputs (4, 5) give (1, 5)"),
    ({"get_activation": lambda self, a: np.tanh(a.astype(np.float64))}, "float32", "float32 inputs give float64"),
    ({"get_activation": lambda self, a: np.tanh(a) * (1.01 if a.dtype == np.float32 else 1)}, "float32", "float32 and float64"),
    ({"define": steep}, "large inputs", "near 90 and -90"),
    ({"define": lambda self, sd, x: sd.math.tanh(x) + 1e-3 * next(CALLS)}, "float32", "when it is called again"),
    ({"get_activation": lambda self, a: np.where(abs(a) > 50, a.dtype.type(np.inf), np.tanh(a))}, "large inputs", "are not finite"),
    ({"backprop": lambda self, a, e: (np.where(abs(a) > 50, np.nan, e * (1 - np.tanh(a) ** 2)), None)}, "large inputs", "are not finite"),
    ({"backprop": lambda self, a, e: (e * (1 - np.tanh(a)), None)}, "float32", "backprop and the gradient of define"),
    ({"get_activation": lambda self, a: np.tanh(a) / 2}, "float32", "get_activation and what define builds"),
    ({"define": lambda self, sd, x: sd.math.tanh(x.cast_to("FLOAT")).cast_to(x.dtype)}, "float32", "is computed in float32")]


@pytest.mark.parametrize("body, name, text", ACTIVATIONS)
def test_activations(body, name, text):
    also = {"when it is called again": ["the same after JSON", "other shapes"], "is computed in float32": ["gradient"]}.get(text, ())
    only(check_activation(activation(**body)), name, text, also)


# Losses

def squared(self, sd, layer_input, labels):
    return sd.math.squared_difference(layer_input, labels).mean(1)


def loss(**body):
    return made(SameDiffLoss, **{"define_loss": squared, **body})()


def computed(name, change):
    """A method of losses, whose result is changed."""
    def method(self, labels, output, activation, *rest):
        return change(getattr(SameDiffLoss, name)(self, labels, output, activation, *rest), SimpleNamespace(
            labels=labels, output=output, mask=rest[0] if rest else None, average=rest[1] if len(rest) > 1 else True))
    return {name: method}


SCORE, ROWS, SLOPE = "compute_score", "compute_score_array", "compute_gradient"
LOSSES = [
    ({}, None, ""), (computed(SCORE, lambda s, g: s if g.mask is not None else float("nan")), "scores of examples", "the score is nan"),
    (computed(SCORE, lambda s, g: s if g.average else s + 1), "scores of examples", "do not add up to the score"),
    (computed(SCORE, lambda s, g: s + 1 if g.average else s), "scores of examples", "is not the average score"),
    (computed(ROWS, lambda r, g: r[:, 0]), "scores of examples", "scores of 2 examples have shape (2,)"),
    (computed(SLOPE, lambda d, g: d * 1.01), "masks", "compute_gradient and the gradient of what define builds"),
    ({"define_loss": lambda self, sd, x, y: squared(self, sd, *(v.cast_to("FLOAT") for v in (x, y)))}, "float32", "computed in float32"),
    (computed(SLOPE, lambda d, g: d if g.mask is None else d + 0.1), "masks", "masked examples have a gradient"),
    (computed(SLOPE, lambda d, g: d if g.mask is None else d * 2), "masks", "more than to drop the masked gradients"),
    (computed(ROWS, lambda r, g: r if g.mask is None else r * 2), "masks", "more than to drop the masked scores"),
    (computed(SCORE, lambda s, g: s if g.mask is None else s + g.output.sum()), "masks", "a masked example changes the score"),
    (computed(SLOPE, lambda d, g: d * (1.01 if g.output.dtype == np.float32 else 1)), "float32", "gradients in float32 and float64")]


@pytest.mark.parametrize("body, name, text", LOSSES)
def test_losses(body, name, text):
    also = ["masks"] if "have shape" in text else ["certain predictions"] if "is nan" in text else []
    if "computed in float32" in text:           # the sums of its numbers are other ones
        assert text in found(check_loss(loss(**body), Y, X))[name]
        return
    only(check_loss(loss(**body), Y, X), name, text, also)


def test_losses_without_scores_of_examples():
    def none(self, *args):
        raise ConfigurationError("none of these")
    report = check_loss(loss(compute_score_array=none), Y, X)
    assert report.passed and {c.name: c.detail for c in report.checks}["scores of examples"] == "none for single examples: none of these"
    assert {c.name: c.detail for c in report.checks}["masks"] == "score and gradient"
    told = {c.name: c.detail for c in check_loss(LossMSE(), Y, X).checks}
    assert told["masks"] == "score, scores of examples and gradient" and told["scores of examples"].startswith("score ")


def test_losses_of_predictions_that_equal_their_labels():
    def near(self, sd, layer_input, labels):
        error = sd.math.abs(labels - layer_input)
        return (error * error / error).sum(1)
    only(check_loss(loss(define_loss=near), Y + 0.1, X), "certain predictions", "predictions that equal their labels are not finite")


# Preprocessors

def preprocessor(**body):
    return made(InputPreProcessor, **{
        "pre_process": lambda self, a, n: a * 2, "define": lambda self, sd, x, batch=None: x * 2.0,
        "output_type": lambda self, kind: kind, **body})()


SERIES = InputType.recurrent(4, 5)
PREPROCESSORS = [
    ({}, None, ""),
    ({"output_type": lambda self, kind: InputType.feed_forward(3)}, "output type", "of shape (-1, 3), the activations are (3, 4, 5)"),
    ({"pre_process": lambda self, a, n: a * np.float64(2) + np.zeros(1)}, "output type", "of float32 arrays gives float64"),
    ({"pre_process": lambda self, a, n: a * 3}, "graph and arrays agree", "graph and array code"),
    ({"backprop": lambda self, e, n: e * 3}, "backprop", "backprop and gradient"), ({"backprop": lambda self, e, n: e * 2}, None, ""),
    ({"pre_process": lambda self, a, n: a * (2 if n == 3 else 3)}, "any batch size", "of twice as many examples"),
    ({"define_mask": lambda self, sd, mask, x, batch=None: None}, "masks", "the mask of the graph is None"),
    ({"define_mask": lambda self, sd, mask, x, batch=None: 1 - mask}, "masks", "masks of graph and array code"),
    ({"define_mask": lambda self, sd, mask, x, batch=None: None, "feed_forward_mask_array": lambda self, mask, state, n: (None, state)},
     None, "")]


@pytest.mark.parametrize("body, name, text", PREPROCESSORS)
def test_preprocessors(body, name, text):
    report = check_preprocessor(preprocessor(**body), SERIES)
    if name == "graph and arrays agree":
        assert list(found(report)) == [name, "any batch size"] and text in found(report)[name]
        return
    only(report, name, text)


def test_preprocessors_that_do_not_look_at_their_input():
    blind = preprocessor(pre_process=lambda self, a, n: np.ones((3, 4, 5), a.dtype), backprop=lambda self, e, n: 0 * e,
                         define=lambda self, sd, x, batch=None: sd.constant(np.ones((3, 4, 5))))
    assert "the result does not depend on the input" in found(check_preprocessor(blind, SERIES))["backprop"]
    told = {c.name: c.detail for c in check_preprocessor(preprocessor(), np.ones((6, 4)), minibatch=3).checks}
    assert told["any batch size"] == "3 examples in 6 rows" and told["masks"] == "no series"
    assert told["backprop"] == "not written: networks take the gradient of the graph"
    assert check_activation(ActivationIdentity(), X).passed


def test_masks_that_stay_while_steps_become_rows():
    def rows(self, a, n):
        return a.transpose(0, 2, 1).reshape(-1, a.shape[1])
    of_steps = made(InputPreProcessor, pre_process=rows, output_type=lambda self, kind: InputType.feed_forward(kind.size))()
    only(check_preprocessor(of_steps, SERIES), "masks", "the mask of a result of shape (15, 4) has shape (3, 5)")
