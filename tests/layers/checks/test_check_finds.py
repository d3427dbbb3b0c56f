"""What check_layer and its kin find in wrong plug-ins."""
from __future__ import annotations

import numpy as np

from dl4py.layers import FeedForwardLayer, IActivation, InputType, SameDiffLoss, check_activation, check_layer, check_loss, layer, loss
from dl4py.samediff.configuration.declaring import configuration

KIND = InputType.feed_forward(3)


def failures(report):
    return {c.name: c.detail for c in report.failures}


class Dense(FeedForwardLayer):
    def define_parameters(self, params):
        params.weight("W", (self.n_in, self.n_out), fan_in=self.n_in, fan_out=self.n_out)
        params.bias("b", (1, self.n_out))

    def define_layer(self, sd, x, params, mask):
        return x.mmul(params["W"]) + params["b"]


def test_a_parameter_that_nothing_reads():
    @layer("test_check_finds.Unused")
    class Unused(Dense):
        def define_layer(self, sd, x, params, mask):
            return x.mmul(params["W"])
    assert failures(check_layer(Unused(n_out=2), KIND)) == {"parameters are used": "nothing that is computed depends on b"}


def test_a_layer_that_changes_its_options():
    @layer("test_check_finds.Changing")
    class Changing(Dense):
        scale: float = 1.0

        def define_layer(self, sd, x, params, mask):
            object.__setattr__(self, "scale", 2.0)
            return super().define_layer(sd, x, params, mask)
    assert "scale=2.0" in failures(check_layer(Changing(n_out=2), KIND))["options stay"]


def test_members_that_are_no_fields_are_lost_by_files():
    @configuration("test_check_finds.Steep")
    class Steep(IActivation):
        def __init__(self, slope=1.0, **options):
            super().__init__(**options)
            object.__setattr__(self, "_slope", slope)

        def define(self, sd, x):
            return x * getattr(self, "_slope", 1.0)

    @loss("test_check_finds.Scaled")
    class Scaled(SameDiffLoss):
        def __init__(self, factor=1.0, **options):
            super().__init__(**options)
            object.__setattr__(self, "_factor", factor)

        def define_loss(self, sd, layer_input, labels):
            return ((labels - layer_input) * (labels - layer_input)).sum(1) * getattr(self, "_factor", 1.0)
    x = np.array([[0.5, -1.0]])
    assert "after JSON" in failures(check_activation(Steep(3.0), x))["the same after JSON"]
    assert "after JSON" in failures(check_loss(Scaled(3.0), x, x + 1))["the same after JSON"]
    assert check_activation(Steep(), x).passed and check_loss(Scaled(), x, x + 1).passed
