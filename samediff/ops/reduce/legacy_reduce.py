"""Reductions that have no method: DL4J's graph files hold them by number."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...base.datatype import DataType
from ...codecs.file_args import FileArgs
from ...families.families import reduction
from ...ir.op import op
from .distances import Distance

reduction("hasnan", "", lambda xp, x, axes, keep_dims: xp.isnan(x).any(axis=axes, keepdims=keep_dims),
          "True where one of the elements over ``dimensions`` is NaN.", result=DataType.BOOL)
reduction("hasinf", "", lambda xp, x, axes, keep_dims: xp.isinf(x).any(axis=axes, keepdims=keep_dims),
          "True where one of the elements over ``dimensions`` is infinite.", result=DataType.BOOL)


class _WithTolerance(Distance):
    """A distance with an attribute of its own."""

    eps = 1e-5

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__annotations__["eps"] = "float"
        cls.eps = 1e-5


@op("equals_with_eps", gradient="zero", file=FileArgs(floats=("=0.0", "=0.0", "eps"), dimensions="dimensions", properties={
    "eps": "d:eps", "keepDims": "b:keep_dims", "isComplexAccumulation": "b:is_complex"}))
class EqualsWithEps(_WithTolerance):
    """Number of positions over ``dimensions`` where x and y differ by more than eps, and by more than eps times the larger one."""

    def measure(self, xp: Any, x: Any, y: Any, total: Callable[[Any], Any], norm: Callable[[Any], Any], count: Any) -> Any:
        """A count; equal infinities are equal, NaN equals nothing."""
        bound = xp.maximum(1, xp.maximum(abs(x), abs(y))) * self.eps
        same = (x == y) | (abs(x - y) <= bound) & xp.isfinite(x) & xp.isfinite(y)
        return total((~same).astype(x.dtype))
