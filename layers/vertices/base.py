"""The base of all vertices of a computation graph."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, dataclass_transform

from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.declaring import configuration, field
from ...samediff.errors import ConfigurationError
from ..base.user_methods import Guarded
from ..types.input_type import InputType
from ..types.java_names import GraphVertexNames

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff
    from ...samediff.ir.variable import SDVariable

__all__ = ["GraphVertex", "vertex"]

T = TypeVar("T")
PACKAGE = "org.deeplearning4j.nn.conf.graph."


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def vertex(java_name: str | None = None, *, aliases: tuple[str, ...] = ()) -> Callable[[type[T]], type[T]]:
    """Register a vertex class under its full Java name, or under a simple name in DL4J's package of vertices.

    Parameters
    ----------
    java_name : str, optional
        What files call the class: a full Java name, or a simple one in DL4J's package of vertices. None for base classes, which have
        no form in files.
    aliases : tuple of str
        Further names under which files may have it.

    Raises
    ------
    RegistrationError
        The name is taken; the text names both owners.
    """
    full = java_name if java_name is None or "." in java_name else PACKAGE + java_name
    return configuration(full, aliases=aliases)


@configuration
class GraphVertex(Guarded, Configuration, GraphVertexNames):
    """Base of all vertices: it has one or several inputs and one output."""

    guarded_methods: ClassVar[tuple[str, ...]] = ("define_vertex",)
    kept_by_stand_ins: ClassVar[tuple[str, ...]] = ("named_inputs",)
    min_inputs: ClassVar[int] = 1
    max_inputs: ClassVar[int | None] = 1

    @property
    def label(self) -> str:
        """Class of the vertex, for messages."""
        return type(self).__name__

    def num_params(self) -> int:
        """Number of parameters."""
        table = getattr(self, "parameter_table", None)
        return sum(p.size for p in table()) if table else 0

    def define_vertex(self, sd: SameDiff, inputs: Any, *args: Any, **kwargs: Any) -> SDVariable:
        """Build the graph of the vertex and return its activations.

        Parameters
        ----------
        sd : SameDiff
            The network's graph, inside the name scope of the vertex.
        inputs : list of SDVariable
            The inputs, then the network inputs that :meth:`named_inputs` asks for.
        *args
            What :class:`.SameDiffLambdaVertex` leaves out: the declared parameters as variables, and a list of the masks of the inputs,
            None for each that has none.
        **kwargs
            Nothing: a network gives all by position.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement define_vertex(self, sd, inputs, params, masks)")

    def feed_forward_masks(self, sd: SameDiff, masks: list[SDVariable | None], inputs: list[SDVariable]) -> SDVariable | None:
        """The mask for what follows: that of the first input."""
        return masks[0]

    def named_inputs(self) -> tuple[str, ...]:
        """Network inputs that the vertex looks at besides its own inputs."""
        return ()

    def output_type(self, *input_types: InputType) -> InputType:
        """Return the type of the activations for inputs of those types."""
        self.check_count(len(input_types))
        return input_types[0]

    def get_output_type(self, layer_index: int, *input_types: InputType) -> InputType:
        """DL4J's spelling of :meth:`output_type`."""
        return self.output_type(*input_types)

    def min_vertex_inputs(self) -> int:
        """Least number of inputs."""
        return self.min_inputs

    def max_vertex_inputs(self) -> int | None:
        """Largest number of inputs; None for any."""
        return self.max_inputs

    def with_input_types(self, *input_types: InputType) -> GraphVertex:
        """Return a copy that knows what its input types tell it."""
        return self

    def check_count(self, n: int) -> None:
        """Refuse a wrong number of inputs."""
        if n < self.min_inputs or (self.max_inputs is not None and n > self.max_inputs):
            most = "" if self.max_inputs is None else f" and at most {self.max_inputs}"
            raise ConfigurationError(f"{type(self).__name__} takes at least {self.min_inputs}{most} inputs; got {n}")


def any_of(sd: SameDiff, masks: list[SDVariable | None]) -> SDVariable | None:
    """1 where one of the masks is 1; None when one of the inputs has no mask."""
    given = [m for m in masks if m is not None]
    if len(given) < len(masks):
        return None
    found = given[0]
    for mask in given[1:]:
        found = sd.call("math", "max", found, mask)
    return found


def rank(x: SDVariable) -> int:
    """Number of axes, which is known in every network."""
    shape = x.get_shape()
    assert shape is not None
    return len(shape)


def same_kind(owner: Any, types: tuple[InputType, ...]) -> InputType:
    """Return the first of several types of one kind; different kinds are refused."""
    if len({t.kind for t in types}) > 1:
        raise ConfigurationError(f"{type(owner).__name__} needs inputs of one kind; got {', '.join(map(repr, types))}")
    return types[0]
