"""A training step whose plan is known."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...base.lazy_property import lazy_property
from ...plans.plan import Plan
from ..updaters.normalization import Normalization
from .device_step import DeviceStep
from .whole_step import WholeStep

if TYPE_CHECKING:
    from .step import TrainingStep


class PlannedStep:
    """A step for feeds of one form.

    Parameters
    ----------
    step : the step
    plan : the plan for feeds of the form
    normalization : what happens to gradients before the updaters, if anything does
    counter : array of one number, to which whole steps add 1

    Attributes
    ----------
    whole : forward, backward and update as one call, where nothing has to happen between them
    """

    def __init__(self, step: TrainingStep, plan: Plan, normalization: Normalization | None = None, counter: Any = None) -> None:
        self.step, self.plan, self.normalization, self.counter = step, plan, normalization, counter

    @lazy_property
    def whole(self) -> WholeStep | DeviceStep | None:
        return self.step.whole(self.plan, self.normalization, self.counter)
