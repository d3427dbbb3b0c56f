"""Telling listeners what a run computed, op by op."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.user_code.users_arrays import users_array
from ...errors import UnknownNameError, did_you_mean
from ...ir.node import Node, needed
from .calls import Listeners
from .evaluation_listener import BaseEvaluationListener
from .operation import At, Operation

if TYPE_CHECKING:
    from ...ir.core import GraphCore

OP_HOOKS = ("pre_op_execution", "op_execution", "activation_available")


def wanted_variables(sd: GraphCore, active: Listeners, operation: Operation, targets: Iterable[str]) -> list[str]:
    """Names to compute for the listeners of an operation: what they require, or all that ``targets`` need when one hears every op."""
    if not active:
        return []
    required = list(active.required_variables(sd, operation))
    for name in required:
        if not sd.has_variable(name):
            raise UnknownNameError(f"a listener asks for {name!r} in {operation.name}, and the graph has no variable of that name"
                                   f"{did_you_mean(name, sd.tables.variables)}")
    hearing = Listeners([m for m in active.members if not isinstance(m, BaseEvaluationListener) or m.hears_every_value()])
    if any(hearing.wants(hook) for hook in OP_HOOKS):
        required = [n for node in needed(sd.nodes(), [*targets, *required]) for n in node.outputs]
    return sorted(set(required))


def notify_ops(sd: GraphCore, listeners: Listeners, at: At, batch: Any, feeds: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Call the hooks of every node whose outputs were computed, in the order of execution."""
    if not any(listeners.wants(hook) for hook in OP_HOOKS):
        return
    for node in needed(sd.nodes(), values):
        if all(n in values for n in node.outputs):
            context = SimpleNamespace(inputs=[_value(sd, n, feeds, values) for n in node.inputs], outputs=[values[n] for n in node.outputs])
            listeners.call("pre_op_execution", sd, at, node, context)
            listeners.call("op_execution", sd, at, batch, node, context, context.outputs)
            _notify_outputs(sd, listeners, at, batch, node, values)
    for name in values:
        if sd.producer(name) is None:
            listeners.call("activation_available", sd, at, batch, None, name, users_array(values[name]))


def _notify_outputs(sd: GraphCore, listeners: Listeners, at: At, batch: Any, node: Node, values: Mapping[str, Any]) -> None:
    for name in node.outputs:
        listeners.call("activation_available", sd, at, batch, node, name, users_array(values[name]))


def _value(sd: GraphCore, name: str | None, feeds: Mapping[str, Any], values: Mapping[str, Any]) -> Any:
    if name is None:
        return None
    found = values.get(name, feeds.get(name))
    return sd.stored(name) if found is None else np.asarray(found)
