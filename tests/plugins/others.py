"""Nine kinds of parts besides."""
from __future__ import annotations

import numpy as np

from dl4py.layers import IActivation, IDropout, InputPreProcessor, InputType, IWeightInit, LayerConstraint, SameDiffLoss, loss
from dl4py.samediff import DataType
from dl4py.samediff.configuration.declaring import configuration
from dl4py.samediff.evaluation import BaseEvaluation
from dl4py.samediff.training import Listener, RatedUpdater, Schedule

from .ops import mish


@configuration("author.ActivationMish")
class ActivationMish(IActivation):
    beta: float = 1.0

    def define(self, sd, x):
        return mish(x, beta=self.beta)


@loss("author.Huber")
class Huber(SameDiffLoss):
    delta: float = 1.0

    def define_loss(self, sd, layer_input, labels):
        error = sd.math.abs(labels - layer_input)
        near = sd.math.min(error, self.delta)
        return (near * (error - near * 0.5)).sum(1)


@configuration("author.Lion")
class Lion(RatedUpdater):
    state_names = ("M",)
    learning_rate: float | Schedule = 1e-3
    learning_rate_schedule: Schedule | None = None

    def step(self, xp, gradient, state, hyper):
        (m,), (rate,) = state, hyper
        return rate * xp.sign(0.9 * m + 0.1 * gradient), (0.99 * m + 0.01 * gradient,)


@configuration("author.WarmUp")
class WarmUp(Schedule):
    top: float
    steps: int

    def value_at(self, iteration, epoch):
        return self.top * min(1.0, (iteration + 1) / self.steps)


@configuration("author.Orthant")
class Orthant(IWeightInit):
    def init(self, rng, fan_in, fan_out, shape, order="f", dtype=DataType.FLOAT):
        return np.abs(rng.normal(shape, 0.0, fan_in ** -0.5, dtype, order))


@configuration("author.ScaleNoise")
class ScaleNoise(IDropout):
    deviation: float = 0.1

    def draw(self, rng, shape, dtype, iteration, epoch):
        return rng.normal(1, self.deviation, shape).astype(dtype), None


@configuration("author.Flat")
class Flat(InputPreProcessor):
    def pre_process(self, array, minibatch):
        return array.reshape(minibatch, -1)

    def output_type(self, input_type):
        return InputType.feed_forward(input_type.array_elements_per_example())


@configuration("author.Clipped")
class Clipped(LayerConstraint):
    limit: float = 1.0

    def constrained(self, xp, param):
        return xp.clip(param, -self.limit, self.limit)


class Brier(BaseEvaluation, name="author.Brier"):
    def __init__(self):
        self.total, self.rows = 0.0, 0

    def count(self, rows):
        seen = True if rows.mask is None else rows.mask != 0
        self.total += float(np.sum((rows.labels - rows.predictions) ** 2, where=seen))
        self.rows += len(rows.labels)

    def join(self, other):
        self.total, self.rows = self.total + other.total, self.rows + other.rows

    def reset(self):
        self.total, self.rows = 0.0, 0

    def stats(self):
        return f"Brier score {self.total / max(self.rows, 1):.4f}"


class Scores(Listener):
    def __init__(self):
        self.scores = []

    def iteration_done(self, model, iteration, epoch):
        self.scores.append(model.score())
