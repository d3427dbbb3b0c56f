"""Compiled functions as methods of objects."""
from __future__ import annotations

from typing import Any, Protocol


class GraphFunction(Protocol):
    """The part of a compiled function that is used here."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def graph(self, *args: Any, **kwargs: Any) -> Any: ...
    def gradient(self, wrt: Any = 0) -> GraphFunction: ...
    def value_and_gradient(self, wrt: Any = 0) -> GraphFunction: ...


class BoundGraphFunction:
    """A compiled function with its first argument: what an object of a class with ``@compiled`` methods has.

    Positions of arguments count those behind the first one. Everything else is as of the function.

    Parameters
    ----------
    function, instance
        The compiled function and its first argument.

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py import compiled
    >>> class Square:
    ...     factor = 3.0
    ...     @compiled
    ...     def of(self, x):
    ...         return self.factor * x * x
    >>> float(Square().of(np.float64(2))), float(Square().of.gradient()(np.float64(2)))
    (12.0, 12.0)
    """

    def __init__(self, function: GraphFunction, instance: Any) -> None:
        self.__func__, self.__self__ = function, instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result."""
        return self.__func__(self.__self__, *args, **kwargs)

    def execute(self, *arrays: Any) -> Any:
        """The function's result, by DL4J's name."""
        return self(*arrays)

    def graph(self, *args: Any, **kwargs: Any) -> Any:
        """As of the function."""
        return self.__func__.graph(self.__self__, *args, **kwargs) if args or kwargs else self.__func__.graph()

    def gradient(self, wrt: Any = 0) -> BoundGraphFunction:
        """As of the function."""
        return BoundGraphFunction(self.__func__.gradient(_behind_first(wrt)), self.__self__)

    def value_and_gradient(self, wrt: Any = 0) -> BoundGraphFunction:
        """As of the function."""
        return BoundGraphFunction(self.__func__.value_and_gradient(_behind_first(wrt)), self.__self__)

    def __getattr__(self, name: str) -> Any:
        if name in ("__func__", "__self__"):            # of one that is being copied
            raise AttributeError(name)
        return getattr(self.__func__, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoundGraphFunction) and self.__func__ is other.__func__ and self.__self__ is other.__self__

    def __hash__(self) -> int:
        return hash((id(self.__func__), id(self.__self__)))

    def __repr__(self) -> str:
        return f"{self.__func__!r} of {self.__self__!r:.60}"


def _behind_first(wrt: Any) -> Any:
    if isinstance(wrt, int) and not isinstance(wrt, bool):
        return wrt + 1 if wrt >= 0 else wrt
    return [_behind_first(w) for w in wrt] if isinstance(wrt, (tuple, list)) else wrt
