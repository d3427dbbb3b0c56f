"""Variational autoencoder and the distributions that it reconstructs with (Kingma and Welling, 2013)."""
from __future__ import annotations

from ..samediff.configuration import Configuration, configuration, field
from .activations import ActivationIdentity, ActivationSigmoid, ActivationTanH, IActivation
from .base import PACKAGE, layer
from .feed_forward import BasePretrainNetwork
from .losses import ILossFunction, LossMSE

_VARIATIONAL = PACKAGE + "variational."


@configuration
class ReconstructionDistribution(Configuration):
    """Distribution of the data given the decoder's output; ``input_size`` values describe ``size`` data values."""

    def distribution_input_size(self, size: int) -> int:
        """Return how many parameters describe ``size`` data values."""
        return size


@configuration(_VARIATIONAL + "GaussianReconstructionDistribution")
class GaussianReconstructionDistribution(ReconstructionDistribution):
    """Real values: mean and log variance."""

    activation: IActivation = field(default=ActivationTanH(), json="activationFn")

    def distribution_input_size(self, size: int) -> int:
        return 2 * size


@configuration(_VARIATIONAL + "BernoulliReconstructionDistribution")
class BernoulliReconstructionDistribution(ReconstructionDistribution):
    """Binary values."""

    activation: IActivation = field(default=ActivationSigmoid(), json="activationFn")


@configuration(_VARIATIONAL + "ExponentialReconstructionDistribution")
class ExponentialReconstructionDistribution(ReconstructionDistribution):
    """Positive values: log rate."""

    activation: IActivation = field(default=ActivationIdentity(), json="activationFn")


@configuration(_VARIATIONAL + "LossFunctionWrapper")
class LossFunctionWrapper(ReconstructionDistribution):
    """A loss in place of a probability."""

    activation: IActivation = field(default=ActivationIdentity(), json="activationFn")
    loss_function: ILossFunction = LossMSE()


@configuration(_VARIATIONAL + "CompositeReconstructionDistribution")
class CompositeReconstructionDistribution(ReconstructionDistribution):
    """Different distributions for consecutive parts of the data."""

    distribution_sizes: tuple[int, ...] = ()
    reconstruction_distributions: tuple[ReconstructionDistribution, ...] = ()
    total_size: int = 0

    def validate(self) -> None:
        if not self.total_size:
            self.__dict__["total_size"] = sum(self.distribution_sizes)

    def distribution_input_size(self, size: int) -> int:
        parts = zip(self.reconstruction_distributions, self.distribution_sizes)
        return sum(d.distribution_input_size(n) for d, n in parts)


@layer(_VARIATIONAL + "VariationalAutoencoder")
class VariationalAutoencoder(BasePretrainNetwork):
    """Encoder, latent normal variables, decoder; in a network the mean of the latent variables.

    Shapes: x (batch, n_in) -> (batch, n_out).
    """

    encoder_layer_sizes: tuple[int, ...] = (100,)
    decoder_layer_sizes: tuple[int, ...] = (100,)
    output_distribution: ReconstructionDistribution = field(
        default=GaussianReconstructionDistribution(), aliases=("reconstruction_distribution",))
    pzx_activation: IActivation = field(
        default=ActivationIdentity(), json="pzxActivationFn", aliases=("pzx_activation_function",))
    num_samples: int = 1

    @property
    def latent_size(self) -> int:
        """Number of latent variables."""
        return self.n_out

    def distribution_parameters(self) -> int:
        """Number of outputs of the decoder."""
        return self.output_distribution.distribution_input_size(self.n_in)


