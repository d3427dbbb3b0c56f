"""The body of the scan that goes back; gradients by values from outside are summed behind it, all steps at once."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...families.broadcasting import SumTo, sum_to
from ...families.subgraph import SubGraph
from ...ir.node import Node
from ...ir.op import Op
from ..elementwise.arithmetic import Add
from ..linalg.matmul import Matmul
from ..shape.broadcasting import Flatten2D

if TYPE_CHECKING:
    from ...ir.variable import SDVariable

Value = Callable[[str], "SDVariable"]


@dataclass(frozen=True)
class Summand:
    """A value of the body whose sum over the steps is a part of a gradient; or two, of whose product ``x' y`` that is true."""

    x: str
    y: str | None = None

    def total(self, of: Value, like: SDVariable) -> SDVariable:
        """The sum, of the values stacked along axis 0."""
        x = of(self.x)
        if self.y is None:
            return sum_to(x, like)
        rows = [v.sd.add_op(Flatten2D(axis=2), [v]) for v in (x, of(self.y))]
        return sum_to(x.sd.add_op(Matmul(transpose_x=True), rows), like)


@dataclass(frozen=True)
class ScanGradient:
    """The parts of a scan's gradient that depend on its body alone.

    Attributes
    ----------
    body : from the gradients of the carry, the carry before the step, the elements, the gradients of the results and of the kept carry, and
        the values from outside, to the gradients of the carry and of the elements, then ``stacked``
    stacked : values of the body that are kept for sums
    sums : for each floating value from outside, by its place among the inputs, the summands of its gradient
    """

    body: SubGraph
    stacked: tuple[str, ...]
    sums: dict[int, list[Summand]]


def scan_gradient(body: SubGraph, carries: int, sequences: int) -> ScanGradient:
    """The parts of the gradient of a scan with this body, made once per body."""
    known, key = body.derived, ("backward", carries, sequences)
    if key not in known:
        known[key] = _made(body, carries, carries + sequences)
    return known[key]  # type: ignore[no-any-return]  # of this key


def _made(body: SubGraph, carries: int, split: int) -> ScanGradient:
    grad = body.gradient
    fork = grad.sd.fork()
    upstream = grad.inputs[len(body.inputs):]
    first = sum(1 for i in body.floating_outputs if i < carries)
    places = dict(zip(body.floating, grad.outputs))
    kept, kept_names = [], []
    for i in body.floating:
        if i < carries:
            other = fork.tables.new_input("part", fork.variable(body.inputs[i]).spec)
            kept.append((other + fork.variable(places[i])).name())
            kept_names.append(other.name())
    outside = set(body.inputs[split:])
    sums = {i: list(_summands(fork, places[i], outside)) for i in body.floating if i >= split}
    given = set(body.inputs[:split])        # stacked anyway
    stacked = tuple(dict.fromkeys(n for terms in sums.values() for s in terms for n in (s.x, s.y) if n is not None and n not in given))
    inputs = [*upstream[:first], *body.inputs[:split], *upstream[first:], *kept_names, *body.inputs[split:]]
    outputs = [*kept, *(places[i] for i in body.floating if carries <= i < split), *stacked]
    return ScanGradient(SubGraph(fork, inputs, outputs), stacked, sums)


def _summands(sd: Any, name: str, outside: set[str]) -> Iterator[Summand]:
    makers: dict[str, Node] = {n: node for node in sd.nodes() for n in node.outputs}
    spec = sd.variable(name).spec

    def operands(n: str, kind: type[Op]) -> list[str]:
        """The operands of a value's node, if that is of one kind; none if an operand is the same in each step."""
        node = makers.get(n)
        found = [] if node is None or type(node.op) is not kind else [i for i in node.inputs if i is not None]
        return found if outside.isdisjoint(found[:1] if kind is SumTo else found) else []

    waiting = [name]
    while waiting:
        n = waiting.pop()
        added = operands(n, Add)
        if added and all(sd.variable(i).spec.is_static and sd.variable(i).spec.shape == spec.shape for i in added):
            waiting += reversed(added)
            continue
        while found := operands(n, SumTo):
            n = found[0]
        factors = operands(n, Matmul)
        if factors and makers[n].op == Matmul(transpose_x=True) and all(len(sd.variable(i).spec.shape or ()) == 2 for i in factors):
            yield Summand(*factors)
        else:
            yield Summand(n)
