"""Any elementwise array function as a node, and the stand-ins that array code sees while it adds nodes."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.datatype import DataType
from ..expressions import expression as ex
from ..expressions.tracing import TraceError
from ..ir.op import op
from .elementwise import Elementwise
from .sizes import axis_size

if TYPE_CHECKING:
    from ..ir.variable import SDVariable

#: Marks the place of an array among the arguments of an :class:`ArrayCall`.
ARRAY = "array"


class NotInGraphError(TraceError):
    """Array code that cannot be written as graph nodes: it needs values, or a function without a node."""


@op("array_call", inputs="*xs")
class ArrayCall(Elementwise):
    """One elementwise function of NumPy's namespace, typed by NumPy's rules (made from array code, not by users).

    ``arguments`` are those of the function, with :data:`ARRAY` where an input stands.
    """

    function: str
    arguments: tuple[Any, ...]
    options: tuple[tuple[str, Any], ...] = ()

    def result_type(self, *specs: Any) -> DataType:
        """Type of the traced expression."""
        return DataType.of(self._traced([s.dtype.numpy for s in specs])[0].dtype)

    def expressions(self, dtypes: Sequence[np.dtype[Any]]) -> tuple[ex.Expr, ...]:
        """The traced call; one that gives the same number whatever the arrays are has no loop to fuse."""
        made = self._traced(dtypes)
        if not ex.inputs_of(made):
            raise ex.NotElementwiseError(f"{self.function} with {self.arguments} does not depend on its arrays")
        return made

    def _traced(self, dtypes: Sequence[np.dtype[Any]]) -> tuple[ex.Expr, ...]:
        return ex.trace(self._call, dtypes)

    def partial(self, i: int, inputs: Sequence[SDVariable], upstream: SDVariable) -> SDVariable | None:
        """None where the call does not depend on its arrays."""
        used = ex.inputs_of(self._traced([v.dtype.numpy for v in inputs]))
        return super().partial(i, inputs, upstream) if i in used else None

    def _call(self, xp: Any, *xs: Any) -> Any:
        arrays = iter(xs)
        arguments = [next(arrays) if isinstance(a, str) and a == ARRAY else a for a in self.arguments]
        return getattr(xp, self.function)(*arguments, **dict(self.options))

    def compute(self, xp: Any, *xs: Any) -> Any:
        """Evaluate the expression."""
        value = ex.evaluate(self._traced([x.dtype for x in xs]), xp, xs)[0]
        shape = np.broadcast_shapes(*(x.shape for x in xs))
        return value if np.shape(value) == shape else xp.broadcast_to(value, shape)


class Size:
    """A size that is not known yet; a number in arithmetic."""

    def __init__(self, array: Any, axis: int) -> None:
        self.array, self.axis = array, axis

    def number(self) -> Any:
        """A scalar graph array of the floating type of the array."""
        return self.array.like(axis_size(self.array.variable, self.axis))

    def __index__(self) -> int:
        raise NotInGraphError(f"size {self.axis} of {self.array!r} is not known while the graph is built, and the code needs it as an int")

    __int__ = __bool__ = __index__

    def __float__(self) -> float:
        return float(self.__index__())

    def __eq__(self, other: object) -> Any:
        if isinstance(other, Size):
            return self.array is other.array and self.axis == other.axis
        return self.number() == other

    __hash__ = object.__hash__


def _arithmetic() -> None:
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "gt", "ge"):
        for prefix in ("", "r") if len(name) > 2 else ("",):
            method = f"__{prefix}{name}__"

            def call(self: Size, other: Any, method: str = method) -> Any:
                other = other.number() if isinstance(other, Size) else other
                return getattr(self.number(), method)(other)
            setattr(Size, method, call)


_arithmetic()
