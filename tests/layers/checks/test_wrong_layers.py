"""Layers, vertices, activations, losses and preprocessors with options, inputs or sizes that nothing heeds, and right ones beside them."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from dl4py.layers import (
    BaseLayer,
    Dropout,
    FeedForwardLayer,
    IActivation,
    InputPreProcessor,
    InputType,
    Layer,
    SameDiffLambdaVertex,
    SameDiffLoss,
    check_activation,
    check_loss,
    check_preprocessor,
    check_vertex,
    layer,
    loss,
    vertex,
)
from dl4py.layers.checks import check_circumstances, check_options, check_parts, check_subject
from dl4py.layers.checks.check_subject import Runner, Subject, drawn
from dl4py.samediff.base.user_code.check_report import CheckFailure, CheckReport
from dl4py.samediff.configuration.declaring import configuration
from dl4py.udf import user_op

numbers = itertools.count()
FOUR, SERIES, IMAGE = InputType.feed_forward(4), InputType.recurrent(4), InputType.convolutional(2, 3, 4)


def made(register, base, fields=None, **body):
    name = f"Wrong{next(numbers)}"
    cls = type(name, (base,), {"__module__": __name__, "__doc__": "Wrong.", "__annotations__": fields or {}, **body})
    return register(f"test_wrong_layers.{name}")(cls)


def subject(conf, kind):
    found = Subject.of_layer(conf, kind, drawn(kind, np.random.default_rng(0)), None)
    found.draw(0)
    return found


def refused(run, text):
    if text is None:
        run()
    else:
        with pytest.raises(CheckFailure, match=text):
            run()


def failures(report):
    return {c.name: c.detail for c in report.failures}


# Options

def dense(fields, define, **body):
    def parameters(self, params):
        params.weight("W", (self.n_in, self.n_out), fan_in=self.n_in, fan_out=self.n_out)
    return made(layer, FeedForwardLayer, fields, define_parameters=parameters, define_layer=define, **body)(n_out=3)


def shown(self, sd, x, params, mask):
    if self.verbose:
        print(end="")
    return x.mmul(params["W"])


def penalized(self, sd, x, params, mask):
    params.penalty((params["W"] * params["W"]).sum() * self.strength)
    return x.mmul(params["W"])


def plain(self, sd, x, params, mask):
    return x.mmul(params["W"])


OPTIONS = [
    (dense({"scale": float}, plain, scale=2.0), "whatever 'scale' is"),
    (dense({"deep": bool}, plain, deep=False), "whatever 'deep' is"),
    (dense({"scale": float, "times": int}, plain, scale=2.0, times=3), "'scale' or 'times'"),
    (dense({"verbose": bool}, shown, verbose=False), None),
    (dense({"strength": float}, penalized, strength=0.1), None),
    (dense({"limit": float}, lambda self, sd, x, p, m: sd.math.clip_by_value(x.mmul(p["W"]), -self.limit, self.limit), limit=50.0), None),
    (dense({"keep": float}, lambda self, sd, x, p, m: Dropout(self.keep).define(sd, x.mmul(p["W"])), keep=0.5), None),
    (dense({"title": str}, plain, title="none that changes numbers"), None)]


@pytest.mark.parametrize("conf, text", OPTIONS)
def test_options(conf, text):
    report = CheckReport("it")
    check_options.subject_options(report, subject(conf, FOUR), None)
    assert (text is None and report.passed) or text in failures(report)["options have an effect"]


@pytest.mark.parametrize("define, text", [
    (plain, "whatever 'activation' is"), (lambda self, sd, x, p, m: self.activation.define(sd, x.mmul(p["W"])), None)])
def test_activations_that_are_given(define, text):
    report = CheckReport("it")
    check_options.subject_options(report, subject(dense({}, define).replace(activation="relu"), FOUR), None)
    assert (text is None and report.passed) or text in failures(report)["options have an effect"]


@pytest.mark.parametrize("shape, text", [((1, 3), "params.bias declares a bias"), ((4, 3), None)])
def test_biases_that_are_declared_as_weights(shape, text):
    def parameters(self, params):
        params.weight("W", (4, 3), fan_in=4, fan_out=3)
        params.weight("b", shape, fan_in=4, fan_out=3)
    conf = made(layer, FeedForwardLayer, define_parameters=parameters)(n_in=4, n_out=3)
    refused(lambda: check_circumstances.regularized(conf, conf.parameter_table()), text)


@pytest.mark.parametrize("fans, text", [((4, 3), None), ((3, 4), "the number of inputs that a unit joins"), ((3, 3), None)])
def test_fans_the_other_way_round(fans, text):
    def parameters(self, params):
        params.weight("W", (4, 3), fan_in=fans[0], fan_out=fans[1])
    refused(lambda: check_parts.weights(subject(made(layer, FeedForwardLayer, define_parameters=parameters)(n_in=4, n_out=3), FOUR)), text)


@pytest.mark.parametrize("twice, text", [(True, "dropout is applied twice"), (False, None)])
def test_dropout_that_networks_apply(twice, text):
    def define(self, sd, x, params, mask):
        return (self.dropout.define(sd, x) if twice and self.dropout else x).mmul(params["W"])
    refused(lambda: check_circumstances.drops_once(subject(dense({}, define), FOUR)), text)


@pytest.mark.parametrize("mean, text", [(False, "penalties of activations are too"), (True, None)])
def test_penalties_of_batches(mean, text):
    def define(self, sd, x, params, mask):
        y = sd.math.square(x.mmul(params["W"]))
        params.penalty((params["W"] * params["W"]).sum())
        params.penalty(y.mean() if mean else y.sum())
        return y
    refused(lambda: check_circumstances.penalty_of_examples(subject(dense({}, define), FOUR)), text)


# Variables, statistics, random numbers and sizes

@pytest.mark.parametrize("define, text", [
    (lambda self, sd, x, p, m: x.cast_to("FLOAT").cast_to(x.dtype).mmul(p["W"]), "is computed in float32"), (plain, None)])
def test_layers_that_compute_in_float32(define, text):
    one = subject(dense({}, define), FOUR)
    refused(lambda: check_parts.float32(one, Runner(one)), text)


@pytest.mark.parametrize("kept, text", [(True, "keep no variable of one"), (False, None)])
def test_variables_that_are_kept(kept, text):
    known = {}

    def define(self, sd, x, params, mask):
        return x.mmul(known.setdefault("W", params["W"]) if kept else params["W"])
    one = subject(dense({}, define), FOUR)
    runner = Runner(one)
    runner.run()
    refused(lambda: check_parts.another_graph(one, runner), text)


@pytest.mark.parametrize("steps, text", [(True, "whole numbers, such as indices, moved"), (False, "1e-06")])
def test_gradients_of_layers_that_take_indices(steps, text):
    one = subject(dense({}, lambda self, sd, x, p, m: (sd.math.floor(x) if steps else x).mmul(p["W"])), FOUR)
    one.arrays = [np.array([[3.0, 0.0, 2.0, 7.0], [1.0, 4.0, 0.0, 2.0]])]
    assert text in check_parts.gradient(one, (), 1e-6, 0)


def test_variables_that_nobody_declares():
    def hides(self, sd, x, params, mask):
        return x.mmul(params["W"]) + sd.var(np.ones((1, 3)))

    def constant(self, sd, x, params, mask):
        return x.mmul(params["W"]) + sd.constant(np.ones((1, 3)))
    for define, text in ((hides, "is not a parameter of the network"), (constant, None)):
        one = subject(dense({}, define), FOUR)
        refused(lambda one=one: check_parts.declared(one, Runner(one)), text)


def running(step, read):
    def parameters(self, params):
        params.statistic("mean", (1, self.n_in))

    def define(self, sd, x, params, mask):
        params.move("mean", step(params["mean"], sd.stop_gradient(x.mean(True, 0))))
        return x - params["mean"] if read else x * 2.0
    return made(layer, FeedForwardLayer, {}, define_parameters=parameters, define_layer=define, output_type=lambda self, kind: kind)()


@pytest.mark.parametrize("conf, text", [
    (running(lambda mean, found: (mean - found) * 0.1, True), None), (running(lambda mean, found: mean * 0 - 1, True), None),
    (running(lambda mean, found: (mean - found) * 0.1, False), "nothing reads it"),
    (running(lambda mean, found: (found - mean) * 0.1, True), "moves away")])
def test_statistics(conf, text):
    refused(lambda: check_circumstances.statistics_act(subject(conf, FOUR), ["mean"]), text)


@user_op("test_wrong_layers.noise", stateful=True)
def noise(xp, x, *, context, always: bool = False):
    return x + context.random().normal(size=x.shape).astype(x.dtype) if always or context.training else x * 1


@pytest.mark.parametrize("always, text", [(True, "another run gives something else"), (False, None)])
def test_random_numbers_outside_of_training(always, text):
    one = subject(dense({}, lambda self, sd, x, params, mask: noise(x.mmul(params["W"]), always=always)), FOUR)
    refused(lambda: check_circumstances.at_rest(one), text)


@pytest.mark.parametrize("output, text", [
    (lambda kind: InputType.feed_forward(24), "of shape"), (lambda kind: InputType.feed_forward(kind.array_elements_per_example()), None)])
def test_output_types_of_other_sizes(output, text):
    one = subject(made(layer, Layer, {}, output_type=lambda self, kind: output(kind), set_n_in=lambda self, kind, override=True: self,
                       define_layer=lambda self, sd, x, params, mask: sd.reshape(x, -1, int(np.prod(x.get_shape()[1:]))))(), IMAGE)
    refused(lambda: check_circumstances.sizes(one), text)


def test_parameters_of_layers_that_refuse_larger_indices():
    def parameters(self, params):
        params.weight("W", (8, 3), fan_in=8, fan_out=3)
    one = subject(made(layer, FeedForwardLayer, {}, define_parameters=parameters,
                       define_layer=lambda self, sd, x, p, m: sd.gather(p["W"], x[:, 0].cast_to("INT"), 0))(n_out=3), FOUR)
    one.arrays = [np.array([[3.0], [7.0]])]
    assert check_circumstances.effects(one, one.parameters) == "W"


# Masks

def means(by_mask):
    def define(self, sd, x, params, mask):
        if mask is None:
            return x.mean(False, 2)
        m = sd.expand_dims(mask, 1)
        return (x * m).sum(False, 2) / m.sum(False, 2) if by_mask else (x * m).mean(False, 2)
    return made(layer, BaseLayer, {}, define_layer=define, output_type=lambda self, kind: InputType.feed_forward(kind.size),
                feed_forward_mask=lambda self, sd, mask, x: None)()


@pytest.mark.parametrize("by_mask, text", [(True, None), (False, "divide by the sum of the mask")])
def test_series_with_masked_steps_at_the_end(by_mask, text):
    one = subject(means(by_mask), SERIES)
    refused(lambda: check_parts.padded(one, Runner(one), check_subject.masks_for(one)), text)


# Vertices

def test_examples_that_a_vertex_stacks():
    def joining(axis):
        conf = made(vertex, SameDiffLambdaVertex, define_vertex=lambda self, sd, inputs: sd.concat(axis, *map(inputs.get_input, (0, 1))))()
        found = Subject.of_vertex(conf, (FOUR, FOUR), [drawn(FOUR, np.random.default_rng(0)) for _ in range(2)])
        return lambda: check_parts.batches(found, Runner(found))
    refused(joining(0), "3 examples give 6 rows")
    refused(joining(1), None)


def test_inputs_that_a_vertex_does_not_use():
    def of(define):
        one = made(vertex, SameDiffLambdaVertex, {}, get_output_type=lambda self, index, *kinds: kinds[0],
                   define_vertex=lambda self, sd, inputs: define(inputs.get_input(0), inputs.get_input(1)))()
        return failures(check_vertex(one, FOUR, FOUR))
    assert "nothing of input 1" in of(lambda a, b: a * 2.0)["inputs are used"]
    assert not of(lambda a, b: a * float(b.get_shape()[1]))


def test_inputs_of_a_vertex_have_no_equal_values():
    largest = made(vertex, SameDiffLambdaVertex, {}, get_output_type=lambda self, index, *kinds: kinds[0],
                   define_vertex=lambda self, sd, inputs: sd.math.max(inputs.get_input(0), inputs.get_input(1)))()
    assert not failures(check_vertex(largest, FOUR, FOUR))


# Activations and losses

ACTIVATIONS = [
    ("other shapes", lambda sd, x: x - x.mean(True, 0), "alone and beside others"),
    ("", lambda sd, x: sd.nn.softmax(x), "")]


@pytest.mark.parametrize("name, define, text", ACTIVATIONS)
def test_activations(name, define, text):
    found = failures(check_activation(made(configuration, IActivation, {}, define=lambda self, sd, x: define(sd, x))()))
    assert list(found) == [name][:len(name)] and text in found.get(name, "")


def test_options_of_functions():
    assert "options have an effect" in failures(check_activation(
        made(configuration, IActivation, {"beta": float}, beta=1.0, define=lambda self, sd, x: sd.nn.tanh(x))()))


LABELS, OUTPUT = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [[0.2, 0.3], [0.1, -0.4], [0.3, 1.0]]
LOSSES = [
    ("certain predictions", lambda sd, x, y: -(y * sd.math.log(x)).sum(1), "keep away from log"),
    ("any batch size", lambda sd, x, y: (y - x).mul(y - x).sum(1) / float(x.get_shape()[0]), "is open and where not"),
    ("scores of examples", lambda sd, x, y: (y * y + 0 * x).sum(1), "nothing of the output"),
    ("", lambda sd, x, y: -(y * sd.math.log(x + 1e-10)).sum(1), "")]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name, define, text", LOSSES)
def test_losses(name, define, text):
    one = made(loss, SameDiffLoss, {}, define_loss=lambda self, sd, x, y: define(sd, x, y))()
    found = failures(check_loss(one, LABELS, OUTPUT, "softmax"))
    if name == "any batch size":
        assert "beside others" in found.pop("examples alone")       # which it has, too
    assert list(found) == [name][:len(name)] and text in found.get(name, "")


# Preprocessors

def rows(kind):
    return InputType.feed_forward(kind.array_elements_per_example())


PREPROCESSORS = [
    ("output type", {}, lambda self, a, n: np.subtract(a, 0.5, out=a).reshape(n, -1), rows, "writes to its input"),
    ("inputs of other sizes", {}, lambda self, a, n: a.reshape(n, -1), lambda kind: InputType.feed_forward(24), "size=24"),
    ("options have an effect", {"scale": float}, lambda self, a, n: a.reshape(n, -1) * 2.0, rows, "'scale'"),
    ("", {"scale": float}, lambda self, a, n: a.reshape(n, -1) * self.scale, rows, "")]


@pytest.mark.parametrize("name, fields, pre_process, output, text", PREPROCESSORS)
def test_preprocessors(name, fields, pre_process, output, text):
    body = dict.fromkeys(fields, 3.0)
    one = made(configuration, InputPreProcessor, fields, pre_process=pre_process, output_type=lambda self, kind: output(kind), **body)()
    found = failures(check_preprocessor(one, IMAGE))
    assert list(found) == [name][:len(name)] and text in found.get(name, "")


# Sizes set by hand, and what counts while graphs are built.

def in_any_case(self, input_type, override=True):
    return self.replace(n_in=input_type.array_elements_per_example())


def never(self, input_type, override=True):
    return self


def as_asked(self, input_type, override=True):
    return self.with_n_in(input_type.array_elements_per_example(), override)


def in_place(self, input_type, override=True):
    if override or not self.n_in:
        self.n_in = input_type.array_elements_per_example()


@pytest.mark.parametrize("rule, text", [(in_any_case, "override=False.* makes n_in=4, not 5"),
                                        (never, "override=True.* makes n_in=5, not 4"), (as_asked, None), (in_place, None)])
def test_sizes_set_by_hand(rule, text):
    cls = made(layer, FeedForwardLayer, set_n_in=rule, define_layer=lambda self, sd, x, params, mask=None: x)
    refused(lambda: check_circumstances.sizes_by_hand(subject(cls(n_in=4, n_out=4), FOUR)), text)


@pytest.mark.parametrize("times, text", [(lambda count: 2.0, None), (lambda count: 2.0 if count < 3 else 3.0, "built later gives"),
                                         (float, "built later gives")])
def test_layers_that_count_graphs(times, text):
    count = itertools.count(1)
    cls = made(layer, Layer, define_layer=lambda self, sd, x, params, mask=None: x * times(next(count)))
    found = subject(cls(), FOUR)
    refused(lambda: check_parts.another_graph(found, Runner(found)), text)
