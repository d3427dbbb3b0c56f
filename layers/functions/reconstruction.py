"""Distributions of the data of a variational autoencoder, whose parameters the decoder gives."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...samediff.base.user_code.abstract_methods import unwritten
from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.declaring import Convertible, configuration, field
from ...samediff.errors import ConfigurationError
from ...samediff.families.families import unary
from ...samediff.initializers.nd4j_random import Nd4jRandom, get_random
from ..types.java_names import (
    BernoulliReconstructionDistributionNames,
    ExponentialReconstructionDistributionNames,
    GaussianReconstructionDistributionNames,
    LossFunctionWrapperNames,
    ReconstructionDistributionNames,
)
from .activations import ActivationIdentity, ActivationSigmoid, ActivationTanH, IActivation
from .eager import direct, floating
from .loss_base import ILossFunction
from .losses import LossMSE

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = [
    "BernoulliReconstructionDistribution", "ExponentialReconstructionDistribution", "GaussianReconstructionDistribution",
    "LossFunctionWrapper", "ReconstructionDistribution",
]

VARIATIONAL = "org.deeplearning4j.nn.conf.layers.variational."

FiniteLog = unary("layer_finite_log", "", lambda xp, x: xp.where(x == 0, 0, xp.log(xp.where(x == 0, 1, x))), "log(x), but 0 for 0.")


@configuration
class ReconstructionDistribution(Configuration, ReconstructionDistributionNames):
    """Distribution of the data given the decoder's output, which ``activation`` turns into its parameters.

    Derive from it for a distribution of your own: :meth:`distribution_input_size`, :meth:`define`, :meth:`define_mean`
    and :meth:`sample`.

    Parameters
    ----------
    activation : str, Activation or IActivation
        Turns what the decoder gives into parameters of the distribution.
    """

    def distribution_input_size(self, size: int) -> int:
        """Return how many values of the decoder describe ``size`` data values."""
        return size

    def has_loss_function(self) -> bool:
        """True for a loss in place of a probability."""
        return False

    @unwritten
    def define(self, sd: SameDiff, x: SDVariable, pre_output: SDVariable) -> SDVariable:
        """Add the negative log probability of each example to a graph.

        Shapes: x (batch, size), pre_output (batch, distribution_input_size(size)) -> (batch,).
        """
        raise NotImplementedError

    @unwritten(when_called=True)
    def define_mean(self, sd: SameDiff, pre_output: SDVariable) -> SDVariable:
        """Add the mean of the distribution to a graph, (batch, size)."""
        raise NotImplementedError

    @unwritten(when_called=True)
    def sample(self, rng: Nd4jRandom, pre_output: Any) -> Any:
        """Draw data of the distribution, (batch, size)."""
        raise NotImplementedError

    # On arrays

    def example_neg_log_probability(self, x: Any, pre_output: Any) -> Any:
        """The negative log probability of each example, (batch, 1).

        Examples
        --------
        >>> BernoulliReconstructionDistribution().example_neg_log_probability([[1.0]], [[0.0]])
        array([[0.6931472]], dtype=float32)
        """
        return self._evaluate(x, pre_output, False)[0].reshape(-1, 1)

    def neg_log_probability(self, x: Any, pre_output: Any, average: bool = True) -> float:
        """The sum over all examples, divided by their number if ``average``."""
        found = self._evaluate(x, pre_output, False)[0]
        return float(found.sum(dtype=np.float64)) / (len(found) if average else 1)

    def gradient(self, x: Any, pre_output: Any) -> Any:
        """The gradient of the summed negative log probability for ``pre_output``."""
        return self._evaluate(x, pre_output, True)[1]

    def generate_at_mean(self, pre_output: Any) -> Any:
        """The mean of the distribution, (batch, size)."""
        pre_output = floating(pre_output)
        graph = direct(self, "define_mean", [pre_output])
        return graph.run([pre_output], [graph.result.name()])[0]

    def generate_random(self, pre_output: Any, rng: Nd4jRandom | None = None) -> Any:
        """Data drawn from the distribution, (batch, size), by default with ND4J's process-wide generator."""
        return self.sample(get_random() if rng is None else rng, floating(pre_output))

    def _evaluate(self, x: Any, pre_output: Any, gradient: bool) -> list[Any]:
        pre_output = floating(pre_output)
        arrays = [floating(x).astype(pre_output.dtype), pre_output]
        graph = direct(self, "define", arrays)
        names = [graph.result.name(), graph.gradient(1)] if gradient else [graph.result.name()]
        return graph.run(arrays, names, np.ones(len(pre_output), pre_output.dtype) if gradient else None)


