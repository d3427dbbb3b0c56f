"""Random ops that have no method: DL4J's graph files hold them by number."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.datatype import DataType
from ...base.spec import TensorSpec, broadcast
from ...codecs.file_args import FileArgs
from ...errors import GraphError, ShapeError
from ...ir.op import Op, Specs, op, require_floating, require_same_type
from ..shape.shape_info import Identity
from .random import Binomial

if TYPE_CHECKING:
    from ...ir.variable import SDVariable

_SHAPED = {"shape": "l[]:shape", "dataType": "s:data_type:dtype"}


def _check(p: float) -> None:
    if not 0 <= p <= 1:
        raise GraphError(f"a probability lies between 0 and 1, got {p}")


@op("distribution_binomial_ex", file=FileArgs(floats=("n_trials:int", "p"), properties={
    **_SHAPED, "trials": "l:n_trials", "probability": "d:p"}))
class BinomialEx(Binomial):
    """Number of successes in ``n_trials`` trials of probability p."""

    n_trials: int
    p: float


@op("linspace_random", inputs="", file=FileArgs(floats=("from_", "to", "step"), properties={
    "from": "d:from_", "to": "d:to", "step": "d:step", "length": "l:length", "dataType": "s:data_type:dtype"}))
class LinspaceRandom(Op):
    """``length`` numbers from ``from_``: up to ``to`` when step is 0, else with that step. Nothing is random but the family."""

    from_: float
    to: float
    length: int
    step: float = 0.0
    data_type: DataType = DataType.FLOAT

    gradient = "none"

    def infer(self, *specs: TensorSpec) -> Specs:
        if self.length < 0:
            raise GraphError(f"the length must not be negative, got {self.length}")
        if not self.data_type.is_floating:
            raise GraphError(f"linspace_random needs a floating type, got {self.data_type.name}")
        return TensorSpec((self.length,), self.data_type)

    def compute(self, xp: Any, *inputs: Any) -> Any:
        step = self.step or ((self.to - self.from_) / (self.length - 1) if self.length > 1 else 0.0)
        return (self.from_ + step * xp.arange(self.length)).astype(self.data_type.numpy)


@op("choice", inputs="source probabilities", stateful=True, gradient="none", file=FileArgs(floats=("=0.0",), properties={
    "shape": "l[]:shape"}))
class Choice(Op):
    """Elements of the vector ``source``, each drawn with its probability; the last one takes what the others leave.

    Shapes: source (n), probabilities (n) -> ``shape``, that of the source when none is given.
    """

    shape: tuple[int, ...] = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape that the op was given."""
        source, chances = specs
        require_floating(self.id, chances)
        for name, spec in (("source", source), ("probabilities", chances)):
            if spec.rank not in (None, 1):
                raise ShapeError(f"{name} must be a vector, got {spec.shape}")
        sizes = (source.shape or (-1,))[0], (chances.shape or (-1,))[0]
        if -1 not in sizes and sizes[0] != sizes[1]:
            raise ShapeError(f"there are {sizes[0]} elements and {sizes[1]} probabilities")
        if 0 in sizes:
            raise ShapeError("there is nothing to choose from")
        if any(n < 0 for n in self.shape):
            raise GraphError(f"shape {self.shape} has a negative size")
        return TensorSpec(self.shape or source.shape, source.dtype)

    def compute(self, xp: Any, source: Any, probabilities: Any, *, context: Any) -> Any:  # type: ignore[override]  # stateful ops get the context
        """Elements drawn by inverting the cumulative probabilities."""
        draws = context.random().random(self.shape or source.shape)
        found = xp.searchsorted(xp.cumsum(probabilities.astype(xp.float64)), draws, side="right")
        return source[xp.minimum(found, source.shape[0] - 1)]


@op("probablistic_merge", inputs="x y", stateful=True, gradient="none", file=FileArgs(floats=("probability",), properties={
    "probability": "d:probability", "shape": "l[]:input_shape"}))
class ProbabilisticMerge(Op):
    """y with the given probability, else x, element by element."""

    probability: float

    def infer(self, *specs: TensorSpec) -> Specs:
        require_same_type(self.id, *specs)
        _check(self.probability)
        return TensorSpec(broadcast(specs[0].shape, specs[1].shape), specs[0].dtype)

    def compute(self, xp: Any, x: Any, y: Any, *, context: Any) -> Any:  # type: ignore[override]  # stateful ops get the context
        x, y = xp.broadcast_arrays(x, y)
        return xp.where(xp.asarray(context.random().random(x.shape) < self.probability), y, x)


class _AlphaMask(Op):
    """Base of alpha dropout and of its gradient."""

    stateful = True

    def infer(self, *specs: TensorSpec) -> Specs:
        require_floating(self.id, *specs)
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def at_inference(self) -> Op:
        return Identity()


def _kept(xp: Any, x: Any, p: float, context: Any) -> Any:
    return xp.asarray(context.random().random(x.shape) < p)


@op("alpha_dropout", file=FileArgs(floats=("p", "a", "b", "alpha_prime"), properties={
    "p": "d:p", "a": "d:a", "b": "d:b", "alphaPrime": "d:alpha_prime", "shape": "l[]:input_shape"}))
class AlphaDropoutOp(_AlphaMask):
    """In training a x + b with probability ``p``, else a alpha_prime + b (Klambauer et al. 2017); outside training x itself."""

    p: float
    a: float
    b: float
    alpha_prime: float

    def infer(self, *specs: TensorSpec) -> Specs:
        _check(self.p)
        return super().infer(*specs)

    def compute(self, xp: Any, x: Any, *, context: Any) -> Any:  # type: ignore[override]  # stateful ops get the context
        return (xp.where(_kept(xp, x, self.p, context), x, self.alpha_prime) * self.a + self.b).astype(x.dtype)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient times the mask that this node drew."""
        node = outputs[0].sd.producer(outputs[0].name())
        return [inputs[0].sd.add_op(AlphaDropoutGrad(self.p, self.a, node.name), [output_grads[0]])]  # type: ignore[union-attr]


@op("alpha_dropout_grad")
class AlphaDropoutGrad(_AlphaMask):
    """``a`` times the input where the alpha dropout node ``of`` kept its element, else 0 (made by gradients)."""

    p: float
    a: float
    of: str

    def compute(self, xp: Any, x: Any, *, context: Any) -> Any:  # type: ignore[override]  # stateful ops get the context
        """The mask, drawn again from the same numbers."""
        return xp.where(_kept(xp, x, self.p, context.at(self.of)), x * x.dtype.type(self.a), x.dtype.type(0))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(self, [output_grads[0]])]
