"""Base of the preprocessors between two layers."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...samediff.base.user_code.abstract_methods import unwritten
from ...samediff.base.user_code.user_methods import is_array, is_variable
from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.declaring import configuration
from ...samediff.errors import ConfigurationError, ShapeError
from ...samediff.expressions.tracing import TraceError
from ...samediff.ir.graph_class import graph_class
from ...samediff.numpy_functions.array_code import code_on_graph
from ..functions.java_forms import WrittenPreProcessor
from ..types.formats import MaskState
from ..types.input_type import InputType
from ..types.java_names import InputPreProcessorNames

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["InputPreProcessor"]

PACKAGE = "org.deeplearning4j.nn.conf.preprocessor."


@configuration
class InputPreProcessor(Configuration, InputPreProcessorNames):
    """Turns the activations of one layer into the input of the next, mostly by a change of shape.

    A sub-class writes ``output_type`` and one of ``pre_process`` (array code: arrays with ``reshape``, ``transpose`` and arithmetic) and
    ``define`` (graph nodes); the other follows. Where ``pre_process`` cannot be followed, ``backprop`` beside it is enough: both then run
    in Python.
    """

    result_checks = {"define": is_variable, "pre_process": is_array}

    @unwritten(when_called=True)
    def pre_process(self, array: Any, minibatch: int) -> Any:
        """Return the input of the next layer."""
        raise NotImplementedError

    @unwritten(when_called=True)
    def backprop(self, epsilon: Any, minibatch: int) -> Any:
        """Return the gradient for the activations, from the one for the next layer's input."""
        raise NotImplementedError

    @unwritten
    def output_type(self, input_type: InputType) -> InputType:
        """Return the type that the next layer sees."""
        raise NotImplementedError

    def get_output_type(self, input_type: InputType) -> InputType:
        """DL4J's spelling of :meth:`output_type`; a sub-class may override either."""
        return self.output_type(input_type)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "get_output_type" in vars(cls) and "output_type" not in vars(cls):
            setattr(cls, "output_type", vars(cls)["get_output_type"])  # noqa: B010  # mypy knows no such assignment
        for written, other, follows in (("pre_process", "define", _nodes), ("define", "pre_process", _values)):
            if written in vars(cls) and hasattr(getattr(cls, other), "asked_for"):
                setattr(cls, other, follows)

    def mask(self, mask: Any, minibatch: int) -> Any:
        """Return the mask in the shape that fits the result; unchanged by default."""
        return mask

    def feed_forward_mask_array(self, mask: Any, state: MaskState, minibatch: int) -> tuple[Any, MaskState]:
        """Return mask and state for the next layer."""
        return (None if mask is None else self.mask(mask, minibatch)), state

    def expect(self, input_type: InputType, *kinds: str | type[InputType]) -> None:
        """Refuse input types of other kinds, which are classes or what their ``kind`` says."""
        if input_type.kind not in kinds and not isinstance(input_type, tuple(k for k in kinds if isinstance(k, type))):
            expected = " or ".join(k.__name__.removeprefix("InputType") if isinstance(k, type) else k for k in kinds)
            raise ConfigurationError(f"{type(self).__name__} takes input of type {expected}; got {input_type!r}")

    @unwritten
    def define(self, sd: SameDiff, x: SDVariable, batch: SDVariable | None = None) -> SDVariable:
        """Add :meth:`pre_process` to a graph; ``batch`` is a variable whose first axis is the minibatch.

        Without ``batch``, that is the first placeholder of the graph: a network's input.
        """
        raise NotImplementedError

    def define_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable, batch: SDVariable | None = None) -> SDVariable | None:
        """Add the mask in the shape that fits the result to a graph; unchanged by default."""
        return mask


def _nodes(self: InputPreProcessor, sd: SameDiff, x: SDVariable, batch: SDVariable | None = None) -> SDVariable:
    """Add graph nodes that do the work of ``pre_process``."""
    try:
        (made,) = code_on_graph(sd, lambda xp, a, b: self.pre_process(a, b.shape[0]), [x, minibatch_of(sd, x, batch)])
    except TraceError as error:
        if not hasattr(type(self).backprop, "asked_for"):       # both are written on arrays, as DL4J's classes are
            return sd.add_op(WrittenPreProcessor(self), [x, minibatch_of(sd, x, batch)])  # type: ignore[no-any-return]
        raise ConfigurationError(f"{type(self).__name__}.pre_process cannot be followed ({error}): write define(self, sd, x, batch), "
                                 "which builds nodes") from error
    return made


def _values(self: InputPreProcessor, array: Any, minibatch: int) -> Any:
    """Do on arrays the work that ``define`` does in a graph."""
    sd: Any = graph_class()()
    return self.define(sd, sd.constant(np.asarray(array)), sd.constant(np.zeros((minibatch, 1)))).eval()


def expect_shape(owner: object, array: Any, shape: tuple[int, ...]) -> None:
    """Refuse arrays of another shape; -1 fits every size."""
    got = tuple(array.shape)
    if len(got) != len(shape) or any(want not in (-1, have) for want, have in zip(shape, got)):
        text = ", ".join("any" if n == -1 else str(n) for n in shape)
        raise ShapeError(f"{type(owner).__name__} expected an array of shape ({text}); got {got}: {owner!r}")


def minibatch_of(sd: SameDiff, x: SDVariable, batch: SDVariable | None) -> SDVariable:
    """A variable whose first axis is the minibatch: ``batch``, or the first placeholder of the graph."""
    return batch if batch is not None else next((v for v in sd.variables() if v.is_place_holder()), x)


def rank_of(x: SDVariable) -> int:
    """Number of axes, which is known in every network."""
    return x.spec.rank or 0
