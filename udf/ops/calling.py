"""Calling a user op on variables of a graph or on arrays."""
from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...samediff.arrays import recording
from ...samediff.arrays.array_class import wrapped  # arrays of that class are loaded when somebody uses them
from ...samediff.arrays.indarray import INDArray
from ...samediff.base.registry import owner, replaced
from ...samediff.base.spec import TensorSpec, spec_of
from ...samediff.errors import GraphError, RegistrationError
from ...samediff.expressions.arrays import as_array, namespace_of, xp
from ...samediff.ir import signature as sig
from ...samediff.ir.namespaces import call_by_id, refusal
from ...samediff.ir.op import OPS, as_tuple
from ...samediff.ir.run_context import RunContext
from ...samediff.ir.variable import SDVariable
from ..code.code_op import CodeOp
from ..code.derived import way
from ..java.restoring import check_hidden

_draws = itertools.count(1)

#: Results of earlier calls on plain arrays: code with attributes, shape and type of each result, and whether they were a tuple.
_known: dict[Any, tuple[Callable[..., Any], list[tuple[Any, ...]], bool]] = {}
_MOST_KNOWN = 1024


def _key(cls: type[CodeOp], attributes: Any, inputs: Sequence[Any]) -> Any:
    """The key under which a call on plain arrays is cached; None for other calls."""
    key = [cls, attributes]
    for a in inputs:
        if type(a) is not np.ndarray:
            return None
        key += a.shape, a.dtype
    return tuple(key)


def _again(cls: type[CodeOp], key: Any, inputs: Sequence[Any]) -> Any:
    """The result of a call like an earlier one, found without looking at everything once more; None where it has to be.

    This is the way of most calls on arrays: it costs a few microseconds, and each line counts.
    """
    try:
        code, promised, several = _known[key]
    except (KeyError, TypeError):       # an attribute is no plain value
        return None
    if OPS.get(cls.id) is not cls or recording.state.recorder is not None:
        return None
    try:
        result = code(*inputs)
    except Exception:       # raised once more, with its line
        return None
    results = result if several else (result,)
    if type(results) not in (tuple, list) or len(results) != len(promised):
        return None
    for r, (shape, dtype) in zip(results, promised):
        if type(r) is not np.ndarray or r.shape != shape or r.dtype is not dtype:
            return None
    return tuple(results) if several else result


def _remember(key: Any, op: CodeOp, result: Any) -> None:
    several = isinstance(result, tuple)
    results = result if several else (result,)
    if key is None or op.stateful or op.saved or not all(type(r) is np.ndarray for r in results):
        return
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    try:
        _known[key] = functools.partial(op.raw_compute, xp), [(r.shape, r.dtype) for r in results], several
    except TypeError:
        return


