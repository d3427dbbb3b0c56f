"""Scopes in which calls on arrays are recorded, joined to one graph, and computed at the end."""
from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from ..arrays.computing import Draws, draws
from ..arrays.indarray import INDArray
from ..arrays.recording import state, switcher
from ..base.call_cache import CallCache
from ..base.environment import uses_reference
from ..base.javanames import JavaSpelling
from ..base.source_line import user_line
from ..device import devices
from ..errors import GraphScopeError
from ..executor.plan_cache import plan_for
from ..executor.session import request_for
from ..plans.plan import Plan
from .beginning_call import BeginningCall
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
    first one. As a context manager it begins and ends by itself; an exception in the block drops what was recorded. Begun by hand, it
    records until :meth:`end` or :meth:`close`, until nobody holds it any more, or until an error leaves the function that began it.

    Parameters
    ----------
    seed : int, optional
        Where random ops draw from; by default they go on with the numbers of ``Nd4j.random``.

    Raises
    ------
    GraphScopeError
        The thread records already, the scope was closed, or another thread began it; or, in the scope, what cannot be recorded: values
        that are not computed yet, changes in place of arrays that others look at. The text names the line.

    Examples
    --------
    >>> from dl4py import GraphScope, INDArray
    >>> a = INDArray.of([[1.0, 2.0]])
    >>> with GraphScope():
    ...     b = (a + 1) @ a.T
    >>> b.tolist()
    [[8.0]]
    """

    _stop: Callable[[], None]           # has the thread that began it record no longer

    def __init__(self, seed: int | None = None) -> None:
        self._trace: GraphTrace | None = None
        self._closed = False
        self._draws = draws if seed is None else Draws(seed)

    def begin(self) -> Self:
        """Record what this thread calls from now on, also once more after :meth:`end`."""
        if self._closed:
            raise GraphScopeError(f"the graph scope was closed, which is final{at()}: Nd4j.graphScope() makes another one")
        if self._trace is not None and state.recorder is self._trace and not self._trace.sd.nodes():
            return self
        if state.recorder is not None:
            state.recorder.refuse("a graph scope begins while this thread records already: scopes cannot be nested")
        self._of_this_thread("begin")
        self._trace = GraphTrace()
        self._trace.begun, self._trace.call = user_line(), BeginningCall(sys._getframe(1))
        self._stop = switcher(self._trace)
        return self

    def end(self) -> None:
        """Stop recording, and compute the arrays that are still held."""
        self._of_this_thread("end")
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
        """Stop recording for good; what was recorded and not computed by :meth:`end` is dropped. Any thread may close it."""
        self._closed = True
        self._stopped()

    def __enter__(self) -> Self:
        return self.begin()

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        try:
            if kind is None and self._trace is not None:
                self.end()
        finally:
            self.close()

    def __del__(self) -> None:
        trace = self._stopped()
        if trace is not None and not _is_left(trace):
            warnings.warn(f"a graph scope that was begun{trace.since()} is gone without end(): what it recorded is dropped",
                          ResourceWarning, stacklevel=2, source=self)

    def _of_this_thread(self, call: str) -> None:
        if self._trace is not None and state.recorder is not self._trace:
            if _is_left(self._trace):
                raise GraphScopeError(f"{call}() is called{at()} after an error left the function that began the scope"
                                      f"{self._trace.since()}: what it recorded is dropped")
            raise GraphScopeError(f"{call}() is called{at()} in another thread than the one that began the scope{self._trace.since()}: "
                                  "threads have scopes of their own")

    def _stopped(self) -> GraphTrace | None:
        trace, self._trace = self._trace, None
        if trace is not None:
            self._stop()
        return trace

    def _computed(self, trace: GraphTrace, names: Sequence[str]) -> Sequence[Any]:
        context, given = self._draws.context(), trace.captured
        if uses_reference():
            return list(trace.sd.compute_in(context, given, names).values())
        known = _known(trace, given, names)
        arrays = list(given.values())
        return known.plan.run([arrays[i] for i in known.takes], context)


def _is_left(trace: GraphTrace) -> bool:
    return trace.call is not None and trace.call.left


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
