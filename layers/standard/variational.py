"""Variational autoencoder (Kingma and Welling, "Auto-Encoding Variational Bayes", 2013)."""
from __future__ import annotations

from dataclasses import InitVar
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ...samediff.configuration.builder import Builder, BuilderAccess
from ...samediff.configuration.declaring import Convertible, field
from ...samediff.errors import ConfigurationError, ShapeError
from ...samediff.expressions.arrays import as_array
from ...samediff.families.gradient import gradients
from ...samediff.initializers.nd4j_random import Nd4jRandom, get_random
from ..base.affine import activated
from ..base.base import layer
from ..base.layer_methods import BoundLayer, at_work
from ..functions.activations import ActivationIdentity, IActivation
from ..functions.reconstruction import VARIATIONAL, GaussianReconstructionDistribution, LossFunctionWrapper, ReconstructionDistribution
from ..ops.noise_ops import AddNoise
from ..types.java_names import VariationalAutoencoderNames, VariationalBuilderNames
from ..types.parameters import LayerScope, Parameter, ParameterTable
from .feed_forward import BasePretrainNetwork

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["VariationalAutoencoder"]


class VariationalBuilder(Builder["VariationalAutoencoder"], VariationalBuilderNames):
    """Takes ``loss_function(activation, loss)`` for a reconstruction that is judged by a loss."""

    def set_option(self, name: str, *values: Any) -> Self:
        if len(values) == 2 and self.target.find_option(name) == "loss_function":
            return super().set_option("output_distribution", LossFunctionWrapper(*values))
        return super().set_option(name, *values)


class LatentNoise:
    """Standard normal numbers for the latent variables, added to zeros."""

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, iteration: int, epoch: int) -> tuple[Any, Any]:
        """No factor, and the numbers."""
        return None, rng.standard_normal(shape, np.float64 if dtype == np.float64 else np.float32).astype(dtype)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))