def call(cls: type[CodeOp], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``cls`` called with inputs and attributes: a variable when one of them is one, else arrays."""
    key = _key(cls, tuple([(k, type(v), v) for k, v in kwargs.items()]) if kwargs else (), args)
    if key is not None and (found := _again(cls, key, args)) is not None:
        return found
    _check_registered(cls)
    run: dict[str, Any] = {n: kwargs[n] for n in ("training", "context") if n in kwargs and cls.stateful and n not in cls.attribute_names()}
    kwargs = {n: v for n, v in kwargs.items() if n not in run}
    graph = graph_of(args, kwargs.values())
    if graph is not None:
        _check_run(cls, run)
        return call_by_id(graph, cls.id, args, kwargs)
    if "name" not in cls.attribute_names():
        kwargs = {k: v for k, v in kwargs.items() if k != "name"}
    args = args[1:] if args and isinstance(args[0], str) else args
    try:
        inputs, attributes = sig.bind(cls, sig.formals(cls)[0], args, kwargs, lambda v: hasattr(v, "__array__"), True)
    except sig.Mismatch as error:
        raise refusal([cls], cls.id, args, kwargs, [str(error)]) from None
    op = cls(**attributes)
    found = on_arrays(op, inputs, **run)
    _remember(key, op, found)
    return found


def _check_run(cls: type[CodeOp], run: Mapping[str, Any]) -> None:
    """GraphError for run options on graph variables: a run of the graph sets them."""
    if any(v is not None for v in run.values()):
        raise GraphError(f"op {cls.id!r}: a run of the graph says whether it trains and what its random numbers are (sd.fit trains, "
                         f"sd.output does not); {', '.join(run)} can be given with arrays only")


def _check_registered(cls: type[CodeOp]) -> None:
    """RegistrationError when another op is registered under the name of this one: a graph would hold that op."""
    current = OPS.get(cls.id)
    if current is not None and replaced(cls, current):
        raise RegistrationError(f"op {cls.id!r} is that of {owner(current)} now, not of {owner(cls)}: choose another name")


def apply(op: CodeOp, args: Sequence[Any], name: str | Sequence[str] | None, run: Mapping[str, Any]) -> Any:
    """An op with its attributes set, called with inputs."""
    key = _key(type(op), op, args) if name is None and len(vars(op)) == len(op.attribute_names()) else None
    if key is not None and (found := _again(type(op), key, args)) is not None:
        return found
    _check_registered(type(op))
    check_hidden(op)
    names: Sequence[str] | None = [name] if isinstance(name, str) else name
    if names is None and args and isinstance(args[0], str):
        names, args = [args[0]], args[1:]
    inputs = [v for a in args for v in (a if isinstance(a, (list, tuple)) and type(op).inputs.startswith("*") else [a])]
    graph = graph_of(inputs, ())
    if graph is not None:
        _check_run(type(op), run)
        return graph.place_op(op, inputs, names)
    found = on_arrays(op, inputs, **run)
    _remember(key, op, found)
    return found


def on_arrays(op: CodeOp, inputs: Sequence[Any], training: bool | None = None, context: RunContext | None = None) -> Any:
    """Compute at once, in the types that a graph would give; outside training and with new random numbers in every call, unless told.

    A recorder of this thread is told instead; results of INDArrays are INDArrays.
    """
    if recording.state.recorder is not None:
        return recording.state.recorder.record(op, inputs)
    found = _computed(op, inputs, _context(op, training, context) if op.stateful else None)
    found = op.seen(found) if op.saved else found
    return wrapped(found) if any(isinstance(a, INDArray) for a in inputs) else found


def _context(op: CodeOp, training: bool | None, context: RunContext | None) -> RunContext:
    if not isinstance(context, RunContext | None) or training not in (None, True, False):
        raise GraphError(f"op {op.id!r}: context must be a RunContext and training a bool, got {context!r:.60} and {training!r:.60}")
    made = (context or RunContext(draw=next(_draws))).at(op.id)
    made.training = made.training if training is None else training
    return made


def _computed(op: CodeOp, inputs: Sequence[Any], context: RunContext | None) -> Any:
    arrays = [a if a is None or type(a).__module__.startswith("cupy") else as_array(a) for a in inputs]
    more = {} if context is None else {"context": context}
    result = op.compute(namespace_of(*arrays), *arrays, **more)
    specs = [None if a is None else TensorSpec(spec_of(a).shape, spec_of(a).dtype) for a in arrays]
    if not op.has_infer() and way(op, specs) == "trial":
        return result
    dtypes = [s.dtype.numpy for s in as_tuple(op.infer(*specs))]  # type: ignore[arg-type]
    typed = tuple(as_array(r, d) if not hasattr(r, "astype") else r.astype(d, copy=False) for r, d in zip(as_tuple(result), dtypes))
    return typed if isinstance(result, (tuple, list)) else typed[0]


def graph_of(args: Any, more: Any) -> Any:
    for value in (*args, *more):
        if isinstance(value, SDVariable):
            return value.sd
        if isinstance(value, (list, tuple)):
            found = graph_of(value, ())
            if found is not None:
                return found
    return None
