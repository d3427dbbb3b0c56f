"""Loops of TensorFlow 1: the nodes of a frame as one node, which is run step by step while its condition is known."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ..errors import FileFormatError, LimitError, ValueNeededError
from ..onnx.values import DEAD, Held
from ..onnx.walk import Walk
from .wire import TensorFlowNode

InOrder = Callable[[list[TensorFlowNode]], list[TensorFlowNode]]

#: The most nodes that the steps of all loops become.
MOST_NODES = 50_000
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


def with_loops(nodes: list[TensorFlowNode], in_order: InOrder) -> list[TensorFlowNode]:
    """The nodes with one in the place of each loop, the inner ones first."""
    frames = {str(n.attributes.get("frame_name")) for n in nodes if n.op_type in _ENTER}
    if not frames:
        return nodes
    sizes = {f: _inside(nodes, f) for f in frames}
    for frame in sorted(frames, key=lambda f: (len(sizes[f]), f)):
        nodes = _collapsed(nodes, frame, in_order)
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


def _collapsed(nodes: list[TensorFlowNode], frame: str, in_order: InOrder) -> list[TensorFlowNode]:
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


def run(walk: Walk, loop: TensorFlowLoop, place: Callable[[TensorFlowNode], None]) -> None:
    """Add the nodes of every step to the graph, and name what the variables are behind the loop."""
    walk.scopes.append({n.name: walk.look_up(n.input[0]) for n in loop.enters})
    values = [walk.look_up(first) for _, first, _ in loop.merges]
    steps = 0
    while True:
        walk.scopes.append({name: value for (name, _, _), value in zip(loop.merges, values)})
        for node in loop.test:
            place(node)
        condition = walk.look_up(loop.condition)
        if not isinstance(condition, Held):
            raise _unknown(walk, loop, steps, condition)
        if not condition.array.all():
            break
        for name, i in loop.switches.items():
            walk.scopes[-1].update({name: DEAD, f"{name}:1": values[i]})
        for node in loop.step:
            place(node)
        values = [walk.look_up(following) for _, _, following in loop.merges]
        walk.scopes.pop()
        steps += 1
        if steps * (1 + len(loop.test) + len(loop.step)) > MOST_NODES:
            raise LimitError(f"the TensorFlow loop {loop.name!r} becomes more than {MOST_NODES:,} nodes")
    del walk.scopes[-2:]
    walk.scopes[-1].update(zip(loop.output, values))


def _unknown(walk: Walk, loop: TensorFlowLoop, steps: int, condition: Any) -> ValueNeededError:
    names = walk.placeholders([condition]) if condition is not DEAD and not isinstance(condition, list) else []
    text = f"whether the TensorFlow loop {loop.name!r} takes a step {steps} must be known while the graph is built; it depends on "
    if not names:
        return ValueNeededError(f"{text}what is trained", ())
    return ValueNeededError(f"{text}{', '.join(names)}. Give values, dynamic_variables={{{names[0]!r}: array}}", tuple(names))
