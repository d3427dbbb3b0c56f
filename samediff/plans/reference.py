"""The obvious executor: every op by its ``compute``, in order. Everything else is checked against it."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from ..base.spec import TensorSpec, spec_of
from ..errors import DL4PyError, ShapeError
from ..expressions.arrays import xp
from ..ir.node import Node
from ..ir.op import Op, as_tuple
from ..ir.run_context import RunContext
from ..ir.translate_errors import inferred, translated


def run_nodes(nodes: Sequence[Node], values: dict[str, Any], specs: Mapping[str, TensorSpec], context: RunContext) -> None:
    """Compute the nodes in order, adding their outputs to ``values``; ``specs`` is what the graph knows of inputs and outputs."""
    for node in nodes:
        inputs = [None if n is None else values[n] for n in node.inputs]
        try:
            expected = _expected(node, inputs, specs)
            results = as_declared(compute(node.op, inputs, context, node.name), expected)
        except Exception as error:
            raise_explained(error, node, inputs)
        for name, result in zip(node.outputs, results):
            values[name] = result


def _expected(node: Node, inputs: Sequence[Any], specs: Mapping[str, TensorSpec]) -> list[TensorSpec]:
    """Specs by the shape rule for the actual inputs, where the graph left sizes open when the op was added."""
    known = [None if n is None else specs[n] for n in node.inputs]
    declared = [specs[n] for n in node.outputs]
    if all(s is None or s.is_static for s in known):
        return declared
    found = as_tuple(inferred(node.op, [None if s is None else TensorSpec(a.shape, s.dtype, s.value) for a, s in zip(inputs, known)]))
    for spec, made in zip(declared, found):
        if made.shape is not None and made.is_static and not spec.accepts(made.shape):
            raise ShapeError(f"a result of shape {spec.shape} was expected, inputs of these shapes give {made.shape}")
    return [spec if made.shape is None else made for spec, made in zip(declared, found)]


def compute(op: Op, inputs: Sequence[Any], context: RunContext, name: str) -> tuple[Any, ...]:
    """The outputs of one op."""
    with np.errstate(all="ignore"):
        if op.stateful:
            return as_tuple(op.compute(xp, *inputs, context=context.at(name)))  # type: ignore[call-arg]
        return as_tuple(op.compute(xp, *inputs))


def as_type(result: Any, dtype: np.dtype[Any]) -> Any:
    """The result as an array of exactly this type."""
    array = np.asarray(result)
    if array.dtype == dtype:
        return array
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def as_declared(results: Sequence[Any], specs: Sequence[TensorSpec]) -> list[Any]:
    """The results in the types that the shape rule as_declared; ShapeError when they have other shapes."""
    if len(results) != len(specs):
        raise ShapeError(f"{len(specs)} results were expected of these inputs, there are {len(results)}")
    made = [as_type(r, s.dtype.numpy) for r, s in zip(results, specs)]
    for array, spec in zip(made, specs):
        if not spec.accepts(array.shape):
            raise ShapeError(f"a result of shape {spec.shape} was expected of these inputs, it has {array.shape}")
    return made


def as_carray(array: Any) -> Any:
    """Contiguous, aligned and writeable, as kernels are compiled for; the array itself when it is all that."""
    return array if array.flags.carray else np.array(array, order="C", copy=True)


def raise_explained(error: Exception, node: Node, inputs: Sequence[Any]) -> NoReturn:
    """Raise what came out of a node with a note that says where; typed where the op is one of ours and the inputs are to blame."""
    known = translated(node.op, error)
    if known is not None:
        known = _refused_by_rule(node, inputs) or known
        describe_failure(known, node, inputs)
        raise known from error
    describe_failure(error, node, inputs)
    raise error


def _refused_by_rule(node: Node, inputs: Sequence[Any]) -> DL4PyError | None:
    """The error that the shape rule of an op raises for the actual inputs, or None; it explains more than NumPy's."""
    try:
        node.op.infer(*[a if a is None or isinstance(a, TensorSpec) else spec_of(a) for a in inputs])  # type: ignore[arg-type]
    except DL4PyError as error:
        return error
    except Exception:  # the error of compute is clear enough
        return None
    return None


def describe_failure(error: BaseException, node: Node, inputs: Sequence[Any]) -> None:
    """Note on an exception which node failed on what, and the user's line that made it."""
    def shown(a: Any) -> str:
        return f"{a.dtype.numpy if isinstance(a, TensorSpec) else a.dtype}{a.shape}"
    shapes = ", ".join("-" if a is None else f"{n} {shown(a)}" for n, a in zip(node.inputs, inputs))
    error.add_note(f"in {node.where()}; inputs: {shapes or 'none'}")
