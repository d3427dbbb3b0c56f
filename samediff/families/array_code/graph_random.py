"""The run and its random generator as array code sees them while it adds nodes."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .symbolic_size import NotInGraphError, gathered

if TYPE_CHECKING:
    from .graph_namespace import GraphNamespace

#: Methods of NumPy's generators, and which positional argument is the size.
_SIZE_AT = {"random": 0, "standard_normal": 0, "standard_exponential": 0, "exponential": 1, "integers": 2, "laplace": 2, "gumbel": 2,
            "logistic": 2, "lognormal": 2, "beta": 2, "gamma": 2, "standard_gamma": 1, "poisson": 1, "binomial": 2, "rayleigh": 1,
            "weibull": 1, "geometric": 1, "standard_cauchy": 0, "standard_t": 1, "chisquare": 1, "triangular": 3}


@dataclass(frozen=True)
class GraphContext:
    """A run that is not under way yet: whether it trains is known, its random numbers are nodes."""

    xp: GraphNamespace
    training: bool
    node: str

    def random(self) -> GraphRandom:
        """A generator whose draws are nodes."""
        return GraphRandom(self.xp, self.node)

    def __getattr__(self, name: str) -> NoReturn:
        raise NotInGraphError(f"context.{name} is known in a run only")


class GraphRandom:
    """The generator of node ``of``: what it draws are nodes that draw the same numbers in a run.

    Arguments of distributions must be numbers; a draw without a size, which NumPy gives as a Python number, has no node.
    """

    def __init__(self, xp: GraphNamespace, of: str) -> None:
        self.xp, self.of = xp, of
        self._calls: list[tuple[Any, ...]] = []
        self._arrays: list[Any] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in _SIZE_AT:
            raise NotInGraphError(f"a generator's {name} has no graph node")
        return lambda *args, **options: self._drawn(name, list(args), options)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Uniform random values from ``low`` to ``high``, each a number or an array."""
        return low + (high - low) * self.random(size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Normal random values with mean ``loc`` and standard deviation ``scale``, each a number or an array."""
        return loc + scale * self.standard_normal(size)

    def _drawn(self, name: str, args: list[Any], options: dict[str, Any]) -> Any:
        place = _SIZE_AT[name]
        size = args.pop(place) if len(args) > place else options.pop("size", None)
        if size is None:
            raise NotInGraphError(f"a generator's {name} without a size has no graph node")
        if not place and args:
            options["dtype"] = args.pop(0)
        own = tuple(size) if isinstance(size, (tuple, list)) else (size,)
        if "dtype" in options:
            options["dtype"] = np.dtype(options["dtype"]).name
        if not all(isinstance(v, (bool, int, float, str, np.generic)) for v in (*args, *options.values())):
            raise NotInGraphError(f"a generator's {name} of arrays has no graph node")
        formulas, self._arrays = gathered(own, self._arrays)
        self._calls.append((name, tuple(args), tuple(sorted(options.items())), formulas))
        return self.xp.node("drawn", self._arrays, of=self.of, calls=tuple(self._calls))

