"""One op on arrays, by its id."""
from __future__ import annotations

from typing import Any

from ..arrays.computing import apply
from ..arrays.recording import state
from ..ir.op import OPS


def run(op_id: str, *inputs: Any, **attributes: Any) -> Any:
    """The result of the op registered as ``op_id``: an INDArray, or a tuple of them; recorded where somebody records."""
    return apply(OPS[op_id](**attributes), *inputs)


def written(result: Any, target: Any) -> Any:
    """``target`` with the elements of ``result``; recorded where somebody records."""
    if state.recorder is not None:
        return state.recorder.record_assign(target, result)
    target[...] = result
    return target
