"""Shape rule and gradient of a user op, derived from its code in the best of three ways.

1. *Elementwise* code is traced: one expression gives shape, derivative and fused kernels.
2. Other array code is run on graph variables: its nodes give shapes and gradients.
3. Code that can only run on arrays gives its shapes by trial; its gradient must be written.
"""
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...samediff.base.datatype import DataType
from ...samediff.base.spec import TensorSpec, broadcast
from ...samediff.errors import DL4PyError, GradientError
from ...samediff.expressions import expression as ex
from ...samediff.expressions.expression import TraceError
from ...samediff.families.array_code.symbolic_size import NotInGraphError
from ...samediff.families.composite import composite_grad
from ...samediff.families.followed import scratch
from ...samediff.ir.op import Specs, as_tuple
from ...samediff.numpy_functions.array_code import code_followed, code_on_graph
from .code_op import CodeOp
from .later_gradient import follows_later, later
from .run_code import code_of
from .shape_probing import trial_specs

if TYPE_CHECKING:
    from ...samediff.ir.variable import SDVariable


class NotFollowedError(GradientError):
    """An op has no gradient, because its code cannot be written as nodes."""


@functools.lru_cache(maxsize=4096)
def elementwise(op: CodeOp, dtypes: tuple[np.dtype[Any], ...]) -> ex.Expr | TraceError:
    """The expression of an op with one output that uses all its inputs, else the reason why there is none."""
    if op.stateful or op.has_cpu() or op.ambiguous(len(dtypes)):
        return ex.NotElementwiseError(f"op {op.id!r} is run as a whole")
    try:
        made = ex.trace(op.raw_compute, dtypes)
    except TraceError as error:
        return error
    except Exception as error:
        return ex.NotElementwiseError(f"{type(error).__name__}: {error}")
    if len(made) != 1 or len(ex.inputs_of(made)) < len(dtypes):
        return ex.NotElementwiseError(f"op {op.id!r} does not give one output from all its inputs")
    return made[0]


def way(op: CodeOp, specs: Sequence[TensorSpec | None]) -> str:
    """The way in which shapes and gradients are found: "elementwise", "nodes" or "trial"."""
    if _expression(op, specs) is not None:
        return "elementwise"
    try:
        _by_nodes(op, specs)
    except Exception:
        return "trial"
    return "nodes"


def _expression(op: CodeOp, specs: Sequence[TensorSpec | None]) -> ex.Expr | None:
    if any(s is None or not s.dtype.is_numeric for s in specs) or not specs:
        return None
    found = elementwise(op, tuple(s.dtype.numpy for s in specs if s is not None))
    return None if isinstance(found, TraceError) else found


def derived_infer(op: CodeOp, specs: Sequence[TensorSpec | None]) -> Specs:
    """Shapes and types of the outputs."""
    found = _expression(op, specs)
    if found is not None:
        return TensorSpec(broadcast(*(s.shape for s in specs if s is not None)), DataType.of(found.dtype))
    return _slow_infer(op, tuple(specs), tuple(_key(s) for s in specs))


def _key(spec: TensorSpec | None) -> Any:
    return None if spec is None or spec.value is None else spec.value.tobytes()


@functools.lru_cache(maxsize=4096)
def _slow_infer(op: CodeOp, specs: tuple[TensorSpec | None, ...], values: tuple[Any, ...]) -> Specs:
    try:
        return _by_nodes(op, specs)
    except TraceError:
        return trial_specs(op.id, op.on_trial(), specs)
    except Exception as error:
        try:
            return trial_specs(op.id, op.on_trial(), specs)
        except DL4PyError:
            if isinstance(error, DL4PyError):
                raise error from None
            raise


def _by_nodes(op: CodeOp, specs: Sequence[TensorSpec | None]) -> Specs:
    several: list[bool] = []

    def found(training: bool) -> tuple[TensorSpec, ...]:
        code = code_of(op, training)

        def compute(xp: Any, *arrays: Any) -> Any:
            result = code(xp, *arrays)
            several.append(isinstance(result, (tuple, list)))
            return result
        sd, variables = scratch(specs)
        return tuple(TensorSpec(v.spec.shape, v.spec.dtype) for v in code_on_graph(sd, compute, variables))
    made = found(True)
    if not made:
        raise TraceError("it returned no result")
    if op.stateful and found(False) != made:
        raise TraceError("training and inference differ in shape or type")
    return made if several[0] else made[0]


def expanded(op: CodeOp, inputs: Sequence[SDVariable | None], training: bool = True, node: str = "") -> tuple[SDVariable, ...]:
    """The code of an op as nodes of the graph of its inputs; stateful code as in a run of ``node`` that trains or not.

    Raises
    ------
    NotInGraphError
        It is one expression already, cannot be followed, or does not do the same in every call.
    """
    specs = [None if v is None else TensorSpec(v.spec.shape, v.spec.dtype) for v in inputs]
    if _expression(op, specs) is not None:
        raise NotInGraphError(f"op {op.id!r} is fused as it is")
    sd = next((v.sd for v in inputs if v is not None), None)
    if sd is None:
        raise NotInGraphError(f"op {op.id!r} has no inputs")
    found = code_followed(f"the code of op {op.id!r}", code_of(op, training, node), sd, inputs)
    promised = as_tuple(op.infer(*specs))  # type: ignore[arg-type]  # inputs may be left out
    if [(v.spec.shape, v.spec.dtype) for v in found] != [(s.shape, s.dtype) for s in promised]:
        raise NotInGraphError(f"op {op.id!r} is promised to give other shapes or types than its nodes")
    return found


def derived_grad(op: CodeOp, inputs: Sequence[SDVariable | None], output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
    """Gradients of the code as graph nodes.

    Raises
    ------
    NotFollowedError
        The code cannot be written as nodes; says why, and to write grad.
    """
    sd = output_grads[0].sd
    try:
        try:
            return composite_grad(lambda *variables: code_on_graph(sd, op.raw_compute, variables), inputs, output_grads)
        except DL4PyError:
            if follows_later(op, [None if v is None else TensorSpec(v.spec.shape, v.spec.dtype) for v in inputs]):
                return later(op, inputs, output_grads)
            raise
    except TraceError as error:
        raise NotFollowedError(f"op {op.id!r} has no gradient: its code cannot be followed ({error}). Write one: grad(inputs, outputs, "
                               "output_grads) builds a node for the gradient of each input") from error

