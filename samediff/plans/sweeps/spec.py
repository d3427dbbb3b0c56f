"""Description of a sweep: folds of slices of arrays to numbers, after which it may go over the slices again."""
from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

#: Array code whose parameters are chosen by name: ``xp``; ``x0``, ``x1``, … of the inputs; ``j`` and ``count``, the place of an element in
#: its slice and the length of that (whole numbers); ``n``, that length as a number of x0's type; ``r0``, ``r1``, … of the folds before.
Formula = Callable[..., Any]


def _element(x0: Any) -> Any:
    return x0


def _total(t: Any) -> Any:
    return t


def parameters(formula: Formula) -> tuple[str, ...]:
    """The parameter names of a formula."""
    return tuple(inspect.signature(formula).parameters)


@dataclass(frozen=True)
class Stage:
    """A pass over a slice.

    Attributes
    ----------
    term : Formula
        Of an element; it may also ask for ``first``, that of the slice of x0, and ``unit`` (where the sweep says what is ``near``).
    combine : "sum", "prod", "max" or "min"
    result : Formula
        Of the total ``t``; it may ask for ``unit``, too.
    counting : bool
        The terms are small whole numbers, whatever the type of the inputs.
    keep : bool
        The terms are stored in the output for each element, where what comes later finds them as ``kept``.
    """

    term: Formula = _element
    combine: Literal["sum", "prod", "max", "min"] = "sum"
    result: Formula = _total
    counting: bool = False
    keep: bool = False


@dataclass(frozen=True)
class Sweep:
    """Folds one after the other.

    Attributes
    ----------
    results : tuple of Formula
        What is stored for each slice; one output for each.
    epilogue : Formula, optional
        What is stored for each element instead; the only output, in the shape of x0.
    near : Formula, optional
        Of ``r0`` and ``t``, the total of the second fold: whether ``first`` is near enough to the mean for ``x0 - first`` to keep its
        digits, and squares of that in the range of the type. The first two folds of slices where it is not are done again from their
        mean, or from 0 where differences left the range.
    unit : Formula, optional
        Of the same: what differences are multiplied by the second time; 1 the first time, which costs nothing.
    """

    folds: tuple[Stage, ...]
    results: tuple[Formula, ...] = ()
    epilogue: Formula | None = None
    near: Formula | None = None
    unit: Formula | None = None

    def formulas(self) -> Iterator[Formula]:
        """All formulas of the sweep."""
        yield from itertools.chain.from_iterable((fold.term, fold.result) for fold in self.folds)
        yield from self.results
        yield from filter(None, (self.epilogue, self.near, self.unit))

    @functools.cached_property
    def inputs(self) -> int:
        """Number of arrays that the formulas read."""
        return 1 + max(int(name[1:]) for f in self.formulas() for name in ("x0", *parameters(f)) if name[0] == "x" and name != "xp")
