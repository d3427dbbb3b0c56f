"""Loss functions as configuration objects."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...samediff.configuration.declaring import configuration, field
from ...samediff.errors import ConfigurationError
from ..ops import loss_rows as rows
from ..ops.loss_terms import OneHotLabels, SoftmaxTerms
from ..types.java_names import (
    LossBinaryXENTNames,
    LossCosineProximityNames,
    LossFMeasureNames,
    LossHingeNames,
    LossKLDNames,
    LossL1Names,
    LossL2Names,
    LossMAENames,
    LossMAPENames,
    LossMCXENTNames,
    LossMixtureDensityNames,
    LossMSENames,
    LossMSLENames,
    LossMultiLabelNames,
    LossNegativeLogLikelihoodNames,
    LossPoissonNames,
    LossSparseMCXENTNames,
    LossSquaredHingeNames,
    LossWassersteinNames,
)
from .activations import ActivationSoftmax, IActivation
from .eager import floating
from .loss_base import PACKAGE, ILossFunction, LossFunction, RowWiseLoss, TermLoss, WeightedLoss, check_clip
from .mixture_components import MixtureDensityComponents

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = [
    "LossBinaryXENT", "LossCosineProximity", "LossFMeasure", "LossFunctions", "LossHinge", "LossKLD", "LossL1", "LossL2", "LossMAE",
    "LossMAPE", "LossMCXENT", "LossMSE", "LossMSLE", "LossMixtureDensity", "LossMultiLabel", "LossNegativeLogLikelihood", "LossPoisson",
    "LossSparseMCXENT", "LossSquaredHinge", "LossWasserstein",
]


@configuration(PACKAGE + "LossMSE")
class LossMSE(WeightedLoss, LossMSENames):
    """Mean over the outputs of ``(label - output)²``."""

    term: ClassVar[str] = "squared"
    mean: ClassVar[bool] = True


@configuration(PACKAGE + "LossL2")
class LossL2(WeightedLoss, LossL2Names):
    """Sum over the outputs of ``(label - output)²``."""

    term: ClassVar[str] = "squared"


@configuration(PACKAGE + "LossL1")
class LossL1(WeightedLoss, LossL1Names):
    """Sum over the outputs of ``|label - output|``."""

    term: ClassVar[str] = "absolute"


@configuration(PACKAGE + "LossMAE")
class LossMAE(WeightedLoss, LossMAENames):
    """Mean over the outputs of ``|label - output|``."""

    term: ClassVar[str] = "absolute"
    mean: ClassVar[bool] = True
    array_adds_outputs: ClassVar[bool] = True

    def compute_score_array(self, labels: Any, pre_output: Any, activation: Any, mask: Any = None) -> Any:
        """The SUM over the outputs for each example, (batch, 1), as in DL4J: ``outputs`` times the score."""
        return super().compute_score_array(labels, pre_output, activation, mask) * np.shape(pre_output)[1]


@configuration(PACKAGE + "LossMAPE")
class LossMAPE(WeightedLoss, LossMAPENames):
    """Mean over the outputs of ``100 * |(label - output) / label|``."""

    term: ClassVar[str] = "percentage"
    mean: ClassVar[bool] = True


@configuration(PACKAGE + "LossMSLE")
class LossMSLE(WeightedLoss, LossMSLENames):
    """Mean over the outputs of ``log((output + 1) / (label + 1))²``."""

    term: ClassVar[str] = "log_ratio"
    mean: ClassVar[bool] = True


@configuration(PACKAGE + "LossBinaryXENT")
class LossBinaryXENT(WeightedLoss, LossBinaryXENTNames):
    """Binary cross entropy ``-(y log p + (1 - y) log(1 - p))``, p clipped to [clip_eps, 1 - clip_eps].

    Parameters
    ----------
    clip_eps : float
        Least distance of p from 0 and 1; default 1e-5.
    """

    clip_eps: float = 1e-5
    clip: ClassVar[str] = "clip_eps"

    def validate(self) -> None:
        super().validate()
        check_clip(self, "clip_eps", self.clip_eps)

    def term_for(self, activation: IActivation) -> str:
        return "binary_of_softmax" if isinstance(activation, ActivationSoftmax) else "binary"

    def epsilon(self) -> float:
        return self.clip_eps


@configuration(PACKAGE + "LossMCXENT")
class LossMCXENT(WeightedLoss, LossMCXENTNames):
    """Cross entropy ``-sum(y log p)``; with softmax p is clipped to [softmax_clip_eps, 1 - softmax_clip_eps].

    Parameters
    ----------
    softmax_clip_eps : float
        Least distance of p from 0 and 1 behind softmax; default 1e-10.
    """

    softmax_clip_eps: float = 1e-10
    clip: ClassVar[str] = "softmax_clip_eps"

    term: ClassVar[str] = "log"
    masked_behind_softmax: ClassVar[bool] = False       # DL4J refuses a mask per output here, so this is the derivative

    def validate(self) -> None:
        super().validate()
        check_clip(self, "softmax_clip_eps", self.softmax_clip_eps)

    def terms(self, sd: SameDiff, labels: SDVariable, pre_output: SDVariable, activation: IActivation, width: int,
              mask: SDVariable | None = None) -> SDVariable:
        if not isinstance(activation, ActivationSoftmax):
            return super().terms(sd, labels, pre_output, activation, width, mask)
        op = SoftmaxTerms(type(self).__name__, self.softmax_clip_eps, width)
        return sd.add_op(op, [labels, activation.define(sd, pre_output), pre_output])  # type: ignore[no-any-return]


@configuration(PACKAGE + "LossNegativeLogLikelihood")
class LossNegativeLogLikelihood(LossMCXENT, LossNegativeLogLikelihoodNames):
    """The same as :class:`LossMCXENT`."""


@configuration(PACKAGE + "LossSparseMCXENT")
class LossSparseMCXENT(LossMCXENT, LossSparseMCXENTNames):
    """Cross entropy with integer class labels, (batch, 1)."""

    def terms(self, sd: SameDiff, labels: SDVariable, pre_output: SDVariable, activation: IActivation, width: int,
              mask: SDVariable | None = None) -> SDVariable:
        columns = sd.add_op(OneHotLabels(type(self).__name__), [labels, pre_output])
        return super().terms(sd, columns, pre_output, activation, width, mask)


@configuration(PACKAGE + "LossKLD")
class LossKLD(TermLoss, LossKLDNames):
    """Kullback-Leibler divergence ``sum(y log(y / p))``."""

    term: ClassVar[str] = "divergence"
    eps: ClassVar[float] = 1e-05


@configuration(PACKAGE + "LossCosineProximity")
class LossCosineProximity(RowWiseLoss, LossCosineProximityNames):
    """``-cos`` of the angle between labels and outputs."""

    def row_op(self) -> rows.RowLoss:
        return rows.CosineProximity()


@configuration(PACKAGE + "LossHinge")
class LossHinge(TermLoss, LossHingeNames):
    """``max(0, 1 - y * output)`` for labels -1 and 1."""

    term: ClassVar[str] = "hinge"


@configuration(PACKAGE + "LossSquaredHinge")
class LossSquaredHinge(TermLoss, LossSquaredHingeNames):
    """``max(0, 1 - y * output)²`` for labels -1 and 1."""

    term: ClassVar[str] = "squared_hinge"


@configuration(PACKAGE + "LossPoisson")
class LossPoisson(TermLoss, LossPoissonNames):
    """``output - y log(output)``."""

    term: ClassVar[str] = "poisson"


@configuration(PACKAGE + "LossWasserstein")
class LossWasserstein(TermLoss, LossWassersteinNames):
    """Mean over the outputs of ``y * output`` (critic score)."""

    term: ClassVar[str] = "product"
    mean: ClassVar[bool] = True


@configuration(PACKAGE + "LossFMeasure")
class LossFMeasure(ILossFunction, LossFMeasureNames):
    """``1 - F_beta`` of a whole minibatch, binary.

    Parameters
    ----------
    beta : float
        Weight of recall beside precision; default 1.
    """

    beta: float = 1.0
    of_batch: ClassVar[bool] = True

    def validate(self) -> None:
        if self.beta <= 0:
            raise ConfigurationError(f"LossFMeasure.beta must be above 0; got {self.beta}")

    def define(self, sd: SameDiff, labels: SDVariable, pre_output: SDVariable, activation: IActivation,
               mask: SDVariable | None = None) -> SDVariable:
        inputs = [labels, activation.define(sd, pre_output)] + ([] if mask is None else [mask])
        return sd.add_op(rows.FMeasure(self.beta), inputs)  # type: ignore[no-any-return]

    def _total(self, scores: Any, average: bool) -> float:
        return super()._total(scores, False)

    def compute_score_array(self, labels: Any, pre_output: Any, activation: Any, mask: Any = None) -> Any:
        """There is none: the loss belongs to a whole batch."""
        raise ConfigurationError("LossFMeasure has no score per example, only one for a batch: use compute_score")


@configuration(PACKAGE + "LossMultiLabel")
class LossMultiLabel(RowWiseLoss, LossMultiLabelNames):
    """Mean of ``exp(y_l - y_k)`` over pairs of a label k that is 1 and a label l that is 0 (Zhang and Zhou, 2006)."""

    def row_op(self) -> rows.RowLoss:
        return rows.MultiLabel()


@configuration(PACKAGE + "LossMixtureDensity")
class LossMixtureDensity(RowWiseLoss, LossMixtureDensityNames):
    """Negative log likelihood of a mixture of Gaussians (Bishop, 1994); outputs [weights, log sigma, means].

    Parameters
    ----------
    mixture_count : int
        Number of Gaussians; default 1.
    label_width : int
        Size of a label; default 1.
    """

    mixture_count: int = field(default=1, json="mixtures", aliases=("gaussians", "m_mixtures"))
    label_width: int = field(default=1, aliases=("m_label_width",))
    MixtureDensityComponents: ClassVar[Any] = MixtureDensityComponents

    def row_op(self) -> rows.RowLoss:
        return rows.MixtureDensity(self.mixture_count, self.label_width)

    def extract_components(self, output: Any) -> Any:
        """Weights, means and deviations of the Gaussians that outputs of the network stand for."""
        given, m = floating(output), self.mixture_count
        share = np.exp(given[:, :m] - given[:, :m].max(1, keepdims=True))
        return MixtureDensityComponents(share / share.sum(1, keepdims=True), given[:, 2 * m:].reshape(-1, m, self.label_width),
                                        np.exp(given[:, m:2 * m]))


class LossFunctions:
    """DL4J's class around the names: ``LossFunctions.LossFunction.MCXENT``."""

    LossFunction = LossFunction
