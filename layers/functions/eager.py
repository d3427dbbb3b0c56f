"""Running on arrays what a configuration defines as graph: activations, losses and dropouts called outside networks."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ...samediff.base.datatype import DataType, is_floating
from ...samediff.executor.session import request_for, run_reference
from ...samediff.expressions.arrays import as_array
from ...samediff.families.gradient import gradients
from ...samediff.graph.graph import SameDiff
from ...samediff.ir.run_context import RunContext
from ...samediff.ir.variable import SDVariable

Build = Callable[..., SDVariable]
_calls = itertools.count()


class EagerGraph:
    """A small graph over placeholders ``x0``, ``x1`` … of fixed shapes; ``seed`` is the gradient that its result gets."""

    def __init__(self, build: Build, specs: Sequence[tuple[tuple[int, ...], Any] | None]) -> None:
        self.sd = SameDiff.create()
        self.inputs = [None if s is None else self.sd.placeholder(f"x{i}", DataType.of(s[1]), *s[0]) for i, s in enumerate(specs)]
        self.result = build(self.sd, *self.inputs)
        self._gradients: dict[int, str] = {}

    def gradient(self, i: int) -> str:
        """Name of the gradient of input ``i``."""
        x = self.inputs[i]
        assert x is not None
        if i not in self._gradients:
            if not self.sd.has_variable("seed"):
                self.sd.placeholder("seed", self.result.dtype, *(self.result.get_shape() or ()))
            found = gradients(self.sd, [], [x], {self.result.name(): self.sd.variable("seed")})[x.name()]
            self._gradients[i] = (found if found is not None else self.sd.call("base", "zeros_like", x)).name()
        return self._gradients[i]

    def run(self, arrays: Sequence[Any], outputs: Sequence[str], seed: Any = None, training: bool = False) -> list[Any]:
        """Values of variables; random numbers differ from call to call."""
        feeds = {f"x{i}": a for i, a in enumerate(arrays) if a is not None}
        if seed is not None:
            feeds["seed"] = seed
        found = run_reference(self.sd, feeds, request_for(self.sd, outputs, training), RunContext(training, 0, next(_calls)))
        return [found[n] for n in outputs]


@lru_cache(maxsize=256)
def _cached(owner: Hashable, method: str, specs: tuple[tuple[tuple[int, ...], Any] | None, ...], *extra: Any) -> EagerGraph:
    build = getattr(owner, method)
    return EagerGraph(lambda sd, *xs: build(sd, *xs, *extra), specs)


def direct(owner: Any, method: str, arrays: Sequence[Any], *extra: Any) -> EagerGraph:
    """The graph of ``owner.<method>(sd, *placeholders, *extra)`` for arrays of these shapes; kept for the next call."""
    return _cached(owner, method, tuple(None if a is None else (a.shape, a.dtype) for a in arrays), *extra)


def floating(value: Any) -> np.ndarray[Any, Any]:
    """The value as an array; integers become float32."""
    array = as_array(value)
    return array if is_floating(array.dtype) else array.astype(np.float32)
