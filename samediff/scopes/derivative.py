"""The derivative of a function over arrays, as a function that adds its nodes to the graph that is being recorded."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from ..arrays.recording import state
from ..errors import GradientError
from .trace import GraphTrace
from .tree import build, flatten


def derivative(function: Callable[..., Any], wrt: Any, with_value: bool) -> Callable[..., Any]:
    """The function of the same arguments that gives the gradient by arguments ``wrt``; behind the value when ``with_value``."""
    single = isinstance(wrt, (int, str))
    places = [wrt] if single else list(wrt) if isinstance(wrt, Iterable) else []
    if not places or not all(isinstance(p, (int, str)) and not isinstance(p, bool) for p in places):
        raise GradientError(f"gradients are by positions or names of arguments; got {wrt!r}")
    name = getattr(function, "__name__", "function")

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        trace = state.recorder
        if not isinstance(trace, GraphTrace):
            raise GradientError(f"the gradient of {name} is only known where it can be compiled")
        given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        chosen = [_place(function, p, given) for p in places]
        arrays: list[Any] = []
        form = flatten([given[p] for p in chosen], arrays)
        inputs = [trace.sd.call("base", "identity", trace.operand(a)) for a in arrays]
        if not inputs or not all(v.dtype.is_floating for v in inputs):
            kinds = ", ".join(v.dtype.name for v in inputs) or "no arrays"
            raise GradientError(f"{name} is differentiated by {', '.join(map(repr, places))}, which must hold floating arrays; got {kinds}")
        given.update(zip(chosen, build(form, iter([trace.lazy(v) for v in inputs]))))
        result = function(*[given[i] for i in range(len(args))], **{k: given[k] for k in kwargs})
        leaves: list[Any] = []
        flatten(result, leaves)
        loss = trace.result(leaves[0]) if len(leaves) == 1 else None
        if loss is None or not loss.dtype.is_floating:
            raise GradientError(f"{name} must return one floating array to be differentiated; got {result!r:.200}")
        found = trace.sd.gradients(loss, inputs)
        filled = [trace.sd.call("base", "zeros_like", v) if g is None else g for v, g in zip(inputs, found)]
        gradients = build(form, iter([trace.lazy(v) for v in filled]))
        gradient = gradients[0] if single else tuple(gradients)
        return (result, gradient) if with_value else gradient
    return call


def _place(function: Callable[..., Any], place: Any, given: dict[Any, Any]) -> Any:
    """Position of an argument among those given, or its name where it was given by name."""
    if place not in given and isinstance(place, str):
        names = list(inspect.signature(function).parameters)
        place = names.index(place) if place in names else place
    elif isinstance(place, int) and place < 0:
        place += sum(isinstance(k, int) for k in given)
    if place not in given:
        raise GradientError(f"{getattr(function, '__name__', 'the function')} is differentiated by argument {place!r}, which was not "
                            f"given; given: {', '.join(map(repr, given)) or 'none'}")
    return place
