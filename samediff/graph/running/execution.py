"""Running a graph from its methods: output, batch_output."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...base.java_names import BatchOutputNames
from ...base.spec import TensorSpec
from ...errors import GraphError
from ...executor.plan_cache import plan_for
from ...executor.session import known_plan, request_for, run
from ...expressions.arrays import as_array
from ...ir.core import GraphCore
from ...ir.run_context import RunContext
from ...ir.sd_value import SDValue, SDValueType
from ...ir.variable import VariableType
from ...plans.plan import Plan

#: For runs that draw no random numbers.
NOTHING_DRAWN = RunContext()


class ExecutionMixin(GraphCore):
    """The part of :class:`SameDiff` that computes values."""

    def __init__(self) -> None:
        super().__init__()
        self._keeps = False             # whether runs keep their values for get_arr

    def compute(self, placeholders: Mapping[str, Any] | None, names: Sequence[str], training: bool = False) -> dict[str, Any]:
        """Variables by name, in training mode too; no listener hears of it."""
        plan = known_plan(self, placeholders, names, training)
        if plan is None:
            values = run(self, placeholders, names, self._context(training))
        else:
            context = self._context(training) if plan.needs_rng else NOTHING_DRAWN
            values = dict(zip(names, plan.run([placeholders[n] for n in plan.feeds], context)))  # type: ignore[index]  # not None then
        if self._keeps:
            self.tables.keep_results(dict(values))
        return values

    def compute_in(self, context: RunContext, placeholders: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
        """Compute variables in a given run context, as for a graph inside an op."""
        return run(self, placeholders, names, context)

    def plan_in(self, specs: Mapping[str, TensorSpec], names: Sequence[str]) -> Plan:
        """The plan of a training run for placeholders of static specs, for a graph inside of an op."""
        return plan_for(self, specs, request_for(self, names, True))

    def _context(self, training: bool) -> RunContext:
        """The context of a run outside of ``fit``: random ops draw anew in each."""
        return RunContext(training, self.seed, self._iteration(), draw=next(self._draws))

    def _iteration(self) -> int:
        return 0

    def output(self, placeholders: Mapping[str, Any] | None, *outputs: Any) -> dict[str, Any]:
        """Compute variables: ``{name: array}`` in the order asked.

        Parameters
        ----------
        placeholders : mapping of name to array, or None
            None takes the values set with ``set_array`` on this thread.
        *outputs : str, SDVariable, or one list of them
            What to compute; nothing else is.

        Examples
        --------
        >>> from dl4py.samediff import SameDiff, DataType
        >>> sd = SameDiff.create()
        >>> x = sd.placeholder("x", DataType.FLOAT, -1)
        >>> y = x.add("y", 1.0)
        >>> sd.output({"x": [1.0, 2.0]}, "y")
        {'y': array([2., 3.], dtype=float32)}
        """
        names = self.tables.names_in(outputs)
        if not names:
            raise GraphError("name at least one output to compute")
        return self.tables.in_kind(self.compute(placeholders, names), placeholders)  # type: ignore[no-any-return]

    def output_single(self, placeholders: Mapping[str, Any] | None, output: Any) -> Any:
        """Compute one variable."""
        return self.output(placeholders, output)[self.tables.names_in([output])[0]]

    def output_all(self, placeholders: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Compute every variable of the graph."""
        return self.output(placeholders, *self.tables.variables)

    def batch_output(self) -> BatchOutput:
        """A fluent request: ``sd.batch_output().input("x", a).output("y").exec()``."""
        return BatchOutput(self)


class BatchOutput(BatchOutputNames):
    """Collects inputs and outputs of one run; every method but ``exec`` and ``output_single`` returns the request.

    Parameters
    ----------
    sd : SameDiff
        The graph, whose ``batch_output()`` makes it.

    Examples
    --------
    >>> from dl4py.samediff import SameDiff, DataType
    >>> sd = SameDiff.create()
    >>> y = sd.placeholder("x", DataType.FLOAT, -1).add("y", 1.0)
    >>> sd.batch_output().input("x", [1.0, 2.0]).output("y").exec_single()
    array([2., 3.], dtype=float32)
    """

    def __init__(self, sd: ExecutionMixin) -> None:
        self._sd = sd
        self._inputs: dict[str, Any] = {}
        self._outputs: list[str] = []
        self._listeners: list[Any] = []

    def input(self, variable: Any, array: Any) -> BatchOutput:
        """Give a placeholder its value."""
        self._inputs[self._sd.tables.names_in([variable])[0]] = array
        return self

    def inputs(self, values: Mapping[str, Any]) -> BatchOutput:
        """Give several placeholders their values."""
        self._inputs.update(values)
        return self

    def value_input(self, variable: Any, value: SDValue) -> BatchOutput:
        """Give a placeholder an `SDValue`; a list becomes one array with its entries along the first axis."""
        if not isinstance(value, SDValue):
            raise GraphError(f"value_input takes an SDValue, got {type(value).__name__}; input(variable, array) takes arrays")
        entries = value.get_list_value()
        single = value.get_sd_value_type() is SDValueType.TENSOR
        return self.input(variable, entries[0] if single else np.stack([as_array(e) for e in entries]))

    def value_inputs(self, values: Mapping[str, SDValue]) -> BatchOutput:
        """Give several placeholders their values as `SDValue` objects."""
        for variable, value in values.items():
            self.value_input(variable, value)
        return self

    def output(self, *outputs: Any) -> Any:
        """Ask for variables; without names, run as ``exec`` does."""
        if not outputs:
            return self.exec()
        self._outputs += self._sd.tables.names_in(outputs)
        return self

    def output_all(self) -> BatchOutput:
        """Ask for every variable."""
        self._outputs = self._sd.variable_names()
        return self

    def listeners(self, *listeners: Any) -> BatchOutput:
        """Use these listeners besides those of the graph."""
        self._listeners += listeners
        return self

    def exec(self) -> dict[str, Any]:
        """Run the request; arrays by name."""
        return self._sd.output(self._inputs, *self._outputs, *self._listeners)

    def output_value(self) -> dict[str, SDValue]:
        """Run: name -> `SDValue`, a list for a sequence."""
        sequences = {n for n in self._outputs if self._sd.variable(n).get_variable_type() is VariableType.SEQUENCE}
        return {n: SDValue.create(list(v) if n in sequences else v) for n, v in self.exec().items()}

    def output_single(self) -> Any:
        """Run, and return the only output."""
        if len(self._outputs) != 1:
            raise GraphError(f"output_single needs exactly one output, {len(self._outputs)} were asked for")
        return self.exec()[self._outputs[0]]

    exec_single = output_single
