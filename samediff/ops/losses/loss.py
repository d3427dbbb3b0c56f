"""The family of losses: a value per element, weights, one reduction."""
from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...base.enums import LossReduce
from ...base.spec import Shape, TensorSpec, may_equal
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...expressions.arrays import sum_over
from ...families.composite import Composite
from ...families.families import Elementwise
from ...families.in_float import as_float, in_float, in_type_of
from ...ir.op import Copies, Op, Specs, attributes, op, require_floating
from ..elementwise.masking import mask_gradient, times_mask

if TYPE_CHECKING:
    from ...ir.variable import SDVariable

DEFAULT = LossReduce.MEAN_BY_NONZERO_WEIGHT_COUNT


_CHOICES = "|".join(LossReduce.__members__)
#: Arguments of a loss without further attributes.
FILE = FileArgs(ints=(f"loss_reduce:{_CHOICES}",), properties={"lossReduce": f"l:loss_reduce:{_CHOICES}"},
                added={"weights": ":=1"})


def with_float(name: str, stored: str = "") -> FileArgs:
    """Arguments of a loss with one number besides."""
    return replace(FILE, floats=(name,), properties={**FILE.properties, stored or name: f"d:{name}"})


@attributes
class LossOp(Composite):
    """Losses of elements times weights, reduced by ``loss_reduce``; the result becomes a loss variable.

    Sub-classes give the loss of each element: as array code (``terms``), as nodes (``term_nodes``) and its shape.
    Without weights all are 1. Where a weight is 0, the loss of the element reaches neither result nor gradient, be it NaN. Where the
    divisor of a mean is 0 the result is 0.
    """

    inputs = "predictions weights? label"
    is_loss = True
    inlines = True
    file = FILE
    loss_reduce: LossReduce = DEFAULT

    def __init_subclass__(cls) -> None:
        tail = "".join(f", {name}" for name in inspect.get_annotations(cls))
        cls.signatures = (f"label, predictions, weights?, loss_reduce{tail}", f"label, predictions, weights?{tail}")

    # The loss of each element

    def terms(self, xp: Any, predictions: Any, label: Any) -> Any:
        """Loss of each element, in array code."""
        raise NotImplementedError(f"{type(self).__name__} must implement terms(self, xp, predictions, label)")

    def term_nodes(self, predictions: SDVariable, label: SDVariable) -> SDVariable:
        """The loss of each element, as graph nodes."""
        raise NotImplementedError(f"{type(self).__name__} must implement term_nodes(self, predictions, label)")

    def term_shape(self, shape: Shape) -> Shape:
        """Shape of the losses of the elements."""
        return shape

    # Derived from these

    def infer(self, *specs: TensorSpec) -> Specs:
        """A scalar, or one value per element."""
        predictions, weights, label = specs
        require_floating(self.id, predictions)
        a, b = predictions.shape, label.shape
        if not may_equal(a, b):
            raise ShapeError(f"label {b} and predictions {a} must have the same shape")
        shape = b if a is None else a if b is None else tuple(max(m, n) for m, n in zip(a, b))
        result = None if shape is None else self.term_shape(shape)
        if weights is not None and weights.is_static and result is not None and -1 not in result:
            fit(weights.shape, result)  # type: ignore[arg-type]
        return TensorSpec(result if self.loss_reduce is LossReduce.NONE else (), predictions.dtype)

    @in_float
    def compute(self, xp: Any, predictions: Any, weights: Any, label: Any) -> Any:
        terms = self.terms(xp, predictions, label)
        spread = None if weights is None else stretched(xp, weights.astype(terms.dtype), terms.shape)
        return weighted(xp, terms, spread, self.loss_reduce)

    def expand(self, *inputs: Any) -> Any:
        """The op as a composition of other ops."""
        predictions, weights, label = inputs
        if as_float(predictions) is not predictions:        # FLOAT holds the epsilons and slopes of losses
            return in_type_of(LossOp.expand(self, *(None if v is None else as_float(v) for v in inputs)), predictions)
        sd, terms = predictions.sd, self.term_nodes(predictions, label)
        if weights is not None:
            if weights.dtype is not terms.dtype:
                weights = sd.call("base", "cast_to", weights, terms.dtype)
            weights = sd.add_op(WeightsLike(), [weights, terms])
            terms = self.term_nodes(*(mask_gradient(v, weights, channels_last=True) for v in (predictions, label)))
        if self.loss_reduce in (LossReduce.NONE, LossReduce.SUM):
            terms = times_mask(terms, weights)
            return terms if self.loss_reduce is LossReduce.NONE else terms.sum()
        if weights is None:
            return terms.mean()
        if self.loss_reduce is LossReduce.MEAN_BY_NONZERO_WEIGHT_COUNT:
            return sd.call("math", "div_no_nan", times_mask(terms, weights).sum(), sd.add_op(NotZero(), [weights]).sum())
        total = weights.sum()
        average = sd.call("math", "div_no_nan", times_mask(terms, weights).sum(), total)
        finite = sd.call("base", "cast_to", sd.call("math", "is_finite", average), terms.dtype)
        centre = sd.add_op(Detached(), [times_mask(average, finite)])           # infinite losses stay where they are
        return sd.call("math", "div_no_nan", times_mask(terms - centre, weights).sum(), total) + centre     # exact by weights


