"""States of lists, and which of them a node of a graph file works on.

DL4J's list ops share one list that changes while the graph runs; here every write gives a new list, the flow. Files name
the flow for most ops, but leave it out where Java's methods do: there it is that of the last write before, in the order of the file.
"""
from __future__ import annotations

from collections.abc import Sequence

from ..codecs.flatbuffers.schema import OpType
from ..codecs.op_hash import kernel_name
from ..ops.control.list_ops import CreateList, OfList
from .frame_reader import Item

#: The ops that work on a list, by the name of DL4J's kernel.
_OPS: dict[str, type[OfList]] = {cls.id: cls for cls in OfList.__subclasses__()}


def with_flows(items: Sequence[Item]) -> list[Item]:
    """The items with the flow in place of the handle, wherever the list itself is meant, and as last input of each list op."""
    made = [i.outputs for i in items if _kernel(i) == CreateList.id and len(i.outputs) > 1]
    last = {handle: flow for handle, flow, *_ in made}           # handle: the flow at this place of the file
    of = {name: outputs[0] for outputs in made for name in outputs}     # a flow: its handle
    empty = dict(last)
    varying = {n for i in items if i.kind == "merge" for n in i.inputs}
    found: list[Item] = []
    for item in items:
        of_list = _OPS.get(_kernel(item))
        count = len(of_list.inputs.split()) - 1 if of_list else 0           # without the flow
        first = item.inputs[:1] if count else []
        current = empty if item.kind == "enter" and item.outputs[0] not in varying else last     # only names the list inside a loop
        names = [*first, *(current.get(n, n) for n in item.inputs[len(first):])]
        handle = next((of[n] for n in item.inputs if n in of), None)
        if handle in first and len(names) == count:
            names.append(last[handle])
        if names != item.inputs:
            item = Item(item.name, names, item.outputs, item.flat, item.build)
        changes = of_list is not None and of_list.writes
        if handle is not None and (changes or item.kind):
            of.update(dict.fromkeys(item.outputs, handle))
            if item.kind == "exit" or (changes and first == [handle]):   # not inside of loops, whose result comes by the exit
                last[handle] = item.outputs[0]
        found.append(item)
    return found


def _kernel(item: Item) -> str:
    flat = item.flat
    return kernel_name(flat.op_name or "") if flat is not None and flat.op_type == OpType.CUSTOM else ""
