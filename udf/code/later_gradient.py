"""Gradients of code whose nodes need sizes that the graph leaves open: one op, which becomes nodes when a plan knows the sizes."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...samediff.base.spec import TensorSpec, spec_of
from ...samediff.errors import ShapeError
from ...samediff.families.composite import Composite, composite_grad
from ...samediff.families.decomposed import composition
from ...samediff.ir.op import Specs, as_tuple, op
from ...samediff.ir.run_context import RunContext
from .code_op import CodeOp
from .shape_probing import workable

if TYPE_CHECKING:
    from ...samediff.ir.variable import SDVariable


class CodeGradient(Composite):
    """Gradients for the inputs at ``places``, of which each has shape and type of its input."""

    places: tuple[int, ...]

    def infer(self, *specs: TensorSpec) -> Specs:
        """Shapes and types of the differentiated inputs."""
        return tuple(TensorSpec(specs[i].shape, specs[i].dtype) for i in self.places)

    def by_nodes(self, xs: Sequence[Any], context: RunContext) -> tuple[Any, ...]:
        """The values of the nodes, in a graph of their own."""
        specs = tuple(None if a is None else TensorSpec(tuple(a.shape), spec_of(a).dtype) for a in xs)
        sd, results = composition(self, specs)
        values = sd.compute_in(context, {f"in{i}": a for i, a in enumerate(xs) if a is not None}, [r.name() for r in results])
        return tuple(values[r.name()] for r in results)


@op("later_gradient", inputs="*xs")
class LaterGradient(CodeGradient):
    """Gradients of an op that stands for nodes, from its ``count`` inputs and the gradients of its outputs (made by gradients)."""

    inlines = True
    of: Any
    count: int
    places: tuple[int, ...]

    def compute(self, xp: Any, *xs: Any) -> Any:
        """The gradient by nodes for the sizes of these arrays."""
        return self.by_nodes(xs, RunContext(training=True, seed=0, iteration=0))

    def expand(self, *xs: Any) -> tuple[SDVariable, ...]:
        """Back through the nodes of the op."""
        given, upstream = xs[:self.count], xs[self.count:]
        found = composite_grad(self.of.expand, given, upstream)
        made = [upstream[0].sd.call("base", "zeros_like", given[i]) if found[i] is None else found[i] for i in self.places]
        return tuple(v for v in made if v is not None)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The second gradient, deferred until sizes are known as well."""
        return later(self, inputs, output_grads)


def later(of: Any, inputs: Sequence[SDVariable | None], output_grads: Sequence[SDVariable]) -> list[SDVariable | None]:
    """A gradient for each input of ``of``, an op with ``expand``, by one op."""
    places = tuple(i for i, v in enumerate(inputs) if v is not None and v.dtype.is_floating)
    found = output_grads[0].sd.add_op(LaterGradient(of, len(inputs), places), [*inputs, *output_grads])
    by_place = dict(zip(places, as_tuple(found if not isinstance(found, list) else tuple(found))))
    return [by_place.get(i) for i in range(len(inputs))]


def at_known_sizes(op: CodeOp, specs: Sequence[TensorSpec | None]) -> tuple[TensorSpec | None, ...]:
    """Specs of the inputs and outputs of an op, with sizes with which its code works in the place of open ones.

    Raises
    ------
    ShapeError
        It works with none of those that are tried.
    """
    found = workable(op.on_trial(), specs)
    return (*found, *as_tuple(op.infer(*found)))  # type: ignore[arg-type]  # inputs may be left out


def follows_later(op: CodeOp, specs: Sequence[TensorSpec | None]) -> bool:
    """Whether sizes are open, and code that has no nodes for that reason has a gradient at sizes with which it works.

    Raises
    ------
    TraceError
        It has none there either; says why.
    """
    if all(s is None or s.is_static for s in specs):
        return False
    try:
        known = at_known_sizes(op, specs)
    except ShapeError:
        return False
    places = tuple(i for i, s in enumerate(specs) if s is not None and s.dtype.is_floating)
    composition(LaterGradient(op, len(specs), places), known)
    return True
