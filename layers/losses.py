"""Loss functions as configuration objects, and the enum of their names."""
from __future__ import annotations

from enum import Enum
from typing import Any, Self

import numpy as np

from ..samediff.configuration import Configuration, configuration, field, find_class
from ..samediff.errors import ConfigurationError, did_you_mean
from ..samediff.javanames import JavaSpelling, squash

_PACKAGE = "org.nd4j.linalg.lossfunctions.impl."


@configuration
class ILossFunction(Configuration):
    """Base of all loss functions. Fields of this type also take a :class:`LossFunction` or its name.

    Examples
    --------
    >>> ILossFunction.of("xent")
    LossBinaryXENT()
    """

    @classmethod
    def of(cls, value: Any) -> Self:
        if isinstance(value, str):
            value = LossFunction.from_string(value)
        if isinstance(value, LossFunction):
            value = value.get_i_loss_function()
        return super().of(value)


@configuration
class WeightedLoss(ILossFunction):
    """A loss with one weight per output column: ``weights`` (outputs,) multiplies scores and gradients."""

    weights: np.ndarray[Any, Any] | None = field(None, omit_none=True)

    def validate(self) -> None:
        if self.weights is not None and self.weights.ndim > 1 and self.weights.shape[0] != 1:
            raise ConfigurationError(f"{type(self).__name__}.weights must be one row; got shape {self.weights.shape}")


@configuration(_PACKAGE + "LossMSE")
class LossMSE(WeightedLoss):
    """Mean over the outputs of ``(label - output)²``."""


@configuration(_PACKAGE + "LossL2")
class LossL2(WeightedLoss):
    """Sum over the outputs of ``(label - output)²``."""


@configuration(_PACKAGE + "LossL1")
class LossL1(WeightedLoss):
    """Sum over the outputs of ``|label - output|``."""


@configuration(_PACKAGE + "LossMAE")
class LossMAE(WeightedLoss):
    """Mean over the outputs of ``|label - output|``."""


@configuration(_PACKAGE + "LossMAPE")
class LossMAPE(WeightedLoss):
    """Mean over the outputs of ``100 * |(label - output) / label|``."""


@configuration(_PACKAGE + "LossMSLE")
class LossMSLE(WeightedLoss):
    """Mean over the outputs of ``log((output + 1) / (label + 1))²``."""


@configuration(_PACKAGE + "LossBinaryXENT")
class LossBinaryXENT(WeightedLoss):
    """Binary cross entropy ``-(y log p + (1 - y) log(1 - p))``, p clipped to [clip_eps, 1 - clip_eps]."""

    clip_eps: float = 1e-5


@configuration(_PACKAGE + "LossMCXENT")
class LossMCXENT(WeightedLoss):
    """Cross entropy ``-sum(y log p)``; with softmax p is clipped to [softmax_clip_eps, 1 - softmax_clip_eps]."""

    softmax_clip_eps: float = 1e-10


@configuration(_PACKAGE + "LossNegativeLogLikelihood")
class LossNegativeLogLikelihood(LossMCXENT):
    """The same as :class:`LossMCXENT`."""


@configuration(_PACKAGE + "LossSparseMCXENT")
class LossSparseMCXENT(LossMCXENT):
    """Cross entropy with integer class labels, (batch, 1)."""


@configuration(_PACKAGE + "LossKLD")
class LossKLD(ILossFunction):
    """Kullback-Leibler divergence ``sum(y log(y / p))``."""


@configuration(_PACKAGE + "LossCosineProximity")
class LossCosineProximity(ILossFunction):
    """``-cos`` of the angle between labels and outputs."""


@configuration(_PACKAGE + "LossHinge")
class LossHinge(ILossFunction):
    """``max(0, 1 - y * output)`` for labels -1 and 1."""


@configuration(_PACKAGE + "LossSquaredHinge")
class LossSquaredHinge(ILossFunction):
    """``max(0, 1 - y * output)²`` for labels -1 and 1."""


@configuration(_PACKAGE + "LossPoisson")
class LossPoisson(ILossFunction):
    """``output - y log(output)``."""


@configuration(_PACKAGE + "LossWasserstein")
class LossWasserstein(ILossFunction):
    """Mean over the outputs of ``y * output`` (critic score)."""


@configuration(_PACKAGE + "LossFMeasure")
class LossFMeasure(ILossFunction):
    """``1 - F_beta`` of a whole minibatch, binary."""

    beta: float = 1.0


@configuration(_PACKAGE + "LossMultiLabel")
class LossMultiLabel(ILossFunction):
    """Pairwise ranking loss for several labels per example (Zhang and Zhou, 2006)."""


@configuration(_PACKAGE + "LossMixtureDensity")
class LossMixtureDensity(ILossFunction):
    """Negative log likelihood of a mixture of Gaussians (Bishop, 1994); outputs [weights, log sigma, means]."""

    mixture_count: int = field(1, json="mMixtures", aliases=("gaussians", "mixtures"))
    label_width: int = field(1, json="mLabelWidth")


class LossFunction(JavaSpelling, Enum):
    """Names of the loss functions; the value is the class that computes it.

    Several names share a class; ``RECONSTRUCTION_CROSSENTROPY`` is the Kullback-Leibler divergence, as in DL4J.
    """

    MSE = ("LossMSE", 0)
    L1 = ("LossL1", 0)
    XENT = ("LossBinaryXENT", 0)
    MCXENT = ("LossMCXENT", 0)
    SPARSE_MCXENT = ("LossSparseMCXENT", 0)
    SQUARED_LOSS = ("LossMSE", 1)
    RECONSTRUCTION_CROSSENTROPY = ("LossKLD", 0)
    NEGATIVELOGLIKELIHOOD = ("LossNegativeLogLikelihood", 0)
    COSINE_PROXIMITY = ("LossCosineProximity", 0)
    HINGE = ("LossHinge", 0)
    SQUARED_HINGE = ("LossSquaredHinge", 0)
    KL_DIVERGENCE = ("LossKLD", 1)
    MEAN_ABSOLUTE_ERROR = ("LossMAE", 0)
    L2 = ("LossL2", 0)
    MEAN_ABSOLUTE_PERCENTAGE_ERROR = ("LossMAPE", 0)
    MEAN_SQUARED_LOGARITHMIC_ERROR = ("LossMSLE", 0)
    POISSON = ("LossPoisson", 0)
    WASSERSTEIN = ("LossWasserstein", 0)

    def get_i_loss_function(self) -> ILossFunction:
        """Return the loss with its default settings."""
        loss = find_class(_PACKAGE + self.value[0])()
        assert isinstance(loss, ILossFunction)
        return loss

    @classmethod
    def from_string(cls, name: str) -> LossFunction:
        """Return the member of a name, in any case and spelling, or of its class name."""
        known = {squash(m.value[0]): m for m in reversed(cls)} | {squash(n): m for n, m in cls.__members__.items()}
        if squash(name) not in known:
            hint = did_you_mean(name.upper(), cls.__members__)
            raise ConfigurationError(f"no loss function is called {name!r}{hint}")
        return known[squash(name)]
