"""Derivatives from what an op gave: that of tanh is 1 - y y, whatever x was."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.datatype import DataType
from ..base.spec import TensorSpec
from ..expressions import expression as ex
from ..ir.op import attributes, declare
from .elementwise import PartialDerivative

#: The number of the result among the inputs of a derivative.
RESULT = -1


@attributes
class PartialByResult(PartialDerivative):
    """A partial derivative of the inputs of an op that it still reads, the op's result and the upstream gradient; plans alone have it.

    ``types`` are those of all inputs of the op, ``read`` the numbers of those that are left.
    """

    types: tuple[DataType, ...]
    read: tuple[int, ...]

    def result_type(self, *specs: TensorSpec) -> DataType:
        """The type of the input that is differentiated by."""
        return self.types[self.wrt]

    def expressions(self, dtypes: Sequence[np.dtype[Any]]) -> tuple[ex.Expr, ...]:
        """The derivative with the result as an input."""
        made = _with_result(self, self.types, dtypes[-1])
        places = {k: i for i, k in enumerate((*self.read, RESULT, len(self.types)))}
        return ex.compose([made], {k: ex.input_(places[k], t) for k, t in ex.inputs_of([made]).items()})


declare(PartialByResult, "partial_by_result", inputs="*xs")


def by_result(partial: PartialDerivative, types: Sequence[DataType], result: DataType) -> PartialByResult | None:
    """The derivative from the result; None where that spares no input.

    Parameters
    ----------
    partial : the derivative
    types : of the inputs of the op
    result : of its result
    """
    (value,) = partial.op.expressions([t.numpy for t in types])
    if value.dtype != result.numpy:         # rounded when it was stored
        return None
    before = set(ex.inputs_of(partial.expressions([*(t.numpy for t in types), result.numpy])))
    after = set(ex.inputs_of([_with_result(partial, types, result.numpy)]))
    if RESULT not in after or not before - after:
        return None
    return PartialByResult(partial.op, partial.wrt, tuple(types), tuple(sorted(after - {RESULT, len(types)})))


def _with_result(partial: PartialDerivative, types: Sequence[DataType], upstream: np.dtype[Any]) -> ex.Expr:
    given = [t.numpy for t in types]
    (made,) = PartialDerivative(partial.op, partial.wrt).expressions([*given, upstream])
    (value,) = partial.op.expressions(given)
    return ex.substituted([made], {value: ex.input_(RESULT, value.dtype)})[0]
