"""One op on arrays, by its id."""
from __future__ import annotations

from typing import Any

from ..arrays.computing import apply, built_in
from ..arrays.recording import state
from ..errors import ShapeError


def run(op_id: str, *inputs: Any, **attributes: Any) -> Any:
    """The result of the op registered as ``op_id``: an INDArray, or a tuple of them; recorded where somebody records."""
    return apply(built_in(op_id, **attributes), *inputs)


def written(result: Any, target: Any) -> Any:
    """``target`` with the elements of ``result``; recorded where somebody records."""
    known = [(m, n) for m, n in zip(result.shape, target.shape) if isinstance(m, int) and isinstance(n, int)]   # others are open in a graph
    if len(result.shape) != len(target.shape) or any(m != n for m, n in known):
        raise ShapeError(f"a result of shape {tuple(result.shape)} does not fit into the array of shape {tuple(target.shape)} that takes "
                         "it")
    if state.recorder is not None:
        return state.recorder.record_assign(target, result)
    target[...] = result
    return target
