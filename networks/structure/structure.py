"""Both kinds of networks as one list of members in the order in which they run."""
from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...layers.types.parameters import Parameter
from ...samediff.base.datatype import DataType
from ...samediff.base.lazy_property import lazy_property
from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.missing_class import MissingClass, stand_ins_in
from ...samediff.errors import ConfigurationError, GraphError, MissingOpError, OutOfRangeError, UnknownNameError, did_you_mean
from ...samediff.training.steps.step import FlatSlot
from ...samediff.training.updaters.updaters import NoOp
from .configuration import ComputationGraphConfiguration, LayerVertex, MultiLayerConfiguration, NetworkConfiguration, NeuralNetConfiguration
from .settings import BackpropType, DefaultStepFunction, GradientStepFunction, OptimizationAlgorithm, StepFunction


@dataclass(frozen=True)
class Member:
    """A layer or vertex of a network.

    ``key`` is the prefix of its parameters ("0" or the vertex name), ``inputs`` are names of members or network inputs.
    """

    key: str
    conf: Any
    inputs: tuple[str, ...]
    preprocessor: Any = None
    is_layer: bool = True

    @property
    def label(self) -> str:
        """The member's name and class, for messages."""
        name = getattr(self.conf, "layer_name", None) or self.key
        return f"layer {name!r} ({self.kind})" if self.is_layer else f"vertex {self.key!r} ({self.kind})"

    @property
    def kind(self) -> str:
        """The name of the configuration's class."""
        return self.conf.missing_class if isinstance(self.conf, MissingClass) else type(self.conf).__name__

    @property
    def is_frozen(self) -> bool:
        """True for layers whose parameters gradients do not reach."""
        return bool(getattr(self.conf, "frozen", False))

    @property
    def parameters_of(self) -> str:
        """The key of the member whose parameters it uses: its own, but for members that share those of another."""
        return getattr(self.conf, "parameters_of", None) or self.key

    @property
    def can_pretrain(self) -> bool:
        """True for layers with a rule of pretraining."""
        return hasattr(self.conf, "define_pretraining")

    def slots(self) -> list[tuple[FlatSlot, Parameter]]:
        """The parameters in the order of the flat vector; those that only pretraining moves are neither updated nor regularized."""
        return list(self._slots)

    @lazy_property
    def _slots(self) -> list[tuple[FlatSlot, Parameter]]:
        if isinstance(self.conf, MissingClass):
            size = self.conf.fail() if self.conf.extent is None else self.conf.extent
            return [(FlatSlot(f"{self.key}_unknown", (size,), NoOp()), Parameter("unknown", (size,), "statistic"))] if size else []
        table = self.conf.parameter_table() if hasattr(self.conf, "parameter_table") else []
        return [(FlatSlot(f"{self.key}_{p.name}", p.shape, self.conf.updater_for(p), p.order,
                          () if self.only_pretrained(p) else self.conf.regularization_for(p), key=self._updater_key(p),
                          scaled=p.role != "statistic", updated=not self.only_pretrained(p)), p) for p in table]

    def used_parameters(self) -> list[Parameter]:
        """The parameters with which the member computes, its own or those of another member."""
        return [p for _, p in self._slots] if self.parameters_of == self.key else self.conf.shared_parameters()  # type: ignore[no-any-return]

    def _updater_key(self, parameter: Parameter) -> Any:
        return self.conf.updater_key(parameter) if hasattr(type(self.conf), "updater_key") else None

    def only_pretrained(self, parameter: Parameter) -> bool:
        """True for a parameter that only pretraining moves."""
        return bool(self._updater_key(parameter) == "pretrain")

    def table_rank(self, name: str) -> int:
        """The key by which parameter ``name`` is sorted in the parameter table; equal keys keep the order of the flat vector."""
        first = getattr(self.conf, "table_order", ())
        own = name.removeprefix(f"{self.key}_")
        return first.index(own) if own in first else len(first)


def foreign(value: Any) -> Iterator[Configuration]:
    """The parts of a member or configuration whose classes are of plug-ins."""
    if isinstance(value, Member):
        value = [value.conf, value.preprocessor]
    if isinstance(value, Configuration):
        if value.java_name and not type(value).__module__.startswith("dl4py."):
            yield value
        value = [getattr(value, name) for name in type(value)._fields]
    for part in value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ():
        yield from foreign(part)


