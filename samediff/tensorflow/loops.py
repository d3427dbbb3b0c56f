"""Loops of TensorFlow 1: the nodes of a frame as one node."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ..errors import FileFormatError
from ..onnx.values import DEAD
from ..onnx.walk import Walk
from .ordering import in_order
from .repeating import ready, repeated
from .wire import TensorFlowNode

_ENTER, _EXIT, _NEXT = ("Enter", "RefEnter"), ("Exit", "RefExit"), ("NextIteration", "RefNextIteration")


@dataclass
class TensorFlowLoop(TensorFlowNode):
    """The nodes between the entries and exits of a frame.

    Parameters
    ----------
    enters : list of TensorFlowNode
        What comes in from outside.
    merges : list of (str, str, str)
        Variables of the loop: their names, where they come from at first, and from then on.
    switches : dict
        What takes the value of a variable into the step: its name, and the number of the variable.
    condition : str
        What says whether there is another step.
    test, step : lists of TensorFlowNode
        Nodes, in order, that give the condition, and the others.
    """

    enters: list[TensorFlowNode] = field(default_factory=list)
    merges: list[tuple[str, str, str]] = field(default_factory=list)
    switches: dict[str, int] = field(default_factory=dict)
    condition: str = ""
    test: list[TensorFlowNode] = field(default_factory=list)
    step: list[TensorFlowNode] = field(default_factory=list)

    @property
    def output(self) -> list[str]:
        """Names of the variables behind the loop."""
        return [self.name, *(f"{self.name}:{i}" for i in range(1, len(self.merges)))]


def with_loops(nodes: list[TensorFlowNode]) -> list[TensorFlowNode]:
    """The nodes with one in the place of each loop, the inner ones first."""
    frames = {str(n.attributes.get("frame_name")) for n in nodes if n.op_type in _ENTER}
    if not frames:
        return nodes
    sizes = {f: _inside(nodes, f) for f in frames}
    for frame in sorted(frames, key=lambda f: (len(sizes[f]), f)):
        nodes = _collapsed(nodes, frame)
    return nodes


def _inside(nodes: Iterable[TensorFlowNode], frame: str) -> set[str]:
    """The names of what lies between the entries and exits of a frame."""
    readers: dict[str, list[TensorFlowNode]] = {}
    for node in nodes:
        for name in (*node.input, *node.control):
            readers.setdefault(name.partition(":")[0], []).append(node)
    stack = [(n, 1) for n in nodes if n.op_type in _ENTER and str(n.attributes.get("frame_name")) == frame]
    found = {n.name for n, _ in stack}
    while stack:
        node, depth = stack.pop()
        for other in readers.get(node.name, ()):
            if other.name in found or (depth == 1 and other.op_type in _EXIT):
                continue
            found.add(other.name)
            stack.append((other, depth + (other.op_type in _ENTER) - (other.op_type in _EXIT)))
    return found


def _collapsed(nodes: list[TensorFlowNode], frame: str) -> list[TensorFlowNode]:
    """The nodes with one for the loop of a frame, and what comes out of it."""
    inside = _inside(nodes, frame)
    body = {n.name: n for n in nodes if n.name in inside}
    conditions = [n for n in body.values() if n.op_type == "LoopCond"]
    if len(conditions) != 1:
        raise FileFormatError(f"the loop {frame!r} of the TensorFlow graph has {len(conditions)} conditions")
    loop = TensorFlowLoop(frame, "Loop", condition=conditions[0].input[0])
    for node in body.values():
        following = [n for n in node.input if n in body and body[n].op_type in _NEXT] if node.op_type == "Merge" else []
        if following:
            first = next(n for n in node.input if n not in following)
            loop.merges.append((node.name, first, body[following[0]].input[0]))
    places = {name: i for i, (name, _, _) in enumerate(loop.merges)}
    loop.enters = [n for n in body.values() if n.op_type in _ENTER]
    loop.switches = {n.name: places[n.input[0]] for n in body.values()
                     if n.op_type in ("Switch", "RefSwitch") and n.input[0] in places and n.input[1] == conditions[0].name}
    given = {*places, *loop.switches, *(n.name for n in loop.enters)}
    ends = {conditions[0].name, *(n.name for n in body.values() if n.op_type in _NEXT)}
    rest = {n.name: n for n in body.values() if n.name not in given and n.name not in ends}
    outside = [n for n in nodes if n.name not in inside]
    loop.input = list(dict.fromkeys(i for n in body.values() for i in n.input if i.partition(":")[0] not in body))
    ordered = in_order([TensorFlowNode(n.name, "", [i for i in n.input if i.partition(":")[0] in rest],
                                       [c for c in n.control if c in rest]) for n in rest.values()])
    needed = _needed(rest, loop.condition)
    loop.test = [rest[n.name] for n in ordered if n.name in needed]
    loop.step = [rest[n.name] for n in ordered if n.name not in needed]
    made = []
    for node in outside:
        base = node.input[0].partition(":")[0] if node.op_type in _EXIT and node.input else ""
        made.append(TensorFlowNode(node.name, "Identity", [loop.output[loop.switches[base]]]) if base in loop.switches else node)
    return [*made, loop]


def _needed(nodes: dict[str, TensorFlowNode], wanted: str) -> set[str]:
    found, stack = set[str](), [wanted.partition(":")[0]]
    while stack:
        name = stack.pop()
        if name in nodes and name not in found:
            found.add(name)
            stack += [n.partition(":")[0] for n in (*nodes[name].input, *nodes[name].control)]
    return found


def run(walk: Walk, loop: TensorFlowLoop, place: Callable[[Walk, TensorFlowNode], None]) -> None:
    """Add the loop to the graph, and name what its variables are behind it."""
    names = [name for name, _, _ in loop.merges]

    def enter(values: list[Any]) -> None:
        walk.scopes.append(dict(zip(names, values)))
        for node in loop.test:
            place(walk, node)

    def test(values: list[Any]) -> Any:
        enter(values)
        found = walk.look_up(loop.condition)
        walk.scopes.pop()
        return found

    def step(values: list[Any]) -> list[Any]:
        enter(values)
        for name, i in loop.switches.items():
            walk.scopes[-1].update({name: DEAD, f"{name}:1": values[i]})
        for node in loop.step:
            place(walk, node)
        found = [walk.look_up(following) for _, _, following in loop.merges]
        walk.scopes.pop()
        return found

    walk.scopes.append({n.name: walk.look_up(n.input[0]) for n in loop.enters})
    values = [walk.look_up(first) for _, first, _ in loop.merges]
    inner = (*loop.test, *loop.step)
    outside = {i for n in inner for i in n.input} - {n.name for n in inner} - set(names)
    values = repeated(walk, loop.name, values, test, step, len(inner), lambda: ready(walk, [walk.find(n) for n in outside]))
    walk.scopes.pop()
    walk.scopes[-1].update(zip(loop.output, values))
