"""Vertices without parameters, of plain functions."""
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ...samediff.base.home import scope_of
from ..custom.lambda_layer import of_function
from ..types.input_type import InputType
from .base import vertex
from .samediff_vertex import SameDiffLambdaVertex

__all__ = ["lambda_vertex"]


def lambda_vertex(name: str, output_type: Callable[..., InputType] | None = None,
                  ) -> Callable[[Callable[..., Any]], type[Any]]:
    """Make a vertex of a function ``f(sd, a, b, *, scale: float = 1.0)`` of the graph and its inputs.

    The function becomes a class of vertices, whose options are its keyword-only parameters. A value is masked where it is in any input.

    Parameters
    ----------
    name : str
        Under which files know the vertex, with a part of your own in front: nothing but this name and the options is saved.
    output_type : callable, optional
        The type of the activations by those of the inputs; by default that of the first input.

    Examples
    --------
    >>> from dl4py.layers import lambda_vertex
    >>> @lambda_vertex("example.Product")
    ... def product(sd, a, b):
    ...     return a * b
    >>> product().num_params()
    0
    """
    scope = scope_of(sys._getframe(1))

    def decorate(function: Callable[..., Any]) -> type[Any]:
        def methods(names: tuple[str, ...]) -> dict[str, Any]:
            def define_vertex(self: Any, sd: Any, inputs: Any) -> Any:
                return function(sd, *inputs, **{n: getattr(self, n) for n in names})

            def get_output_type(self: Any, layer_index: int, *input_types: InputType) -> InputType:
                return input_types[0] if output_type is None else output_type(*input_types)
            return {"define_vertex": define_vertex, "get_output_type": get_output_type}
        return vertex(name)(of_function(function, SameDiffLambdaVertex, scope, methods))  # type: ignore[no-any-return]
    return decorate
