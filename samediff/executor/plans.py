"""The plans of a graph: built at the first run of a request, kept while the graph stays as it is."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..base.bounded import Bounded
from ..base.locks import rlock
from ..base.spec import TensorSpec
from ..device import devices
from ..plans.backend import backend_of
from ..plans.plan import Plan
from .build import build_plan
from .request import Request

if TYPE_CHECKING:
    from ..ir.core import GraphCore

#: Plans that are kept of a graph; the least recently used goes first. Their arenas have so many bytes together, but the last few stay.
MAX_PLANS, MAX_BYTES, LAST_FEW = 64, 1 << 30, 4

_making = rlock()


def kept_plans() -> Bounded[Any, Any]:
    """A cache of plans, or of what holds one: a pair that begins with it, or something with an attribute ``plan``."""
    return Bounded(MAX_PLANS, _bytes, MAX_BYTES, LAST_FEW)


def _bytes(entry: Any) -> float:
    plan = entry[0] if isinstance(entry, tuple) else getattr(entry, "plan", entry)
    return plan.arena if isinstance(plan, Plan) else 0.0


class PlanCache:
    """Requests and plans of one graph, by what was asked and the shapes that were given."""

    def __init__(self) -> None:
        self.version = -1
        self.plans = kept_plans()
        self.known = kept_plans()             # plans by exactly what the caller gave, once that was checked
        self.lock = rlock()

    def get(self, version: int, key: Any, build: Any) -> Any:
        """What was built for that key, made by ``build()`` """
        with self.lock:
            if self.version != version:
                self.plans.clear()
                self.known = kept_plans()
                self.version = version
            plan = self.plans.used(key)
            if plan is None:
                plan = self.plans[key] = build()
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
                          {n: v.get_shape() for n, v in sd.variable_map().items()}, backend_of(where))

    plan: Plan = cache_of(sd).get(sd.version, key, build)
    return plan
