"""The obvious executor: every op by its ``compute``, in order. Everything else is checked against it."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays import xp
from ..errors import DL4PyError
from ..node import Node
from ..op import Op, as_tuple
from ..spec import spec_of
from .context import RunContext


def run_nodes(nodes: Sequence[Node], values: dict[str, Any], dtypes: Mapping[str, np.dtype[Any]], context: RunContext) -> None:
    """Compute the nodes in order, adding their outputs to ``values``."""
    for node in nodes:
        inputs = [None if n is None else values[n] for n in node.inputs]
        try:
            results = compute(node.op, inputs, context, node.name)
        except Exception as error:
            if isinstance(error, ValueError):
                check_shapes(node, inputs)
            describe_failure(error, node, inputs)
            raise
        for name, result in zip(node.outputs, results):
            values[name] = as_type(result, dtypes[name])


def compute(op: Op, inputs: Sequence[Any], context: RunContext, name: str) -> tuple[Any, ...]:
    """The outputs of one op."""
    with np.errstate(all="ignore"):
        if op.stateful:
            return as_tuple(op.compute(xp, *inputs, context=context.at(name)))  # type: ignore[call-arg]
        return as_tuple(op.compute(xp, *inputs))


def as_type(result: Any, dtype: np.dtype[Any]) -> Any:
    """An array of exactly this type."""
    array = np.asarray(result)
    if array.dtype == dtype:
        return array
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def plain(array: Any) -> Any:
    """Contiguous, aligned and writeable, as kernels are compiled for; the array itself when it is all that."""
    return array if array.flags.carray else np.array(array, order="C", copy=True)


def check_shapes(node: Node, inputs: Sequence[Any]) -> None:
    """Ask the shape rule about the actual inputs: it raises the typed error for what NumPy refused."""
    try:
        node.op.infer(*[None if a is None else spec_of(a) for a in inputs])  # type: ignore[arg-type]
    except DL4PyError as error:
        describe_failure(error, node, inputs)
        raise


def describe_failure(error: BaseException, node: Node, inputs: Sequence[Any]) -> None:
    """Note on an exception which node failed on what, and the user's line that made it."""
    shapes = ", ".join("-" if a is None else f"{n} {a.dtype}{tuple(a.shape)}" for n, a in zip(node.inputs, inputs))
    error.add_note(f"in {node.where()}; inputs: {shapes or 'none'}")