@dataclass(frozen=True)
class Solver:
    """The optimization algorithm of a network, with the options of its line search."""

    algorithm: OptimizationAlgorithm = OptimizationAlgorithm.STOCHASTIC_GRADIENT_DESCENT
    step_function: StepFunction | None = None
    line_search_iterations: int = 5

    @classmethod
    def of(cls, conf: NeuralNetConfiguration) -> Solver:
        """The solver that a configuration describes."""
        return cls(conf.optimization_algo, conf.step_function, conf.max_num_line_search_iterations)


@dataclass(frozen=True)
class Structure:
    """The parts of a network configuration that the engine uses."""

    inputs: tuple[str, ...]
    members: tuple[Member, ...]           # in an order in which they can run
    outputs: tuple[str, ...]
    dtype: DataType
    seed: int
    mini_batch: bool = True
    descends: bool = True                 # False: updates are added, as two of DL4J's step functions do
    declared: tuple[str, ...] = ()        # keys of the members as configured, where that is another order
    solver: Solver = Solver()
    piece_length: int | None = None       # steps of truncated back-propagation; None: whole series
    is_list: bool = False                 # members are called by their places, and one array is the input

    @lazy_property
    def missing_classes(self) -> tuple[str, ...]:
        """Names of classes in the configuration that are not registered."""
        parts = [self.solver.step_function, *[part for m in self.members for part in (m.conf, m.preprocessor)]]
        return tuple(dict.fromkeys(name for one in stand_ins_in(parts) for name in one.missing_classes))

    def check_complete(self, use: str) -> None:
        """MissingOpError for a network of which not all classes are registered."""
        if self.missing_classes:
            raise MissingOpError(f"to {use}, all its classes are needed, and nobody registers {', '.join(self.missing_classes)}: import "
                                 "the packages that define them, then load the file again")

    def key_of(self, layer: Any) -> str:
        """The key of a layer or vertex that is given by its name, or by its place in the configuration."""
        if self.is_list:
            return str(self._place_of(layer))
        names = self.declared
        if not isinstance(layer, str):
            return names[place_of(layer, len(names), "layer or vertex")]
        if layer not in names:
            raise UnknownNameError(f"no layer or vertex named {layer!r}{did_you_mean(str(layer), names)}; there are: {', '.join(names)}")
        return str(layer)

    def _place_of(self, layer: Any) -> int:
        count = len(self.members)
        if isinstance(layer, str) and not layer.isdigit():
            names = [m.conf.layer_name for m in self.members]
            if layer not in names:
                raise UnknownNameError(f"no layer named {layer!r}{did_you_mean(layer, [n for n in names if n])}")
            return names.index(layer)
        return place_of(int(layer) if isinstance(layer, str) else layer, count)

    def member(self, key: str) -> Member:
        """The member of that key."""
        return self._by_key[key]

    @lazy_property
    def sees_sizes(self) -> bool:
        """Whether graphs are built for the sizes of batches, all but the number of examples: code of users may need them."""
        return any(part for m in self.members for part in foreign(m))

    @lazy_property
    def _by_key(self) -> dict[str, Member]:
        return {m.key: m for m in self.members}

    @property
    def as_declared(self) -> tuple[Member, ...]:
        """The members in the order of the configuration: that of parameter tables and of drawing initial values."""
        if not self.declared:
            return self.members
        return tuple(self.member(key) for key in self.declared)

    @property
    def losses(self) -> tuple[Member, ...]:
        """The output layers, in the order of the network's outputs."""
        found = [self._by_key[name] for name in self.outputs if name in self._by_key]
        return tuple(m for m in found if getattr(m.conf, "has_loss", False))

    def reached(self) -> set[str]:
        """Keys of the members that gradients reach: not those whose every way to an output leads through a frozen layer."""
        found: set[str] = set()
        ahead = [self.member(key) for key in self.outputs]
        while ahead:
            member = ahead.pop()
            if member.key in found:
                continue
            found.add(member.key)
            if not getattr(member.conf, "stops_gradients", False):
                ahead.extend(self._by_key[n] for n in member.inputs if n in self._by_key)
        return found

    def trained(self) -> set[str]:
        """Keys of the members whose parameters gradients reach, there or where another member shares them."""
        return {self.member(key).parameters_of for key in self.reached()}


