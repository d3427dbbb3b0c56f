"""Base classes of loss functions, and the enum of their names."""
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
from ..ops.loss_terms import LayerLossTerms, MaskedGradient
from ..ops.masks import column
from ..types.java_names import (
    ILossFunctionNames,
    LossFunctionNames,
    RowWiseLossNames,
    TermLossNames,
    WeightedLossNames,
)
from .activations import ActivationSoftmax, IActivation
from .eager import direct, floating
from .java_forms import define_loss, is_in_java_form
from .masked_loss import MaskedLoss

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable


__all__ = ["ILossFunction", "LossFunction", "WeightedLoss"]

#: Where DL4J has its losses.
PACKAGE = "org.nd4j.linalg.lossfunctions.impl."


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


def check_clip(loss: ILossFunction, name: str, value: float) -> None:
    if not 0 <= value <= 0.5:
        raise ConfigurationError(f"{type(loss).__name__}.{name} must lie between 0 and 0.5; got {value}")


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
        return cast("ILossFunction", find_class(PACKAGE + self.value[0])())

    @classmethod
    def from_string(cls, name: str) -> LossFunction:
        """Return the member of a name, in any case and spelling, or of its class name."""
        known = {squash(m.value[0]): m for m in reversed(cls)} | {squash(n): m for n, m in cls.__members__.items()}
        short = squash(LOSSES.get(squash(name), name))
        if short not in known:
            raise ConfigurationError(f"no loss function is called {name!r}{did_you_mean(name.upper(), cls.__members__)}")
        return known[short]
