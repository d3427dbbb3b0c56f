"""Line search: how far to go in a direction (J. E. Dennis, R. B. Schnabel, "Numerical methods for unconstrained optimization", 1983)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...samediff.base.javanames import JavaSpelling
from ...samediff.errors import NumericalError
from ..structure.settings import NegativeDefaultStepFunction, StepFunction

_SMALLEST = 1e-7        # relative change of a parameter below which a step is none
_SAME = 1e-5            # parameters as near as this are the same to ND4J
_ARMIJO = 1e-4          # part of the decrease that the slope promises which is enough


class BackTrackLineSearch(JavaSpelling):
    """Looks for a step that changes the score enough: the whole one first, then minima of quadratic and cubic models.

    Parameters
    ----------
    step_function : StepFunction
        Moves the parameters. Only with :class:`NegativeDefaultStepFunction` the score shall fall; with the others it shall rise,
        as in DL4J.
    max_iterations : int
        Steps that are tried.
    """

    def __init__(self, step_function: StepFunction, max_iterations: int = 5) -> None:
        self.step_function, self.max_iterations = step_function, max_iterations

    def optimize(self, score: Callable[[Any], float], params: Any, gradient: Any, direction: Any, score_at_start: float) -> float:
        """The step to take along ``direction``.

        Parameters
        ----------
        score : function
            Gives the score at parameters.
        params, gradient, direction : arrays
            The parameters to start from, the gradient there, and where to go.
        score_at_start : float

        Returns
        -------
        float
            0.0 when no step that was tried is better than none.
        """
        with np.errstate(all="ignore"):
            relative = np.max(np.abs(gradient) / np.maximum(np.abs(params), 1))
            return self._search(score, params, direction, np.float64(-np.dot(direction, gradient)), np.float64(score_at_start),
                                _SMALLEST / np.float64(relative))

    def _search(self, score: Callable[[Any], float], params: Any, direction: Any, slope: Any, start: Any, smallest: Any) -> float:
        down = isinstance(self.step_function, NegativeDefaultStepFunction)
        sign = 1 if down else -1
        step, before, score_before = np.float64(1.0), np.float64(0.0), start
        best, best_step = start, step
        for _ in range(self.max_iterations):
            candidate = params.copy()
            self.step_function.step(candidate, direction, float(step))
            if step < smallest or bool(np.all(np.abs(params - candidate) < _SAME)):
                return 0.0
            found = np.float64(score(candidate))
            if sign * found < sign * best:
                best, best_step = found, step
            if sign * found <= sign * start and sign * found <= sign * (start + _ARMIJO * step * slope):
                return float(step)
            if not (np.isfinite(found) and np.isfinite(score_before)):
                tried = 0.2 * step
            elif step == 1.0:
                tried = -slope / (2 * (sign * (found - start) - slope))
            else:
                tried = self._model_minimum(sign * (found - start), sign * (score_before - start), step, before, slope)
            before, score_before = step, found
            step = np.maximum(tried, 0.1 * step)
        return float(best_step) if sign * best < sign * start else 0.0

    @staticmethod
    def _model_minimum(gain: Any, gain_before: Any, step: Any, before: Any, slope: Any) -> Any:
        """The minimum of the cubic through the last two scores, at most half the last step."""
        if step == before:
            raise NumericalError(f"the line search cannot go on: it came to the step {step} twice; is the score finite?")
        one, two = gain - step * slope, gain_before - before * slope
        a = (one / step**2 - two / before**2) / (step - before)
        b = (step * two / before**2 - before * one / step**2) / (step - before)
        if a == 0:
            return np.minimum(-slope / (2 * b), 0.5 * step)
        inside = b * b - 3 * a * slope
        if inside < 0:
            return 0.5 * step
        root = np.sqrt(inside)
        return np.minimum((root - b) / (3 * a) if b <= 0 else -slope / (b + root), 0.5 * step)