def weighted(xp: Any, terms: Any, weights: Any, how: LossReduce) -> Any:
    """Reduce losses with weights of the same shape (None: all 1)."""
    if weights is not None:
        terms = xp.where(weights != 0, terms * weights, terms.dtype.type(0))
    if how is LossReduce.NONE:
        return terms
    total = sum_over(terms)
    if how is LossReduce.SUM:
        return total
    if weights is None:
        divisor = terms.dtype.type(terms.size)
    elif how is LossReduce.MEAN_BY_WEIGHT:
        divisor = weights.sum(dtype=terms.dtype)
    else:
        divisor = xp.asarray((weights != 0).sum(), dtype=terms.dtype)
    return xp.where(divisor == 0, terms.dtype.type(0), total / xp.where(divisor == 0, terms.dtype.type(1), divisor))


def fit(weights: Shape, terms: Shape) -> Shape:
    """The shape in which weights are broadcast to the losses; ShapeError when they do not fit."""
    padded = (1,) * (len(terms) - len(weights)) + weights
    if len(padded) == len(terms) and all(n in (1, m) for n, m in zip(padded, terms)):
        return padded
    squeezed = tuple(n for n in weights if n != 1)
    if len(weights) > len(terms) and squeezed == tuple(n for n in terms if n != 1):
        return terms
    raise ShapeError(f"weights {weights} cannot be broadcast to the losses {terms}: "
                     "give a scalar, one weight per example or one per element")


def stretched(xp: Any, weights: Any, shape: Shape) -> Any:
    """Weights broadcast to the shape of the losses (a view)."""
    return xp.broadcast_to(weights.reshape(fit(weights.shape, shape)), shape)


@op("loss_weights", inputs="weights terms")
class WeightsLike(Op):
    """Weights broadcast to the shape of the losses (made by gradients)."""

    shape_inputs = (1,)

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[1].shape, specs[0].dtype)

    def compute(self, xp: Any, weights: Any, terms: Any) -> Any:
        return stretched(xp, weights, terms.shape)

    def copies(self, *specs: TensorSpec) -> Copies:
        return Copies(lambda weights, terms, out: [(stretched(np, weights, out.shape), out)])

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(WeightsSum(), [output_grads[0], inputs[0]]), None]


@op("loss_weights_sum", inputs="x weights")
class WeightsSum(Op):
    """Sum over the axes along which weights were broadcast (made by gradients)."""

    shape_inputs = (1,)

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[1].shape, specs[0].dtype)

    @in_float
    def compute(self, xp: Any, x: Any, weights: Any) -> Any:
        shape = fit(weights.shape, x.shape)
        axes = tuple(i for i, n in enumerate(shape) if n == 1 and x.shape[i] != 1)
        return x.sum(axis=axes, keepdims=True, dtype=x.dtype).reshape(weights.shape)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(WeightsLike(), [output_grads[0], inputs[0]]), None]


@op("loss_not_zero", gradient="zero")
class NotZero(Elementwise):
    """1 where x is not 0, in the type of x (made by gradients)."""

    def compute(self, xp: Any, x: Any) -> Any:
        return (x != 0).astype(x.dtype)


@op("loss_centre", gradient="zero")
class Detached(Op):
    """The input, taken as a constant (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        return x

    def same_as(self, *specs: TensorSpec) -> int | None:
        return 0


class ElementLoss(LossOp):
    """A loss whose terms are elementwise: ``terms`` is traced, so derivatives and kernels follow."""

    def term_nodes(self, predictions: SDVariable, label: SDVariable) -> SDVariable:
        return predictions.sd.add_op(LossTerms(self), [predictions, label])  # type: ignore[no-any-return]


@op("loss_terms", inputs="predictions label")
class LossTerms(Elementwise):
    """Losses of the elements (made by gradients)."""

    loss: ElementLoss

    def result_type(self, *specs: TensorSpec) -> DataType:
        """The type of the predictions, FLOAT for integers."""
        return specs[0].dtype if specs[0].dtype.is_floating else DataType.FLOAT

    def compute(self, xp: Any, predictions: Any, label: Any) -> Any:
        return self.loss.terms(xp, predictions, label)


def element_loss(name: str, method: str, function: Any, doc: str, **class_attributes: Any) -> type[ElementLoss]:
    """Register an elementwise loss without further attributes: ``function(xp, predictions, label)``."""

    @op(name, api=f"loss.{method}", **class_attributes)
    class Declared(ElementLoss):
        def terms(self, xp: Any, predictions: Any, label: Any) -> Any:
            return function(xp, predictions, label)

    Declared.__doc__ = doc
    Declared.__name__ = Declared.__qualname__ = "".join(p.title() for p in name.split("_"))
    return Declared
