"""Any elementwise array function as a node, and the stand-ins that array code sees while it adds nodes."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...expressions import expression as ex
from ...ir.op import op
from ..elementwise import Elementwise

if TYPE_CHECKING:
    from ...ir.variable import SDVariable

#: Marks the place of an array among the arguments of an :class:`ArrayCall`.
ARRAY = "array"


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
        value = ex.evaluate(self._traced([x.dtype for x in xs]), xp, xs)[0]
        shape = np.broadcast_shapes(*(x.shape for x in xs))
        return value if np.shape(value) == shape else xp.broadcast_to(value, shape)
