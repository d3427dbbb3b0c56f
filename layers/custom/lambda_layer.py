"""Layers without parameters, of plain functions."""
from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

from ...samediff.base.home import scope_of, written_in
from ...samediff.errors import RegistrationError
from ..base.base import layer
from ..types.input_type import InputType
from .samediff_layer import SameDiffLambdaLayer

__all__ = ["lambda_layer"]


def of_function(function: Callable[..., Any], base: type, scope: Mapping[str, Any],
                methods: Callable[[tuple[str, ...]], dict[str, Any]]) -> Any:
    """A sub-class of ``base`` whose options are the keyword-only parameters of a function; ``methods`` is given their names."""
    options = {p.name: p for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY}
    open_ = [n for n, p in options.items() if p.annotation is p.empty]
    if open_:
        raise RegistrationError(f"{function.__qualname__}: the option {open_[0]!r} needs a type, such as {open_[0]}: float = 1.0")
    hints = {n: eval(p.annotation, dict(scope)) if isinstance(p.annotation, str) else p.annotation for n, p in options.items()}
    body = {"__module__": written_in(function), "__qualname__": function.__qualname__, "__doc__": function.__doc__ or function.__name__,
            "__annotations__": hints, "__wrapped__": staticmethod(function), **methods(tuple(options))}
    body |= {n: p.default for n, p in options.items() if p.default is not p.empty}
    return types.new_class(function.__name__, (base,), {}, lambda made: made.update(body))


def lambda_layer(name: str, output_type: Callable[[InputType], InputType] | None = None,
                 ) -> Callable[[Callable[..., Any]], type[Any]]:
    """Make a layer of a function ``f(sd, x, *, scale: float = 1.0)`` of the graph and its input.

    Parameters
    ----------
    name : str
        Under which files know the layer, with a part of your own in front: nothing but this name and the options is saved.
    output_type : callable, optional
        The type of the activations by that of the input; the same by default.

    Returns
    -------
    decorator
        The function becomes a class of layers, whose options are its keyword-only parameters.

    Examples
    --------
    >>> from dl4py.layers import lambda_layer
    >>> @lambda_layer("example.Squash")
    ... def squash(sd, x, *, scale: float = 1.0):
    ...     return sd.nn.tanh(x * scale)
    >>> squash(scale=2.0).scale
    2.0
    """
    scope = scope_of(sys._getframe(1))

    def decorate(function: Callable[..., Any]) -> type[Any]:
        def methods(names: tuple[str, ...]) -> dict[str, Any]:
            def define_layer(self: Any, sd: Any, layer_input: Any) -> Any:
                return function(sd, layer_input, **{n: getattr(self, n) for n in names})

            def get_output_type(self: Any, layer_index: int, input_type: InputType) -> InputType:
                return input_type if output_type is None else output_type(input_type)
            return {"define_layer": define_layer, "get_output_type": get_output_type}
        return layer(name)(of_function(function, SameDiffLambdaLayer, scope, methods))  # type: ignore[no-any-return]
    return decorate
