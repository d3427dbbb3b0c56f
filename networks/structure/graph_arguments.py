"""The arguments of ``output`` and ``feed_forward`` of graphs, in Python's order and in all of DL4J's."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...samediff.errors import GraphError


class ForwardRequest(NamedTuple):
    """A forward pass that is asked for."""

    inputs: list[Any]
    train: bool
    masks: tuple[Any, Any] = (None, None)
    members: tuple[str, ...] | None = None          # whose activations; None: the usual ones
    till: int | None = None                         # the last layer, by its place in the order in which layers run
    flags: tuple[bool, ...] = ()                    # flags after ``train``


def is_switch(value: Any) -> bool:
    """True for true and false, of Python or NumPy."""
    return isinstance(value, (bool, np.bool_))


def arrays_of(values: Sequence[Any]) -> list[Any]:
    """Arrays given one by one, or as one list."""
    if len(values) == 1 and isinstance(values[0], (list, tuple)) and values[0] and hasattr(values[0][0], "shape"):
        return list(values[0])
    return list(values)


def asked_of_output(args: Sequence[Any], train: bool, masks: tuple[Any, Any]) -> ForwardRequest:
    """Read ``(x, …)``, ``(train, x, …)``, ``(train, [x, …], [mask, …], [labels mask, …])`` and ``([name, …], train, [x, …], [mask, …])``.

    Behind ``train`` may stand whether inputs are cleared, or a workspace (None), which have no effect here.
    """
    left, members = list(args), None
    if left and isinstance(left[0], (list, tuple)) and left[0] and all(isinstance(n, str) for n in left[0]):
        members = tuple(left.pop(0))
    if left and is_switch(left[0]):
        train = bool(left.pop(0))
        while left and (left[0] is None or is_switch(left[0])):
            del left[0]
    if 1 < len(left) <= 3 and isinstance(left[0], (list, tuple)) and all(m is None or isinstance(m, (list, tuple)) for m in left[1:]):
        masks = tuple([*left[1:], None][:2])        # type: ignore[assignment]  # two of them
        left = left[:1]
    return ForwardRequest(_without_switches("output", arrays_of(left)), train, masks, members)


def asked_of_feed_forward(args: Sequence[Any], train: bool) -> ForwardRequest:
    """Read ``(x, …)`` or none, and DL4J's ``train``, number of the last layer and further switches before or behind them."""
    marks = [a for a in args if is_switch(a) or isinstance(a, (int, np.integer))]
    numbers = [int(a) for a in marks if not is_switch(a)]
    switches = [bool(a) for a in marks if is_switch(a)]
    if len(numbers) > 1:
        raise GraphError(f"feed_forward takes one number, that of the last layer; got {numbers}")
    inputs = arrays_of([a for a in args if not (is_switch(a) or isinstance(a, (int, np.integer)))])
    return ForwardRequest(inputs, switches[0] if switches else train, till=numbers[0] if numbers else None, flags=tuple(switches[1:]))


def _without_switches(what: str, values: list[Any]) -> list[Any]:
    for value in values:
        if is_switch(value):
            raise GraphError(f"{what} takes arrays, with train=True or train=False, or true or false as the first argument; got {value} "
                             "among the arrays")
    return values
