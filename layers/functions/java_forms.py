"""Activations, losses, dropouts and initial weights that users write as DL4J's classes are: code on arrays, gradients by hand.

Such code runs in Python, on copies of the arrays, which it may change. What it does on arrays of the graph nobody follows.
"""
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...samediff.arrays.indarray import INDArray
from ...samediff.base.home import is_ours
from ...samediff.base.java.pair import Pair
from ...samediff.base.spec import TensorSpec
from ...samediff.errors import ConfigurationError, ShapeError
from ...samediff.expressions.tracing import TraceError
from ...samediff.initializers.nd4j_random import get_random
from ...samediff.ir.op import Op, Specs, attributes, declare

if TYPE_CHECKING:
    from ...samediff.ir.variable import SDVariable


def array_of(value: Any) -> INDArray:
    """A copy of an array as an :class:`INDArray`, with DL4J's methods."""
    if hasattr(value, "__cuda_array_interface__"):
        raise TypeError("code for arrays of NumPy")
    if not isinstance(value, np.ndarray):       # a stand-in, while code is followed
        raise TraceError("code for arrays alone")
    return INDArray.of(np.array(value))


def first_of(result: Any) -> Any:
    """The first of a pair, or the only array."""
    return result[0] if isinstance(result, (tuple, list)) else result


def result_of(owner: Any, method: str, value: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """The result of a user's method as an array of that type; ShapeError for another shape."""
    found = np.asarray(value, dtype)
    if found.shape != shape:
        raise ShapeError(f"{type(owner).__name__}.{method} gave an array of shape {found.shape}; {shape} was expected")
    return found


def open_copy(owner: Any) -> Any:
    """A copy whose attributes may be set, as DL4J's classes do between two calls."""
    copy = owner.replace()
    copy.__dict__["_open"] = True
    return copy


@attributes
class _OfUser(Op):
    """An op that is the code of a user's class.

    Attributes
    ----------
    owner : the object
    """

    gradient_is_checked: ClassVar[bool] = True
    owner: Any

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, specs[0].dtype)


@attributes
class WrittenActivation(_OfUser):
    """Op that calls ``getActivation`` of a user's class."""

    training: bool = True

    def compute(self, xp: Any, x: Any) -> Any:  # type: ignore[override]
        """The result of the user's ``getActivation``."""
        found = open_copy(self.owner).get_activation(array_of(x), self.training)
        return result_of(self.owner, "getActivation", found, x.shape, x.dtype)

    def at_inference(self) -> Op:
        return self.replace(training=False)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(WrittenBackprop(self.owner), [inputs[0], output_grads[0]])]


class WrittenBackprop(_OfUser):
    """``backprop`` of an activation of a user's class."""

    def compute(self, xp: Any, x: Any, epsilon: Any) -> Any:  # type: ignore[override]
        """The result of the user's ``backprop``."""
        found = first_of(open_copy(self.owner).backprop(array_of(x), array_of(epsilon)))
        return result_of(self.owner, "backprop", found, x.shape, x.dtype)


class ActivationOfArrays:
    """An activation as losses in DL4J's form call it.

    Parameters
    ----------
    activation : IActivation
        What is called.
    """

    def __init__(self, activation: Any) -> None:
        self._activation = activation

    def get_activation(self, x: Any, training: bool = False) -> INDArray:
        """The activation of an array, also written into it, as in DL4J."""
        found = INDArray.of(np.asarray(self._activation.get_activation(x, training)))
        if isinstance(x, INDArray) and x.shape == found.shape:
            x[...] = found
            return x
        return found

    def backprop(self, x: Any, epsilon: Any) -> Pair[Any, Any]:
        """The gradient for the pre-activation."""
        return Pair(INDArray.of(np.asarray(first_of(self._activation.backprop(x, epsilon)))), None)

    getActivation = get_activation

    def __getattr__(self, name: str) -> Any:
        return getattr(self._activation, name)