@configuration(VARIATIONAL + "GaussianReconstructionDistribution")
class GaussianReconstructionDistribution(ReconstructionDistribution, GaussianReconstructionDistributionNames):
    """Real values, N(mean, variance): the decoder gives means, then logarithms of variances. Tanh acts on both by default."""

    activation: Convertible[IActivation] = field(default=ActivationTanH(), json="activationFn")

    def distribution_input_size(self, size: int) -> int:
        return 2 * size

    def define(self, sd: SameDiff, x: SDVariable, pre_output: SDVariable) -> SDVariable:
        size = _width(pre_output) // 2
        output = self.activation.define(sd, pre_output)
        mean, log_variance = output[:, :size], output[:, size:]
        error = x - mean
        terms = log_variance + error * error * sd.math.exp(-log_variance)
        return (terms.sum(1) + size * math.log(2 * math.pi)) * 0.5

    def define_mean(self, sd: SameDiff, pre_output: SDVariable) -> SDVariable:
        return self.activation.define(sd, pre_output[:, :_width(pre_output) // 2])

    def sample(self, rng: Nd4jRandom, pre_output: Any) -> Any:
        mean, log_variance = np.split(self.activation.get_activation(pre_output), 2, axis=1)
        return mean + np.exp(log_variance / 2) * rng.normal(mean.shape, dtype=mean.dtype)


@configuration(VARIATIONAL + "BernoulliReconstructionDistribution")
class BernoulliReconstructionDistribution(ReconstructionDistribution, BernoulliReconstructionDistributionNames):
    """Binary values: the decoder gives probabilities of 1. Logarithms of 0 count as 0, as in DL4J."""

    activation: Convertible[IActivation] = field(default=ActivationSigmoid(), json="activationFn")

    def define(self, sd: SameDiff, x: SDVariable, pre_output: SDVariable) -> SDVariable:
        p = self.activation.define(sd, pre_output)
        log_p, log_not_p = sd.add_op(FiniteLog(), [p]), sd.add_op(FiniteLog(), [1.0 - p])
        return -(x * log_p + (1.0 - x) * log_not_p).sum(1)  # type: ignore[no-any-return]

    def define_mean(self, sd: SameDiff, pre_output: SDVariable) -> SDVariable:
        return self.activation.define(sd, pre_output)

    def sample(self, rng: Nd4jRandom, pre_output: Any) -> Any:
        p = self.activation.get_activation(pre_output)
        return (rng.uniform(p.shape, dtype=p.dtype) < p).astype(p.dtype)


@configuration(VARIATIONAL + "ExponentialReconstructionDistribution")
class ExponentialReconstructionDistribution(ReconstructionDistribution, ExponentialReconstructionDistributionNames):
    """Positive values, with density ``rate * exp(-rate * x)``: the decoder gives logarithms of rates."""

    activation: Convertible[IActivation] = field(default=ActivationIdentity(), json="activationFn")

    def define(self, sd: SameDiff, x: SDVariable, pre_output: SDVariable) -> SDVariable:
        log_rate = self.activation.define(sd, pre_output)
        return (sd.math.exp(log_rate) * x - log_rate).sum(1)  # type: ignore[no-any-return]

    def define_mean(self, sd: SameDiff, pre_output: SDVariable) -> SDVariable:
        return sd.math.exp(-self.activation.define(sd, pre_output))  # type: ignore[no-any-return]

    def sample(self, rng: Nd4jRandom, pre_output: Any) -> Any:
        log_rate = self.activation.get_activation(pre_output)
        u = np.maximum(rng.uniform(log_rate.shape, dtype=log_rate.dtype), 2.0 ** -24)      # its steps are 2 ** -23: a 0 would be infinite
        return (-np.log(u) * np.exp(-log_rate)).astype(log_rate.dtype, copy=False)


@configuration(VARIATIONAL + "LossFunctionWrapper")
class LossFunctionWrapper(ReconstructionDistribution, LossFunctionWrapperNames):
    """A loss in place of a probability.

    Parameters
    ----------
    loss_function : str, LossFunction or ILossFunction
        The loss of a reconstruction.
    """

    activation: Convertible[IActivation] = field(default=ActivationIdentity(), json="activationFn")
    loss_function: Convertible[ILossFunction] = LossMSE()

    def has_loss_function(self) -> bool:
        return True

    def define(self, sd: SameDiff, x: SDVariable, pre_output: SDVariable) -> SDVariable:
        return self.loss_function.define(sd, x, pre_output, self.activation)

    def define_mean(self, sd: SameDiff, pre_output: SDVariable) -> SDVariable:
        return self.activation.define(sd, pre_output)

    def sample(self, rng: Nd4jRandom, pre_output: Any) -> Any:
        return self.generate_at_mean(pre_output)

    def example_neg_log_probability(self, x: Any, pre_output: Any) -> Any:
        """The score of each example as the loss gives it for arrays, (batch, 1)."""
        return self.loss_function.compute_score_array(x, pre_output, self.activation)

    def compute_loss_function_score_array(self, x: Any, reconstruction: Any) -> Any:
        """The loss of each example for a reconstruction, to which the activation has been applied, (batch, 1)."""
        return self.loss_function.compute_score_array(x, reconstruction, ActivationIdentity())


def _width(x: SDVariable) -> int:
    shape = x.get_shape()
    if not shape or shape[-1] < 0:
        raise ConfigurationError(f"the output of the decoder must have a known number of columns; its shape is {shape}")
    return int(shape[-1])
