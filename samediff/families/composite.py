"""Ops whose gradient is that of a composition of other ops."""
from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

from ..ir.op import Expandable, as_tuple
from .gradient import gradients

if TYPE_CHECKING:
    from ..ir.variable import SDVariable


def composite_grad(build: Any, inputs: Sequence[SDVariable | None], output_grads: Sequence[SDVariable]) -> list[SDVariable | None]:
    """Gradients of ``build(*inputs)``, a result or several, for each input.

    The composition works on aliases of the inputs, so that one input may depend on another.
    """
    sd = output_grads[0].sd
    before = len(sd.tables.nodes)
    aliases = [None if v is None else sd.call("base", "identity", v) for v in inputs]
    outputs = as_tuple(build(*aliases))
    wanted = [v for v in aliases if v is not None and v.dtype.is_floating]
    seeds = {o.name(): g for o, g in zip(outputs, output_grads)}
    added = islice(reversed(sd.tables.nodes.values()), len(sd.tables.nodes) - before)
    found = gradients(sd, [], wanted, seeds, among=added)
    return [None if v is None else found.get(v.name()) for v in aliases]


class Composite(Expandable):
    """One node with its own ``compute``, differentiated through ``expand``: the same meaning in differentiable graph nodes.

    The gradient is exact to any order; what the backward pass shares with the forward pass is computed once where
    the nodes are equal.

    Class attributes
    ----------------
    inlines : bool
        True when plans run the composition, whose nodes have kernels, rather than ``compute``.
    """

    inlines: ClassVar[bool] = False

    def plan_rewrite(self, name: str) -> Composite | None:
        """The op whose composition plans run in place of it; None where they run its ``compute``."""
        return self if self.inlines else None

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradients of the composition."""
        return composite_grad(self.expand, inputs, output_grads)
