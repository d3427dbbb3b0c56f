"""What check_layer finds: layers that are wrong in one way, and those next to them that are right."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from dl4py.layers import FeedForwardLayer, InputType, Layer, SameDiffOutputLayer, check_layer, layer
from dl4py.samediff.ir.op import Kernel
from dl4py.udf import UserOp, user_op

numbers = itertools.count()
FLAT, SERIES = InputType.feed_forward(4), InputType.recurrent(4)


@user_op("test_layer_findings.steep", grad=lambda inputs, outputs, grads: [grads[0] * 3])
def steep(xp, x):
    """Twice x, with another gradient."""
    return x * 2


@user_op("test_layer_findings.uneven")
class Uneven(UserOp):
    """Its kernel is not its code."""

    def compute(self, xp, x):
        return x * 2

    def cpu(self, x):
        return Kernel(lambda x, out: np.multiply(x, 2.5, out=out))

    def grad(self, inputs, outputs, grads):
        return [grads[0] * 2]


class Dense(FeedForwardLayer):
    def define_parameters(self, params):
        params.weight("W", (self.n_in, self.n_out), fan_in=self.n_in, fan_out=self.n_out)

    def define_layer(self, sd, x, params, mask):
        return sd.math.tanh(x.mmul(params["W"]))


class Series(Layer):
    def output_type(self, input_type):
        return input_type

    def define_layer(self, sd, x, params, mask):
        return sd.math.tanh(x)


def made(base, **body):
    name = f"Layer{next(numbers)}"
    cls = type(name, (base,), {"__module__": __name__, "__doc__": "Wrong.", "__annotations__": {}, **body})
    return layer(f"test_layer_findings.{name}")(cls)


def dense(**body):
    return made(Dense, **body)(n_out=3)


def acting(act):
    """A layer that does something with what the right one gives."""
    return {"define_layer": lambda self, sd, x, params, mask: act(sd, sd.math.tanh(x.mmul(params["W"])))}


def found(one, kind, **options):
    return {c.name: c.detail for c in check_layer(one, kind, **options).failures}


def longer(self, kind):
    """Right as long as the number of steps is open."""
    return kind if kind.time_series_length < 0 else kind.replace(time_series_length=kind.time_series_length + 1)


FLAT_ONES = [
    ({}, None, ""), ({"num_params": lambda self: 13}, "parameters", "num_params() is 13, the parameters have 12 values"),
    ({"output_type": lambda self, kind: InputType.feed_forward(7)}, "output type", "of shape (-1, 7), the activations are (3, 3)"),
    (acting(lambda sd, y: steep(y)), "gradient", "along a random direction"),
    (acting(lambda sd, y: y - y.mean(True, 0)), "any batch size", "the first row alone differs"),
    (acting(lambda sd, y: y * sd.size_at(y, 0).castTo(y.dtype)), "any batch size", "the first rows of a larger batch differ"),
    (acting(lambda sd, y: (y + 1e9) - 1e9), "float32", "activations in float32 and float64"),
    (acting(lambda sd, y: y.castTo("DOUBLE")), "float32", "activations of float32 inputs are float64"),
    (acting(lambda sd, y: Uneven()(y)), "compiled plan", "plan and reference executor"),
    ({"constraints_in_force": property(lambda self: ())}, "regularization", "constraints are lost"),
    (acting(lambda sd, y: y / (y - y)), "values are finite", "activations hold NaN or infinity")]


@pytest.mark.plans
@pytest.mark.sampled(10)
@pytest.mark.parametrize("body, name, text", FLAT_ONES)
def test_rows(body, name, text):
    failures = found(dense(**body), FLAT)
    assert name in failures and text in failures[name] if name else not failures


@user_op("test_layer_findings.from_the_end")
def from_the_end(xp, x):
    return x + xp.arange(x.shape[2], dtype=x.dtype)[::-1]


SERIES_ONES = [
    ({}, None, ""), ({"define_layer": lambda self, sd, x, params, mask: from_the_end(x)}, "masked steps are as none", "not from the last"),
    ({"output_type": longer}, "output type", "the output type is"),
    ({"define_layer": lambda self, sd, x, params, mask: sd.reshape(x, -1, 4, 5)}, "any number of steps", "")]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("body, name, text", SERIES_ONES)
def test_series(body, name, text):
    failures = found(made(Series, **body)(), SERIES)
    assert name in failures and text in failures[name] if name else not failures


@pytest.mark.sampled(1)
@pytest.mark.parametrize("summed", [False, True])
def test_losses_of_whole_series(summed):
    class Sums(SameDiffOutputLayer):
        def define_parameters(self, params):
            params.add_weight_param("W", 4, 4)

        def get_output_type(self, layer_index, kind):
            return kind

        def activations_vertex_name(self):
            return "made"

        def define_layer(self, sd, x, labels, table):
            made = (x * table["W"].sum(False, 1).reshape(1, 4, 1)).rename("made")
            loss = sd.math.square(labels - made).sum(False, 1, 2)
            return loss.sum() if summed else loss
    report = check_layer(made(Sums)(), SERIES)
    assert report.passed, report
    assert ("not looked at" in {c.name: c.detail for c in report.checks}["masks"]) == summed


def test_series_of_one_length_are_not_made_longer():
    body = {"define_layer": lambda self, sd, x, params, mask: sd.reshape(x, -1, 4, 5)}
    assert not found(made(Series, **body)(), InputType.recurrent(4, 5))


def masking(weights):
    """The sum over time of what is not masked, in every step."""
    def define_layer(self, sd, x, params, mask):
        masked = x if mask is None else x * weights(sd, mask)
        return x * 0.5 + masked.sum(True, 2)
    return {"define_layer": define_layer}


def ahead(sd, mask):
    return sd.expand_dims(mask, 1)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("weights", "text"), [
    (ahead, None), (lambda sd, mask: 0.5 + 0.5 * ahead(sd, mask), "masked steps change activations of other steps")])
def test_masked_steps_have_no_influence(weights, text):
    failures = found(made(Series, **masking(weights))(), SERIES)
    assert not failures if text is None else list(failures) == ["masks"] and text in failures["masks"]


@pytest.mark.slow
def test_what_a_mask_that_ends_means():
    def last(weights):
        def define_layer(self, sd, x, params, mask):
            return (x if mask is None else x * weights(sd, mask)).sum(2)
        return {"define_layer": define_layer, "output_type": lambda self, kind: InputType.feed_forward(kind.size),
                "feed_forward_mask": lambda self, sd, mask, x: None}
    assert not found(made(Series, **last(ahead))(), SERIES)
    failures = found(made(Series, **last(lambda sd, mask: 0.5 + 0.5 * ahead(sd, mask)))(), SERIES)
    assert failures["masks"].startswith("masked steps change the activations, and no mask follows")


@pytest.mark.slow
def test_given_examples_and_masks_are_used():
    x = np.random.default_rng(0).normal(size=(3, 4, 5))
    whole, half = np.ones((3, 5)), np.tile([1.0, 1, 1, 0, 0], (3, 1))
    leaks = made(Series, **masking(lambda sd, mask: 0.5 + 0.5 * ahead(sd, mask)))()
    assert "masks" in found(leaks, x, mask=half) and not found(made(Series, **masking(ahead))(), x, mask=half)
    report = check_layer(leaks, x, mask=whole)
    assert "not looked at" in {c.name: c.detail for c in report.checks}["masks"]
