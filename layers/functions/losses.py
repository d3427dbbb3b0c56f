"""Loss functions as configuration objects, and the enum of their names."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from ...samediff.base.java.java_enum import JavaEnum
from ...samediff.base.java.other_libraries import LOSSES
from ...samediff.base.java.pair import Pair
from ...samediff.base.javanames import squash
from ...samediff.base.user_code.abstract_methods import unwritten
from ...samediff.base.user_code.user_methods import scores_examples
from ...samediff.base.user_code.users_arrays import answers_in_kind
from ...samediff.configuration.classes import find_class
from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.declaring import Convertible, configuration, field
from ...samediff.errors import ConfigurationError, did_you_mean
from ...samediff.ops.elementwise.masking import mask_gradient, times_mask
from ..ops import loss_rows as rows
from ..ops.loss_terms import LayerLossTerms, MaskedGradient, OneHotLabels, SoftmaxTerms
from ..ops.masks import column
from ..types.java_names import (
    ILossFunctionNames,
    LossBinaryXENTNames,
    LossCosineProximityNames,
    LossFMeasureNames,
    LossFunctionNames,
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
    RowWiseLossNames,
    TermLossNames,
    WeightedLossNames,
)
from .activations import ActivationSoftmax, IActivation
from .eager import direct, floating
from .java_forms import define_loss, is_in_java_form
from .masked_loss import MaskedLoss
from .mixture_components import MixtureDensityComponents

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = [
    "ILossFunction", "LossBinaryXENT", "LossCosineProximity", "LossFMeasure", "LossFunction", "LossFunctions", "LossHinge", "LossKLD",
    "LossL1", "LossL2", "LossMAE", "LossMAPE", "LossMCXENT", "LossMSE", "LossMSLE", "LossMixtureDensity", "LossMultiLabel",
    "LossNegativeLogLikelihood", "LossPoisson", "LossSparseMCXENT", "LossSquaredHinge", "LossWasserstein", "WeightedLoss",
]

_PACKAGE = "org.nd4j.linalg.lossfunctions.impl."


@configuration
class ILossFunction(MaskedLoss, Configuration, ILossFunctionNames):
    """Base of all loss functions. Fields of this type also take a :class:`LossFunction` or its name.

    A class of one's own writes ``define``; or, as DL4J's do, ``compute_score_array`` (or ``compute_score``) and ``compute_gradient`` (or
    ``compute_gradient_and_score``) on arrays, which run in Python.

    Examples
    --------
    >>> ILossFunction.of("xent")
    LossBinaryXENT()
    """

    result_checks = {"define": scores_examples, "define_loss": scores_examples}

    #: Whether ``compute_score_array`` adds up over the outputs where the score takes their mean.
    array_adds_outputs: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if any(is_in_java_form(cls, score, gradient) for score in ("compute_score_array", "compute_score")
               for gradient in ("compute_gradient", "compute_gradient_and_score")):
            setattr(cls, "define", define_loss)  # noqa: B010  # mypy knows no such assignment

    @classmethod
    def of(cls, value: Any) -> Self:
        if isinstance(value, str):
            value = LossFunction.from_string(value)
        if isinstance(value, LossFunction):
            value = value.get_i_loss_function()
        return super().of(value)

    @unwritten
    def define(self, sd: SameDiff, labels: SDVariable, pre_output: SDVariable, activation: IActivation,
               mask: SDVariable | None = None) -> SDVariable:
        """Add the loss to a graph: one score per example.

        Shapes: labels and pre_output (batch, outputs), mask (batch, 1) or (batch, outputs) -> (batch,).
        """
        raise NotImplementedError

    def _evaluate(self, labels: Any, pre_output: Any, activation: Any, mask: Any, gradient: bool) -> list[Any]:
        activation, pre_output = IActivation.of(activation), floating(pre_output)
        arrays = [floating(labels).astype(pre_output.dtype), pre_output, None if mask is None else floating(mask).astype(pre_output.dtype)]
        graph = direct(self, "_define", arrays, activation)
        names = [graph.result.name(), graph.gradient(1)] if gradient else [graph.result.name()]
        return graph.run(arrays, names, np.ones(len(pre_output), pre_output.dtype) if gradient else None)

    def compute_score(self, labels: Any, pre_output: Any, activation: Any, mask: Any = None, average: bool = True) -> float:
        """The sum of the scores of all examples, divided by their number if ``average``.

        Examples
        --------
        >>> LossFunction.MSE.get_i_loss_function().compute_score([[1.0, 0.0]], [[0.0, 0.0]], "identity")
        0.5
        """
        return self._total(self._evaluate(labels, pre_output, activation, mask, False)[0], average)

    def _total(self, scores: Any, average: bool) -> float:
        return float(scores.sum(dtype=np.float64)) / (len(scores) if average else 1)

    @answers_in_kind
    def compute_score_array(self, labels: Any, pre_output: Any, activation: Any, mask: Any = None) -> Any:
        """The score of each example, (batch, 1)."""
        return self._evaluate(labels, pre_output, activation, mask, False)[0].reshape(-1, 1)

    @answers_in_kind
    def compute_gradient(self, labels: Any, pre_output: Any, activation: Any, mask: Any = None) -> Any:
        """The gradient of the summed score for ``pre_output``."""
        return self._evaluate(labels, pre_output, activation, mask, True)[1]

    @answers_in_kind
    def compute_gradient_and_score(self, labels: Any, pre_output: Any, activation: Any, mask: Any = None,
                                   average: bool = True) -> Pair[float, Any]:
        """Score and gradient."""
        scores, gradient = self._evaluate(labels, pre_output, activation, mask, True)
        return Pair(self._total(scores, average), gradient)

    def name(self) -> str:
        """Name of the loss."""
        return type(self).__name__


@configuration
class TermLoss(ILossFunction, TermLossNames):
    """A loss that is a sum (or mean) of one term per output; sub-classes name the term in :mod:`.loss_terms`."""

    term: ClassVar[str] = ""
    mean: ClassVar[bool] = False
    eps: ClassVar[float] = 0.0
    masked_behind_softmax: ClassVar[bool] = True        # DL4J masks these gradients once more in front of softmax

    def column_weights(self) -> Any:
        """One weight for each output, or None."""
        return None

    def define(self, sd: SameDiff, labels: SDVariable, pre_output: SDVariable, activation: IActivation,
               mask: SDVariable | None = None) -> SDVariable:
        mask = None if mask is None else column(mask)
        if mask is not None and self.masked_behind_softmax and isinstance(activation, ActivationSoftmax):
            pre_output = sd.add_op(MaskedGradient(), [pre_output, mask])
        weights = self.column_weights()
        terms = self.terms(sd, labels, pre_output, activation, 0 if weights is None else weights.size, mask)
        if weights is not None:
            terms = terms * sd.constant(weights.reshape(1, -1).astype(pre_output.dtype.numpy))
        terms = times_mask(terms, mask)
        return terms.mean(1) if self.mean else terms.sum(1)  # type: ignore[no-any-return]

    def terms(self, sd: SameDiff, labels: SDVariable, pre_output: SDVariable, activation: IActivation, width: int,
              mask: SDVariable | None = None) -> SDVariable:
        """The terms, (batch, outputs), of which masked ones have no gradient; ``width`` is the number of weights, 0 without."""
        op = LayerLossTerms(self.term_for(activation), type(self).__name__, self.epsilon(), width)
        found = activation.define(sd, pre_output)
        return sd.add_op(op, [labels, found if mask is None else mask_gradient(found, mask)])  # type: ignore[no-any-return]

    def term_for(self, activation: IActivation) -> str:
        """Name of the term behind that activation."""
        return self.term

    def epsilon(self) -> float:
        """The margin by which probabilities are kept from 0 and 1."""
        return self.eps


@configuration
class WeightedLoss(TermLoss, WeightedLossNames):
    """A loss with one weight per output column: ``weights`` (outputs,) multiplies scores and gradients.

    Parameters
    ----------
    weights : array (outputs), optional
        One for each output column; all 1 where left out.
    """

    weights: Convertible[np.ndarray[Any, Any] | None] = field(default=None, omit_none=True)

    clip: ClassVar[str] = ""        # the field that a number by position is

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        if cls.clip and args and isinstance(args[0], (int, float)):      # (clip), or (clip, weights)
            args, kwargs = args[1:], {cls.clip: args[0], **kwargs}
        return super()._bind(args, kwargs)

    def column_weights(self) -> Any:
        return self.weights

    def validate(self) -> None:
        if self.weights is not None and self.weights.ndim > 1 and self.weights.shape[0] != 1:
            raise ConfigurationError(f"{type(self).__name__}.weights must be one row; got shape {self.weights.shape}")


@configuration
class RowWiseLoss(ILossFunction, RowWiseLossNames):
    """A loss with one formula for all outputs of an example; masks have one value per example."""

    def row_op(self) -> rows.RowLoss:
        """The op that computes the loss."""
        raise NotImplementedError

    def define(self, sd: SameDiff, labels: SDVariable, pre_output: SDVariable, activation: IActivation,
               mask: SDVariable | None = None) -> SDVariable:
        scores = sd.add_op(self.row_op(), [labels, activation.define(sd, pre_output)])
        return scores if mask is None else sd.add_op(rows.MaskedRows(type(self).__name__), [scores, mask])  # type: ignore[no-any-return]


def _check_clip(loss: ILossFunction, name: str, value: float) -> None:
    if not 0 <= value <= 0.5:
        raise ConfigurationError(f"{type(loss).__name__}.{name} must lie between 0 and 0.5; got {value}")


@configuration(_PACKAGE + "LossMSE")
class LossMSE(WeightedLoss, LossMSENames):
    """Mean over the outputs of ``(label - output)²``."""

    term: ClassVar[str] = "squared"
    mean: ClassVar[bool] = True


@configuration(_PACKAGE + "LossL2")
class LossL2(WeightedLoss, LossL2Names):
    """Sum over the outputs of ``(label - output)²``."""

    term: ClassVar[str] = "squared"


@configuration(_PACKAGE + "LossL1")
class LossL1(WeightedLoss, LossL1Names):
    """Sum over the outputs of ``|label - output|``."""

    term: ClassVar[str] = "absolute"


@configuration(_PACKAGE + "LossMAE")
class LossMAE(WeightedLoss, LossMAENames):
    """Mean over the outputs of ``|label - output|``."""

    term: ClassVar[str] = "absolute"
    mean: ClassVar[bool] = True
    array_adds_outputs: ClassVar[bool] = True

    def compute_score_array(self, labels: Any, pre_output: Any, activation: Any, mask: Any = None) -> Any:
        """The SUM over the outputs for each example, (batch, 1), as in DL4J: ``outputs`` times the score."""
        return super().compute_score_array(labels, pre_output, activation, mask) * np.shape(pre_output)[1]


@configuration(_PACKAGE + "LossMAPE")
class LossMAPE(WeightedLoss, LossMAPENames):
    """Mean over the outputs of ``100 * |(label - output) / label|``."""

    term: ClassVar[str] = "percentage"
    mean: ClassVar[bool] = True


@configuration(_PACKAGE + "LossMSLE")
class LossMSLE(WeightedLoss, LossMSLENames):
    """Mean over the outputs of ``log((output + 1) / (label + 1))²``."""

    term: ClassVar[str] = "log_ratio"
    mean: ClassVar[bool] = True


@configuration(_PACKAGE + "LossBinaryXENT")
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
        _check_clip(self, "clip_eps", self.clip_eps)

    def term_for(self, activation: IActivation) -> str:
        return "binary_of_softmax" if isinstance(activation, ActivationSoftmax) else "binary"

    def epsilon(self) -> float:
        return self.clip_eps


@configuration(_PACKAGE + "LossMCXENT")
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
        _check_clip(self, "softmax_clip_eps", self.softmax_clip_eps)

    def terms(self, sd: SameDiff, labels: SDVariable, pre_output: SDVariable, activation: IActivation, width: int,
              mask: SDVariable | None = None) -> SDVariable:
        if not isinstance(activation, ActivationSoftmax):
            return super().terms(sd, labels, pre_output, activation, width, mask)
        op = SoftmaxTerms(type(self).__name__, self.softmax_clip_eps, width)
        return sd.add_op(op, [labels, activation.define(sd, pre_output), pre_output])  # type: ignore[no-any-return]


@configuration(_PACKAGE + "LossNegativeLogLikelihood")
class LossNegativeLogLikelihood(LossMCXENT, LossNegativeLogLikelihoodNames):
    """The same as :class:`LossMCXENT`."""


@configuration(_PACKAGE + "LossSparseMCXENT")
class LossSparseMCXENT(LossMCXENT, LossSparseMCXENTNames):
    """Cross entropy with integer class labels, (batch, 1)."""

    def terms(self, sd: SameDiff, labels: SDVariable, pre_output: SDVariable, activation: IActivation, width: int,
              mask: SDVariable | None = None) -> SDVariable:
        columns = sd.add_op(OneHotLabels(type(self).__name__), [labels, pre_output])
        return super().terms(sd, columns, pre_output, activation, width, mask)


@configuration(_PACKAGE + "LossKLD")
class LossKLD(TermLoss, LossKLDNames):
    """Kullback-Leibler divergence ``sum(y log(y / p))``."""

    term: ClassVar[str] = "divergence"
    eps: ClassVar[float] = 1e-05


@configuration(_PACKAGE + "LossCosineProximity")
class LossCosineProximity(RowWiseLoss, LossCosineProximityNames):
    """``-cos`` of the angle between labels and outputs."""

    def row_op(self) -> rows.RowLoss:
        return rows.CosineProximity()


@configuration(_PACKAGE + "LossHinge")
class LossHinge(TermLoss, LossHingeNames):
    """``max(0, 1 - y * output)`` for labels -1 and 1."""

    term: ClassVar[str] = "hinge"


@configuration(_PACKAGE + "LossSquaredHinge")
class LossSquaredHinge(TermLoss, LossSquaredHingeNames):
    """``max(0, 1 - y * output)²`` for labels -1 and 1."""

    term: ClassVar[str] = "squared_hinge"


@configuration(_PACKAGE + "LossPoisson")
class LossPoisson(TermLoss, LossPoissonNames):
    """``output - y log(output)``."""

    term: ClassVar[str] = "poisson"


@configuration(_PACKAGE + "LossWasserstein")
class LossWasserstein(TermLoss, LossWassersteinNames):
    """Mean over the outputs of ``y * output`` (critic score)."""

    term: ClassVar[str] = "product"
    mean: ClassVar[bool] = True


@configuration(_PACKAGE + "LossFMeasure")
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


@configuration(_PACKAGE + "LossMultiLabel")
class LossMultiLabel(RowWiseLoss, LossMultiLabelNames):
    """Mean of ``exp(y_l - y_k)`` over pairs of a label k that is 1 and a label l that is 0 (Zhang and Zhou, 2006)."""

    def row_op(self) -> rows.RowLoss:
        return rows.MultiLabel()


@configuration(_PACKAGE + "LossMixtureDensity")
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


class LossFunction(LossFunctionNames, JavaEnum):
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
        return cast("ILossFunction", find_class(_PACKAGE + self.value[0])())

    @classmethod
    def from_string(cls, name: str) -> LossFunction:
        """Return the member of a name, in any case and spelling, or of its class name."""
        known = {squash(m.value[0]): m for m in reversed(cls)} | {squash(n): m for n, m in cls.__members__.items()}
        short = squash(LOSSES.get(squash(name), name))
        if short not in known:
            raise ConfigurationError(f"no loss function is called {name!r}{did_you_mean(name.upper(), cls.__members__)}")
        return known[short]


class LossFunctions:
    """DL4J's class around the names: ``LossFunctions.LossFunction.MCXENT``."""

    LossFunction = LossFunction