@layer(VARIATIONAL + "VariationalAutoencoder")
class VariationalAutoencoder(BasePretrainNetwork, VariationalAutoencoderNames):
    """Encoder, latent normal variables, decoder; in a network the mean of the latent variables.

    Pretraining maximises a lower bound of the probability of the data with ``num_samples`` draws of the latent variables
    for each example. Training with labels reaches the encoder only.

    Shapes: x (batch, n_in) -> (batch, n_out).

    Parameters
    ----------
    encoder_layer_sizes, decoder_layer_sizes : sequence of int
        Sizes of the hidden layers of both parts, at least one each; (100,) by default. ``activation`` acts in them.
    n_out : int
        Number of latent variables.
    output_distribution : ReconstructionDistribution
        Distribution of the data given the latent variables; ``GaussianReconstructionDistribution()`` by default
        (``reconstruction_distribution`` in builders).
    pzx_activation : str, Activation or IActivation
        Of mean and logarithm of the variance of the latent variables; identity by default.
    num_samples : int
        Draws of the latent variables for each example in pretraining, at least 1; 1 by default.

    Examples
    --------
    >>> vae = VariationalAutoencoder(n_in=4, n_out=2, encoder_layer_sizes=(3,), decoder_layer_sizes=(3,))
    >>> [p.name for p in vae.parameter_table()][:4], vae.distribution_parameters()
    (['e0W', 'e0b', 'pZXMeanW', 'pZXMeanb'], 8)
    """

    Builder: ClassVar[type[VariationalBuilder]] = BuilderAccess(VariationalBuilder)  # type: ignore[assignment]  # one for each class
    takes_dropout: ClassVar[bool] = False       # as in DL4J
    encoder_layer_sizes: Convertible[tuple[int, ...]] = (100,)
    decoder_layer_sizes: Convertible[tuple[int, ...]] = (100,)
    output_distribution: ReconstructionDistribution = field(
        default=GaussianReconstructionDistribution(), aliases=("reconstruction_distribution",))
    if TYPE_CHECKING:       # further names, which `aliases` make
        reconstruction_distribution: InitVar[Any] = None
    pzx_activation: Convertible[IActivation] = field(
        default=ActivationIdentity(), json="pzxActivationFn", aliases=("pzx_activation_function",))
    num_samples: int = 1

    def validate(self) -> None:
        super().validate()
        for name in ("encoder_layer_sizes", "decoder_layer_sizes"):
            sizes = getattr(self, name)
            if not sizes or min(sizes) < 1:
                raise ConfigurationError(f"{self.label}: {name} needs at least one positive size; got {sizes}")
        if self.num_samples < 1:
            raise ConfigurationError(f"{self.label}: num_samples must be at least 1; got {self.num_samples}")

    @property
    def latent_size(self) -> int:
        """Number of latent variables."""
        return self.n_out

    def distribution_parameters(self) -> int:
        """Number of outputs of the decoder."""
        return self.output_distribution.distribution_input_size(self.n_in)

    # Parameters

    @property
    def weight_names(self) -> tuple[str, ...]:  # type: ignore[override]  # they depend on the numbers of layers
        """Names of the weights."""
        return tuple(f"{name}W" for name in self._names())

    @property
    def bias_names(self) -> tuple[str, ...]:  # type: ignore[override]  # they depend on the numbers of layers
        """Names of the biases."""
        return tuple(f"{name}b" for name in self._names())

    def _names(self) -> list[str]:
        encoder, decoder = range(len(self.encoder_layer_sizes)), range(len(self.decoder_layer_sizes))
        return [*[f"e{i}" for i in encoder], "pZXMean", "pZXLogStd2", *[f"d{i}" for i in decoder], "pXZ"]

    def define_parameters(self, params: ParameterTable) -> None:
        last = self.encoder_layer_sizes[-1]
        inputs = (self.n_in, *self.encoder_layer_sizes, last, self.n_out, *self.decoder_layer_sizes)
        outputs = (*self.encoder_layer_sizes, self.n_out, self.n_out, *self.decoder_layer_sizes, self.distribution_parameters())
        for name, n, m in zip(self._names(), inputs, outputs):
            params.weight(f"{name}W", (n, m), fan_in=n, fan_out=m, order="f")
            params.bias(f"{name}b", (m,))

    def updater_key(self, parameter: Parameter) -> str | None:
        return None if parameter.name.startswith(("e", "pZXMean")) else "pretrain"

    # Graph

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        return self._latent(sd, self._encoded(sd, x, params), "pZXMean", params)

    def _encoded(self, sd: SameDiff, x: SDVariable, params: LayerScope) -> SDVariable:
        for i in range(len(self.encoder_layer_sizes)):
            x = activated(self, sd, _affine(sd, x, f"e{i}", params))
        return x

    def _latent(self, sd: SameDiff, x: SDVariable, name: str, params: LayerScope) -> SDVariable:
        return self.pzx_activation.define(sd, _affine(sd, x, name, params))

    def define_posterior(self, sd: SameDiff, x: SDVariable, params: LayerScope) -> tuple[SDVariable, SDVariable]:
        """Mean and logarithm of the variance of the latent variables, (batch, n_out) each."""
        encoded = self._encoded(sd, x, params)
        return self._latent(sd, encoded, "pZXMean", params), self._latent(sd, encoded, "pZXLogStd2", params)

    def define_decoder(self, sd: SameDiff, z: SDVariable, params: LayerScope) -> SDVariable:
        """Parameters of the reconstruction distribution for latent variables, (batch, distribution_parameters())."""
        for i in range(len(self.decoder_layer_sizes)):
            z = activated(self, sd, _affine(sd, z, f"d{i}", params))
        return _affine(sd, z, "pXZ", params)

    def define_mean(self, sd: SameDiff, z: SDVariable, params: LayerScope) -> SDVariable:
        """Mean of the data for latent variables, (batch, n_in)."""
        return self.output_distribution.define_mean(sd, self.define_decoder(sd, z, params))

    def define_pretraining(self, sd: SameDiff, x: SDVariable, params: LayerScope) -> tuple[SDVariable, dict[str, SDVariable]]:
        """The negative lower bound of each example, (batch,), and its gradients by parameter."""
        mean, log_variance = self.define_posterior(sd, x, params)
        variance = sd.math.exp(log_variance)
        deviation = sd.math.sqrt(variance)
        bound = (mean * mean + variance - log_variance - 1.0).sum(1) * 0.5
        zeros = sd.call("base", "zeros_like", mean)
        for _ in range(self.num_samples):
            z = mean + deviation * sd.add_op(AddNoise(LatentNoise()), [zeros])
            bound = bound + self.output_distribution.define(sd, x, self.define_decoder(sd, z, params)) * (1.0 / self.num_samples)
        found = gradients(sd, [bound], list(params.values()))
        return bound, {name: g for name, v in params.items() if (g := found[v.name()]) is not None}

    # At work

    @at_work
    def has_loss_function(self, _: BoundLayer) -> bool:
        """Whether reconstructions are judged by a loss in place of a probability."""
        return self.output_distribution.has_loss_function()

    @at_work
    def reconstruction_log_probability(self, net: BoundLayer, x: Any, num_samples: int, rng: Nd4jRandom | None = None) -> Any:
        """Mean over draws of the latent variables of the log probability of each example, (batch, 1) (An and Cho, 2015).

        The draws come from ND4J's process-wide generator unless ``rng`` is given.
        """
        if num_samples < 1:
            raise ConfigurationError(f"{self.label}: num_samples must be at least 1; got {num_samples}")
        if isinstance(self.output_distribution, LossFunctionWrapper):
            raise ConfigurationError(f"{self.label} reconstructs by a loss function, which is no probability; use reconstruction_error")
        rng = get_random() if rng is None else rng
        mean, log_variance = net.run(self.define_posterior, x)
        deviation = np.sqrt(np.exp(log_variance))
        total = np.zeros((len(mean), 1), net.dtype)
        for _ in range(num_samples):
            z = mean + deviation * rng.normal(mean.shape, dtype=net.dtype)
            total += self.output_distribution.example_neg_log_probability(x, net.run(self.define_decoder, z))
        return total / -num_samples

    @at_work
    def reconstruction_probability(self, net: BoundLayer, x: Any, num_samples: int, rng: Nd4jRandom | None = None) -> Any:
        """exp of :meth:`reconstruction_log_probability`, in float64."""
        return np.exp(self.reconstruction_log_probability(net, x, num_samples, rng).astype(np.float64))

    @at_work
    def generate_at_mean_given_z(self, net: BoundLayer, z: Any) -> Any:
        """Mean of the data for latent variables. Shapes: z (batch, n_out) -> (batch, n_in)."""
        return net.run(self.define_mean, self._checked(z))

    @at_work
    def generate_random_given_z(self, net: BoundLayer, z: Any, rng: Nd4jRandom | None = None) -> Any:
        """Data drawn for latent variables. Shapes: z (batch, n_out) -> (batch, n_in)."""
        return self.output_distribution.generate_random(net.run(self.define_decoder, self._checked(z)), rng)

    @at_work
    def reconstruction_error(self, net: BoundLayer, x: Any) -> Any:
        """The loss of the reconstruction of each example, (batch, 1); for reconstructions that are judged by a loss."""
        found: Any = self.output_distribution
        if not found.has_loss_function():
            raise ConfigurationError(f"{self.label} has no loss function: use reconstruction_probability or reconstruction_log_probability")
        mean, _ = net.run(self.define_posterior, x)
        return found.compute_loss_function_score_array(x, net.run(self.define_mean, mean))

    def _checked(self, z: Any) -> Any:
        given = as_array(z)
        if given.ndim != 2 or given.shape[1] != self.n_out:
            raise ShapeError(f"{self.label}: latent variables must have the shape [batch, {self.n_out}]; got {list(given.shape)}")
        return given


def _affine(sd: SameDiff, x: SDVariable, name: str, params: LayerScope) -> SDVariable:
    return sd.call("nn", "linear", x, params[f"{name}W"], params[f"{name}b"])  # type: ignore[no-any-return]
