"""Declaring the parameters of a layer, and using them while its part of the graph is built."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ...samediff.base.datatype import DataType
from ...samediff.base.javanames import JavaSpelling
from ...samediff.base.spec import TensorSpec
from ...samediff.errors import ConfigurationError, DataTypeError, GraphError, ShapeError, UnknownNameError, did_you_mean
from ...samediff.ir.variable import SDVariable

Role = Literal["weight", "bias", "gain", "statistic", "unregularized"]
Order = Literal["c", "f"]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a layer.

    Parameters
    ----------
    name : str
    shape : tuple of int
    role : str
        Which updater and regularization it gets: "weight" and "gain" those of weights, "bias" those of biases,
        "unregularized" the layer's updater alone, "statistic" none (it moves by what the layer assigns).
    order : "c" or "f"
        How its piece of the flat vector is read; initial values are drawn in the order of the flat vector.
    fan_in, fan_out : float
        For the weight initialiser.
    init : IWeightInit, number, callable or None
        Initial values; None takes the layer's weight initialiser. A callable gets (rng, shape, order, dtype).
    """

    name: str
    shape: tuple[int, ...]
    role: Role = "weight"
    order: Order = "c"
    fan_in: float = 0
    fan_out: float = 0
    init: Any = None

    @property
    def size(self) -> int:
        """Number of entries."""
        n = 1
        for s in self.shape:
            n *= s
        return n


class ParameterTable(JavaSpelling):
    """The parameters that ``define_parameters`` declares; the order of the calls is the order in the flat vector.

    Examples
    --------
    >>> table = ParameterTable("dense")
    >>> table.weight("W", (4, 3), fan_in=4, fan_out=3)
    >>> table.bias("b", (3,))
    >>> [(p.name, p.shape) for p in table]
    [('W', (4, 3)), ('b', (3,))]
    """

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self._parameters: dict[str, Parameter] = {}

    def add(self, parameter: Parameter) -> None:
        """Declare a parameter."""
        if parameter.name in self._parameters:
            raise ConfigurationError(f"{self.owner}: parameter {parameter.name!r} is declared twice")
        if (not parameter.shape and parameter.role == "weight") or any(int(n) <= 0 for n in parameter.shape):
            raise ConfigurationError(f"{self.owner}: parameter {parameter.name!r} of shape {parameter.shape} would have no elements; "
                                     "set the sizes of the layer (n_in, n_out) or the input type of the network")
        self._parameters[parameter.name] = parameter

    def weight(self, name: str, shape: tuple[int, ...], *, fan_in: float = 0, fan_out: float = 0, order: Order = "c", init: Any = None,
               role: Role = "weight") -> None:
        """Declare a weight."""
        self.add(Parameter(name, tuple(shape), role, order, fan_in, fan_out, init))

    def bias(self, name: str, shape: tuple[int, ...], init: Any = 0.0, role: Role = "bias") -> None:
        """Declare a bias with its initial value (a number or an array)."""
        self.add(Parameter(name, tuple(shape), role, "c", init=init))

    def statistic(self, name: str, shape: tuple[int, ...], init: Any = 0.0) -> None:
        """Declare a running statistic: saved with the parameters, not trained (see ``LayerScope.move``)."""
        self.add(Parameter(name, tuple(shape), "statistic", "c", init=init))

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self._parameters.values())

    def __len__(self) -> int:
        return len(self._parameters)


