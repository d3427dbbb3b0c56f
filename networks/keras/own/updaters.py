"""Updaters of Keras that DL4J has not."""
from __future__ import annotations

from typing import Any, ClassVar

from ....samediff.configuration.declaring import configuration, field
from ....samediff.training.updaters.schedules import Schedule
from ....samediff.training.updaters.updater import Arrays, Scalars
from ....samediff.training.updaters.updaters import RatedUpdater


@configuration("dl4py.keras.Momentum")
class Momentum(RatedUpdater):
    """Momentum without Nesterov's step: ``v' = mu * v - lr * g``; ``update = -v'``. State: V.

    Parameters
    ----------
    learning_rate : float or Schedule
        Default 0.01; a schedule gives another one in each iteration.
    momentum : float
        The share of the last step that goes on; default 0.9.
    learning_rate_schedule : Schedule, optional
        The same schedule, under the name that files have for it.
    """

    state_names: ClassVar[tuple[str, ...]] = ("V",)
    learning_rate: float | Schedule = 0.01
    momentum: float = 0.9
    learning_rate_schedule: Schedule | None = field(default=None, omit_none=True)

    def step(self, xp: Any, gradient: Any, state: Arrays, hyper: Scalars) -> tuple[Any, Arrays]:
        new = self.momentum * state[0] - hyper[0] * gradient
        return -1 * new, (new,)
