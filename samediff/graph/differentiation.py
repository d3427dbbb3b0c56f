"""Losses and gradients from the methods of a graph."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from ..errors import GradientError, GraphError
from ..executor.session import known_plan, run
from ..families.gradient import check_losses, gradients
from ..ir.core import GraphCore
from ..ir.variable import SDVariable, VariableType
from .creation import Creation
from .execution import NOTHING_DRAWN, Execution
from .external_errors import ExternalErrors, external_errors


class OutAndGrad(NamedTuple):
    """Outputs and gradients of one run, each a dictionary by name."""

    outputs: dict[str, Any]
    gradients: dict[str, Any]


class GradientRequest(NamedTuple):
    """What :meth:`Differentiation.calculate_gradients_and_outputs` runs."""

    graph: Any
    outputs: tuple[str, ...]
    variables: tuple[str, ...]
    wanted: tuple[str, ...]


class Differentiation(Execution, Creation):
    """The part of :class:`SameDiff` that knows losses and gradients."""

    _grad_graph: tuple[Any, ...]            # version of this graph, what for, the graph with gradients, these by name; once asked for

    # Losses

    def get_loss_variables(self) -> list[str]:
        """Names of the loss variables."""
        return list(self._losses)

    def set_loss_variables(self, *losses: Any) -> None:
        """Replace the list of loss variables."""
        names = self._names_in(losses)
        for name in names:
            self._check_loss(self.variable(name))
        self._losses = list(dict.fromkeys(names))
        self._changed()

    def add_loss_variable(self, loss: Any) -> None:
        """Add a loss variable; several are summed."""
        variable = self.variable(loss)
        self._check_loss(variable)
        if variable.name() not in self._losses:
            self._losses.append(variable.name())
            self._changed()

    def _check_loss(self, variable: SDVariable) -> None:
        if variable.get_variable_type() is not VariableType.ARRAY:
            raise GraphError(f"{variable!r} cannot be a loss: only results of ops can")
        check_losses([variable])

    def infer_loss_variables(self) -> list[str]:
        """The loss variables, or the only result that nothing consumes when none are set."""
        if self._losses:
            return list(self._losses)
        read = {n for node in self._nodes.values() for n in node.inputs}
        open_ends = [n for n, v in self._variables.items()
                     if v.get_variable_type() is VariableType.ARRAY and n not in read and v.dtype.is_floating]
        if len(open_ends) != 1:
            found = ", ".join(open_ends) or "none"
            raise GradientError(f"no loss variable is set and the graph has {len(open_ends)} candidates ({found}); "
                                "call set_loss_variables, or mark_as_loss on one")
        return open_ends

    # Gradients

    def gradients(self, losses: Any, wrt: Any, name_results: bool = False) -> list[SDVariable | None]:
        """Add gradient nodes to this very graph: d(sum of losses)/d(wrt), for penalties and higher orders.

        Examples
        --------
        >>> from dl4py.samediff import SameDiff
        >>> sd = SameDiff.create()
        >>> x = sd.var("x", [2.0])
        >>> (first,) = sd.gradients(x ** 3, x)
        >>> (second,) = sd.gradients(first, x)
        >>> second.eval()
        array([12.], dtype=float32)
        """
        loss_vars = [self.variable(v) for v in _list(losses)]
        wrt_vars = [self.variable(v) for v in _list(wrt)]
        check_losses(loss_vars)
        found = gradients(self, loss_vars, wrt_vars, name_results=name_results)
        return [found[v.name()] for v in wrt_vars]

    def external_errors(self, gradients: Mapping[str, Any] | None, *variables: Any) -> ExternalErrors:
        """Differentiate by given gradients of results instead of a loss; see :func:`~.external_errors.external_errors`."""
        return external_errors(self, gradients, *variables)

    def create_grad_function(self, *wrt: str) -> Self:
        """Build the gradient graph now: a copy of this graph with the backward nodes, for the trainable variables and ``wrt``."""
        losses = self.infer_loss_variables()
        targets = list(dict.fromkeys([*self._names_in(wrt), *(v.name() for v in self._variables.values() if v.is_trainable())]))
        for name in targets:
            if not self.variable(name).dtype.is_floating:
                raise GradientError(f"{self.variable(name)!r} has no gradient: only floating variables do")
        if not targets:
            raise GradientError("the graph has no trainable variable to differentiate by")
        fork = self.fork()
        found = gradients(fork, [fork.variable(n) for n in losses], [fork.variable(n) for n in targets], name_results=True)
        if all(g is None for g in found.values()):
            raise GradientError(f"the loss ({', '.join(losses)}) depends on none of {', '.join(targets)}")
        self._grad_graph = (self.version, targets, fork, found)
        return fork

    def prepare_for_training(self, losses: Any = None) -> None:
        """Build the gradient graph ahead of ``fit``, for these losses when some are given."""
        if losses is not None:
            self.set_loss_variables(*_list(losses))
        self.create_grad_function()

    def _gradients_for(self, names: list[str]) -> tuple[GraphCore, dict[str, SDVariable | None]]:
        known = getattr(self, "_grad_graph", None)
        if known is None or known[0] != self.version or any(n not in known[1] for n in names):
            self.create_grad_function(*names)
            known = self._grad_graph
        return known[2], known[3]

    def grad(self, name: Any) -> SDVariable | None:
        """The gradient variable of ``name`` (a member of the gradient graph), None when the loss does not depend on it."""
        name = self._names_in([name])[0]
        return self._gradients_for([name])[1][name]

    def has_gradient(self, name: str) -> bool:
        """True when the gradient graph is built and has a gradient for ``name``; builds nothing."""
        known = getattr(self, "_grad_graph", None)
        return known is not None and known[0] == self.version and known[3].get(name) is not None

    def calculate_gradients(self, placeholders: Mapping[str, Any] | None, *variables: Any) -> dict[str, Any]:
        """Gradients of the summed losses: ``{name: array}``, computed in training mode.

        Raises
        ------
        GradientError
            No loss, a variable that the loss does not depend on, or an op without gradient on the way.
        """
        names = self._names_in(variables)
        if not names:
            raise GradientError("name at least one variable to differentiate by")
        return self.calculate_gradients_and_outputs(placeholders, [], names)[1]

    def calculate_gradients_and_outputs(self, placeholders: Mapping[str, Any] | None, outputs: Any,
                                        variables: Any) -> OutAndGrad:
        """Outputs and gradients from one run."""
        request = self._gradient_request(tuple(self._names_in(_list(outputs))), tuple(self._names_in(_list(variables))))
        if placeholders is None or not placeholders:
            placeholders = dict(self._placeholder_values())
        plan = known_plan(request.graph, placeholders, request.wanted, True)
        if plan is None:
            values = run(request.graph, placeholders, request.wanted, self._context(True))
            results = tuple([values[n] for n in request.wanted])
        else:
            context = self._context(True) if plan.draws else NOTHING_DRAWN
            results = plan.run([placeholders[n] for n in plan.feeds], context)
        return OutAndGrad(dict(zip(request.outputs, results)), dict(zip(request.variables, results[len(request.outputs):])))

    def _gradient_request(self, outputs: tuple[str, ...], variables: tuple[str, ...]) -> GradientRequest:
        """The gradient graph, and what to compute of it: worked out once for each request to a version of the graph."""
        version, requests = self.__dict__.setdefault("_gradient_requests", (-1, {}))
        if version != self.version:
            requests = {}
            self._gradient_requests = (self.version, requests)
        request: GradientRequest | None = requests.get((outputs, variables))
        if request is None:
            for name in variables:
                self.variable(name)
            graph, found = self._gradients_for(list(variables))
            wanted = [v.name() for n in variables if (v := found[n]) is not None]
            if len(wanted) < len(variables):
                lost = ", ".join(n for n in variables if found[n] is None)
                raise GradientError(f"the loss ({', '.join(self.infer_loss_variables())}) does not depend on {lost}")
            request = requests[outputs, variables] = GradientRequest(graph, outputs, variables, (*outputs, *wanted))
        return request


def _list(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (list, tuple)) else [values]
