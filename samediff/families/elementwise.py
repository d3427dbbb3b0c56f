"""The family of elementwise ops: declared as array code, traced once, everything else follows."""
from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..base.datatype import DataType
from ..base.spec import TensorSpec, broadcast, size
from ..codecs.file_forms import of_scalar
from ..expressions import expression as ex
from ..ir.op import Op, Specs, op, require_floating, require_same_type
from .broadcasting import sum_to

if TYPE_CHECKING:
    from ..ir.variable import SDVariable


def promoted(*dtypes: DataType) -> DataType:
    """DL4J's rule for arithmetic: the floating operand's type, else the left one's."""
    return next((d for d in dtypes if d.is_floating), dtypes[0])


class Elementwise(Op):
    """Works element by element with broadcasting; ``compute`` is traced, so shape rule, gradient and kernels follow.

    Class attributes
    ----------------
    rule : str
        Type of the result: ``"same"`` (first input), ``"float"`` (floating input required, same type), ``"to_float"``
        (floating stays, others become FLOAT), ``"promote"`` (arithmetic of two arrays), ``"match"`` (all inputs of one
        type), ``"match_float"`` (the same, others than floats become FLOAT),
        ``"bool"``, ``"compare"`` (inputs of one type, BOOL), ``"long"``.
    """

    rule: ClassVar[str] = "same"

    def infer(self, *specs: TensorSpec) -> Specs:
        """The broadcast shape of the inputs, and the type that ``rule`` gives."""
        return TensorSpec(broadcast(*(s.shape for s in specs)), self.result_type(*specs))

    def result_type(self, *specs: TensorSpec) -> DataType:
        """Type of the result according to ``rule``; DataTypeError for inputs that it does not allow."""
        if self.rule == "float":
            require_floating(self.id, *specs)
        if self.rule in ("match", "match_float", "compare"):
            require_same_type(self.id, *specs)
        if self.rule in ("bool", "compare"):
            return DataType.BOOL
        if self.rule == "long":
            return DataType.LONG
        if self.rule in ("to_float", "match_float"):
            return specs[0].dtype if specs[0].dtype.is_floating else DataType.FLOAT
        return promoted(*(s.dtype for s in specs)) if self.rule == "promote" else specs[0].dtype

    def expressions(self, dtypes: Sequence[np.dtype[Any]]) -> tuple[ex.Expr, ...]:
        """The traced computation for inputs of these types."""
        return _traced(self, tuple(dtypes))

    def flops(self, inputs: Sequence[TensorSpec | None], outputs: Sequence[TensorSpec]) -> int | None:
        given = [s.dtype for s in inputs if s is not None]
        found = self.expressions([d.numpy for d in given]) if all(d.is_numeric for d in given) else ()
        return max(size(s.shape) for s in outputs) * ex.operations(found)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Derived from the trace, summed over broadcast axes."""
        return [self.partial(i, inputs, output_grads[0]) if x.dtype.is_floating else None for i, x in enumerate(inputs)]

    def partial(self, i: int, inputs: Sequence[SDVariable], upstream: SDVariable) -> SDVariable | None:
        """Gradient for input ``i``: upstream times the derivative of the trace, summed to the input's shape."""
        dtypes = [v.dtype.numpy for v in inputs]
        (derivative,) = (ex.derivative(e, i) for e in self.expressions(dtypes))
        if ex.is_constant(derivative, 0):
            return None
        if ex.is_constant(derivative, 1) and upstream.dtype is inputs[i].dtype:
            return sum_to(upstream, inputs[i])
        return sum_to(inputs[i].sd.add_op(PartialDerivative(self, i), [*inputs, upstream]), inputs[i])


@functools.lru_cache(maxsize=4096)
def _traced(op_: Elementwise, dtypes: tuple[np.dtype[Any], ...]) -> tuple[ex.Expr, ...]:
    return ex.trace(op_.compute, dtypes)


