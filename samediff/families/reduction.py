"""The family of reductions over axes."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..base.datatype import DataType
from ..base.spec import Shape, TensorSpec, reduced, size
from ..codecs.file_forms import of_reduction
from ..errors import DataTypeError
from ..ir.op import OPS, Op, Specs, SweepOf, op, require_floating
from .broadcasting import axes_of, broadcast_reduced
from .elementwise import Elementwise

if TYPE_CHECKING:
    from ..ir.variable import SDVariable




class Reduction(Op):
    """Reduces over ``dimensions`` (negative ones count from the end; none means all), or over the axes in a variable.

    Sub-classes implement ``reduce(xp, x, axes)`` and either :attr:`slope` or ``grad``.

    Class attributes
    ----------------
    result : DataType, "same", "to_float" or "float"
        Type of the result; ``"to_float"`` makes integers FLOAT, ``"float"`` refuses them.
    of_one_itself : bool
        Whether the result for a single element is that element.
    chosen_by : str
        For reductions that choose an element: the op that gives its place. Only the first of equal ones gets a gradient, as in DL4J.
    slope : callable
        ``slope(xp, x, y, upstream)``: gradient as elementwise code, with result and upstream stretched over ``x``.
    """

    inputs = "x axes?"
    flops_per_element = 1
    dimensions: tuple[int, ...] = ()
    keep_dims: bool = False
    signatures: ClassVar[tuple[str, ...]] = ("x, *dimensions", "x, keep_dims, *dimensions", "x, axes, keep_dims")
    result: ClassVar[Any] = "same"
    of_one_itself: ClassVar[bool] = False
    slope: ClassVar[Callable[..., Any] | None] = None
    chosen_by: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        cls.__annotations__ = {"dimensions": "tuple[int, ...]", "keep_dims": "bool", **inspect.get_annotations(cls)}
        for name, default in (("dimensions", ()), ("keep_dims", False)):
            if name not in cls.__dict__:
                setattr(cls, name, default)

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(self.reduced_shape(*specs), self.result_type(specs[0]))

    def reduced_shape(self, x: TensorSpec, axes: TensorSpec | None = None) -> Shape | None:
        """Shape after the reduction, as far as the axes are known."""
        if axes is None:
            return reduced(x.shape, self.dimensions, self.keep_dims)
        if not axes.dtype.is_integer:
            raise DataTypeError(f"axes must be integers, got a variable of type {axes.dtype.name}")
        if axes.value is not None:
            return reduced(x.shape, [int(a) for a in axes.value.reshape(-1)], self.keep_dims)
        if x.shape is None or (not self.keep_dims and not axes.is_static):
            return None
        gone = size(axes.shape) or len(x.shape)          # no axis means all
        return (-1,) * len(x.shape) if self.keep_dims else (-1,) * (len(x.shape) - gone)

    def result_type(self, x: TensorSpec) -> DataType:
        """Type of the result according to ``result``."""
        if self.result == "float":
            require_floating(self.id, x)
        if isinstance(self.result, DataType):
            return self.result
        return DataType.FLOAT if self.result == "to_float" and not x.dtype.is_floating else x.dtype

    def reduce(self, xp: Any, x: Any, axes: tuple[int, ...]) -> Any:
        """The reduction over ``axes``, with ``keepdims=self.keep_dims``."""
        raise NotImplementedError(f"{type(self).__name__} must implement reduce(self, xp, x, axes)")

    def compute(self, xp: Any, x: Any, axes: Any = None) -> Any:
        """Reduce; integers are converted first where the result is floating."""
        if self.result == "to_float" and x.dtype.kind in "iub":
            x = x.astype(xp.float32)
        return self.reduce(xp, x, axes_of(self.dimensions, x.ndim, axes))

    def same_as(self, *specs: TensorSpec) -> int | None:
        """The input where each slice is a single element, for reductions that leave such a one as it is."""
        shape = self.reduced_shape(*specs) if self.of_one_itself else None
        return 0 if shape == specs[0].shape and self.result_type(specs[0]) is specs[0].dtype else None

    @property
    def compiled_as(self) -> str:
        """Name among the compiled reductions: of the class that says how to reduce, which may be a parent."""
        return next(c for c in type(self).__mro__ if "reduce" in vars(c)).id  # type: ignore[attr-defined,no-any-return]

    def as_sweep(self, *specs: TensorSpec) -> SweepOf | None:
        """The sweep ``compiled_as`` over the dimensions."""
        x = specs[0]
        return SweepOf(self.compiled_as, axes_of(self.dimensions, x.rank or 0), self.result_type(x)) if len(specs) == 1 else None

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        if self.slope is None:
            return super().grad(inputs, outputs, output_grads)
        stretched = [self.broadcast_reduced(v, inputs) for v in (outputs[0], output_grads[0])]
        if self.chosen_by:
            stretched[1] = self._to_first(inputs, stretched[1])
        return [inputs[0].sd.add_op(Slope(self.id), [inputs[0], *stretched])]

    def _to_first(self, inputs: Sequence[SDVariable], upstream: SDVariable) -> SDVariable:
        """The gradient where the element stands that is chosen: the first of equal ones, so that it comes in once."""
        sd = inputs[0].sd
        chosen = sd.add_op(OPS["at_extreme"](self.chosen_by, self.dimensions, in_variable=len(inputs) > 1), list(inputs))
        return sd.call("base", "where", upstream, sd.constant(np.zeros((), upstream.dtype.numpy)), chosen)  # type: ignore[no-any-return]

    def broadcast_reduced(self, value: SDVariable, inputs: Sequence[SDVariable], divisor: int | None = None) -> SDVariable:
        """A reduced variable broadcast over the input (see :func:`.broadcasting.broadcast_reduced`)."""
        axes = inputs[1] if len(inputs) > 1 else None
        return broadcast_reduced(value, inputs[0], self.dimensions, self.keep_dims, axes, divisor)


@op("reduction_slope", inputs="x y upstream")
class Slope(Elementwise):
    """Gradient of a reduction, element by element (made by gradients)."""

    of: str

    def compute(self, xp: Any, x: Any, y: Any, upstream: Any) -> Any:
        """The function ``slope`` of the reduction op ``of``."""
        return OPS[self.of].slope(xp, x, y, upstream)  # type: ignore[attr-defined]


def reduction(name: str, api: str, function: Callable[..., Any], doc: str, slope: Callable[..., Any] | None = None,
              result: Any = "same", **class_attributes: Any) -> type[Reduction]:
    """Register a reduction without further attributes: a line per op.

    Parameters
    ----------
    function : callable
        ``function(xp, x, axes, keep_dims)``.
    slope : callable, optional
        ``slope(xp, x, y, upstream)``; without it the gradient is zero.
    """

    @op(name, api=api, **{"gradient": "zero" if slope is None else "full", "file": of_reduction(name), **class_attributes})
    class Declared(Reduction):
        def reduce(self, xp: Any, x: Any, axes: tuple[int, ...]) -> Any:
            return function(xp, x, axes, self.keep_dims)

    Declared.result = result
    Declared.slope = None if slope is None else staticmethod(slope)
    Declared.__doc__ = doc
    Declared.__name__ = Declared.__qualname__ = "".join(p.title() for p in name.split("_"))
    return Declared
