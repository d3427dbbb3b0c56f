"""The plans of a graph: built at the first run of a request, kept while the graph stays as it is."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..base.spec import TensorSpec
from ..device import devices
from ..plans.backend import backend_of
from ..plans.plan import Plan
from .build import build_plan
from .request import RunRequest

if TYPE_CHECKING:
    from ..ir.core import GraphCore

def plan_for(sd: GraphCore, feeds: Mapping[str, Any], request: RunRequest, pinned: Mapping[str, Any] | None = None) -> Plan:
    """The plan for a request and the shapes of these feeds."""
    used = [(n, feeds[n]) for n in request.placeholders]
    where = devices.current_device() if devices.active else None
    key = (request.outputs, request.training, tuple([(n, a.shape) for n, a in used]), None if pinned is None else id(pinned), where)

    def build() -> Plan:
        values = {n: (sd.variable(n).is_constant(), sd.stored(n)) for n in request.stored}
        specs = {n: TensorSpec(tuple(a.shape), sd.variable(n).dtype) for n, a in used}
        made = build_plan(request.nodes, specs, {n: a for n, (fixed, a) in values.items() if not fixed},
                          {n: a for n, (fixed, a) in values.items() if fixed}, request.outputs, pinned,
                          {n: v.get_shape() for n, v in sd.variable_map().items()}, backend_of(where))
        made.where = where
        return made

    plan: Plan = sd.tables.plans.get(sd.version, key, build)
    return plan
