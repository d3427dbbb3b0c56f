"""Line searches along the gradient."""
from __future__ import annotations

from typing import Any

from .searching import SearchingOptimizer


class LineGradientDescent(SearchingOptimizer):
    """Searches along the update that the updaters make of the gradient."""

    def direction(self, update: Any) -> Any:
        return update
