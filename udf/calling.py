"""Calling a user op on variables of a graph or on arrays."""
from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ..samediff.base.registry import owner, replaced
from ..samediff.base.spec import TensorSpec, spec_of
from ..samediff.errors import GraphError, RegistrationError
from ..samediff.expressions.arrays import as_array, namespace_of
from ..samediff.ir import signature as sig
from ..samediff.ir.namespaces import call_by_id
from ..samediff.ir.op import OPS, as_tuple
from ..samediff.ir.run_context import RunContext
from ..samediff.ir.variable import SDVariable
from .code_op import CodeOp
from .derived import way
from .restoring import check_hidden

_draws = itertools.count(1)


def call(cls: type[CodeOp], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``cls`` called with inputs and attributes: a variable when one of them is one, else arrays."""
    _check_registered(cls)
    graph = _graph(args, kwargs.values())
    if graph is not None:
        return call_by_id(graph, cls.id, args, kwargs)
    if "name" not in cls.attribute_names():
        kwargs = {k: v for k, v in kwargs.items() if k != "name"}
    args = args[1:] if args and isinstance(args[0], str) else args
    try:
        inputs, attributes = sig.bind(cls, sig.formals(cls)[0], args, kwargs, lambda v: hasattr(v, "__array__"), True)
    except sig.Mismatch as error:
        ways = "\n  ".join(sig.describe(cls, cls.id))
        raise GraphError(f"{cls.id} cannot be called so: {error}. Ways to call it:\n  {ways}") from None
    return on_arrays(cls(**attributes), inputs)


def _check_registered(cls: type[CodeOp]) -> None:
    """RegistrationError when the name of an op stands for the op of somebody else now: a graph would hold that one."""
    current = OPS.get(cls.id)
    if current is not None and replaced(cls, current):
        raise RegistrationError(f"op {cls.id!r} is that of {owner(current)} now, not of {owner(cls)}: choose another name")


def apply(op: CodeOp, args: Sequence[Any], name: str | Sequence[str] | None) -> Any:
    """An op with its attributes set, called with inputs."""
    _check_registered(type(op))
    check_hidden(op)
    names: Sequence[str] | None = [name] if isinstance(name, str) else name
    if names is None and args and isinstance(args[0], str):
        names, args = [args[0]], args[1:]
    inputs = [v for a in args for v in (a if isinstance(a, (list, tuple)) and type(op).inputs.startswith("*") else [a])]
    graph = _graph(inputs, ())
    return on_arrays(op, inputs) if graph is None else graph.add_op(op, inputs, names)


def on_arrays(op: CodeOp, inputs: Sequence[Any]) -> Any:
    """Compute at once, in the types that a graph would give; outside training, with new random numbers in every call."""
    arrays = [a if a is None or type(a).__module__.startswith("cupy") else as_array(a) for a in inputs]
    more = {"context": RunContext(draw=next(_draws)).at(op.id)} if op.stateful else {}
    result = op.compute(namespace_of(*arrays), *arrays, **more)
    specs = [None if a is None else TensorSpec(spec_of(a).shape, spec_of(a).dtype) for a in arrays]
    if not op.has_infer() and way(op, specs) == "trial":
        return result
    dtypes = [s.dtype.numpy for s in as_tuple(op.infer(*specs))]  # type: ignore[arg-type]
    typed = tuple(as_array(r, d) if not hasattr(r, "astype") else r.astype(d, copy=False) for r, d in zip(as_tuple(result), dtypes))
    return typed if isinstance(result, (tuple, list)) else typed[0]


def _graph(args: Any, more: Any) -> Any:
    for value in (*args, *more):
        if isinstance(value, SDVariable):
            return value.sd
        if isinstance(value, (list, tuple)):
            found = _graph(value, ())
            if found is not None:
                return found
    return None
