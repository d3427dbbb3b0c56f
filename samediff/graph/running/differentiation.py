"""Losses and gradients from the methods of a graph."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from ...base.java_names import OutAndGradNames
from ...base.user_code.users_arrays import users_arrays
from ...errors import GradientError, GraphError
from ...executor.session import known_plan, run
from ...families.gradient import check_losses, gradients
from ...ir.tables import GradientGraph
from ...ir.variable import SDVariable, VariableType
from ..creation import CreationMixin
from .execution import NOTHING_DRAWN, ExecutionMixin
from .external_errors import ExternalErrors, external_errors


class _OutAndGrad(NamedTuple):
    outputs: dict[str, Any]
    gradients: dict[str, Any]


class OutAndGrad(_OutAndGrad, OutAndGradNames):
    """Outputs and gradients of one run, each a dictionary by name.

    Parameters
    ----------
    outputs, gradients : dict of array by str
        By names of variables; gradients are those of the summed losses. DL4J's getters give them as INDArrays.
    """

    __slots__ = ()

    def get_outputs(self) -> dict[str, Any]:
        """The outputs."""
        return users_arrays(self.outputs)  # type: ignore[no-any-return]

    def get_gradients(self) -> dict[str, Any]:
        """The gradients."""
        return users_arrays(self.gradients)  # type: ignore[no-any-return]


class GradientRequest(NamedTuple):
    """A compiled request of :meth:`DifferentiationMixin.calculate_gradients_and_outputs`."""

    graph: Any
    outputs: tuple[str, ...]
    variables: tuple[str, ...]
    wanted: tuple[str, ...]


class DifferentiationMixin(ExecutionMixin, CreationMixin):
    """The part of :class:`SameDiff` that knows losses and gradients."""

    # Losses

    def set_loss_variables(self, *losses: Any) -> None:
        """Replace the list of loss variables."""
        names = self.tables.names_in(losses)
        for name in names:
            self._check_loss(self.variable(name))
        self.tables.losses, self.tables.losses_given = list(dict.fromkeys(names)), bool(names)
        self.tables.changed()

    def add_loss_variable(self, loss: Any) -> None:
        """Add a loss variable; several are summed."""
        variable = self.variable(loss)
        self._check_loss(variable)
        if variable.name() not in self.tables.losses:
            self.tables.losses.append(variable.name())
        self.tables.losses_given = True
        self.tables.changed()

    def _check_loss(self, variable: SDVariable) -> None:
        if variable.get_variable_type() is not VariableType.ARRAY:
            raise GraphError(f"{variable!r} cannot be a loss: only results of ops can")
        check_losses([variable])

    def infer_loss_variables(self) -> list[str]:
        """The loss variables, or the only result that nothing consumes where there are none."""
        losses = self.get_loss_variables()
        if losses:
            return [self.variable(name).name() for name in losses]
        open_ends = self._possible_losses()
        if len(open_ends) != 1:
            found = ", ".join(open_ends) or "none"
            raise GradientError(f"no loss variable is set and the graph has {len(open_ends)} candidates ({found}); "
                                "call set_loss_variables, or mark_as_loss on one")
        return open_ends

    def _possible_losses(self) -> list[str]:
        read = {n for node in self.tables.nodes.values() for n in node.inputs}
        return [n for n, v in self.tables.variables.items()
                if v.get_variable_type() is VariableType.ARRAY and n not in read and v.dtype.is_floating]

    # Gradients

    def gradients(self, losses: Any, wrt: Any, name_results: bool = False) -> list[SDVariable | None]:
        """Add gradient nodes to this very graph: d(sum of losses)/d(wrt), for penalties and higher orders.

        Parameters
        ----------
        losses : str, SDVariable, or list of them
            Floating results; their elements are summed.
        wrt : str, SDVariable, or list of them
            Variables to differentiate by, of any kind and place in the graph.
        name_results : bool
            Whether results are called after what they are gradients for, as ``x-grad``; False by default.

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
        loss_vars = [self.variable(v) for v in as_list(losses)]
        wrt_vars = [self.variable(v) for v in as_list(wrt)]
        check_losses(loss_vars)
        found = gradients(self, loss_vars, wrt_vars, name_results=name_results)
        return [found[v.name()] for v in wrt_vars]

    def external_errors(self, gradients: Mapping[str, Any] | None, *variables: Any) -> ExternalErrors:
        """Differentiate by given gradients of results instead of a loss; see :func:`.external_errors`."""
        return external_errors(self, gradients, *variables)

    def create_grad_function(self, *wrt: str) -> Self:
        """Build the gradient graph now: a copy of this graph with the backward nodes, for the trainable variables and ``wrt``."""
        losses = self.infer_loss_variables()
        targets = list(dict.fromkeys([*self.tables.names_in(wrt), *(v.name() for v in self.tables.variables.values() if v.is_trainable())]))
        for name in targets:
            if not self.variable(name).dtype.is_floating:
                raise GradientError(f"{self.variable(name)!r} has no gradient: only floating variables do")
        if not targets:
            raise GradientError("the graph has no trainable variable to differentiate by")
        fork = self.fork()
        found = gradients(fork, [fork.variable(n) for n in losses], [fork.variable(n) for n in targets], name_results=True)
        if all(g is None for g in found.values()):
            raise GradientError(f"the loss ({', '.join(losses)}) depends on none of {', '.join(targets)}")
        self.tables.gradients = GradientGraph(self.version, targets, fork, found, losses)
        return fork

    def prepare_for_training(self, losses: Any = None) -> None:
        """Build the gradient graph ahead of ``fit``, for these losses when some are given."""
        if losses is not None:
            self.set_loss_variables(*as_list(losses))
        self.create_grad_function()

    def _gradients_for(self, names: list[str]) -> GradientGraph:
        known = self.tables.known_gradients()
        if known is None or known.losses != self.infer_loss_variables() or any(n not in known.targets for n in names):
            self.create_grad_function(*names)
            known = self.tables.gradients
            assert known is not None
        return known

    def grad(self, name: Any) -> SDVariable | None:
        """The gradient variable of ``name`` (a member of the gradient graph), None when the loss does not depend on it, or before
        the graph has a loss: a marked one, or one result that nothing reads.
        """
        name = self.tables.names_in([name])[0]
        self.variable(name)
        try:
            self.infer_loss_variables()
        except GradientError:
            return None
        return self._gradients_for([name]).found[name]

    def has_gradient(self, name: str) -> bool:
        """True when the gradient graph is built and has a gradient for ``name``; builds nothing."""
        known = self.tables.known_gradients()
        return known is not None and known.found.get(name) is not None

    def calculate_gradients(self, placeholders: Mapping[str, Any] | None, *variables: Any) -> dict[str, Any]:
        """Gradients of the summed losses: ``{name: array}``, computed in training mode.

        Parameters
        ----------
        placeholders : mapping of name to array, or None
            None takes the values set with ``set_array`` on this thread.
        *variables : str, SDVariable, or one list of them
            What to differentiate by.

        Raises
        ------
        GradientError
            No loss, a variable that the loss does not depend on, or an op without gradient on the way.

        Examples
        --------
        >>> from dl4py.samediff import SameDiff
        >>> sd = SameDiff.create()
        >>> w = sd.var("w", [3.0])
        >>> loss = (w * w).sum("loss")
        >>> sd.calculate_gradients({}, "w")
        {'w': array([6.], dtype=float32)}
        """
        names = self.tables.names_in(variables)
        if not names:
            raise GradientError("name at least one variable to differentiate by")
        return self.calculate_gradients_and_outputs(placeholders, [], names)[1]

    def calculate_gradients_and_outputs(self, placeholders: Mapping[str, Any] | None, outputs: Any,
                                        variables: Any) -> OutAndGrad:
        """Outputs and gradients from one run, in training mode; placeholders and errors as of :meth:`calculate_gradients`."""
        given = placeholders
        request = self._gradient_request(tuple(self.tables.names_in(as_list(outputs))), tuple(self.tables.names_in(as_list(variables))))
        if placeholders is None or not placeholders:
            placeholders = dict(self.tables.given())
        plan = known_plan(request.graph, placeholders, request.wanted, True)
        if plan is None:
            values = run(request.graph, placeholders, request.wanted, self._context(True))
            results = tuple([values[n] for n in request.wanted])
        else:
            context = self._context(True) if plan.needs_rng else NOTHING_DRAWN
            results = plan.run([placeholders[n] for n in plan.feeds], context)
        found = self.tables.in_kind(results, given)
        return OutAndGrad(dict(zip(request.outputs, found)), dict(zip(request.variables, found[len(request.outputs):])))

    def _gradient_request(self, outputs: tuple[str, ...], variables: tuple[str, ...]) -> GradientRequest:
        """The gradient graph, and what to compute of it: worked out once for each request to a version of the graph."""
        plans = self.tables.plans
        plans.hold_for(self.tables.version)
        key = outputs, variables, *self.get_loss_variables()
        request: GradientRequest | None = plans.gradients.get(key)
        if request is None:
            for name in variables:
                self.variable(name)
            known = self._gradients_for(list(variables))
            found = known.found
            wanted = [v.name() for n in variables if (v := found[n]) is not None]
            if len(wanted) < len(variables):
                lost = ", ".join(n for n in variables if found[n] is None)
                raise GradientError(f"the loss ({', '.join(self.infer_loss_variables())}) does not depend on {lost}")
            request = plans.gradients[key] = GradientRequest(known.graph, outputs, variables, (*outputs, *wanted))
        return request


def as_list(values: Any) -> list[Any]:
    """The values of a list or tuple, or the only one."""
    return list(values) if isinstance(values, (list, tuple)) else [values]
