"""The gradient that an op gives for one of its inputs, in the shape and type of that input."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..base.spec import TensorSpec, may_spread
from ..errors import DL4PyError, GradientError
from ..ir.node import Node
from ..ir.op import Specs, op
from ..ir.variable import SDVariable
from .broadcasting import SumTo, sum_to

if TYPE_CHECKING:
    from ..base.spec import Shape


def fitted(node: Node, i: int, x: SDVariable, found: Any) -> SDVariable:
    """The gradient that the op of ``node`` gave for its input ``i``, the variable ``x``.

    A gradient of a shape to which the input broadcasts is summed to the shape of the input, another floating type is converted.
    Where sizes are open and the gradient is the code of others, a node looks again when they are known.

    Raises
    ------
    GradientError
        Anything else; names op, input and both shapes.
    """
    where = f"the gradient that {node.where()} gives for its input {i}, {x.name()!r}"
    if not isinstance(found, SDVariable):
        raise GradientError(f"{where} is {type(found).__name__} {found!r:.60}; it must be a variable, built from nodes, or None where it "
                            "is zero")
    try:
        g = x.sd.tables.own(found)
    except DL4PyError as error:
        raise GradientError(f"{where}: {error}") from error
    maker = x.sd.tables.producer(g.name())
    where += f", built at {maker.source}," if maker is not None and maker.source else ""
    if not g.dtype.is_floating:
        raise GradientError(f"{where} is of type {g.dtype.name}; expected {x.dtype.name}, the type of the input")
    if g.dtype is not x.dtype:
        g = x.sd.call("base", "cast_to", g, x.dtype)
    if not may_spread(x.spec.shape, g.spec.shape):
        raise GradientError(f"{where} is {_mismatch(g.spec.shape, x.spec.shape)}")
    if g.spec.is_static and x.spec.is_static:
        return sum_to(g, x)
    return x.sd.add_op(FittedGradient(where), [g, x]) if node.op.gradient_is_checked else g  # type: ignore[no-any-return]


def _mismatch(shape: Shape | None, wanted: Shape | None) -> str:
    return f"of shape {shape}; expected {wanted}, the shape of the input, or one to which that broadcasts (it is summed then)"


@op("fitted_gradient", inputs="x like", shape_inputs=(1,))
class FittedGradient(SumTo):
    """As :class:`SumTo`; sizes that do not fit are the fault of the op whose gradient this is (made by gradients)."""

    where: str

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape of ``like``, which must broadcast to that of x."""
        self._check(specs[0].shape, specs[1].shape)
        return TensorSpec(specs[1].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, like: Any) -> Any:
        """The sum; sizes that only the run knows are looked at here."""
        self._check(x.shape, like.shape)
        return super().compute(xp, x, like)

    def _check(self, shape: Sequence[int] | None, like: Sequence[int] | None) -> None:
        if not may_spread(like, shape):
            raise GradientError(f"{self.where} is {_mismatch(shape, like)}")  # type: ignore[arg-type]