@attributes
class WrittenLoss(_OfUser):
    """The scores of examples by a user's class."""

    activation: Any

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(None if specs[0].shape is None else specs[0].shape[:1], specs[1].dtype)

    def compute(self, xp: Any, labels: Any, pre_output: Any, mask: Any = None) -> Any:  # type: ignore[override]
        """The scores by the user's ``computeScoreArray``, or by ``computeScore`` of each example."""
        owner, activation = open_copy(self.owner), ActivationOfArrays(self.activation)
        if _is_written(type(owner), "compute_score_array"):
            given = owner.compute_score_array(array_of(labels), array_of(pre_output), activation, None if mask is None else array_of(mask))
            found = np.asarray(given, pre_output.dtype)
            if found.size != len(pre_output):
                raise ShapeError(f"{type(owner).__name__}.computeScoreArray gave an array of shape {found.shape}; a score for each of "
                                 f"{len(pre_output)} examples was expected")
            return found.reshape(-1)
        rows = [slice(k, k + 1) for k in range(len(pre_output))]
        return np.array([owner.compute_score(array_of(labels[r]), array_of(pre_output[r]), activation,
                                             None if mask is None else array_of(mask[r]), False) for r in rows], pre_output.dtype)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        sd = inputs[0].sd
        found = sd.add_op(WrittenLossGradient(self.owner, self.activation), inputs)
        scale = sd.call("base", "reshape", output_grads[0], -1, *[1] * ((inputs[1].spec.rank or 2) - 1))
        return [None, found * scale, *[None] * (len(inputs) - 2)]


@attributes
class WrittenLossGradient(_OfUser):
    """``computeGradient`` of a user's class, for the pre-activation."""

    activation: Any

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[1].shape, specs[1].dtype)

    def compute(self, xp: Any, labels: Any, pre_output: Any, mask: Any = None) -> Any:  # type: ignore[override]
        """The gradient by the user's ``computeGradient`` or ``computeGradientAndScore``."""
        owner, activation = open_copy(self.owner), ActivationOfArrays(self.activation)
        arrays = array_of(labels), array_of(pre_output), activation, None if mask is None else array_of(mask)
        if _is_written(type(owner), "compute_gradient"):
            found, said = owner.compute_gradient(*arrays), "computeGradient"
        else:
            found, said = owner.compute_gradient_and_score(*arrays, False)[1], "computeGradientAndScore"
        return result_of(owner, said, found, pre_output.shape, pre_output.dtype)


class WrittenPreProcessor(_OfUser):
    """``preProcess`` of a user's class; the second input is one whose first axis is the minibatch."""

    def infer(self, *specs: TensorSpec) -> Specs:
        shape, batch, dtype = specs[0].shape, specs[1].shape, specs[0].dtype
        if shape is None or not batch:
            return TensorSpec(None, dtype)
        try:
            found = [self._tried(shape, batch[0], n, dtype.numpy) for n in (2, 3)]
        except Exception:       # a size that is open may not be any
            return TensorSpec((-1,) * len(shape), dtype)
        return TensorSpec(tuple(a if a == b else -1 for a, b in zip(*found)), dtype)

    def _tried(self, shape: tuple[int, ...], minibatch: int, n: int, dtype: Any) -> tuple[int, ...]:
        """The shape of the result where open sizes are multiples of ``n``."""
        rows = n if shape[0] in (-1, minibatch) else shape[0]
        sizes = [2 * k * n if size == -1 else size for k, size in enumerate(shape[1:], 1)]
        return tuple(np.shape(self._run(np.zeros((rows, *sizes), dtype), n if minibatch == -1 else minibatch)))

    def _run(self, x: Any, minibatch: int) -> Any:
        return open_copy(self.owner).pre_process(array_of(x), minibatch)

    def compute(self, xp: Any, x: Any, batch: Any) -> Any:  # type: ignore[override]
        """The result of the user's ``preProcess``."""
        return np.asarray(self._run(x, len(batch)), x.dtype)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(WrittenPreProcessorBackprop(self.owner), [*inputs, output_grads[0]]), None]


class WrittenPreProcessorBackprop(_OfUser):
    """Op that calls ``backprop`` of a user's preprocessor."""

    def compute(self, xp: Any, x: Any, batch: Any, epsilon: Any) -> Any:  # type: ignore[override]
        """The result of the user's ``backprop``."""
        found = open_copy(self.owner).backprop(array_of(epsilon), len(batch))
        return result_of(self.owner, "backprop", found, x.shape, x.dtype)


