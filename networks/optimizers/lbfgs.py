"""DL4J's form of limited-memory BFGS (J. Nocedal, S. Wright, "Numerical optimization", section 7.2)."""
from __future__ import annotations

from typing import Any

import numpy as np

from .searching import SearchingOptimizer

_MEMORY = 4
_SMALL = 1e-5

Pair = tuple[Any, Any, float]       # a step, the change of the gradient, 1 / scale


class LBFGS(SearchingOptimizer):
    """Searches along an estimate of the Newton step, made of the last four steps.

    It follows DL4J, which departs from the textbook: the scale of a pair is parameters times gradient before the step, and from the second
    step on the new gradient is taken for the old one too, so that their difference is 0. Searches often fail then and leave the
    parameters as they are; Adam or :class:`LineGradientDescent` get further.
    """

    learned: tuple[Any, list[Pair]] | None = None       # the next direction, and pairs, the newest first

    def direction(self, update: Any) -> Any:
        return update.copy() if self.learned is None else self.learned[0]

    def learn(self, before: Any, update: Any, params: Any, new_update: Any) -> tuple[Any, list[Pair]]:
        known = [] if self.learned is None else self.learned[1]
        with np.errstate(all="ignore"):         # a scale of 0 gives no direction, and the next search fails
            return self._learn(known, before, new_update if known else update, params, new_update)

    @staticmethod
    def _learn(known: list[Pair], before: Any, old: Any, params: Any, new_update: Any) -> tuple[Any, list[Pair]]:
        scale = np.float64(np.dot(before, old)) + _SMALL
        pairs = [(params - before, new_update - old, 1.0 / scale), *known][:_MEMORY]
        kind = params.dtype.type
        q, parts = new_update.copy(), []
        for s, y, rho in pairs:
            parts.append(rho * float(np.dot(s, q)))
            q -= kind(parts[-1]) * y
        q *= kind(scale / (float(np.dot(old, old)) + _SMALL))
        for (s, y, rho), part in zip(reversed(pairs), parts):
            q += kind(part - rho * float(np.dot(y, q))) * s
        return q, pairs
