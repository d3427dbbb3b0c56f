"""Running a graph: which nodes, on which values, by which executor."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..base.datatype import is_floating
from ..base.environment import uses_reference
from ..device import devices
from ..errors import DataTypeError, DL4PyError, GraphError, NumericalError, ShapeError, UnknownNameError, did_you_mean
from ..expressions.arrays import as_array, converted
from ..ir.node import Node, needed
from ..ir.run_context import RunContext
from ..ir.variable import VariableType
from ..plans.plan import Plan
from ..plans.reference import run_nodes
from .plan_cache import plan_for
from .request import RunRequest

if TYPE_CHECKING:
    from ..ir.core import GraphCore


def request_for(sd: GraphCore, outputs: Sequence[str], training: bool) -> RunRequest:
    """The request, made once for a version of the graph."""
    return sd.tables.plans.get(sd.version, (tuple(outputs), training), lambda: _request(sd, outputs, training))  # type: ignore[no-any-return]


def _request(sd: GraphCore, outputs: Sequence[str], training: bool) -> RunRequest:
    for name in outputs:
        sd.variable(name)
    nodes = inference_nodes(needed(sd.nodes(), outputs), training)
    names = {n for node in nodes for n in node.inputs if n is not None} | set(outputs)
    kinds = {n: sd.variable(n).get_variable_type() for n in sorted(names)}
    return RunRequest(tuple(outputs), training, tuple(nodes), frozenset(names),
                   tuple(n for n, k in kinds.items() if k is VariableType.PLACEHOLDER),
                   tuple(n for n, k in kinds.items() if k not in (VariableType.PLACEHOLDER, VariableType.ARRAY)))


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
    known = known_plan(sd, placeholders, outputs, context.training)
    if known is not None and placeholders is not None:
        return dict(zip(outputs, known.run([placeholders[n] for n in known.feeds], context)))
    plans, key = sd.tables.plans, call_key(placeholders, outputs, context.training)
    version = sd.version
    request, feeds = _checked(sd, placeholders, outputs, context)
    if uses_reference():
        return run_reference(sd, feeds, request, context)
    plan = plan_for(sd, feeds, request)
    if key is not None and placeholders and all(feeds[n] is placeholders.get(n) for n in feeds):
        plans.remember(version, key, plan)
    return dict(zip(outputs, plan.run([feeds[n] for n in plan.feeds], context)))


def run_uncompiled(sd: GraphCore, placeholders: Mapping[str, Any] | None, outputs: Sequence[str], context: RunContext) -> dict[str, Any]:
    """As :func:`run`, by the reference executor: sooner where a few numbers are computed once."""
    request, feeds = _checked(sd, placeholders, outputs, context)
    return run_reference(sd, feeds, request, context)


def _checked(sd: GraphCore, placeholders: Mapping[str, Any] | None, outputs: Sequence[str],
             context: RunContext) -> tuple[RunRequest, dict[str, Any]]:
    """The request, and a value for every placeholder that it needs."""
    request = request_for(sd, outputs, context.training)
    feeds = checked_feeds(sd, placeholders)
    for name in request.placeholders:
        if name not in feeds:
            missing(sd, request, name, feeds)
    return request, feeds


def known_plan(sd: GraphCore, placeholders: Mapping[str, Any] | None, outputs: Sequence[str], training: bool) -> Plan | None:
    """The plan of an earlier call with the same request and arrays of the same shapes and types: nothing needs to be checked again."""
    tables = sd.tables
    plans = tables.plans
    if plans.state != tables.version or not placeholders or uses_reference():
        return None
    try:
        return plans.known.get(call_key(placeholders, outputs, training))
    except TypeError:       # a list among the outputs
        return None


def call_key(placeholders: Mapping[str, Any] | None, outputs: Sequence[str], training: bool) -> Any:
    """The key of a request: its outputs, and names, shapes and types of its arrays; None when something given is no array."""
    try:
        key: list[Any] = [training, devices.current_device() if devices.active else None, *outputs]
        for name, a in (placeholders or {}).items():
            key += name, a.shape, a.dtype, type(a)
        return tuple(key)
    except AttributeError:
        return None


def missing(sd: GraphCore, request: RunRequest, name: str, feeds: Mapping[str, Any]) -> NoReturn:
    """GraphError that says who needs a placeholder that has no value."""
    reader = next((n for n in request.nodes if name in n.inputs), None)
    why = f"{reader.where()} needs it" if reader else "it is asked for"
    raise GraphError(f"no value for placeholder {name!r} {sd.variable(name).spec}: {why}; given: {', '.join(feeds) or 'none'}")


def run_reference(sd: GraphCore, feeds: Mapping[str, Any], request: RunRequest, context: RunContext) -> dict[str, Any]:
    """Run a request by the reference executor."""
    values = {**feeds, **{n: sd.stored(n) for n in request.stored}}
    specs = {n: sd.tables.visible(sd.variable(n)) for node in request.nodes for n in (*node.inputs, *node.outputs) if n is not None}
    run_nodes(request.nodes, values, specs, context)
    return {n: owned_copy(values[n]) for n in request.outputs}


def owned_copy(array: Any) -> Any:
    """A copy that the caller may change."""
    return np.array(array, copy=True, order="C")


def inference_nodes(nodes: Sequence[Node], training: bool) -> list[Node]:
    """The nodes with their inference forms when not training."""
    if training:
        return list(nodes)
    return [n if (op := n.op.at_inference()) is n.op else replace(n, op=op) for n in nodes]


def checked_feeds(sd: GraphCore, placeholders: Mapping[str, Any] | None) -> dict[str, Any]:
    """Placeholder values as arrays of the declared type; those set for this thread fill in."""
    feeds = dict(sd.tables.given()) if placeholders is None or not placeholders else {}
    known = sd.variable_map()
    for key, value in (placeholders or {}).items():
        name = key if isinstance(key, str) else sd.tables.own(key).name()
        variable = known.get(name)
        if variable is None:
            names = [n for n, v in known.items() if v.is_place_holder()]
            raise UnknownNameError(f"a value was given for {name!r}, but the graph has no variable of that name"
                                   f"{did_you_mean(name, names)}; placeholders: {', '.join(names) or 'none'}")
        if not variable.is_place_holder():
            raise GraphError(f"a value was given for {variable!r}, which is no placeholder; use set_array to change a stored value")
        try:
            array = devices.as_gpu_array(value) if devices.active else None
            array = as_array(value) if array is None else array
        except (DL4PyError, ValueError) as error:
            raise DataTypeError(f"the value of placeholder {name!r} is no array: {error}") from error
        if array.dtype != variable.dtype.numpy:
            array = _converted(variable, array)
        if not variable.spec.accepts(array.shape):
            raise ShapeError(f"placeholder {name!r} declares shape {variable.get_shape()}, the value given has {array.shape}")
        feeds[name] = array
    return feeds


def _converted(variable: Any, array: Any) -> Any:
    return converted(array, variable.dtype.numpy, f"placeholder {variable.name()!r} is {variable.dtype.name}")


def check_finite(values: Mapping[str, Any], order: Sequence[str]) -> None:
    """NumericalError that names the first variable holding NaN or infinity."""
    for name in order:
        array = np.asarray(values[name])
        if is_floating(array.dtype) and not np.isfinite(array).all():
            bad = np.argwhere(~np.isfinite(array))[0].tolist()
            raise NumericalError(f"variable {name!r} is the first with NaN or infinity: "
                                 f"{array[tuple(bad)]} at {bad} of shape {array.shape}")
