"""Weights, means and deviations in the outputs of a network for a mixture of Gaussians."""
from __future__ import annotations

from typing import Any, NamedTuple

from ...samediff.base.javanames import to_snake
from ...samediff.base.user_code.users_arrays import users_array


class MixtureDensityComponents(NamedTuple):
    """Gaussians of each example.

    Shapes: alpha and sigma (batch, mixtures), mu (batch, mixtures, width).

    Parameters
    ----------
    alpha : array
        Weights, which add up to 1.
    mu : array
        Means.
    sigma : array
        Standard deviations.
    """

    alpha: Any
    mu: Any
    sigma: Any

    def __getattr__(self, name: str) -> Any:
        prefix, _, rest = to_snake(name).partition("_")
        if prefix == "get" and rest in self._fields:
            return lambda: users_array(getattr(self, rest))
        raise AttributeError(f"MixtureDensityComponents has no attribute {name!r}", name=name, obj=self)
