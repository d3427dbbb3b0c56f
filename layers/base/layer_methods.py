"""Methods of a layer that belongs to a network: a layer class declares them, ``network.get_layer(...)`` offers them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

__all__ = ["at_work"]

F = TypeVar("F", bound=Callable[..., Any])


class BoundLayer(Protocol):
    """A layer in a network, as its own methods see it."""

    @property
    def dtype(self) -> Any:
        """NumPy's type of the network's numbers."""
        ...

    def run(self, define: Callable[..., Any], *arrays: Any) -> Any:
        """Run the graph that ``define(sd, *variables, params)`` builds, on these arrays: an array, or a list of them.

        Outside of training. ``define`` is a method of the layer; its graph is kept for the next call.
        """
        ...


def at_work(method: F) -> F:
    """Offer a method of a layer class as ``network.get_layer(...).method(*args)``.

    Its arguments are ``(self, net, *args)``, where ``net`` is an :class:`BoundLayer`.

    Parameters
    ----------
    method : function
        ``method(self, net, *args)`` of a layer class.

    Examples
    --------
    >>> from dl4py.layers import DenseLayer, layer
    >>> @layer("example.Explained")
    ... class Explained(DenseLayer):
    ...     @at_work
    ...     def before_activation(self, net, x):
    ...         return net.run(self.pre_output, x)
    """
    method.at_work = True  # type: ignore[attr-defined]  # functions take attributes
    return method
