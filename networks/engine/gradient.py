"""Gradients of networks."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...samediff.base.user_code.users_arrays import users_array, users_arrays
from ..structure.java_names import GradientNames


class Gradient(GradientNames):
    """The gradient of a network: flat, and by parameter name (views of the flat array).

    Parameters
    ----------
    flat : array
        All gradients in the order of the parameters.
    arrays : dict of array by str
        Those of each parameter.
    below : sequence of array
        Those of the inputs, where somebody asked for them.
    """

    def __init__(self, flat: Any, arrays: Mapping[str, Any], below: Sequence[Any] = ()) -> None:
        self._flat, self._arrays, self._below = flat, dict(arrays), list(below)

    def gradient(self) -> Any:
        """The flat gradient in the order of the parameters."""
        return users_array(self._flat)

    def gradient_for_variable(self) -> dict[str, Any]:
        """The gradients by parameter name."""
        return users_arrays(self._arrays)  # type: ignore[no-any-return]

    def get_gradient_for(self, name: str) -> Any:
        """The gradient of one parameter."""
        return users_array(self._arrays[name])

    def get_input_gradients(self) -> list[Any]:
        """Gradients of the inputs, one array each, where :meth:`ComputationGraph.backprop_gradient` gave this gradient; else none."""
        return users_arrays(self._below)  # type: ignore[no-any-return]
