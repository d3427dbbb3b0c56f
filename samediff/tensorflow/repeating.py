"""Loops: step by step as long as their condition is known while the graph is built, else as a loop of the graph."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..errors import LimitError, ValueNeededError
from ..onnx.values import DEAD, Held
from ..onnx.walk import Walk

#: The most nodes that the steps of a loop become.
MOST_NODES = 20_000


def repeated(walk: Walk, name: str, values: list[Any], test: Callable[[list[Any]], Any], step: Callable[[list[Any]], list[Any]],
             size: int, before: Callable[[], Any]) -> list[Any]:
    """The values of the variables behind a loop.

    Parameters
    ----------
    walk : Walk
        Where nodes are added.
    name : str
        What the loop is called.
    values : list
        Values of its variables before the first step.
    test, step : functions of such values
        Give the condition of another step, and the values behind it.
    size : int
        Number of nodes of a step.
    before : function
        Makes what ``test`` and ``step`` take from outside, for a loop of the graph.
    """
    steps = 0
    while True:
        with walk.trial():
            condition = test(values)
        if not isinstance(condition, Held):
            return _looped(walk, name, steps, values, test, step, before)
        if not condition.array.all():
            return values
        values = step(values)
        steps += 1
        if steps * (1 + size) > MOST_NODES:
            raise LimitError(f"the TensorFlow loop {name!r} becomes more than {MOST_NODES:,} nodes")


def _looped(walk: Walk, name: str, steps: int, values: list[Any], test: Callable[[list[Any]], Any],
            step: Callable[[list[Any]], list[Any]], before: Callable[[], Any]) -> list[Any]:
    """The same as a loop of the graph."""
    if any(isinstance(v, list) or v is DEAD for v in values):
        raise _unknown(walk, name, steps, values)
    before()
    state = ready(walk, values)

    def again(sd: Any, state: list[Any]) -> Any:
        return sd.call("base", "reshape", walk.variable(test(state)))

    def turn(sd: Any, state: list[Any]) -> list[Any]:
        return [sd.call("base", "identity", walk.inner_variable(v)) for v in step(state)]

    made: list[Any] = walk.sd.while_loop(state, again, turn)
    return made


def ready(walk: Walk, values: Iterable[Any]) -> list[Any]:
    """The variables of values, made before the graph that takes them is recorded."""
    return [walk.variable(v) for v in values if v is not None and v is not DEAD and not isinstance(v, list)]


def _unknown(walk: Walk, name: str, steps: int, values: list[Any]) -> ValueNeededError:
    with walk.trial():
        names = walk.placeholders([v for v in values if v is not DEAD and not isinstance(v, list)])
    text = (f"whether the TensorFlow loop {name!r} takes a step {steps} must be known while the graph is built, as it carries lists of "
            "arrays; it depends on ")
    if not names:
        return ValueNeededError(f"{text}what is trained", ())
    return ValueNeededError(f"{text}{', '.join(names)}. Give values, dynamic_variables={{{names[0]!r}: array}}", tuple(names))
