"""Data of several kinds in one variational autoencoder: a distribution for each part of it."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ...samediff.configuration.builder import Builder, BuilderAccess
from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.errors import ConfigurationError
from ...samediff.initializers.nd4j_random import Nd4jRandom
from ..types.java_names import CompositeBuilderNames, CompositeReconstructionDistributionNames
from .eager import floating
from .reconstruction import VARIATIONAL, ReconstructionDistribution

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["CompositeReconstructionDistribution"]


class CompositeBuilder(Builder["CompositeReconstructionDistribution"], CompositeBuilderNames):
    """Builder of a composite distribution, one part after the other."""

    def add_distribution(self, size: int, distribution: ReconstructionDistribution) -> Self:
        """Take ``distribution`` for the next ``size`` values."""
        for name, value in (("distribution_sizes", size), ("reconstruction_distributions", distribution)):
            self._values[name] = (*self._values.get(name, ()), value)
        return self

    addDistribution = add_distribution      # a builder takes unknown names for options


@configuration(VARIATIONAL + "CompositeReconstructionDistribution")
class CompositeReconstructionDistribution(ReconstructionDistribution, CompositeReconstructionDistributionNames):
    """Different distributions for consecutive parts of the data.

    Parameters
    ----------
    distribution_sizes : sequence of int
        How many values each part has.
    reconstruction_distributions : sequence of ReconstructionDistribution
        Their distributions.
    total_size : int
        Sum of the sizes.

    Examples
    --------
    >>> from dl4py.layers import BernoulliReconstructionDistribution, GaussianReconstructionDistribution
    >>> parts = (CompositeReconstructionDistribution.Builder().add_distribution(2, GaussianReconstructionDistribution("identity"))
    ...          .add_distribution(3, BernoulliReconstructionDistribution()).build())
    >>> parts.total_size, parts.distribution_input_size(5)
    (5, 7)
    """

    Builder: ClassVar[type[CompositeBuilder]] = BuilderAccess(CompositeBuilder)  # type: ignore[assignment]  # one for each class
    distribution_sizes: Convertible[tuple[int, ...]] = ()
    reconstruction_distributions: Convertible[tuple[ReconstructionDistribution, ...]] = ()
    total_size: int = 0

    def validate(self) -> None:
        if len(self.distribution_sizes) != len(self.reconstruction_distributions):
            raise ConfigurationError("CompositeReconstructionDistribution needs one size for each distribution; got "
                                     f"{len(self.distribution_sizes)} sizes and {len(self.reconstruction_distributions)} distributions")
        if not self.total_size:
            self._put(total_size=sum(self.distribution_sizes))

    def has_loss_function(self) -> bool:
        return all(d.has_loss_function() for d in self.reconstruction_distributions)

    def distribution_input_size(self, size: int) -> int:
        if size != self.total_size:
            raise ConfigurationError(f"the parts of CompositeReconstructionDistribution are for {self.total_size} values "
                                     f"({', '.join(map(str, self.distribution_sizes))}), the layer has {size} inputs")
        return sum(self._widths())

    def _widths(self) -> list[int]:
        return [d.distribution_input_size(n) for d, n in zip(self.reconstruction_distributions, self.distribution_sizes)]

    def define(self, sd: SameDiff, x: SDVariable, pre_output: SDVariable) -> SDVariable:
        data, given = _pieces(x, self.distribution_sizes), _pieces(pre_output, self._widths())
        scores = [d.define(sd, a, b) for d, a, b in zip(self.reconstruction_distributions, data, given)]
        return sum(scores[1:], scores[0])  # type: ignore[no-any-return]

    def example_neg_log_probability(self, x: Any, pre_output: Any) -> Any:
        """The sum of the parts, (batch, 1)."""
        data, given = _pieces(floating(x), self.distribution_sizes), _pieces(floating(pre_output), self._widths())
        return sum(d.example_neg_log_probability(a, b) for d, a, b in zip(self.reconstruction_distributions, data, given))

    def define_mean(self, sd: SameDiff, pre_output: SDVariable) -> SDVariable:
        given = _pieces(pre_output, self._widths())
        return sd.call("base", "concat", 1, *[d.define_mean(sd, a) for d, a in zip(self.reconstruction_distributions, given)])  # type: ignore[no-any-return]

    def sample(self, rng: Nd4jRandom, pre_output: Any) -> Any:
        given = _pieces(pre_output, self._widths())
        return np.concatenate([d.sample(rng, a) for d, a in zip(self.reconstruction_distributions, given)], axis=1)

    def compute_loss_function_score_array(self, x: Any, reconstruction: Any) -> Any:
        """The losses of each example for a reconstruction, added up, (batch, 1)."""
        parts: list[Any] = [d for d in self.reconstruction_distributions if d.has_loss_function()]
        if len(parts) != len(self.distribution_sizes):
            raise ConfigurationError("compute_loss_function_score_array needs a loss function for every part of the data")
        data, found = _pieces(floating(x), self.distribution_sizes), _pieces(floating(reconstruction), self.distribution_sizes)
        return sum(d.compute_loss_function_score_array(a, b) for d, a, b in zip(parts, data, found))


def _pieces(x: Any, sizes: Sequence[int]) -> list[Any]:
    ends = [sum(sizes[:i + 1]) for i in range(len(sizes))]
    return [x[:, end - n:end] for n, end in zip(sizes, ends)]
