"""The updater Lion."""
from dl4py.samediff.configuration.declaring import configuration
from dl4py.samediff.training import RatedUpdater, Schedule


@configuration("modern_parts.Lion")
class Lion(RatedUpdater):
    """Steps of equal size against the sign of an averaged gradient (Chen et al., 2023)."""

    state_names = ("M",)
    learning_rate: float | Schedule = 1e-3
    learning_rate_schedule: Schedule | None = None
    beta1: float = 0.9
    beta2: float = 0.99

    def step(self, xp, gradient, state, hyper):
        (m,), (rate,) = state, hyper
        return rate * xp.sign(self.beta1 * m + (1 - self.beta1) * gradient), (self.beta2 * m + (1 - self.beta2) * gradient,)