def place_of(place: Any, count: int, what: str = "layer") -> int:
    """A place among ``count`` layers, counted from the end where it is negative.

    Raises
    ------
    OutOfRangeError, GraphError
        There is no such place; it is no whole number.
    """
    try:
        index = operator.index(place)
    except TypeError:
        raise GraphError(f"a {what} is given by its name or its place, a whole number; got {place!r}") from None
    if not -count <= index < count:
        raise OutOfRangeError(f"{what} {index} does not exist; the network has {count} {'layers' if what == 'layer' else 'of them'}")
    return index % count


def structure_of(configuration: MultiLayerConfiguration | ComputationGraphConfiguration) -> Structure:
    """The structure of either kind of network."""
    return of_graph(configuration) if isinstance(configuration, ComputationGraphConfiguration) else of_list(configuration)


def of_list(configuration: MultiLayerConfiguration) -> Structure:
    """The structure of a list network: one input, layers one behind the other, keys "0", "1" …"""
    if not configuration.confs:
        raise ConfigurationError("the network has no layers")
    first = configuration.confs[0]
    for i, conf in enumerate(configuration.confs):
        if conf.layer is None:
            raise ConfigurationError(f"configuration {i} of the network has no layer")
    members = tuple(Member(str(i), layer, ("input" if i == 0 else str(i - 1),), configuration.get_input_pre_process(i))
                    for i, layer in enumerate(configuration.layers))
    return Structure(("input",), members, (members[-1].key,), configuration.data_type, first.seed, first.mini_batch,
                     _descends(first), solver=Solver.of(first), piece_length=_piece_length(configuration), is_list=True)


def of_graph(configuration: ComputationGraphConfiguration) -> Structure:
    """The structure of a graph, its members in DL4J's topological order."""
    members = []
    for name in configuration.order():
        vertex = configuration.vertices.get(name)
        if vertex is None:
            continue
        inputs = tuple(configuration.vertex_inputs[name])
        if isinstance(vertex, LayerVertex):
            members.append(Member(name, vertex.layer, inputs, vertex.pre_processor))
        else:
            members.append(Member(name, vertex, inputs + _named(name, vertex, configuration), None, False))
    _check_shared(members)
    layers = (v.layer_conf for v in configuration.vertices.values() if isinstance(v, LayerVertex))
    default = next(layers, configuration.default_configuration)
    return Structure(tuple(configuration.network_inputs), tuple(members), tuple(configuration.network_outputs),
                     configuration.data_type, default.seed, default.mini_batch, _descends(default), tuple(configuration.vertices),
                     Solver.of(default), _piece_length(configuration))


def _check_shared(members: list[Member]) -> None:
    """ConfigurationError where a member shares the parameters of one that is not there, or has others."""
    known = {m.key: m for m in members}
    for member in members:
        if member.parameters_of == member.key:
            continue
        owner = known.get(member.parameters_of)
        if owner is None or owner.parameters_of != owner.key:
            raise ConfigurationError(f"{member.label} shares the parameters of {member.parameters_of!r}, which is no vertex with "
                                     f"parameters of its own{did_you_mean(member.parameters_of, list(known))}")
        expected, given = ({p.name: p.shape for p in one.used_parameters()} for one in (member, owner))
        if expected != given:
            raise ConfigurationError(f"{member.label} needs parameters of the shapes {expected}; those of {owner.label} are {given}")


def _piece_length(configuration: NetworkConfiguration) -> int | None:
    return configuration.tbptt_fwd_length if configuration.backprop_type is BackpropType.TruncatedBPTT else None


def _named(name: str, vertex: Any, configuration: ComputationGraphConfiguration) -> tuple[str, ...]:
    """Network inputs that a vertex names in its configuration."""
    names: tuple[str, ...] = vertex.named_inputs()
    for n in names:
        if n not in configuration.network_inputs:
            raise ConfigurationError(f"vertex {name!r} ({type(vertex).__name__}) names the network input {n!r}; "
                                     f"inputs: {', '.join(configuration.network_inputs)}")
    return names


def _descends(conf: NeuralNetConfiguration) -> bool:
    return not isinstance(conf.step_function, (DefaultStepFunction, GradientStepFunction))
