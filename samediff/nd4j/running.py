"""One op on arrays, by its id."""
from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..arrays.computing import apply, built_in
from ..arrays.indarray import INDArray
from ..arrays.plain_arguments import whole
from ..arrays.recording import new, state
from ..errors import ShapeError
from ..families.array_code.symbolic_size import SymbolicSize, may_be_equal


def run(op_id: str, *inputs: Any, **attributes: Any) -> Any:
    """The result of the op registered as ``op_id``: an INDArray, or a tuple of them; recorded where somebody records."""
    return apply(built_in(op_id, **attributes), *inputs)


def plain_number(value: Any) -> int | float:
    """A number as an op's attribute: whole ones keep all their bits."""
    try:
        return operator.index(value)
    except TypeError:
        return float(value)


def whole_number(value: Any) -> Any:
    """A whole number, or a size that is not known yet, as a recorded scalar of type LONG."""
    if isinstance(value, SymbolicSize):
        return value.whole()
    return new(INDArray.of(np.array(whole(value, "a number beside open sizes"), np.int64)))


def written(result: Any, target: Any) -> Any:
    """``target`` with the elements of ``result``; recorded where somebody records."""
    if not may_be_equal(result.shape, target.shape):
        raise ShapeError(f"a result of shape {tuple(result.shape)} does not fit into the array of shape {tuple(target.shape)} that takes "
                         "it")
    if state.recorder is not None:
        return state.recorder.record_assign(target, result)
    target[...] = result
    return target
