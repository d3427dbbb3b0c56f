"""Losses of one's own: a graph from activations and labels to a score per example."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ...samediff.base.user_code.abstract_methods import unwritten
from ...samediff.configuration.declaring import configuration
from ..functions.activations import IActivation
from ..functions.loss_base import ILossFunction
from ..ops.loss_rows import MaskedRows
from ..types.java_names import SameDiffLossNames

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["SameDiffLoss", "loss"]

T = TypeVar("T")


def loss(java_name: str | None = None, *, aliases: tuple[str, ...] = ()) -> Callable[[type[T]], type[T]]:
    """Register a loss class under the name that files use for it; annotated fields become its options.

    Parameters
    ----------
    java_name : str, optional
        The name, with a part of your own in front, as ``"org.acme.MyLoss"``. None for base classes, which have no form in files.
    aliases : tuple of str
        Further names under which files may have it.

    Raises
    ------
    RegistrationError
        The name is taken; the text names both owners.
    """
    return configuration(java_name, aliases=aliases)


@configuration
class SameDiffLoss(ILossFunction, SameDiffLossNames):
    """Base of losses written as a graph: implement ``define_loss``; gradients follow.

    Masks multiply the scores of examples, (batch, 1).

    Examples
    --------
    >>> @loss("example.QuarticLoss")
    ... class QuarticLoss(SameDiffLoss):
    ...     def define_loss(self, sd, layer_input, labels):
    ...         return sd.math.pow(labels - layer_input, 4.0).mean(1)
    >>> QuarticLoss().compute_score([[1.0, 0.0]], [[0.0, 0.0]], "identity")
    0.5
    """

    @unwritten(unless="define")
    def define_loss(self, sd: SameDiff, layer_input: SDVariable, labels: SDVariable) -> SDVariable:
        """The score of each example, (batch,) or (batch, 1), from the activations of the output layer."""
        raise NotImplementedError

    def define(self, sd: SameDiff, labels: SDVariable, pre_output: SDVariable, activation: IActivation,
               mask: SDVariable | None = None) -> SDVariable:
        scores = self.define_loss(sd, activation.define(sd, pre_output), labels)
        if scores.spec.rank != 1:
            scores = sd.call("base", "reshape", scores, -1)
        return scores if mask is None else sd.add_op(MaskedRows(type(self).__name__), [scores, mask])  # type: ignore[no-any-return]
