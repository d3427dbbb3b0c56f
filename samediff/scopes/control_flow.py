"""Branches and loops over arrays: run by Python outside of scopes, nodes of the graph inside."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.indarray import INDArray
from ..arrays.recording import state
from ..errors import GraphError
from .trace import GraphTrace
from .tree import build, flatten


def if_cond(condition: Any, true_body: Callable[[], Any], false_body: Callable[[], Any]) -> Any:
    """Either of two results, of which only one is computed.

    Parameters
    ----------
    condition : array or callable
        One element, or a function that gives one.
    true_body, false_body : functions of nothing
        Give results of one form: an array, or a tuple, list or dictionary of arrays of the same shapes and types.

    Examples
    --------
    >>> x = np.float32(-3)
    >>> float(if_cond(x > 0, lambda: x * 2, lambda: -x))
    3.0
    """
    trace = state.recorder
    if not isinstance(trace, GraphTrace):
        return (true_body if bool(condition() if callable(condition) else condition) else false_body)()
    forms: list[Any] = []
    chosen = condition() if callable(condition) else condition
    found = trace.sd.if_cond(trace.result(chosen), _body(trace, true_body, forms), _body(trace, false_body, forms))
    if forms[0] != forms[1]:
        raise GraphError("both bodies of if_cond must give results of one form")
    return _results(trace, forms[0], found)


def while_loop(loop_vars: Any, condition: Callable[[Any], Any], body: Callable[[Any], Any]) -> Any:
    """Repeat a body as long as a condition holds; the last values.

    Parameters
    ----------
    loop_vars : array, or tuple, list or dictionary of arrays
        Values before the first iteration.
    condition : function of the loop variables
        Gives one truth value.
    body : function of the loop variables
        Gives the new ones, in the same form.

    Examples
    --------
    >>> float(while_loop(1.0, lambda x: x < 20, lambda x: x * 3))
    27.0
    """
    trace = state.recorder
    first: list[Any] = []
    form = flatten(loop_vars, first, numbers=True)
    if not isinstance(trace, GraphTrace):
        values = build(form, iter([INDArray.of(a) for a in first]))
        while bool(condition(values)):
            values = body(values)
            _check(form, values)
        return values
    forms: list[Any] = []
    found = trace.sd.while_loop([trace.result(a) for a in first],
                                lambda sd, v: _inside(trace, condition, form, v, [])[0],
                                lambda sd, v: _same(form, forms, _inside(trace, body, form, v, forms)))
    return _results(trace, form, found)


def scan(body: Callable[[Any, Any], Any], carry: Any, sequences: Any) -> tuple[Any, Any]:
    """Run a body for each element along the first axis of sequences, passing a carry on; the last carry, and the results stacked.

    Parameters
    ----------
    body : function of carry and element
        Gives ``(new carry, result)``.
    carry : array, or tuple, list or dictionary of arrays
        What the first step is given.
    sequences : array, or tuple, list or dictionary of arrays
        Arrays with equal first axes.

    Examples
    --------
    >>> last, sums = scan(lambda total, x: (total + x, total + x), 0.0, np.array([1, 2, 3], np.float32))
    >>> sums.tolist()
    [1.0, 3.0, 6.0]
    """
    trace = state.recorder
    first: list[Any] = []
    rows: list[Any] = []
    form, row_form = flatten(carry, first, numbers=True), flatten(sequences, rows)
    if not rows:
        raise GraphError("a scan needs at least one sequence")
    if not isinstance(trace, GraphTrace):
        return _scanned(body, carry, form, rows, row_form)
    forms: list[Any] = []

    def step(sd: Any, state_: Any, elements: Any) -> Any:
        with trace.body():
            made = body(build(form, iter(map(trace.lazy, state_))), build(row_form, iter(map(trace.lazy, elements))))
            after, results = _pair(made)
            given: list[Any] = []
            _check(form, after)
            flatten(after, given, numbers=True)
            results_given: list[Any] = []
            forms.append(flatten(results, results_given, numbers=True))
            return [trace.result(a) for a in given], [trace.result(a) for a in results_given]
    last, stacked = trace.sd.scan(step, [trace.result(a) for a in first], [trace.operand(a) for a in rows])
    return _results(trace, form, last), _results(trace, forms[0], stacked)


def where(condition: Any, x: Any, y: Any) -> Any:
    """Elements of ``x`` where ``condition`` holds, of ``y`` elsewhere: NumPy's ``where``, which can be recorded.

    Examples
    --------
    >>> x = INDArray.of([-1.0, 2.0])
    >>> where(x > 0, x, 0.0).tolist()
    [0.0, 2.0]
    """
    trace = state.recorder
    if trace is not None:
        return trace.record_function(np.where, (condition, x, y), {})
    return INDArray.of(np.where(condition, x, y))


def _scanned(body: Callable[[Any, Any], Any], carry: Any, form: Any, rows: list[Any], row_form: Any) -> tuple[Any, Any]:
    arrays = [INDArray.of(a) for a in rows]
    if len({len(a) for a in arrays}) > 1:
        raise GraphError(f"the sequences of a scan must have equal first axes; got {', '.join(str(tuple(np.shape(a))) for a in arrays)}")
    columns: list[list[Any]] = []
    found: Any = None
    for i in range(len(arrays[0])):
        carry, results = _pair(body(carry, build(row_form, iter([INDArray.of(np.asarray(a)[i]) for a in arrays]))))
        _check(form, carry)
        given: list[Any] = []
        found = flatten(results, given, numbers=True)
        columns.append(given)
    if found is None:
        raise GraphError("a scan over sequences without elements has no results outside of graph scopes and compiled functions")
    return carry, build(found, iter([INDArray.of(np.stack([np.asarray(a) for a in column])) for column in zip(*columns)]))


def _pair(made: Any) -> tuple[Any, Any]:
    if not (isinstance(made, tuple) and len(made) == 2):
        raise GraphError(f"the body of a scan must give (new carry, result); got {type(made).__name__}")
    return made


def _check(form: Any, values: Any) -> None:
    if flatten(values, [], numbers=True) != form:
        raise GraphError("the body of a loop must give new values in the form of the old ones")


def _inside(trace: GraphTrace, function: Callable[[Any], Any], form: Any, variables: Any, forms: list[Any]) -> list[Any]:
    """Variables of what a function gives on loop variables."""
    with trace.body():
        given: list[Any] = []
        forms.append(flatten(function(build(form, iter(map(trace.lazy, variables)))), given, numbers=True))
        return [trace.result(a) for a in given]


def _same(form: Any, forms: list[Any], made: list[Any]) -> list[Any]:
    if forms[-1] != form:
        raise GraphError("the body of a loop must give new values in the form of the old ones")
    return made


def _body(trace: GraphTrace, function: Callable[[], Any], forms: list[Any]) -> Callable[[Any], list[Any]]:
    def build_it(sd: Any) -> list[Any]:
        with trace.body():
            given: list[Any] = []
            forms.append(flatten(function(), given, numbers=True))
            return [trace.result(a) for a in given]
    return build_it


def _results(trace: GraphTrace, form: Any, variables: Any) -> Any:
    return build(form, iter([trace.lazy(v) for v in variables]))
