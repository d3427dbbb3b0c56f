"""Graph arrays of values that are known: they become variables when a node takes them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..families.array_code.graph_array import GraphArray
from ..ir.variable import SDVariable
from .values import Held


class HeldArray(GraphArray):
    """A graph array of a known value, which becomes a variable when its variable is asked for.

    Parameters
    ----------
    variable_of : function
        Makes the variable.
    xp : namespace
        NumPy's functions.
    held : Held
        The value.
    """

    def __init__(self, variable_of: Callable[[Held], SDVariable], xp: Any, held: Held) -> None:
        self.variable_of, self.xp, self.held = variable_of, xp, held

    @property
    def variable(self) -> SDVariable:  # type: ignore[override]  # made now where there is none
        """The variable."""
        return self.variable_of(self.held)

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.held.array.dtype

    @property
    def shape(self) -> Any:
        """Sizes."""
        return self.held.array.shape
