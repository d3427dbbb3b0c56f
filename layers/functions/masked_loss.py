"""Losses under masks: what masked places hold reaches neither scores nor gradients."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ...samediff.families.in_float import as_float
from ...samediff.ops.elementwise.masking import keep_unmasked
from ..ops.masks import any_output, column

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable


class MaskedLoss:
    """The part of a loss that chooses by masks, around the ``define`` of its class."""

    #: Whether there is one score for a whole batch, of which each example has an equal share.
    of_batch: ClassVar[bool] = False

    def define_chosen(self: Any, sd: SameDiff, labels: SDVariable, pre_output: SDVariable, activation: Any,
                      mask: SDVariable | None = None) -> SDVariable:
        """``define``, where masked examples have a score and a gradient of 0, whatever the network gives for them.

        Labels at masked places are 0 by then. Losses of 16 bits are computed in FLOAT, which holds their epsilons and slopes.
        """
        labels, pre_output = as_float(labels), as_float(pre_output)
        mask = None if mask is None else as_float(mask)
        if mask is None:
            return self.define(sd, labels, pre_output, activation, None)  # type: ignore[no-any-return]
        seen = any_output(mask)
        scores: SDVariable = self.define(sd, labels, keep_unmasked(pre_output, seen), activation, mask)
        return scores if self.of_batch else keep_unmasked(scores, sd.call("base", "squeeze", seen, 1))

    def _define(self, sd: SameDiff, labels: SDVariable, pre_output: SDVariable, mask: SDVariable | None, activation: Any) -> SDVariable:
        if mask is not None:
            mask = column(mask)
            labels = keep_unmasked(labels, mask if mask.get_shape() == labels.get_shape() else any_output(mask))
        return self.define_chosen(sd, labels, pre_output, activation, mask)
