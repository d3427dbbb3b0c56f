"""Factors that stay the same along the axes of a sum stand in front of it: sum_to(g * gamma) is gamma * sum_to(g).

Gradients of what was broadcast are sums of such products. Without the factors one sum often serves several of them, and products that
nothing else reads are not made.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..base.datatype import DataType
from ..base.spec import TensorSpec, broadcast
from ..expressions import expression as ex
from ..families.broadcasting import BroadcastLike, BroadcastReduced, SumTo, broadcast_axes
from ..families.elementwise import Elementwise, PartialDerivative
from ..ir.node import Node
from ..ir.op import attributes, declare

#: Sums of narrower types might overflow without a small factor.
_TYPES = (DataType.FLOAT, DataType.DOUBLE)


@attributes
class OfExpression(Elementwise):
    """Any scalar expression of the inputs, by their numbers; plans alone have it."""

    expr: ex.Expr

    def result_type(self, *specs: TensorSpec) -> DataType:
        """That of the expression."""
        return DataType.of(self.expr.dtype)

    def expressions(self, dtypes: Sequence[np.dtype[Any]]) -> tuple[ex.Expr, ...]:
        """The expression."""
        return (self.expr,)

    def compute(self, xp: Any, *arrays: Any) -> Any:
        """Evaluate it."""
        return ex.evaluate([self.expr], xp, arrays)[0]


declare(OfExpression, "expression", inputs="*xs")


class _Factor(NamedTuple):
    """An expression of variables, by their names."""

    expr: ex.Expr
    divides: bool = False


class _Sum(NamedTuple):
    """A sum over ``axes`` of arrays of so many axes, and the nodes that made its summands."""

    rank: int
    axes: tuple[int, ...]
    specs: Mapping[str, TensorSpec]
    makers: Mapping[str, Node]

    def is_same(self, expr: ex.Expr) -> bool:
        """Whether the value is the same all along the axes."""
        return all(self._repeats(self.specs[n].shape or ()) for n in ex.inputs_of([expr]))

    def _repeats(self, shape: Sequence[int]) -> bool:
        return all(i < self.rank - len(shape) or shape[i - self.rank + len(shape)] == 1 for i in self.axes)

    def factors(self, expr: ex.Expr) -> Iterator[_Factor]:
        """What is multiplied, through the products that made variables where something of them is the same along the axes."""
        if expr.op == "multiply":
            for a in expr.args:
                yield from self.factors(a)
        elif expr.op == "negative" or (expr.op == "add" and expr.args[0] is expr.args[1]):
            yield _Factor(ex.constant(-1 if expr.op == "negative" else 2, expr.dtype))
            yield from self.factors(expr.args[0])
        elif expr.op == "divide" and self.is_same(expr.args[1]):
            yield from self.factors(expr.args[0])
            yield _Factor(expr.args[1], True)
        elif expr.op == "input":
            yield from self._of_variable(expr)
        else:
            yield _Factor(expr)

    def _of_variable(self, expr: ex.Expr) -> list[_Factor]:
        maker = self.makers.get(expr.value)
        if maker is None or self.is_same(expr):
            return [_Factor(expr)]
        if not isinstance(maker.op, Elementwise):
            source = ex.input_(maker.inputs[0] or "", expr.dtype)
            narrow = len(self.specs[source.value].shape or ()) == self.rank and self.is_same(source)
            return [_Factor(source if narrow else expr)]
        made = expression_of(maker, self.specs)
        found = [] if made is None or made.dtype != expr.dtype else list(self.factors(made))
        return found if any(self.is_same(f.expr) for f in found) else [_Factor(expr)]


def is_maker(node: Node) -> bool:
    """Whether sums may look through a node: an elementwise one, or one that repeats its input."""
    repeats = isinstance(node.op, BroadcastLike) or (isinstance(node.op, BroadcastReduced) and node.op.divisor is None)
    return len(node.outputs) == 1 and (repeats or isinstance(node.op, Elementwise))


def expression_of(node: Node, specs: Mapping[str, TensorSpec]) -> ex.Expr | None:
    """What an elementwise node computes, of variables by their names; None where some are of other types."""
    names = [n or "" for n in node.inputs]
    dtype = specs[node.outputs[0]].dtype
    if dtype not in _TYPES or not all(n in specs and specs[n].is_static and specs[n].dtype is dtype for n in names):
        return None
    assert isinstance(node.op, Elementwise)
    made = node.op.expressions([dtype.numpy] * len(names))
    return ex.compose(made, [ex.input_(n, dtype.numpy) for n in names])[0] if len(made) == 1 else None


def factored(node: Node, specs: Mapping[str, TensorSpec], makers: Mapping[str, Node]) -> list[Node] | None:
    """The nodes in place of a sum whose summands have such factors; None where they have none."""
    if not isinstance(node.op, SumTo):
        return None
    name, like = node.inputs
    maker = makers.get(name or "")
    if maker is None or not isinstance(maker.op, Elementwise) or like is None:
        return None
    full, small = specs[name or ""], specs[like]
    expr = expression_of(maker, specs) if full.is_static and small.is_static else None
    if expr is None:
        return None
    assert full.shape is not None and small.shape is not None
    one = _Sum(len(full.shape), broadcast_axes(full.shape, small.shape), specs, makers)
    found = list(one.factors(expr))
    front, rest = ([f for f in found if one.is_same(f.expr) is same] for same in (True, False))
    summands = _product(sorted(rest, key=lambda f: repr(f.expr))) if front and rest else None
    if summands is None or _shape(summands, specs) != full.shape:
        return None
    is_there = summands.op == "input"
    total = f"{node.name}>total"
    scaled = _product([_Factor(ex.input_(total, full.dtype.numpy)), *front])
    if not (is_there or isinstance(maker.op, PartialDerivative)) or _shape(scaled, {**specs, total: small}) != small.shape:
        return None
    product = f"{node.name}>product"
    made = [] if is_there else [_node(node, summands, product)]
    return [*made, replace(node, name=total, inputs=(summands.value if is_there else product, like), outputs=(total,)),
            _node(node, scaled, node.name, node.outputs)]


def _product(factors: Sequence[_Factor]) -> ex.Expr:
    made, *rest = factors
    assert not made.divides
    expr = made.expr
    for f in rest:
        expr = ex.apply("divide" if f.divides else "multiply", expr, f.expr)
    return expr


def _shape(expr: ex.Expr, specs: Mapping[str, TensorSpec]) -> Any:
    return broadcast(*(specs[n].shape for n in ex.inputs_of([expr])))


def _node(like: Node, expr: ex.Expr, name: str, outputs: tuple[str, ...] = ()) -> Node:
    """A node that computes an expression of variables."""
    names = list(ex.inputs_of([expr]))
    numbered = ex.compose([expr], {n: ex.input_(i, expr.dtype) for i, n in enumerate(names)})[0]
    return replace(like, name=name, op=OfExpression(numbered), inputs=tuple(names), outputs=outputs or (name,))
