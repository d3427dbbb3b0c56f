"""Scopes in which calls on arrays are recorded, joined to one graph, and computed at the end."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from ..arrays.computing import Draws, draws
from ..arrays.indarray import INDArray
from ..arrays.recording import state, switch
from ..base.call_cache import CallCache
from ..base.environment import uses_reference
from ..base.javanames import JavaSpelling
from ..device import devices
from ..errors import GraphScopeError
from ..executor.plan_cache import plan_for
from ..executor.session import request_for
from ..plans.plan import Plan
from .lazy import array_of, settle
from .structure import structure
from .trace import GraphTrace, at


class KnownPlan(NamedTuple):
    """The plan of a structure, and which of the arrays that a scope reads it takes."""

    plan: Plan
    takes: tuple[int, ...]


#: Plans of all scopes.
_plans = CallCache().table()


class GraphScope(JavaSpelling):
    """Records what its thread calls on arrays, and computes it as one graph at the end.

    Between :meth:`begin` and :meth:`end` ops of ``Nd4j``, methods of INDArrays, and operators and functions of NumPy on them return a
    :class:`LazyINDArray`, which knows shape and type. At the end those that are still held get their values in one run; what
    nobody needs is not computed. A scope that records the same calls on arrays of the same shapes and types again uses the plan of the
    first one. As a context manager it begins and ends by itself; an exception in the block drops what was recorded.

    Parameters
    ----------
    seed : int, optional
        Where random ops draw from; by default they go on with the numbers of ``Nd4j.random``.

    Raises
    ------
    GraphScopeError
        The thread records already; or, in the scope, what cannot be recorded: values that are not computed yet, changes in place of
        arrays that others look at. The text names the line.

    Examples
    --------
    >>> from dl4py import GraphScope, INDArray
    >>> a = INDArray.of([[1.0, 2.0]])
    >>> with GraphScope():
    ...     b = (a + 1) @ a.T
    >>> b.tolist()
    [[8.0]]
    """

    def __init__(self, seed: int | None = None) -> None:
        self._draws = draws if seed is None else Draws(seed)
        self._trace: GraphTrace | None = None

    def begin(self) -> Self:
        """Record what this thread calls from now on."""
        if self._trace is not None and state.recorder is self._trace and not self._trace.sd.nodes():
            return self
        if state.recorder is not None:
            state.recorder.refuse("a graph scope begins while this thread records already: scopes cannot be nested")
        self._trace = GraphTrace()
        switch(self._trace)
        return self

    def end(self) -> None:
        """Stop recording, and compute the arrays that are still held."""
        trace = self._stopped()
        if trace is None:
            raise GraphScopeError(f"the scope is not recording{at()}: call begin() before end()")
        held = trace.alive()
        if held:
            names = list(dict.fromkeys(array_of(a).variable.name() for a in held))
            found = dict(zip(names, self._computed(trace, names)))
            for array in held:
                settle(array, INDArray.of(found[array_of(array).variable.name()]))

    def close(self) -> None:
        """Stop recording; what was recorded and not computed by :meth:`end` is dropped."""
        self._stopped()

    def __enter__(self) -> Self:
        return self.begin()

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        try:
            if kind is None and self._trace is not None:
                self.end()
        finally:
            self.close()

    def _stopped(self) -> GraphTrace | None:
        trace, self._trace = self._trace, None
        if trace is not None and state.recorder is trace:
            switch(None)
        return trace

    def _computed(self, trace: GraphTrace, names: Sequence[str]) -> Sequence[Any]:
        context, given = self._draws.context(), trace.captured
        if uses_reference():
            return list(trace.sd.compute_in(context, given, names).values())
        known = _known(trace, given, names)
        arrays = list(given.values())
        return known.plan.run([arrays[i] for i in known.takes], context)


def _known(trace: GraphTrace, given: Mapping[str, Any], names: Sequence[str]) -> KnownPlan:
    try:
        key = structure(trace.sd, given, names), devices.current_device() if devices.active else None
    except TypeError:                   # an op whose attributes are no keys
        return _planned(trace, given, names)
    found: KnownPlan | None = _plans.used(key)
    if found is None:
        found = _plans[key] = _planned(trace, given, names)
    return found


def _planned(trace: GraphTrace, given: Mapping[str, Any], names: Sequence[str]) -> KnownPlan:
    plan = plan_for(trace.sd, given, request_for(trace.sd, names, True))
    place = {n: i for i, n in enumerate(given)}
    return KnownPlan(plan, tuple(place[n] for n in plan.feeds))
