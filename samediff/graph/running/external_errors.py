"""Gradients that come from outside a graph in place of a loss."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...base.java_names import SameDiffUtilsNames
from ...base.javanames import JavaSpelling
from ...errors import GradientError, ShapeError, UnknownNameError, did_you_mean
from ...expressions.arrays import as_array
from ..creation import CreationMixin

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


class ExternalErrors(JavaSpelling):
    """Makes given arrays the gradients of results; :func:`external_errors` builds it.

    The loss variable that it adds is ``sum(v * g)`` over the results ``v`` and their gradients ``g``, whose derivative by
    ``v`` is ``g``. Each ``g`` is the variable ``<name of v>-grad``: a placeholder, or a constant where an array was given.
    """

    def __init__(self, sd: CreationMixin, variables: list[SDVariable], gradients: Mapping[str, Any]) -> None:
        self._sd, self._variables = sd, variables
        terms = []
        for v in variables:
            name = self.grad_placeholder_name(v)
            if v.name() in gradients:
                array = as_array(gradients[v.name()], v.dtype.numpy)
                if not v.spec.accepts(array.shape):
                    raise ShapeError(f"the gradient given for {v!r} has shape {array.shape}")
                given = sd.constant(name, array)
            else:
                shape = v.get_shape()
                given = sd.placeholder(name, v.dtype, shape=None if shape is None else tuple(shape))
            terms.append(v.mul(given).sum())
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        self._loss: SDVariable = total
        self._loss.mark_as_loss()

    def grad_placeholder_name(self, variable: Any = None) -> str:
        """Name of the gradient of a result, by default of the first one."""
        v = self._variables[0] if variable is None else self._sd.variable(variable)
        return f"{v.name()}-grad"

    def output_variable(self) -> SDVariable:
        """The loss variable."""
        return self._loss

    def update_variable(self, variable: Any, gradient: Any) -> None:
        """Replace the gradient array of a result."""
        self._sd.set_array(self.grad_placeholder_name(variable), gradient)


def external_errors(sd: CreationMixin, gradients: Mapping[str, Any] | None, *variables: Any) -> ExternalErrors:
    """Differentiate by given gradients of results instead of a loss: how a graph becomes part of something larger.

    Parameters
    ----------
    sd : SameDiff
    gradients : dict of name -> array, or None
        Gradients known now. The others are given at each run as placeholder ``<name>-grad``.
    *variables : names or SDVariable
        The results; by default those that ``gradients`` names.

    Raises
    ------
    GradientError
        No result, or one that has no gradient.
    UnknownNameError
        ``gradients`` names something else than the results.

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py.samediff import SameDiff
    >>> sd = SameDiff.create()
    >>> x = sd.var("x", np.array([1.0, 2.0]))
    >>> y = sd.math.square("y", x)
    >>> errors = sd.external_errors(None, y)
    >>> sd.calculate_gradients({"y-grad": np.array([1.0, 10.0])}, "x")
    {'x': array([ 2., 40.])}
    """
    given = {k if isinstance(k, str) else k.name(): a for k, a in (gradients or {}).items()}
    chosen = [sd.variable(v) for v in (sd.tables.names_in(variables) if variables else given)]
    if not chosen:
        raise GradientError("external_errors needs at least one result: external_errors(sd, gradients, *variables)")
    names = [v.name() for v in chosen]
    for name in given:
        if name not in names:
            raise UnknownNameError(f"a gradient is given for {name!r}, which is none of the results {', '.join(names)}"
                                   f"{did_you_mean(name, names)}")
    for v in chosen:
        if not v.dtype.is_floating:
            raise GradientError(f"{v!r} has no gradient: only floating variables do")
    with sd.tables.all_or_nothing():
        return ExternalErrors(sd, chosen, given)


class SameDiffUtils(SameDiffUtilsNames):
    """DL4J's class of static functions on graphs."""

    @staticmethod
    def external_errors(sd: CreationMixin, gradients: Mapping[str, Any] | None, *variables: Any) -> ExternalErrors:
        """As :func:`external_errors`."""
        return external_errors(sd, gradients, *variables)
