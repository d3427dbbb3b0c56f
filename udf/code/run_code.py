"""The code of a stateful op and its gradient as nodes, where it is array code: training or not is known, random numbers are nodes."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...samediff.base.spec import TensorSpec
from ...samediff.errors import GradientError
from ...samediff.expressions.tracing import TraceError
from ...samediff.families.array_code.graph_random import GraphContext
from ...samediff.families.composite import Composite, composite_grad
from ...samediff.families.decomposed import composition
from ...samediff.ir.op import Specs, op
from ...samediff.ir.run_context import RunContext
from ...samediff.numpy_functions.array_code import code_on_graph
from .code_op import CodeOp
from .later_gradient import CodeGradient, at_known_sizes

if TYPE_CHECKING:
    from ...samediff.ir.variable import SDVariable


def code_of(op: CodeOp, training: bool = True, node: str = "") -> Callable[..., Any]:
    """The code of an op as it is called while nodes are made: stateful code gets a run that is still to come."""
    if not op.stateful:
        return op.raw_compute

    @functools.wraps(op.raw_compute)
    def code(xp: Any, *arrays: Any) -> Any:
        return op.raw_compute(xp, *arrays, context=GraphContext(xp.functions, training, node))
    return code


@op("stateful_code", inputs="*xs", stateful=True, heeds="runs code of a user that heeds the run")
class StatefulCode(Composite):
    """The stateful ``code`` of node ``of`` (by default its own) in training, or outside (made by plans)."""

    code: Any
    of: str = ""
    training: bool = False

    def plan_rewrite(self, name: str) -> StatefulCode:
        return self if self.of else self.replace(of=name)  # type: ignore[return-value]

    def infer(self, *specs: TensorSpec) -> Specs:
        return self.code.infer(*specs)  # type: ignore[no-any-return]

    def compute(self, xp: Any, *inputs: Any, context: RunContext) -> Any:  # type: ignore[override]  # stateful ops get the context
        """The result of the user's code."""
        own = context.at(self.of or context.node)
        own.training = self.training
        return self.code.compute(xp, *inputs, context=own)

    def expand(self, *inputs: Any) -> tuple[SDVariable, ...]:
        """The nodes that the user's code adds."""
        return self.code.nodes_of(inputs, self.training, self.of)  # type: ignore[no-any-return]


@op("stateful_code_gradient", inputs="*xs", stateful=True, heeds="runs code of a user that heeds the run")
class StatefulCodeGradient(CodeGradient):
    """Gradients of stateful ``code`` of node ``of``, from its inputs and those of its results (made by gradients).

    ``places`` are the inputs that have one; what is drawn is drawn again from the same numbers.
    """

    inlines = True
    is_shared = True
    code: Any
    of: str
    count: int
    places: tuple[int, ...]
    training: bool = True

    def compute(self, xp: Any, *inputs: Any, context: RunContext) -> Any:  # type: ignore[override]  # stateful ops get the context
        """The nodes in a graph of their own."""
        return self.by_nodes(inputs, context)

    def expand(self, *inputs: Any) -> tuple[SDVariable, ...]:
        """Back through the nodes of the code."""
        given, upstream = inputs[:self.count], inputs[self.count:]
        found = composite_grad(lambda *xs: code_on_graph(upstream[0].sd, code_of(self.code, self.training, self.of), xs), given, upstream)
        zero = [upstream[0].sd.call("base", "zeros_like", given[i]) if found[i] is None else found[i] for i in self.places]
        return tuple(v for v in zero if v is not None)

    def at_inference(self) -> StatefulCodeGradient:
        return self.replace(training=False)  # type: ignore[return-value]


def stateful_grad(op: CodeOp, inputs: Sequence[SDVariable | None], outputs: Sequence[SDVariable],
                  output_grads: Sequence[SDVariable]) -> list[SDVariable | None]:
    """Gradients of the node whose outputs these are.

    Raises
    ------
    GradientError
        The code cannot be written as nodes; says why, and to write grad.
    """
    sd = output_grads[0].sd
    node = sd.producer(outputs[0].name())
    assert node is not None
    places = tuple(i for i, v in enumerate(inputs) if v is not None and v.dtype.is_floating)
    made = StatefulCodeGradient(op, node.name, len(inputs), places)
    given = [*inputs, *output_grads]
    specs = tuple(None if v is None else TensorSpec(v.spec.shape, v.spec.dtype) for v in given)
    try:
        known = all(s is None or s.is_static for s in specs)
        composition(made, specs if known else at_known_sizes(op, specs[:len(inputs)]))
    except TraceError as error:
        raise GradientError(f"op {op.id!r} has no gradient: its code cannot be followed ({error}). Write one: grad(inputs, outputs, "
                            "output_grads) builds a node for the gradient of each input") from error
    found = sd.add_op(made, given)
    by_place = dict(zip(places, found if isinstance(found, list) else [found]))
    return [by_place.get(i) for i in range(len(inputs))]
