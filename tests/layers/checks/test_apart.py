"""Plug-ins that end the process or never come back: a finding of the report, not the end of the caller."""
from __future__ import annotations

import os
import time

import numpy as np
import pytest

from dl4py.layers import (
    FeedForwardLayer,
    IActivation,
    InputType,
    SameDiffLambdaVertex,
    check_activation,
    check_layer,
    check_schedule,
    check_vertex,
    layer,
    vertex,
)
from dl4py.samediff.configuration.declaring import configuration
from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.graph import child_process
from dl4py.samediff.training import Schedule
from dl4py.udf import check_op, user_op

pytestmark = [pytest.mark.children, pytest.mark.skipif(not child_process.possible(), reason="processes cannot be copied")]


STUCK = "did not come back within"


def forever(busy=True):
    while True:
        if not busy:
            time.sleep(1)


@layer("apart.Ends")
class Ends(FeedForwardLayer):
    def define_layer(self, sd, x, params, mask):
        os._exit(3)


@layer("apart.Hangs")
class Hangs(FeedForwardLayer):
    def define_layer(self, sd, x, params, mask):
        forever()


@vertex("apart.Waits")
class Waits(SameDiffLambdaVertex):
    def define_vertex(self, sd, inputs):
        forever(busy=False)

    def get_output_type(self, layer_index, *input_types):
        return input_types[0]


@configuration("apart.Kills")
class Kills(IActivation):
    def define(self, sd, x):
        os.abort()


@configuration("apart.Stops")
class Stops(Schedule):
    def value_at(self, iteration, epoch):
        return 1.0 if iteration < 5 else forever()


@user_op("apart.hangs")
def hangs(xp, x):
    forever()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("check, text", [
    (lambda: check_layer(Ends(n_out=2), InputType.feed_forward(3)), "the process ended: exit status 3"),
    (lambda: check_layer(layer=Hangs(n_out=2), inputs=InputType.feed_forward(3)), STUCK),
    (lambda: check_vertex(Waits(), InputType.feed_forward(3)), STUCK),
    (lambda: check_activation(Kills()), "the process ended: SIGABRT"),
    (lambda: check_schedule(Stops()), STUCK),
    (lambda: check_op(hangs, [np.ones(2)]), STUCK),
], ids=["layer ends", "layer hangs", "vertex waits", "activation kills", "schedule hangs", "op hangs"])
def test_the_end_of_the_process_is_a_finding(check, text, monkeypatch):
    if text == STUCK:
        monkeypatch.setattr(child_process, "WORK", 1)
        monkeypatch.setattr(child_process, "LIMIT", 5)
    report = check()
    assert text in report.failures[-1].detail and len(report.failures) == 1, report


def test_options_that_are_none_raise_here():
    with pytest.raises(ConfigurationError, match="has no check 'msks'"):
        check_layer(Right(n_out=2), InputType.feed_forward(3), allow={"msks"})
    assert check_layer(Right(n_out=2), InputType.feed_forward(3)).passed


@layer("apart.Right")
class Right(FeedForwardLayer):
    weight_names = ("W",)

    def define_parameters(self, params):
        params.weight("W", (self.n_in, self.n_out), fan_in=self.n_in, fan_out=self.n_out)

    def define_layer(self, sd, x, params, mask):
        return sd.nn.tanh(x.mmul(params["W"]))
