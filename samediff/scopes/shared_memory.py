"""Recorded arrays that look at the same memory in NumPy: all of them change when one does."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .lazy import LazyINDArray, array_of, depth_of, rebind

if TYPE_CHECKING:
    from ..families.array_code.graph_array import GraphArray

#: Ops whose results look at the memory of what they are given whatever its order is, which those of a reshape do not.
ALWAYS_VIEWS = frozenset(("expand_dims", "index", "permute", "reverse", "squeeze", "strided_slice", "slice", "transpose"))

#: Elements of memory that several arrays look at and that changes; its positions are constants of the graph.
MOST = 1 << 20


class Look(NamedTuple):
    """The variable in whose memory another one stands, and the positions of its elements there; None where they are not known."""

    source: str
    places: Any


def root_of(trace: Any, name: str) -> str:
    """The name of the variable in whose memory NumPy would have this one."""
    while True:
        node = trace.sd.producer(name)
        if name in trace.seen:
            name = trace.seen[name].source
        elif name not in trace.own and node is not None and node.op.is_view and node.inputs[0] is not None:
            name = node.inputs[0]
        else:
            return name


def change(trace: Any, target: LazyINDArray, made: GraphArray) -> None:
    """Have an array stand for what it was changed to, and those that look at its memory for what they see then."""
    made = _copied(trace, made, array_of(target).variable)
    root = root_of(trace, array_of(target).variable.name())
    others = [a for a in trace.alive() if a is not target and root_of(trace, array_of(a).variable.name()) == root]
    if not others:
        rebind(target, made)
        return
    looking = [target, *others]
    places = [_places(trace, array_of(a).variable.name()) for a in looking]
    if any(p is None for p in places) or np.unique(places[0]).size < places[0].size or any(depth_of(a) != trace.depth for a in looking):
        trace.refuse("an array is changed in place while another one looks at the same memory (a slice, reshape or transpose): copy one of "
                     "them with dup(), or make a new array (x = x.add(...))")
    xp, sd = trace.xp, trace.sd
    before = xp.ravel(xp.wrap(sd.variable(root)))
    after = sd.call("base", "scatter_update", before.variable, sd.constant(places[0].reshape(-1)), xp.ravel(made).variable)
    for array, at in zip(looking, places):
        seen = xp.reshape(xp.wrap(sd.call("base", "gather", after, sd.constant(at.reshape(-1)), 0)), at.shape)
        trace.seen[seen.variable.name()] = Look(after.name(), at)
        rebind(array, seen)


def _copied(trace: Any, made: GraphArray, old: Any) -> GraphArray:
    """The value that takes the place of a variable: in memory that nobody else looks at, and in the order of the old one."""
    root = root_of(trace, made.variable.name())
    shared = trace.sd.producer(root) is None or any(root_of(trace, array_of(a).variable.name()) == root for a in trace.alive())
    if not shared and trace.orders.are_alike(made.variable, old):
        return made
    copy = trace.sd.call("base", "identity", made.variable)
    trace.own.add(copy.name())
    trace.orders.follow(copy, old)
    return trace.xp.wrap(copy)  # type: ignore[no-any-return]


def _places(trace: Any, name: str) -> Any:
    """The positions of the elements of a variable in the memory where it stands; None where they are not known, or too many."""
    shape = trace.sd.variable(name).spec.shape
    if shape is None or -1 in shape:
        return None
    if name in trace.seen:
        source, places = trace.seen[name]
        return places if root_of(trace, source) == source else None
    node = trace.sd.producer(name)
    if root_of(trace, name) == name:
        return np.arange(math.prod(shape)).reshape(shape) if math.prod(shape) <= MOST else None
    whole = _places(trace, node.inputs[0]) if node.op.id in ALWAYS_VIEWS and len(node.inputs) == 1 else None
    return None if whole is None else node.op.compute(np, whole)