class LayerScope(Mapping[str, SDVariable]):
    """The parameters of a layer as variables, and what else a layer can ask of the network while it is built.

    ``params["W"]`` is a variable. ``state`` and ``keep_state`` carry recurrent state from run to run, ``move`` changes a
    running statistic, ``sub`` is the scope of a wrapped layer whose parameter names have a prefix.
    """

    def __init__(self, owner: str, variables: Mapping[str, SDVariable], hooks: ScopeHooks | None = None, prefix: str = "") -> None:
        self.owner = owner
        self._variables = variables
        self._hooks = hooks or ScopeHooks()
        self._prefix = prefix
        self.labels: SDVariable | None = None       # of an output layer, where they are given
        self.made: dict[str, SDVariable] = {}       # what a layer keeps from one of its methods to the next

    def __getitem__(self, name: str) -> SDVariable:
        found = self._variables.get(self._prefix + name)
        if found is None:
            raise UnknownNameError(f"{self.owner} has no parameter {name!r}{did_you_mean(name, list(self))}")
        return found

    def __iter__(self) -> Iterator[str]:
        return (n.removeprefix(self._prefix) for n in self._variables if n.startswith(self._prefix))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def sub(self, prefix: str) -> LayerScope:
        """The scope of a wrapped layer whose parameters carry ``prefix``."""
        return LayerScope(self.owner, self._variables, self._hooks, self._prefix + prefix)

    def changed(self, values: Mapping[str, SDVariable]) -> LayerScope:
        """The same scope with other variables for its parameters."""
        mine = {self._prefix + n: v for n, v in values.items()}
        return LayerScope(self.owner, {**self._variables, **mine}, self._hooks, self._prefix)

    def stopped(self) -> LayerScope:
        """The same scope with parameters that gradients do not reach."""
        held = {n: v.sd.call("base", "stop_gradient", v) for n, v in self._variables.items()}
        return LayerScope(self.owner, held, self._hooks, self._prefix)

    def unmoved(self) -> LayerScope:
        """The same scope, in which running statistics stay as they are."""
        return LayerScope(self.owner, self._variables, replace(self._hooks, statistic_updates={}), self._prefix)

    def state(self, name: str, batch_like: SDVariable, size: int) -> SDVariable:
        """Initial recurrent state (batch, size): what the last run kept, zeros at first.

        ``batch_like`` is any variable whose first axis is the batch.
        """
        return self._hooks.state(self._prefix + name, batch_like, size)

    @property
    def in_pieces(self) -> bool:
        """True when series are trained piece by piece (truncated back-propagation through time)."""
        return self._hooks.in_pieces

    def keep_state(self, name: str, value: SDVariable) -> None:
        """Hand on recurrent state to the next run."""
        self._hooks.keep_state(self._prefix + name, expect_variable(f"{self.owner}: the state {name!r}", value))

    def move(self, name: str, step: SDVariable) -> None:
        """Subtract ``step``, which has its shape, from a running statistic after each training step."""
        self._hooks.move(self._prefix + name, expect_variable(f"{self.owner}: the step of {name!r}", step, self[name].spec))

    def penalty(self, score: SDVariable) -> None:
        """Add a scalar to the loss of the network."""
        self._hooks.penalty(expect_variable(f"{self.owner}: the penalty", score, TensorSpec((), DataType.FLOAT)))


def expect_variable(what: str, value: Any, like: TensorSpec | None = None) -> SDVariable:
    """``value`` in the shape of ``like``; GraphError unless it is a variable, DataTypeError and ShapeError for other types and shapes.

    Axes of size 1 may be missing or too many.
    """
    if not isinstance(value, SDVariable):
        raise GraphError(f"{what} must be a variable; got {value!r:.60}")
    if not value.dtype.is_floating:
        raise DataTypeError(f"{what} must be of a floating type; got {value!r}")
    wanted = None if like is None or like.shape is None else like.shape
    if wanted is None or value.spec.accepts(wanted):
        return value
    if not TensorSpec(tuple(n for n in value.spec.shape or () if n != 1), value.dtype).accepts([n for n in wanted if n != 1]):
        raise ShapeError(f"{what} must be of shape {wanted}; got {value!r}")
    return value.sd.call("base", "reshape", value, *wanted)  # type: ignore[no-any-return]


@dataclass
class ScopeHooks:
    """Requests of a layer, kept by its scope until the network reads them after the layer is built."""

    initial_state: Callable[[str, SDVariable, int], SDVariable] | None = None
    in_pieces: bool = False
    read: set[str] = field(default_factory=set)
    kept: dict[str, SDVariable] = field(default_factory=dict)
    statistic_updates: dict[str, SDVariable] = field(default_factory=dict)
    penalties: list[SDVariable] = field(default_factory=list)

    def state(self, name: str, batch_like: SDVariable, size: int) -> SDVariable:
        """See :meth:`LayerScope.state`."""
        self.read.add(name)
        if self.initial_state is not None:
            return self.initial_state(name, batch_like, size)
        return batch_like.sd.call("nn", "zero_state", batch_like, size)  # type: ignore[no-any-return]

    def keep_state(self, name: str, value: SDVariable) -> None:
        """See :meth:`LayerScope.keep_state`."""
        self.kept[name] = value

    def move(self, name: str, step: SDVariable) -> None:
        """See :meth:`LayerScope.move`."""
        self.statistic_updates[name] = step

    def penalty(self, score: SDVariable) -> None:
        """See :meth:`LayerScope.penalty`."""
        self.penalties.append(score)
