"""DL4J's form of limited-memory BFGS (J. Nocedal, S. Wright, "Numerical optimization", section 7.2)."""
from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from .line_search import BackTrackLineSearch
from .searching import SearchingOptimizer

if TYPE_CHECKING:
    from ..fitting import Fitting

_MEMORY = 4
_SMALL = 1e-5


class LBFGS(SearchingOptimizer):
    """Searches along an estimate of the Newton step, made of the last four steps.

    It follows DL4J, which departs from the textbook: the scale of a pair is parameters times gradient before the step, and from the second
    step on the new gradient is taken for the old one too, so that their difference is 0. Searches often fail then and leave the
    parameters as they are; Adam or :class:`LineGradientDescent` get further.
    """

    def __init__(self, network: Fitting, search: BackTrackLineSearch) -> None:
        super().__init__(network, search)
        self._direction: Any = None
        self._pairs: deque[tuple[Any, Any, float]] = deque(maxlen=_MEMORY)    # step, change of the gradient, 1 / scale; newest first

    def direction(self, update: Any) -> Any:
        return update.copy() if self._direction is None else self._direction

    def learn(self, before: Any, update: Any, params: Any, new_update: Any) -> None:
        with np.errstate(all="ignore"):         # a scale of 0 gives no direction, and the next search fails
            self._learn(before, new_update if self._pairs else update, params, new_update)

    def _learn(self, before: Any, old: Any, params: Any, new_update: Any) -> None:
        scale = np.float64(np.dot(before, old)) + _SMALL
        self._pairs.appendleft((params - before, new_update - old, 1.0 / scale))
        kind = params.dtype.type
        q, parts = new_update.copy(), []
        for s, y, rho in self._pairs:
            parts.append(rho * float(np.dot(s, q)))
            q -= kind(parts[-1]) * y
        q *= kind(scale / (float(np.dot(old, old)) + _SMALL))
        for (s, y, rho), part in zip(reversed(self._pairs), parts):
            q += kind(part - rho * float(np.dot(y, q))) * s
        self._direction = q
