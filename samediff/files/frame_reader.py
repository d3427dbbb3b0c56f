"""Branches and loops of graph files: switch, merge, enter, exit … become the ops ``if`` and ``while`` with sub-graphs.

A conditional is a merge whose inputs lead back to switches with one condition (output 0 of a switch is taken when it is
false, output 1 when it is true). A loop is a frame: values come in by ``enter``, ``merge`` joins the first value with the
one of ``next_iteration``, ``switch`` sends it into the body (1) or to ``exit`` (0).
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..base.spec import TensorSpec
from ..codecs.flatbuffers.graph import FlatNode
from ..codecs.flatbuffers.properties import OWN, PART_OF, property_value
from ..codecs.flatbuffers.schema import OpType
from ..families.subgraph import relaxed
from ..ir.op import Op
from ..ops.control.control import If, While

#: Ends the name of an input whose value a sub-graph holds as a constant besides, for rules that ask for values.
GIVEN = ":given"
_CONTROL = {"switch": (2, 2), "merge": (2, 1), "enter": (1, 1), "exit": (1, 1), "next_iteration": (1, 1), "loop_cond": (1, 1)}


@dataclass(eq=False)
class Item:
    """A node to be added: from the file (``flat``), or made here (``build`` gives its op for a graph and inputs)."""

    name: str
    inputs: list[str]
    outputs: tuple[str, ...]
    flat: FlatNode | None = None
    build: Callable[[Any, Sequence[str]], Op] | None = None
    kind: str = field(init=False)

    def __post_init__(self) -> None:
        name = (self.flat.op_name or "").lower() if self.flat is not None and self.flat.op_type == OpType.LOGIC else ""
        name = {"nextiteration": "next_iteration", "loopcond": "loop_cond"}.get(name, name)
        inputs, outputs = _CONTROL.get(name, (0, 0))
        alone = self.flat is not None and any(p.name == OWN for p in self.flat.properties)
        self.kind = name if not alone and inputs and len(self.inputs) == inputs and len(self.outputs) >= outputs else ""

    def renamed(self, names: Mapping[str, str]) -> Item:
        """The same with other inputs."""
        return Item(self.name, [names.get(n, n) for n in self.inputs], self.outputs, self.flat, self.build)


#: Makes the sub-graph of items: (graph around it, items, its inputs as (name inside, name outside), results, specs of inputs that vary).
Cut = Callable[[Any, Sequence[Item], Sequence[tuple[str, str]], Sequence[str], Mapping[str, TensorSpec]], Any]


class FrameReader:
    """Replaces control flow among items until none is left that is understood."""

    def __init__(self, items: Sequence[Item], cut: Cut) -> None:
        self.items, self.cut = list(items), cut

    def structured(self) -> list[Item]:
        """The items with branches and loops as single ones."""
        while any(i.kind == "merge" for i in self.items):
            if not (any(self._conditional(i) for i in list(self.items) if i.kind == "merge")
                    or any(self._loop(f) for f in self._frame_names())):
                break
        used = {n for i in self.items for n in i.inputs if not i.kind}
        dead = [i for i in self.items if i.kind and not used.intersection(i.outputs)]
        understood = len(dead) == sum(1 for i in self.items if i.kind) and not any(i.kind == "exit" for i in dead)
        return [i for i in self.items if not (understood and i.kind)]

    def _producers(self) -> dict[str, Item]:
        return {n: i for i in self.items for n in i.outputs}

    def _back(self, names: Iterable[str], stop: Callable[[Item, str], bool], past: Mapping[str, str] = {}
              ) -> tuple[list[Item], list[tuple[Item, str]]]:
        """Items that lead to ``names``, and the outputs at which to stop; ``past``: names that stand for others."""
        made, seen, ends = self._producers(), set[str](), []
        found: dict[int, Item] = {}
        stack = list(names)
        while stack:
            name = stack.pop()
            name = past.get(name, name)
            item = made.get(name)
            if item is None or name in seen:
                continue
            seen.add(name)
            if stop(item, name):
                ends.append((item, name))
            elif id(item) not in found:
                found[id(item)] = item
                stack += item.inputs
        return [i for i in self.items if id(i) in found], ends

    def _depending(self, items: Sequence[Item], starts: Iterable[str]) -> list[Item]:
        """Those of the items that depend on any of the starts."""
        reached, kept, grown = set(starts), [], True
        while grown:
            fresh = [i for i in items if i not in kept and reached.intersection(i.inputs)]
            kept += fresh
            reached.update(n for i in fresh for n in i.outputs)
            grown = bool(fresh)
        return [i for i in items if i in kept]

    def _replace(self, old: Sequence[Item], new: Item) -> bool:
        place = min(self.items.index(i) for i in old)
        gone = {id(i) for i in old}
        self.items[place:place] = [new]
        self.items = [i for i in self.items if id(i) not in gone]
        return True

    # Conditionals

    def _conditional(self, merge: Item) -> bool:
        made = self._producers()
        whole = part_of(merge.flat)
        merges = [merge] if whole is None else [i for i in self.items if i.kind == "merge" and part_of(i.flat) == whole]
        names: dict[int, list[str]] = {0: [], 1: []}
        conditions = set()
        for one in merges:
            sides = self._sides(made, one)
            if sides is None:
                return False
            for side in (0, 1):
                names[side].append(sides[side])
            conditions.add(sides[2])
        if len(conditions) != 1:
            return False
        parts: dict[int, tuple[list[Item], dict[str, str]]] = {}
        for side in (0, 1):
            between, ends = self._back(names[side], lambda i, n: bool(i.kind))
            data = {n: i.inputs[0] for i, n in ends if i.kind == "switch"}
            parts[side] = self._depending(between, data), data
        given = dict.fromkeys(n for side in (1, 0) for n in self._outside(names[side], *parts[side]))
        condition = conditions.pop()

        def build(sd: Any, inputs: Sequence[str]) -> Op:
            pairs = list(zip(given, inputs[1:]))
            yes, no = (self.cut(sd, [i.renamed(parts[s][1]) for i in parts[s][0]], pairs,
                                [parts[s][1].get(n, n) for n in names[s]], {}) for s in (1, 0))
            return If(yes, no)

        inner = [i for between, _ in parts.values() for i in between]
        new = Item(part_of(merge.flat) or merge.name, [condition, *given], tuple(m.outputs[0] for m in merges), build=build)
        self._replace(merges, new)
        self._forget(inner, new)
        return True

    def _sides(self, made: Mapping[str, Item], merge: Item) -> tuple[str, str, str] | None:
        """The inputs of a merge that are taken if false and if true, and the condition; None where it joins no branches (yet)."""
        if any(_kind(made, n) in ("enter", "next_iteration") or n in merge.outputs for n in merge.inputs):
            return None
        sides: dict[int, str] = {}
        conditions = set()
        open_side = None
        for name in merge.inputs:
            _, ends = self._back([name], lambda i, n: bool(i.kind))
            switches = [(i, n) for i, n in ends if i.kind == "switch"]
            if any(i.kind in ("merge", "exit") and i not in self._loop_merges() for i, _ in ends):
                return None                       # an inner one comes first
            chosen = {i.outputs.index(n) for i, n in switches}
            conditions |= {i.inputs[1] for i, _ in switches}
            if len(chosen) > 1:
                return None
            if chosen:
                sides[chosen.pop()] = name
            else:
                open_side = name
        if open_side is not None and len(sides) == 1:
            sides[1 - next(iter(sides))] = open_side
        return (sides[0], sides[1], conditions.pop()) if len(sides) == 2 and len(conditions) == 1 else None

    def _outside(self, results: Sequence[str], items: Sequence[Item], data: Mapping[str, str]) -> list[str]:
        own = {n for i in items for n in i.outputs}
        read = [n for i in items for n in i.inputs] + list(results)
        return [given for n in read if n not in own and (given := data.get(n, n)) not in own]

    def _forget(self, inner: Sequence[Item], new: Item) -> None:
        """Take out items and switches that nothing else reads any more."""
        candidates = [*inner, *(i for i in self.items if i.kind in ("switch", "enter", "next_iteration", "loop_cond", "merge"))]
        shrinking = True
        while shrinking:
            read = {n for i in self.items for n in i.inputs if not set(i.inputs) & set(i.outputs)}
            gone = {id(i) for i in candidates if i is not new and (i in inner or i.kind == "switch") and not read.intersection(i.outputs)}
            before = len(self.items)
            self.items = [i for i in self.items if id(i) not in gone]
            shrinking = len(self.items) < before

    def _loop_merges(self) -> list[Item]:
        made = self._producers()
        return [i for i in self.items if i.kind == "merge"
                and any(_kind(made, n) == "next_iteration" or n in i.outputs for n in i.inputs)]

    # Loops

    def _frame_names(self) -> list[Any]:
        return list(dict.fromkeys(_frame(i) for i in self.items if i.kind == "enter"))

    def _loop(self, frame: Any) -> bool:
        made = self._producers()
        loop = _Loop.of(frame, self.items, made)
        parts = None if loop is None else self._parts_of(loop)
        if loop is None or parts is None:
            return False
        outside = dict.fromkeys(n for part, wanted in zip(parts, loop.wanted)
                                for n in self._outside(wanted, part, loop.names) if n not in loop.state)
        new = Item(loop.name, [*loop.initial, *outside], loop.outputs, build=self._while(loop, parts, list(outside)))
        control = loop.control(self.items, made)
        self._replace(control, new)
        inner = {i.name for part in parts for i in part}
        lost = {n for i in control for n in i.outputs} - set(loop.outputs)
        self.items = [i for i in self.items if i.name not in inner and (i is new or not lost.intersection(i.inputs))]
        return True

    def _parts_of(self, loop: _Loop) -> list[list[Item]] | None:
        """The items of the condition and of the body; None where they hold another frame, which comes first."""
        parts = []
        for wanted in loop.wanted:
            between, ends = self._back(wanted, lambda i, n: bool(i.kind), loop.sent)
            if any(i not in loop.merges and i not in loop.switches and i not in loop.enters for i, _ in ends):
                return None
            parts.append(self._depending(between, loop.names))
        return parts

    def _while(self, loop: _Loop, parts: Sequence[Sequence[Item]], outside: Sequence[str]) -> Callable[[Any, Sequence[str]], Op]:
        def build(sd: Any, inputs: Sequence[str]) -> Op:
            pairs = list(zip([*loop.state, *outside], inputs))
            specs = {n: TensorSpec((v := sd.variable(given)).spec.shape, v.dtype) for n, given in zip(loop.state, inputs)}
            for _ in range(8):                    # until the shapes hold for every iteration
                cond, body = (self.cut(sd, [i.renamed(loop.names) for i in part], pairs, [loop.names.get(w, w) for w in wanted], specs)
                              for part, wanted in zip(parts, loop.wanted))
                after = {n: relaxed(specs[n], body.sd.variable(o).spec) for n, o in zip(loop.state, body.outputs)}
                if after == specs:
                    break
                specs = after
            return While(cond, body)
        return build


@dataclass(eq=False)
class _Loop:
    """The control flow of a frame, in the order of the state.

    Attributes
    ----------
    enters, merges, switches : the items by which values come in, go round, and are sent into the body or out
    through : switches of values that the body gets without them being part of the state
    exits : the items by which the last values leave; None for values that nobody reads afterwards
    condition, results : the values that decide, and the next state
    names : of values as the body calls them, those inside of the sub-graphs
    """

    enters: list[Item]
    merges: list[Item]
    switches: list[Item]
    through: list[Item]
    exits: list[Item | None]
    condition: str
    results: list[str]
    names: dict[str, str]

    @classmethod
    def of(cls, frame: Any, items: Sequence[Item], made: Mapping[str, Item]) -> _Loop | None:
        """The loop of a frame; None where it is not complete."""
        enters = [i for i in items if i.kind == "enter" and _frame(i) == frame]
        entering = {i.outputs[0] for i in enters}
        merges = [i for i in items if i.kind == "merge" and i.inputs[0] in entering and _kind(made, i.inputs[1]) == "next_iteration"]
        deciding = {s.inputs[0]: s for s in items if s.kind == "switch"}
        if not merges or any(m.outputs[0] not in deciding for m in merges):
            return None
        switches = [deciding[m.outputs[0]] for m in merges]
        condition = switches[0].inputs[1]
        through = [s for s in items if s.kind == "switch" and s.inputs[1] == condition and s not in switches]
        leaving = {e.inputs[0]: e for e in items if e.kind == "exit"}
        names = {n: m.outputs[0] for s, m in zip(switches, merges) for n in (m.outputs[0], s.outputs[1])}
        names |= {i.outputs[0]: i.inputs[0] for i in enters if i.outputs[0] not in {m.inputs[0] for m in merges}}
        names |= {s.outputs[1]: names.get(s.inputs[0], s.inputs[0]) for s in through}
        return cls(enters, merges, switches, through, [leaving.get(s.outputs[0]) for s in switches],
                   made[condition].inputs[0] if _kind(made, condition) == "loop_cond" else condition,
                   [made[m.inputs[1]].inputs[0] for m in merges], names)

    @property
    def wanted(self) -> tuple[list[str], list[str]]:
        """The values that the two sub-graphs compute."""
        return [self.condition], self.results

    @property
    def state(self) -> list[str]:
        """The names of the values that go round."""
        return [m.outputs[0] for m in self.merges]

    @property
    def initial(self) -> list[str]:
        """The values with which the first iteration begins."""
        first = {i.outputs[0]: i.inputs[0] for i in self.enters}
        return [first[m.inputs[0]] for m in self.merges]

    @property
    def sent(self) -> dict[str, str]:
        """The sources of values that pass a switch without being part of the state."""
        return {s.outputs[1]: s.inputs[0] for s in self.through}

    @property
    def outputs(self) -> tuple[str, ...]:
        """The last values."""
        return tuple(f"{n}:last" if e is None else e.outputs[0] for n, e in zip(self.state, self.exits))

    @property
    def name(self) -> str:
        """The name of the node that takes the place of all of it."""
        return next((part_of(e.flat) or e.name for e in self.exits if e is not None), self.merges[0].name)

    def control(self, items: Sequence[Item], made: Mapping[str, Item]) -> list[Item]:
        """All items of control flow that the loop consists of."""
        found = [i for i in (*self.enters, *self.merges, *self.switches, *self.through, *self.exits) if i is not None]
        found += [made[m.inputs[1]] for m in self.merges] + [i for i in items if i.kind == "loop_cond" and i.inputs[0] == self.condition]
        return found + [i for i in items if i.kind == "merge" and set(i.inputs) & set(i.outputs)]   # DL4J's own counter, never read


def _kind(made: Mapping[str, Item], name: str) -> str:
    return made[name].kind if name in made else ""


def part_of(flat: FlatNode | None) -> Any:
    """The node of which a merge or exit is an output, in files of this library; None in others."""
    return None if flat is None else next((property_value(p) for p in flat.properties if p.name == PART_OF), None)


def _frame(item: Item) -> Any:
    flat = item.flat
    assert flat is not None  # only nodes of the file enter frames
    if flat.extra_strings:
        return flat.extra_strings[0]
    found = next((property_value(p) for p in flat.properties if p.name == "frameName"), None)
    return found if found is not None else flat.extra_integer[:1]
