"""What checks say of layers that keep something, have parameters without an effect, or lose rules; and of right ones that ask for sizes."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import BaseLayer, FeedForwardLayer, InputType, SameDiffLoss, check_layer, check_loss, layer, loss
from dl4py.samediff.graph.child_process import possible

KEPT: dict = {}
HELD: list = []


class Dense(FeedForwardLayer):
    weight_names = ("W",)
    bias_names = ("b",)

    def define_parameters(self, params):
        params.weight("W", (self.n_in, self.n_out), fan_in=self.n_in, fan_out=self.n_out)
        params.bias("b", (1, self.n_out))

    def define_layer(self, sd, x, params, mask):
        return sd.nn.tanh(x.mmul(params["W"]) + params["b"])


@layer("found_layers.Right")
class Right(Dense):
    pass


@layer("found_layers.Shared")
class Shared(Dense):
    scale: float = 1.0

    def define_layer(self, sd, x, params, mask):
        return super().define_layer(sd, x, params, mask) * KEPT.setdefault("scale", self.scale)


@layer("found_layers.WithoutEffect")
class WithoutEffect(Dense):
    def define_layer(self, sd, x, params, mask):
        return sd.nn.tanh(x.mmul(params["W"]) + params["b"] * 0.0)


@layer("found_layers.NoRules")
class NoRules(Dense):
    def regularization_for(self, parameter):
        return ()


@layer("found_layers.NoWeight")
class NoWeight(Dense):
    def define_parameters(self, params):
        params.bias("W", (self.n_in, self.n_out))
        params.bias("b", (1, self.n_out))

    def define_layer(self, sd, x, params, mask):
        return sd.nn.tanh(x.mmul(params["W"] + 0.5) + params["b"])


@layer("found_layers.Hoards")
class Hoards(Dense):
    def define_layer(self, sd, x, params, mask):
        HELD.append(list(range(1000)))
        return super().define_layer(sd, x, params, mask)


@layer("found_layers.Places")
class Places(BaseLayer):
    """Right: products and halves of the sizes that networks know."""

    def output_type(self, input_type):
        return InputType.feed_forward(input_type.array_elements_per_example() // 2)

    def define_layer(self, sd, x, params, mask):
        _, c, h, w = x.get_shape()
        return sd.reshape(x, -1, c * h * w)[:, :c * h * w // 2]


@pytest.mark.sampled(8)
@pytest.mark.skipif(not possible(), reason="processes cannot be copied")
@pytest.mark.parametrize("given, name, text", [
    (Shared, "other objects of its class", "different 'scale'"),
    (WithoutEffect, "parameters have an effect", "other values of 'b' change nothing"),
    (NoRules, "regularization", "l2 is not applied to 'W'"),
    (NoWeight, "regularization", "'W' of shape (3, 2) is declared as a bias"),
    (Hoards, "memory", "each call keeps"),
], ids=lambda v: getattr(v, "__name__", ""))
def test_it_is_found(given, name, text):
    report = check_layer(given(n_out=2), InputType.feed_forward(3))
    assert text in {c.name: c.detail for c in report.failures}.get(name, ""), report


def test_right_layers_pass():
    check_layer(Right(n_out=2), InputType.feed_forward(3)).raise_if_failed()
    check_layer(Places(), InputType.convolutional(2, 3, 2)).raise_if_failed()


@loss("found_layers.OverBatch")
class OverBatch(SameDiffLoss):
    """The score of an example depends on the others, which may be meant."""

    def define_loss(self, sd, layer_input, labels):
        found, wanted = (v.mmul(v.transpose()) for v in (layer_input, labels))
        return sd.math.square(found - wanted).mean(1)


@loss("found_layers.WithoutMask")
class WithoutMask(OverBatch):
    def define(self, sd, labels, pre_output, activation, mask=None):
        return self.define_loss(sd, activation.define(sd, pre_output), labels)


@loss("found_layers.Centred")
class Centred(SameDiffLoss):
    def define_loss(self, sd, layer_input, labels):
        return sd.math.square(layer_input - labels - (layer_input - labels).mean(True, 0)).mean(1)


def test_losses_over_a_batch_are_meant_and_ignored_masks_are_not():
    labels, output = np.eye(3)[[0, 1, 1, 2]], np.random.default_rng(0).normal(size=(4, 3))
    report = check_loss(OverBatch(), labels, output, allow={"examples alone"})
    report.raise_if_failed()
    assert "each depends on other examples" in str(report)
    for one, names in ((OverBatch(), ["examples alone"]), (Centred(), ["examples alone"]), (WithoutMask(), ["examples alone", "masks"])):
        assert [c.name for c in check_loss(one, labels, output).failures] == names