@op("partial", inputs="*xs")
class PartialDerivative(Elementwise):
    """Upstream gradient times the derivative of an elementwise op by one input (made by gradients, not by users)."""

    op: Elementwise
    wrt: int

    def result_type(self, *specs: TensorSpec) -> DataType:
        """The type of the input that is differentiated by."""
        return specs[self.wrt].dtype

    def expressions(self, dtypes: Sequence[np.dtype[Any]]) -> tuple[ex.Expr, ...]:
        """Product of the last input and the derivative, with selects applied last."""
        *inner, upstream = dtypes
        (e,) = self.op.expressions(inner)
        d = ex.derivative(e, self.wrt)
        return (ex.cast(ex.multiply(ex.cast(ex.input_(len(inner), upstream), d.dtype), d), inner[self.wrt]),)

    def compute(self, xp: Any, *arrays: Any) -> Any:
        """Evaluate the expression, which may be a constant."""
        found = ex.evaluate(self.expressions([a.dtype for a in arrays]), xp, arrays)[0]
        return xp.broadcast_to(found, broadcast(*(a.shape for a in arrays)))


def meeting(x: Any, y: Any) -> Any:
    """y in the type of x where NumPy would meet in DOUBLE, which does not hold all whole numbers of 64 bits."""
    whole = x.dtype.kind in "iu" and y.dtype.kind in "iu"
    return y.astype(x.dtype) if whole and np.result_type(x.dtype, y.dtype).kind == "f" else y


class Pairwise(Elementwise):
    """Two arrays with broadcasting."""

    inputs = "x y"
    rule = "promote"


def scalar_form(name: str, api: str, of: type[Elementwise], **class_attributes: Any) -> type[Elementwise]:
    """Register the form of a pairwise op whose second operand is a number, converted to the type of the array."""

    @op(name, api=api, **{"file": of_scalar(name), **class_attributes})
    class ScalarForm(Elementwise):
        rule = "bool" if of.rule in ("bool", "compare") else "same"
        element_values = "scalar"
        scalar: float

        def compute(self, xp: Any, x: Any) -> Any:
            return of().compute(xp, x, xp.asarray(self.scalar, dtype=x.dtype))

    ScalarForm.__doc__ = f"{of.__doc__} With a number for y."
    ScalarForm.__name__ = ScalarForm.__qualname__ = of.__name__ + "Scalar"
    return ScalarForm


def unary(name: str, api: str, function: Callable[..., Any], doc: str, rule: str = "float", **class_attributes: Any) -> type[Elementwise]:
    """Register an elementwise op of one array without attributes: a line per op.

    Parameters
    ----------
    function : callable
        ``function(xp, x)``.
    """

    @op(name, api=api, **class_attributes)
    class Unary(Elementwise):
        def compute(self, xp: Any, x: Any) -> Any:
            return function(xp, x)

    Unary.rule = rule
    Unary.__doc__ = doc
    Unary.__module__ = sys._getframe(1).f_globals["__name__"]        # who declares it
    Unary.__name__ = Unary.__qualname__ = "".join(p.title() for p in name.split("_"))
    return Unary


def binary(name: str, api: str, function: Callable[..., Any], doc: str, rule: str = "promote", scalar: str = "",
           scalar_api: str = "", **class_attributes: Any) -> type[Pairwise]:
    """Register an elementwise op of two arrays, and its form with a number when ``scalar`` names it: a line per op."""

    @op(name, api=api, **class_attributes)
    class Binary(Pairwise):
        def compute(self, xp: Any, x: Any, y: Any) -> Any:
            return function(xp, x, meeting(x, y))

    Binary.rule = rule
    Binary.__doc__ = doc
    Binary.__module__ = sys._getframe(1).f_globals["__name__"]
    Binary.__name__ = Binary.__qualname__ = "".join(p.title() for p in name.split("_"))
    if scalar:
        scalar_form(scalar, scalar_api or api, Binary, gradient=class_attributes.get("gradient", "full"))
    return Binary
