"""What every preprocessor between two layers does."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...samediff.base.authored import is_array, is_variable
from ...samediff.base.unwritten import unwritten
from ...samediff.configuration.configuration import Configuration, configuration
from ...samediff.errors import ConfigurationError, ShapeError
from ..types.formats import MaskState
from ..types.input_type import InputType

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

PACKAGE = "org.deeplearning4j.nn.conf.preprocessor."


@configuration
class InputPreProcessor(Configuration):
    """Turns the activations of one layer into the input of the next, mostly by a change of shape.

    Array code: works on NumPy and CuPy arrays and on everything else with ``reshape`` and ``transpose``.
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

    def mask(self, mask: Any, minibatch: int) -> Any:
        """Return the mask in the shape that fits the result; unchanged by default."""
        return mask

    def feed_forward_mask_array(self, mask: Any, state: MaskState, minibatch: int) -> tuple[Any, MaskState]:
        """Return mask and state for the next layer."""
        return (None if mask is None else self.mask(mask, minibatch)), state

    def expect(self, input_type: InputType, *kinds: str) -> None:
        """Refuse input types of other kinds."""
        if input_type.kind not in kinds:
            expected = " or ".join(kinds)
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