declare(WrittenPreProcessor, "written_preprocessor", inputs="x batch")
declare(WrittenPreProcessorBackprop, "written_preprocessor_backprop", inputs="x batch epsilon", gradient="none")
declare(WrittenActivation, "written_activation")
declare(WrittenBackprop, "written_backprop", inputs="x epsilon", gradient="none")
declare(WrittenLoss, "written_loss", inputs="labels pre_output mask?")
declare(WrittenLossGradient, "written_loss_gradient", inputs="labels pre_output mask?", gradient="none")


def _is_written(cls: type, name: str) -> bool:
    """Whether a user's class defines a method itself."""
    return not is_ours(getattr(cls, name))


def is_in_java_form(cls: type, *names: str, of: str = "define") -> bool:
    """Whether a class defines these methods and does not define the one called ``of``."""
    return hasattr(getattr(cls, of, None), "asked_for") and all(_is_written(cls, name) for name in names)


def define_activation(self: Any, sd: Any, x: SDVariable) -> SDVariable:
    """Adds a user's activation to a graph."""
    return sd.add_op(WrittenActivation(self), [x])  # type: ignore[no-any-return]


def define_loss(self: Any, sd: Any, labels: SDVariable, pre_output: SDVariable, activation: Any, mask: Any = None) -> SDVariable:
    """Adds a user's loss to a graph."""
    return sd.add_op(WrittenLoss(self, activation), [labels, pre_output, mask])  # type: ignore[no-any-return]


@contextmanager
def drawing(seed: int) -> Iterator[None]:
    """Context in which ``Nd4j.getRandom()`` starts from a seed; afterwards its state is as before."""
    generator = get_random()
    kept = dict(vars(generator))
    generator.set_seed(seed)
    try:
        yield
    finally:
        vars(generator).update(kept)


def drawn_by(apply: Callable[..., Any]) -> Callable[..., Any]:
    """``draw`` of a dropout whose ``applyDropout`` is x * factor + shift; its results for 0, 1 and 2 give both."""
    extra = [None] * max(0, len(inspect.signature(apply).parameters) - 5)

    def draw(self: Any, rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, iteration: int, epoch: int) -> tuple[Any, Any]:
        seed, found = int(rng.integers(2**62)), []
        for value in (0.0, 1.0, 2.0):
            given, result = INDArray.of(np.full(shape, value, dtype)), INDArray.of(np.empty(shape, dtype))
            with drawing(seed):
                made = apply(open_copy(self), given, result, iteration, epoch, *extra)
            found.append(np.array(result if made is None else made, dtype))
        shift, factor = found[0], found[1] - found[0]
        if not np.allclose(found[2], shift + 2 * factor, 1e-3, 1e-5):
            raise ConfigurationError(f"{type(self).__name__}.applyDropout does more than multiply and add numbers of Nd4j.getRandom(): "
                                     "write draw(self, rng, shape, dtype, iteration, epoch), which gives factor and shift")
        return factor, shift
    return draw


def filled_by(init: Callable[..., Any]) -> Callable[..., Any]:
    """``init`` of initial weights that DL4J's form of it writes into a flat view."""
    def fill(self: Any, rng: Any, fan_in: float, fan_out: float, shape: tuple[int, ...], order: str = "f", dtype: Any = None) -> Any:
        kind = np.dtype(np.float32 if dtype is None else getattr(dtype, "numpy", dtype))
        view = INDArray.of(np.zeros((1, int(np.prod(shape))), kind))
        with drawing(int(rng.next_long()) & (2**62 - 1)):
            found = init(open_copy(self), fan_in, fan_out, shape, order, view)
        values = np.asarray(view if found is None else found, kind)
        return values if values.shape == tuple(shape) else values.reshape(shape, order=order.upper())  # type: ignore[call-overload]
    return fill


def takes(method: Any, count: int) -> bool:
    """Whether a method takes exactly so many arguments besides the object."""
    every = [p for p in inspect.signature(method).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(every) == count + 1 == len(inspect.signature(method).parameters)
