"""ND4J's static helpers for branches and loops; the methods of a graph do the work."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..base.datatype import DataType
from ..base.java_names import ControlFlowNames, LoopArgsNames, LoopLambdaArgsNames
from ..errors import GraphError
from ..ir.variable import SDVariable
from .functions import InvokeParams, LoopParams

if TYPE_CHECKING:
    from .graph import SameDiff


@dataclass
class LoopArgs(LoopArgsNames):
    """The variables of a loop with a counter.

    Parameters
    ----------
    start_iterations, max_iterations : SDVariable
        Where the counter starts, and what it stays below.
    cond_in : SDVariable
        A BOOL of one element: the loop goes on while it is true.
    extra_args : sequence of SDVariable
        Further loop variables.
    """

    start_iterations: SDVariable
    max_iterations: SDVariable
    cond_in: SDVariable
    extra_args: Sequence[SDVariable] = ()

    def to_args(self) -> list[SDVariable]:
        """Return them in the order in which a loop takes them: counter, maximum, condition, others."""
        return [self.start_iterations, self.max_iterations, self.cond_in, *self.extra_args]


@dataclass
class LoopLambdaArgs(LoopLambdaArgsNames):
    """The variables of a loop with a counter as its body sees them.

    Parameters
    ----------
    iter_start, iter_count : SDVariable
        The counter, and what it stays below.
    extra_args : sequence of SDVariable
        Further loop variables.
    cond_in : SDVariable
        The flag.
    """

    iter_start: SDVariable
    iter_count: SDVariable
    extra_args: Sequence[SDVariable]
    cond_in: SDVariable

    def invoke_params(self, function_name: str, sub_graph_input_var_names: Sequence[str] | None = None,
                      sub_graph_output_var_names: Sequence[str] | None = None) -> InvokeParams:
        """Return the call of a function on all of them."""
        inputs = [self.iter_start, self.iter_count, self.cond_in, *self.extra_args]
        return InvokeParams(function_name, inputs, sub_graph_input_var_names, None, None, sub_graph_output_var_names)


class ControlFlow(ControlFlowNames):
    """``ControlFlow.while_loop(sd, …)`` and others: the static forms of ``sd.while_loop(…)``, ``sd.if_cond(…)``, ….

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py.samediff import SameDiff
    >>> sd = SameDiff.create()
    >>> start = ControlFlow.args(sd.constant(np.int32(5)), sd.constant(True), sd.constant(np.int32(0)), [sd.constant(np.float32(1))])
    >>> body = lambda sd, v: [v[0] + 1, v[1], v[2], v[3] * 2]
    >>> float(ControlFlow.while_loop(sd, None, None, start, ControlFlow.cond_body(), body)[3].eval())
    32.0
    """

    @staticmethod
    def if_cond(sd: SameDiff, output_name: str | None, if_name: str | None, cond: Any, true_body: Any, false_body: Any) -> Any:
        """Add a branch to a graph, as ``sd.if_cond``."""
        return sd.if_cond(output_name, if_name, cond, true_body, false_body)

    @staticmethod
    def while_loop(sd: SameDiff, output_names: Sequence[str] | None, loop_name: str | None, loop_vars: Sequence[SDVariable],
                   cond: Any, body: Any) -> list[SDVariable]:
        """Repeat a body as long as a condition holds: ``sd.while_loop``."""
        names = None if output_names is None else list(output_names)
        return sd.while_loop(names, loop_name, list(loop_vars), cond, body)

    @staticmethod
    def loop_with_conditions(sd: SameDiff, params: LoopParams) -> list[SDVariable]:
        """Repeat a function while a flag is true: ``sd.loop_with_conditions``."""
        return sd.loop_with_conditions(params)

    @staticmethod
    def args(max_iterations: SDVariable, cond_in: SDVariable, start_iterations: SDVariable,
             extra_args: Sequence[SDVariable] = ()) -> list[SDVariable]:
        """Return loop variables in the order in which a loop takes them."""
        return LoopArgs(start_iterations, max_iterations, cond_in, extra_args).to_args()

    @staticmethod
    def args_from_inputs(inputs: Sequence[SDVariable]) -> LoopLambdaArgs:
        """Loop variables as named parts: counter, maximum, condition and the rest."""
        if len(inputs) < 3:
            raise GraphError(f"the loop variables start with counter, maximum and condition; got {len(inputs)} in all")
        return LoopLambdaArgs(inputs[0], inputs[1], list(inputs[3:]), inputs[2])

    @staticmethod
    def cond_body() -> Callable[[Any, Sequence[SDVariable]], SDVariable]:
        """Return the condition of a loop with a counter: counter < maximum, and the flag."""
        return lambda sd, v: (v[0] < v[1]) & v[2]

    @staticmethod
    def loop_body(parent: SameDiff, function_body: SameDiff, function_name: str, sub_graph_input_names: Sequence[str] | None = None,
                  sub_graph_output_names: Sequence[str] | None = None) -> Callable[[Any, Sequence[SDVariable]], list[SDVariable]]:
        """Return a body that calls a function on all loop variables; it gives counter, maximum, condition and the others again."""
        if function_name not in parent.defined_function_names():
            parent.put_sub_function(function_name, function_body)

        def body(sd: SameDiff, state: Sequence[SDVariable]) -> list[SDVariable]:
            call = ControlFlow.args_from_inputs(state).invoke_params(function_name, sub_graph_input_names, sub_graph_output_names)
            found = sd.invoke(call)
            if len(found) != len(state):
                raise GraphError(f"function {function_name!r} gives {len(found)} results; there are {len(state)} loop variables")
            return [found[0] + 1, *found[1:]]
        return body

    @staticmethod
    def initialize_loop_body(names_to_use: Sequence[str], loop_body: SameDiff, max_iterations: int,
                             extra_cond: bool = True) -> list[SDVariable]:
        """Declare counter, maximum and flag as placeholders of a function; without ``extra_cond`` the flag is a constant true.

        The loop feeds counter and maximum, so ``max_iterations`` has no effect: the maximum is that of the loop's own variables.
        """
        if len(names_to_use) != 3:
            raise GraphError(f"three names are needed, for counter, maximum and condition; got {len(names_to_use)}")
        counter, maximum, flag = names_to_use
        made = [loop_body.placeholder(counter, DataType.INT), loop_body.placeholder(maximum, DataType.INT)]
        made.append(loop_body.placeholder(flag, DataType.BOOL) if extra_cond else loop_body.constant(flag, True))
        return made
