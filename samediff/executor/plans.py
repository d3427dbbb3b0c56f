"""The plans of a graph: built at the first run of a request, kept while the graph stays as it is."""
from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import devices
from ..spec import TensorSpec
from .build import build_plan
from .plan import Plan
from .target import CPU, Target

if TYPE_CHECKING:
    from ..core import GraphCore
    from .session import Request

#: Plans kept per graph; the least recently used goes first.
MAX_PLANS = 64

_making = threading.Lock()


class PlanCache:
    """Requests and plans of one graph, by what was asked and the shapes that were given."""

    def __init__(self) -> None:
        self.version = -1
        self.plans: OrderedDict[Any, Any] = OrderedDict()
        self.known: dict[Any, Plan] = {}      # plans by exactly what the caller gave, once that was checked
        self.lock = threading.Lock()

    def get(self, version: int, key: Any, build: Any) -> Any:
        """What was built for that key, made by ``build()`` """
        with self.lock:
            if self.version != version:
                self.plans.clear()
                self.known = {}
                self.version = version
            plan = self.plans.get(key)
            if plan is None:
                plan = self.plans[key] = build()
                while len(self.plans) > MAX_PLANS:
                    self.plans.popitem(last=False)
                    self.known = {}
            else:
                self.plans.move_to_end(key)
            return plan

    def remember(self, version: int, call: Any, plan: Plan) -> None:
        """Note the plan of a checked call, unless the graph was changed meanwhile."""
        with self.lock:
            if self.version == version:
                self.known[call] = plan


def cache_of(sd: GraphCore) -> PlanCache:
    """The plans of a graph."""
    found: PlanCache | None = sd.__dict__.get("_plan_cache")
    if found is None:
        with _making:
            found = sd.__dict__.setdefault("_plan_cache", PlanCache())
    return found


def plan_for(sd: GraphCore, feeds: Mapping[str, Any], request: Request, pinned: Mapping[str, Any] | None = None) -> Plan:
    """The plan for a request and the shapes of these feeds."""
    used = [(n, feeds[n]) for n in request.placeholders]
    where = devices.current_device() if devices.active else None
    key = (request.outputs, request.training, tuple([(n, a.shape) for n, a in used]), None if pinned is None else id(pinned), where)

    def build() -> Plan:
        values = {n: (sd.variable(n).is_constant(), sd.stored(n)) for n in request.stored}
        specs = {n: TensorSpec(tuple(a.shape), sd.variable(n).dtype) for n, a in used}
        return build_plan(request.nodes, specs, {n: a for n, (fixed, a) in values.items() if not fixed},
                          {n: a for n, (fixed, a) in values.items() if fixed}, request.outputs, pinned,
                          {n: v.get_shape() for n, v in sd.variable_map().items()}, target_of(where))

    plan: Plan = cache_of(sd).get(sd.version, key, build)
    return plan


def target_of(where: devices.Device | None) -> Target:
    """What plans for a device are made for."""
    if where is None or where.is_cpu:
        return CPU
    from .cuda.plan import target_of
    return target_of(where)
