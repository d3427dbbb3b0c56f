"""Running a graph: which nodes, on which values, by which executor."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import as_array
from ..errors import GraphError, NumericalError, ShapeError, UnknownNameError, did_you_mean
from ..node import Node, needed
from ..variable import VariableType
from .context import RunContext
from .reference import run_nodes

if TYPE_CHECKING:
    from ..core import GraphCore


def uses_reference() -> bool:
    """True when ``DL4PY_EXECUTOR=reference`` asks for the plain NumPy executor."""
    return os.environ.get("DL4PY_EXECUTOR", "") == "reference"


def run(sd: GraphCore, placeholders: Mapping[str, Any] | None, outputs: Sequence[str], context: RunContext) -> dict[str, Any]:
    """Values of ``outputs``, in their order.

    Raises
    ------
    UnknownNameError
        An output or placeholder name that the graph does not have.
    GraphError
        A needed placeholder without a value.
    ShapeError
        A value that does not fit its placeholder's declaration.
    """
    for name in outputs:
        sd.variable(name)
    feeds = checked_feeds(sd, placeholders)
    nodes = specialised(needed(sd.nodes(), outputs), context.training)
    require_placeholders(sd, nodes, outputs, feeds)
    if not uses_reference():
        from .plans import run_planned
        return run_planned(sd, feeds, nodes, outputs, context)
    return run_reference(sd, feeds, nodes, outputs, context)


def run_reference(sd: GraphCore, feeds: dict[str, Any], nodes: Sequence[Node], outputs: Sequence[str],
                  context: RunContext) -> dict[str, Any]:
    """The same by the reference executor."""
    values = {n: v for n, v in feeds.items()}
    for name in {n for node in nodes for n in node.inputs if n is not None} | set(outputs):
        if name not in values and (stored := sd.stored(name)) is not None:
            values[name] = stored
    dtypes = {n: v.dtype.numpy for n, v in sd.variable_map().items()}
    run_nodes(nodes, values, dtypes, context)
    return {n: detached(values[n]) for n in outputs}


def detached(array: Any) -> Any:
    """A copy that the caller may change."""
    return np.array(array, copy=True, order="C")


def specialised(nodes: Sequence[Node], training: bool) -> list[Node]:
    """The nodes with their inference forms when not training."""
    if training:
        return list(nodes)
    return [n if (op := n.op.at_inference()) is n.op else replace(n, op=op) for n in nodes]


def checked_feeds(sd: GraphCore, placeholders: Mapping[str, Any] | None) -> dict[str, Any]:
    """Placeholder values as arrays of the declared type; those set for this thread fill in."""
    feeds = dict(sd._placeholder_values()) if placeholders is None or not placeholders else {}
    known = sd.variable_map()
    for key, value in (placeholders or {}).items():
        name = key if isinstance(key, str) else key.name()
        variable = known.get(name)
        if variable is None:
            names = [n for n, v in known.items() if v.is_place_holder()]
            raise UnknownNameError(f"a value was given for {name!r}, but the graph has no variable of that name"
                                   f"{did_you_mean(name, names)}; placeholders: {', '.join(names) or 'none'}")
        if not variable.is_place_holder():
            raise GraphError(f"a value was given for {variable!r}, which is no placeholder; use set_array to change a stored value")
        array = as_array(value)
        if array.dtype != variable.dtype.numpy:
            array = _converted(variable, array)
        if not variable.spec.accepts(array.shape):
            raise ShapeError(f"placeholder {name!r} declares shape {variable.get_shape()}, the value given has {array.shape}")
        feeds[name] = array
    return feeds


def _converted(variable: Any, array: Any) -> Any:
    from ..errors import DataTypeError
    dtype = variable.dtype.numpy
    lossy = array.dtype.kind in "fc" and dtype.kind in "iub" or (array.dtype.kind == "O") != (dtype.kind == "O")
    if lossy:
        raise DataTypeError(f"placeholder {variable.name()!r} is {variable.dtype.name}, the value given is {array.dtype} and would lose "
                            "its fractions; convert it yourself if that is meant")
    return array.astype(dtype)


def require_placeholders(sd: GraphCore, nodes: Sequence[Node], outputs: Sequence[str], feeds: Mapping[str, Any]) -> None:
    """GraphError that names each needed placeholder without a value, and what needs it."""
    wanted: dict[str, str] = {n: "it is asked for" for n in outputs}
    for node in nodes:
        wanted.update({n: f"{node.where()} needs it" for n in node.inputs if n is not None})
    for name, why in wanted.items():
        variable = sd.variable(name)
        if variable.get_variable_type() is VariableType.PLACEHOLDER and name not in feeds:
            raise GraphError(f"no value for placeholder {name!r} {variable.spec}: {why}; given: {', '.join(feeds) or 'none'}")


def check_finite(values: Mapping[str, Any], order: Sequence[str]) -> None:
    """NumericalError that names the first variable holding NaN or infinity."""
    for name in order:
        array = np.asarray(values[name])
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            bad = np.argwhere(~np.isfinite(array))[0].tolist()
            raise NumericalError(f"variable {name!r} is the first with NaN or infinity: {array[tuple(bad)]} at {bad} of shape {array.shape}")
